"""What preparing a file changed: counts for the custodian alone, who decides whether the card is right.

The counts are exact and therefore confidential. They live beside the prepared data and reach no analyst.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from discreet.paths import AnyPath, as_path, read_regular

__all__ = ["ColumnReport", "GroupReport", "Report", "WeightReport", "read_report"]


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What became of one column's values, over all rows read. `null` counts what ended without a value."""

    name: str
    blank: int
    missing: int
    unparsable: int
    not_listed: int
    clamped_low: int
    clamped_high: int
    null: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What a cap cut in one category of its column; the code is None for rows without one."""

    code: str | None
    before: str
    after: str
    rows_cut: int
    share_cut: float


@dataclass(frozen=True, slots=True)
class WeightReport:
    """The sum of weights over the rows with an id, before and after the cap, as exact decimal text.

    `groups` has an entry for each category of the column that decides the cap; reports of earlier versions have none.
    """

    before: str
    after: str
    rows_cut: int
    share_cut: float
    groups: tuple[GroupReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One preparation. `rows_beyond` are those past the unit's row bound: kept, but never counted.

    `incomplete` counts, for every column that the card calls complete, the rows with an id that lack it.
    """

    rows: int
    rows_without_id: int
    units: int
    most_rows: int
    rows_beyond: int
    columns: tuple[ColumnReport, ...]
    weight: WeightReport | None = None
    unused: tuple[str, ...] = ()
    incomplete: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def read_report(path: AnyPath) -> Report:
    """The report beside a prepared dataset."""
    found = json.loads(read_regular(as_path(path)))
    weight = found.pop("weight")
    return Report(
        **{
            **found,
            "columns": tuple(ColumnReport(**column) for column in found["columns"]),
            "unused": tuple(found["unused"]),
        },
        weight=None if weight is None else _read_weight(weight),
    )


def _read_weight(found: dict[str, Any]) -> WeightReport:
    groups = tuple(GroupReport(**group) for group in found.get("groups", ()))
    return WeightReport(**{**found, "groups": groups})
