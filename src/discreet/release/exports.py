"""Answers as files and tables. Text that a spreadsheet could run as a formula is neutralised; numbers stay numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import ExtraMissing
from discreet.pages.spreadsheets import csv_columns
from discreet.plan.outputs import KeyShown, Mean, Spread
from discreet.plan.statement import KeyFace
from discreet.release.answers import Answer
from discreet.release.evaluation import is_whole
from discreet.release.listing import ends_of, parts_of
from discreet.release.presence import CODE

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["csv_parts", "to_arrow", "to_csv", "to_pandas"]

_WIDEST_INTEGER: Final = 1 << 63


# --- CSV ------------------------------------------------------------------------------------------------------------


def to_csv(answer: Answer, language: str = "en") -> str:
    """Keys as codes with a label column beside each category, every noisy column with its interval.

    A release that is not differentially private says so in a column of its own, on every line; so does one whose
    search for private bounds found none.
    """
    return "".join(csv_parts(answer, language))


def csv_parts(answer: Answer, language: str = "en") -> Iterator[str]:
    """The same, some thousand lines at a time."""
    guarantee = answer.noisy.guarantee
    first = {"notice": answer.notice} if answer.notice else {}
    last = {} if guarantee.differentially_private else {"guarantee": str(guarantee)}
    columns = list(_text_columns(answer, language))
    head = [*first, *(name for name, _, _ in columns), *last]

    def listed() -> Iterator[list[Sequence[object]]]:
        for parts in zip(*(parts_of(column) for _, column, _ in columns), strict=True):
            told = [list(map(tell, part)) if tell else part for part, (_, _, tell) in zip(parts, columns, strict=True)]
            before, after = ([[fact] * len(parts[0]) for fact in said.values()] for said in (first, last))
            yield [*before, *told, *after]

    return csv_columns(head, listed())


def _text_columns(answer: Answer, language: str) -> Iterator[tuple[str, Sequence[Any], Callable[[Any], str] | None]]:
    """Names, columns, and what is told of each value where it is not the value itself."""
    labels = answer.labels(language)
    for column in answer.statement.presentation.columns:
        name, values = column.name, answer.listed_rows.columns[column.name]
        yield name, values, None
        if isinstance(column.shows, KeyShown):
            if name in labels:
                yield f"{name}_label", values, partial(_label, labels[name])
            continue
        for side, ends in zip(("low", "high"), ends_of(answer.listed_intervals.columns[name]), strict=True):
            yield f"{name}_{side}", ends, None
        if isinstance(column.shows, Mean | Spread):
            yield f"{name}_status", values, _status


def _status(value: object) -> str:
    """Why a mean or a variance is not there."""
    return CODE if value is None else ""


def _label(labels: Mapping[str, str], value: object) -> str:
    return labels.get("" if value is None else str(value), "")


# --- tables ---------------------------------------------------------------------------------------------------------


def to_arrow(answer: Answer) -> pyarrow.Table:
    """Keys, values and the ends of their intervals; the metadata say what is promised."""
    import pyarrow

    columns: dict[str, Any] = {}
    for column in answer.statement.presentation.columns:
        name, shows = column.name, column.shows
        values = list(chain.from_iterable(parts_of(answer.listed_rows.columns[name])))
        if isinstance(shows, KeyShown):
            columns[name] = pyarrow.array(values, type=_key_type(answer.statement.keys[shows.key], values))
            continue
        low, high = (list(chain.from_iterable(parts_of(end))) for end in ends_of(answer.listed_intervals.columns[name]))
        for full_name, numbers in ((name, values), (f"{name}_low", low), (f"{name}_high", high)):
            columns[full_name] = _numbers(numbers, whole=is_whole(shows))
    return pyarrow.table(columns, metadata=_metadata(answer))


def to_pandas(answer: Answer) -> pandas.DataFrame:
    """The Arrow table as a data frame, with the same facts in `attrs`."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise ExtraMissing(needed_for="to_pandas()", extra="pandas") from None
    frame: pandas.DataFrame = to_arrow(answer).to_pandas()
    frame.attrs |= _facts(answer)
    return frame


def _key_type(face: KeyFace, values: list[Any]) -> Any:
    import pyarrow

    if face.codes or face.step is None or any(isinstance(value, str) for value in values):
        return pyarrow.string()
    return pyarrow.int64() if face.step.denominator == 1 else pyarrow.float64()


def _numbers(values: list[Any], *, whole: bool) -> Any:
    import pyarrow

    if not whole:
        return pyarrow.array([None if value is None else _as_float(value) for value in values], type=pyarrow.float64())
    fits = all(value is None or -_WIDEST_INTEGER <= value < _WIDEST_INTEGER for value in values)
    if fits:
        return pyarrow.array(values, type=pyarrow.int64())
    return pyarrow.array([None if value is None else str(value) for value in values], type=pyarrow.string())


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _facts(answer: Answer) -> dict[str, object]:
    told = {**answer.facts(), **({"absent": answer.absent} if answer.absent else {})}
    names = ("guarantee", "differentially_private", "charge", "cost", "level", "interval_meaning", "unit", "neighbours")
    more = ("population", "dataset", "version", "mechanisms", "absent", "plan_hash", "request_id", "warnings")
    return {name: told[name] for name in (*names, *more) if name in told}


def _metadata(answer: Answer) -> dict[str, str]:
    return {
        f"discreet.{name}": fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)
        for name, fact in _facts(answer).items()
    }
