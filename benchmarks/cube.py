"""Large tables against the plain cube: a weighted table with all margins, and one of a million cells.

Discreet's time is all of `Session.tables.release(…, fresh=True)`: reading, the choice of a strategy, the charge synced
to disk, the engine, the noise, the answer stored, the estimate, every interval, the consistent table; its figures are
put together when they are first read, and that is timed beside it. A session that stays open remembers the strategy of
a table's shape. Plain DuckDB adds up the same prepared file by `GROUP BY CUBE` or `GROUPING SETS`. Both of one case
take turns in one run.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.page import PAGE, describe_machine, table, write_block
from benchmarks.people import House
from benchmarks.residents import DATASET, KEYS, WIDE_KEYS, build_residents
from benchmarks.turns import Figures, take_turns

ROWS = 10_000_000
MOST_TIMES = 2
MOST_SECONDS = 60
MOST_MB = 2048


@dataclass(frozen=True, slots=True)
class Case:
    """A table by keys with all margins, or with those listed; how often it is made."""

    title: str
    by: tuple[str, ...]
    margins: tuple[tuple[str, ...], ...]
    rounds: int

    @property
    def grouping(self) -> str:
        if not self.margins:
            return f"CUBE ({', '.join(self.by)})"
        sets = [", ".join(kept) for kept in (self.by, *self.margins)]
        return f"GROUPING SETS ({', '.join(f'({kept})' for kept in sets)})"


CASES = (
    Case("13 × 13 × 20 × 5, all margins", tuple(KEYS), (), 9),
    Case("a million cells, four margins", tuple(WIDE_KEYS), (*((name,) for name in WIDE_KEYS), ()), 3),
)


def run(
    rows: int = ROWS, *, cases: Sequence[Case] = CASES, rounds: int | None = None, page: Path = PAGE
) -> dict[str, float]:
    """Measure, and write what was found into `page`."""
    with tempfile.TemporaryDirectory() as folder:
        house = build_residents(Path(folder), rows=rows)
        found = {case.title: _take_turns(case, house, rounds or case.rounds) for case in cases}
    write_block(page, "cube", _page(found, rows))
    text: dict[str, float] = {}
    for title, both in found.items():
        ours, plain = both["discreet"], both["plain"]
        text[f"{title}: plain (s)"] = plain.whole
        text |= {f"{title}: {part} (s)": seconds for part, seconds in ours.seconds.items()}
        text[f"{title}: ratio"] = ours.whole / plain.whole
        text[f"{title}: ratio with every figure"] = ours.seconds["with every figure put together"] / plain.whole
        text[f"{title}: ratio without the ledger"] = ours.seconds["without the ledger"] / plain.whole
        text[f"{title}: peak memory (MB)"] = ours.peak_mb
    return text


def _take_turns(case: Case, house: House, rounds: int) -> dict[str, Figures]:
    keys = ", ".join(case.by)
    plain = f"SELECT {keys}, sum(weight) FROM {house.prepared(DATASET)} GROUP BY {case.grouping}"
    margins = ";".join(",".join(kept) for kept in case.margins)
    worker = [sys.executable, "-m", "benchmarks.worker"]
    commands = {
        "plain": [*worker, "plain", plain],
        "discreet": [*worker, "table", str(house.workspace), DATASET, ",".join(case.by), margins],
    }
    return take_turns(commands, rounds=rounds)


# --- the page -------------------------------------------------------------------------------------------------------


def _page(found: Mapping[str, Mapping[str, Figures]], rows: int) -> list[str]:
    titles = list(found)
    parts = list(found[titles[0]]["discreet"].seconds)
    lines = [
        ["plain (s)", *(f"{found[title]['plain'].whole:.3f}" for title in titles)],
        *([_named(part), *(f"{found[title]['discreet'].seconds[part]:.3f}" for title in titles)] for part in parts),
        ["**ratio**", *(f"**{_ratio(found[title], 'whole')}**" for title in titles)],
        ["ratio with every figure", *(_ratio(found[title], "with every figure put together") for title in titles)],
        ["ratio without the ledger", *(_ratio(found[title], "without the ledger") for title in titles)],
        ["plain, peak (MB)", *(f"{found[title]['plain'].peak_mb:.0f}" for title in titles)],
        ["Discreet, peak (MB)", *(f"{found[title]['discreet'].peak_mb:.0f}" for title in titles)],
    ]
    return [
        f"{rows:,} rows, ε = 1, medians of rounds taken in turn. The first table may take {MOST_TIMES} times as long",
        f"as the plain cube; the second {MOST_SECONDS} s and {MOST_MB:,} MB.",
        describe_machine(),
        "",
        *table(["", *titles], lines),
    ]


def _named(part: str) -> str:
    return f"Discreet, {part} (s)"


def _ratio(both: Mapping[str, Figures], part: str) -> str:
    return f"{both['discreet'].seconds[part] / both['plain'].whole:.2f}×"
