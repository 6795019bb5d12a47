"""What Python gives for a question: its repr, its public fields and methods, and what it turns into."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Final

import discreet
from discreet.collect.estimates.published_collection import estimate_collection
from discreet.collect.reporting.signing import read_signed
from discreet.lab.laboratory import Laboratory
from discreet.session import Session
from discreet.tables.request import table_request

__all__ = ["OBJECTS", "show_object"]

_LONGEST_REPR: Final = 300
_LONGEST_RECORD: Final = 600
_PLAIN: Final = (str, int, float, Decimal, Fraction, type(None))
_COUNT: Final = "SELECT smokes, COUNT(*) AS people, AVG(age) AS age FROM clinic GROUP BY smokes"


def show_object(made: object) -> str:
    """One line for each public field and method."""
    shown = repr(made)
    lines = [type(made).__name__, f"  repr: {shown}" if len(shown) <= _LONGEST_REPR else "  repr: all fields, long"]
    public = [name for name in dir(made) if not name.startswith("_")]
    values = {name: getattr(made, name) for name in public}
    lines += [f"  .{name}{inspect.signature(value)}" for name, value in values.items() if inspect.isroutine(value)]
    for name, value in values.items():
        if not inspect.isroutine(value):
            lines += _spread(f"  .{name}", value)
    return "\n".join(lines) + "\n"


def _spread(name: str, value: object) -> Iterator[str]:
    """A field on one line, or one line for each of its parts."""
    if isinstance(value, _PLAIN) or not isinstance(value, Mapping | Sequence):
        yield f"{name} = {_tell(value)}"
    elif isinstance(value, Mapping):
        yield f"{name}: {type(value).__name__} of {len(value)}"
        yield from (f"    {key} = {_tell(part)}" for key, part in value.items())
    else:
        yield f"{name}: {type(value).__name__} of {len(value)}"
        yield from (f"    {_tell(part)}" for part in value)


def _tell(value: object) -> str:
    """A plain value as it is, a small record by its fields, anything larger by its name."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_tell(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_tell, value)) + "]"
    if type(value).__str__ is not object.__str__:
        return f"{type(value).__name__}({str(value)!r})"
    if is_dataclass(value):
        parts = [f"{one.name}={_tell(getattr(value, one.name))}" for one in fields(value)]
        shown = f"{type(value).__name__}({', '.join(parts)})"
        if len(shown) <= _LONGEST_RECORD:
            return shown
    return f"<{type(value).__name__}>"


def _answer(house: Session, _: Path) -> str:
    answer = house.query(_COUNT, epsilon=1, request_id="mine")
    table, frame = answer.to_arrow(), answer.to_pandas()
    facts = "\n".join(f"  {key.decode()} = {fact.decode()}" for key, fact in table.schema.metadata.items())
    turned = [f"to_arrow()\n{table.schema.remove_metadata()}\n{facts}", f"to_pandas()\n{frame}\n{frame.dtypes}"]
    return show_object(answer) + "\n".join([*turned, f"attrs: {sorted(frame.attrs)}", ""])


def _workload(house: Session, folder: Path) -> str:
    return show_object(house.run(folder / "shared.yaml", request_id="mine"))


def _plan(house: Session, folder: Path) -> str:
    return show_object(house.plan(folder / "shared.yaml"))


def _unproven(house: Session, _: Path) -> str:
    sql = "SELECT AVG(output) AS mean FROM farms"
    return show_object(Laboratory(house).ask_unproven(sql, strategy="local", epsilon=1, request_id="mine"))


def _table(house: Session, _: Path) -> str:
    return show_object(house.table("clinic", by="town,smokes", epsilon=1, weighted=True, request_id="mine"))


def _bootstrap(house: Session, _: Path) -> str:
    made = Laboratory(house).bootstrap(table_request("farms", "status", value="output"), epsilon=1, request_id="mine")
    return show_object(made) + "".join(map(show_object, Laboratory(house).bootstrap_log()))


def _explanation(house: Session, _: Path) -> str:
    return show_object(house.explain(_COUNT, epsilon=1, assume="n=60"))


def _table_explanation(house: Session, _: Path) -> str:
    return show_object(house.tables.explain(table_request("clinic", "town,smokes", weighted=True), epsilon=1))


def _budget(house: Session, _: Path) -> str:
    house.query(_COUNT, epsilon=1, request_id="mine")
    return show_object(house.budget("patients"))


def _dataset(house: Session, _: Path) -> str:
    found, *_others = house.datasets()
    return show_object(found) + show_object(found.card) + show_object(house.public_table("towns"))


def _collection(_: Session, folder: Path) -> str:
    signed = read_signed(folder / "survey.json", trust=folder / "survey.key.pub")
    return show_object(estimate_collection(signed, folder / "reports.jsonl", by=("town",)))


def _package(house: Session, _: Path) -> str:
    """What `import discreet` offers, and what a session can be asked for."""
    names = "".join(f"discreet.{name}\n" for name in sorted(discreet.__all__))
    public = {name: inspect.getattr_static(Session, name) for name in dir(Session) if not name.startswith("_")}
    methods = {name: getattr(house, name) for name, found in public.items() if not isinstance(found, property)}
    return names + "".join(f"session.{name}{inspect.signature(method)}\n" for name, method in methods.items())


def _open(show: Callable[[Session, Path], str]) -> Callable[[Path], str]:
    def call(folder: Path) -> str:
        with discreet.open(folder / "w") as house:
            return show(house, folder)

    return call


OBJECTS: Final[Mapping[str, Callable[[Path], str]]] = {
    "answer": _open(_answer),
    "workload-answer": _open(_workload),
    "workload-plan": _open(_plan),
    "unproven-answer": _open(_unproven),
    "table": _open(_table),
    "bootstrap-table": _open(_bootstrap),
    "explanation": _open(_explanation),
    "table-explanation": _open(_table_explanation),
    "budget": _open(_budget),
    "dataset": _open(_dataset),
    "collection": _open(_collection),
    "package": _open(_package),
}
