"""What is asked of a server, as the bodies of requests have it: amounts as exact text, so that no reader rounds them.

What can be seen to be wrong without a card or a ledger is refused here, in the words of a workspace; the rest is the
server's to say.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Protocol

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, PathInvalid, WorkloadInvalid
from discreet.guarantees import ExactLike, as_given, exact, shown, text
from discreet.paths import AnyPath, as_path, open_regular, tell_reason

__all__ = ["WorkloadLike", "word_query", "word_table", "word_workload"]

Widths = Mapping[str, ExactLike] | str | int

_LONGEST_WORKLOAD: Final = 60_000
_LONGEST_WIDTHS: Final = 2_000
_ALONE: Final = re.compile(r"\s*[+-]?\d{1,60}\s*", re.ASCII)
_WIDTH: Final = re.compile(r"\s*([^\s,=].*?)\s*=\s*([^\s,=]+)\s*(?:,|$)", re.ASCII)


def word_query(
    sql: str,
    *,
    epsilon: ExactLike | None,
    delta: ExactLike,
    within: Widths | None,
    assume: Widths | None,
    level: ExactLike,
    fresh: bool,
) -> dict[str, object]:
    """The body of a question in SQL."""
    return {
        "sql": sql,
        "epsilon": None if epsilon is None else text(exact(epsilon, parameter="epsilon")),
        "within": _word_widths(within, "within"),
        "delta": text(exact(delta, parameter="delta", zero=True, below=1)),
        "assume": _word_widths(assume, "assume"),
        "level": _word_level(level),
        "fresh": fresh,
    }


def word_table(words: Mapping[str, Any], *, fresh: bool) -> dict[str, object]:
    """The body of a table whose words these are: what is not asked for is left out, and numbers are text."""
    known = {name: value for name, value in words.items() if name != "kind" and value is not None}
    if "epsilon" not in known:
        raise ParameterInvalid(parameter="epsilon", rule=say("must say what the table may cost"), given=say("nothing"))
    known["epsilon"] = text(exact(known["epsilon"], parameter="epsilon"))
    known["by"] = _word_names(words["by"])
    if not known["by"]:
        raise ParameterInvalid(parameter="by", rule=say("must name at least one column"), given=say("none"))
    if "level" in known:
        known["level"] = _word_level(known["level"])
    if "suppress_above" in known:
        known["suppress_above"] = text(exact(known["suppress_above"], parameter="suppress above"))
    if not isinstance(known.get("margins", True), bool):
        known["margins"] = [_word_names(names) for names in _several(known["margins"], "margins")]
    for name, rule in (
        ("edges", say("must be lists of edges by column")),
        ("leave_out", say("must be lists of codes by column")),
    ):
        if name in known:
            known[name] = _word_lists(known[name], name.replace("_", " "), rule)
    return {**known, "fresh": fresh}


class WorkloadLike(Protocol):
    """A workload that was read: `discreet.release` makes them."""

    @property
    def words(self) -> dict[str, Any]: ...

    @property
    def analyst(self) -> str | None: ...


def word_workload(workload: AnyPath | WorkloadLike, *, epsilon: ExactLike | None) -> dict[str, object]:
    """The body of a workload: the text of its file, which the server reads."""
    if isinstance(workload, str | os.PathLike):
        path = as_path(workload, "workload")
        name, written = path.name, _read_workload(path)
    elif hasattr(workload, "words"):
        name, written = "workload", _write_workload(workload)
    else:
        rule = say("must be a workload, or the path of its file")
        raise ParameterInvalid(parameter="workload", rule=rule, given=as_given(workload))
    if len(written) > _LONGEST_WORKLOAD:
        problem = say("a workload that is sent has at most {most:,} characters", most=_LONGEST_WORKLOAD)
        raise WorkloadInvalid(file=name, problems=[f"{name}:1: {problem}"])
    total = None if epsilon is None else text(exact(epsilon, parameter="epsilon"))
    return {"workload": written, "epsilon": total}


def _write_workload(workload: WorkloadLike) -> str:
    """Its file. JSON is YAML too; amounts are written in decimals, as the file has them."""
    words = workload.words
    questions = [
        {
            "name": task["name"],
            "sql": task["sql"],
            **{key: _word_amounts(task[key], key) for key in ("within", "assume") if task[key]},
            **({} if task["share"] is None else {"share": task["share"]}),
        }
        for task in words["questions"]
    ]
    terms = {"level": words["level"], "epsilon": words["epsilon"], "delta": words["delta"], "analyst": workload.analyst}
    known = {name: term for name, term in terms.items() if term is not None}
    return json.dumps({"questions": questions, **known}, ensure_ascii=False, indent=1)


def _word_amounts(amounts: Mapping[str, str], parameter: str) -> dict[str, str]:
    return {name: text(exact(Fraction(amount), parameter=parameter)) for name, amount in amounts.items()}


def _read_workload(path: Path) -> str:
    try:
        with open_regular(path) as stream:
            data = stream.read(4 * _LONGEST_WORKLOAD + 1)
    except OSError as error:
        raise PathInvalid(
            say(
                "{sort} '{name}' cannot be read: {reason}.",
                sort=Phrase("workload"),
                name=path.name,
                reason=tell_reason(error),
            ),
            path=str(path),
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        problem = say("a {sort} must be UTF-8 text; save it as UTF-8", sort=Phrase("workload"))
        raise WorkloadInvalid(file=path.name, problems=[f"{path.name}:1: {problem}"]) from None


def _word_level(level: ExactLike) -> str:
    return text(exact(level, parameter="level", below=1))


# --- widths, as in "people=500" -------------------------------------------------------------------------------------


def _word_widths(given: Widths | None, option: str) -> dict[str, str] | None:
    """Numbers by name. Whether they are fit is the server's to say, and so is what the names stand for."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {str(name): _word_number(value, option) for name, value in given.items()}
    if (isinstance(given, int) and not isinstance(given, bool)) or (isinstance(given, str) and _ALONE.fullmatch(given)):
        return {"n": _word_number(given, option)}
    found, place = dict[str, str](), 0
    while isinstance(given, str) and place < len(given) <= _LONGEST_WIDTHS:
        match = _WIDTH.match(given, place)
        if match is None:
            break
        found[match[1]], place = match[2], match.end()
    if not isinstance(given, str) or place < len(given):
        raise ParameterInvalid(
            parameter=option,
            rule=say("reads NAME=NUMBER[,NAME=NUMBER]"),
            given=shown(given) if isinstance(given, str) else as_given(given),
        )
    return found


def _word_number(value: object, parameter: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise ParameterInvalid(parameter=parameter, rule=say("takes numbers"), given=type(value).__name__)
    return value.strip() if isinstance(value, str) else shown(value).strip("'")


# --- tables ---------------------------------------------------------------------------------------------------------


def _word_names(given: object) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else _several(given, "columns")
    for name in parts:
        if not isinstance(name, str):
            raise ParameterInvalid(parameter="columns", rule=say("must be named by text"), given=as_given(name))
    return [name.strip() for name in parts if name.strip()]


def _word_lists(given: object, parameter: str, rule: str) -> dict[str, list[str]]:
    if not isinstance(given, Mapping):
        raise ParameterInvalid(parameter=parameter, rule=rule, given=as_given(given))
    return {str(name): [str(item).strip() for item in _several(items, parameter)] for name, items in given.items()}


def _several(given: object, parameter: str) -> Sequence[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a list"), given=as_given(given))
    return given
