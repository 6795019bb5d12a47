"""Answers as respondents gave them: a CSV file turned into positions, labels and weights that the manifest knows.

These are the confidential values themselves. They are read, checked and handed to a randomiser; no error repeats one.
Lines are counted as in the file, the header being line 1 and blank lines none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import Column, canonical_code, normal_text
from discreet.catalogue import say, say_count
from discreet.collect.reporting.manifest import Manifest, Missing, SurveyQuestion, WeightScale
from discreet.errors import FileRefused, PathInvalid
from discreet.sources import DataSource, choose_columns, open_source

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["ABSENT", "GivenAnswers", "mark_of_token", "open_table", "read_answers"]

ABSENT: Final = -1

_OUTSIDE: Final = -2
_LINES_SHOWN: Final = 5
_NUMBER: Final = re.compile(r"[+-]?(\d{1,16}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{12,64}", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class GivenAnswers:
    """One entry for each respondent, in the order of the file. A position of ABSENT is a missing answer.

    `positions` are by question, `groups` by group; weights are in steps, or all 1; `tokens` are empty without a token
    column.
    """

    positions: dict[str, NDArray[int64]]
    groups: dict[str, NDArray[int64]]
    weights: NDArray[int64]
    tokens: tuple[str, ...]

    @property
    def respondents(self) -> int:
        return int(self.weights.size)


def mark_of_token(digest: str, token: str) -> str:
    """What a report carries in place of a token: the same for the same survey, and no way back to the token."""
    return hashlib.sha256(f"{digest}\n{token}".encode()).hexdigest()[:32]


def read_answers(file: Path, manifest: Manifest, *, encoding: str | None = None) -> GivenAnswers:
    """The answers of a file, or FileRefused with every question at fault and the lines, never the values."""
    table = _read_table(file, _wanted(manifest), encoding)
    faults: list[str] = []
    positions = {}
    for question in manifest.questions:
        read = _number_reader(question) if question.numeric else _category_reader(question)
        found = _translate(table[question.name], read)
        faults += _faults(
            found,
            say("question '{name}': the answer is outside its bounds", name=question.name)
            if question.numeric
            else say("question '{name}': the answer is outside its categories", name=question.name),
        )
        positions[question.name] = found
    groups = {}
    for group in manifest.groups:
        groups[group.name] = _translate(table[group.name], _group_reader(group))
        faults += _faults(
            groups[group.name], say("group '{name}': the label is not one of its categories", name=group.name)
        )
    weights, found_faults = _weights(table, manifest, groups)
    faults += found_faults
    tokens: tuple[str, ...] = ()
    if manifest.token is not None:
        tokens, found_faults = _tokens(table[manifest.token])
        faults += found_faults
    if faults:
        raise FileRefused(
            [say("'{name}' cannot be used; nothing was written.", name=file.name), *faults], file=file.name
        )
    return GivenAnswers(positions, groups, weights, tokens)


def open_table(file: Path, *, encoding: str | None = None) -> DataSource:
    """A file of rows to read, or PathInvalid when there is none of that name."""
    if not file.is_file():
        raise PathInvalid(say("'{file}' does not exist or is not a file.", file=file), path=str(file))
    return open_source(file, encoding=encoding)


def _wanted(manifest: Manifest) -> list[str]:
    names = [*(question.name for question in manifest.questions), *(group.name for group in manifest.groups)]
    if manifest.weight is not None:
        names.append(manifest.weight.rule.column)
    return names if manifest.token is None else [*names, manifest.token]


def _read_table(file: Path, names: Sequence[str], encoding: str | None) -> dict[str, Any]:
    """Each wanted column as an Arrow array of text, empty where there is no value."""
    import pyarrow as pa

    source = open_table(file, encoding=encoding)
    choose_columns(source, list(names))
    batches = list(source.batches(list(names)))
    if not batches:
        raise FileRefused(say("'{name}' has no answers below its header.", name=file.name), file=file.name)
    table = pa.Table.from_batches(batches)
    return {name: table.column(name).combine_chunks().cast("string").fill_null("") for name in names}


# --- values ---------------------------------------------------------------------------------------------------------


def _translate(column: Any, read: Callable[[str], int]) -> NDArray[int64]:
    """Each distinct text is read once, however many respondents gave it."""
    encoded = column.dictionary_encode()
    values = np.array([read(text) for text in encoded.dictionary.to_pylist()] or [ABSENT], dtype=np.int64)
    indices: NDArray[int64] = values[encoded.indices.to_numpy(zero_copy_only=False)]
    return indices


def _category_reader(question: SurveyQuestion) -> Callable[[str], int]:
    column = question.column
    known = {canonical_code(category.code): index for index, category in enumerate(column.categories)}
    absent = len(column.categories) if question.missing is Missing.CATEGORY else ABSENT
    known |= dict.fromkeys(_absent_codes(column), absent)
    return lambda text: known.get(canonical_code(normal_text(text)), _OUTSIDE)


def _group_reader(group: Column) -> Callable[[str], int]:
    known = {canonical_code(category.code): index for index, category in enumerate(group.categories)}
    return lambda text: known.get(canonical_code(normal_text(text)), _OUTSIDE)


def _number_reader(question: SurveyQuestion) -> Callable[[str], int]:
    """Numbers within the bounds are rounded to their grid; missing codes are compared as numbers and as text."""
    column = question.column
    assert column.bounds is not None
    assert column.step is not None
    low, high = column.bounds
    step, first = Fraction(column.step), column.low_units
    absent = _absent_codes(column)
    absent_numbers = {Decimal(code) for code in absent if _NUMBER.fullmatch(code)}

    def read(text: str) -> int:
        plain = normal_text(text)
        if canonical_code(plain) in absent:
            return ABSENT
        if not _NUMBER.fullmatch(plain):
            return _OUTSIDE
        number = Decimal(plain)
        if number in absent_numbers:
            return ABSENT
        if not low <= number <= high:
            return _OUTSIDE
        return round(Fraction(number) / step) - first

    return read


def _absent_codes(column: Column) -> set[str]:
    return {"", *(canonical_code(normal_text(code)) for code in column.missing)}


def _weights(
    table: dict[str, Any], manifest: Manifest, groups: dict[str, NDArray[int64]]
) -> tuple[NDArray[int64], list[str]]:
    """Design weights in steps, cut at their caps; 1 for everybody without a weight."""
    scale = manifest.weight
    if scale is None:
        size = len(next(iter(table.values())))
        return np.ones(size, dtype=np.int64), []
    weights = _translate(table[scale.rule.column], _weight_reader(scale))
    faults = list(_faults(weights, say("weight '{name}': it is not a number from 0 upwards", name=scale.rule.column)))
    if scale.rule.by is None:
        return np.minimum(weights, scale.largest_steps), faults
    codes = [category.code for category in manifest.group(scale.rule.by).categories]
    caps = np.array([scale.cap_steps(code) for code in codes], dtype=np.int64)
    return np.minimum(weights, caps[np.maximum(groups[scale.rule.by], 0)]), faults


def _weight_reader(scale: WeightScale) -> Callable[[str], int]:
    step, largest = scale.step, scale.largest_steps

    def read(text: str) -> int:
        plain = normal_text(text)
        if not _NUMBER.fullmatch(plain) or plain.startswith("-"):
            return _OUTSIDE
        # a weight below one step still counts as one: a respondent never vanishes by rounding
        steps = int((Decimal(plain) / step).to_integral_value(ROUND_HALF_EVEN))
        return min(max(steps, 1 if Decimal(plain) else 0), largest)

    return read


def _tokens(column: Any) -> tuple[tuple[str, ...], list[str]]:
    texts = [text.strip() for text in column.to_pylist()]
    first: dict[str, int] = {}
    shapes = np.zeros(len(texts), dtype=np.int64)
    twice = np.zeros(len(texts), dtype=np.int64)
    for index, text in enumerate(texts):
        if not _TOKEN.fullmatch(text):
            shapes[index] = _OUTSIDE
        elif first.setdefault(text, index) != index:
            twice[index] = _OUTSIDE
    faults = [
        *_faults(shapes, say("token: it is not 12 to 64 letters, digits, _ or -, as an agency issues at random")),
        *_faults(twice, say("token: it stands on an earlier line too; a respondent draws once")),
    ]
    return tuple(texts), faults


def _faults(found: NDArray[int64], fault: str) -> Iterator[str]:
    lines = np.flatnonzero(found == _OUTSIDE) + 2
    if lines.size:
        shown = ", ".join(str(line) for line in lines[:_LINES_SHOWN])
        if lines.size > _LINES_SHOWN:
            shown = say("{shown} and {more:,} more", shown=shown, more=lines.size - _LINES_SHOWN)
        yield say_count("{fault} (line {lines})", "{fault} (lines {lines})", int(lines.size), fault=fault, lines=shown)
