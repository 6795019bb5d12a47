"""Questions with a budget against the same aggregates in plain DuckDB: ratios, memory, and a small question's steps.

Discreet's time is all of `Session.query(…, fresh=True)`: reading the SQL, the charge synced to disk, the engine, the
noise, the answer stored. Plain DuckDB reads the file that a user has. All of one case take turns in one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.page import PAGE, describe_machine, table, write_block
from benchmarks.people import PLACES, House, build_house
from benchmarks.turns import Figures, take_turns

ROWS = 10_000_000
ROUNDS = 15
SCALAR_ROUNDS = 101
SURVEY_ROWS = 113_290
SCALAR_LIMIT_MS = 15
MEDIAN_LIMIT_MS = 100
MOST_MB = 1024

_PLAIN = "SELECT {key}, count(*), sum({value}), avg({value}) FROM {rows} GROUP BY {key}"
_OURS = "SELECT {key}, COUNT(*) AS n, SUM({value}) AS total, AVG({value}) AS mean FROM {rows} GROUP BY {key}"
_PER_UNIT = "SELECT avg(total) FROM (SELECT id, sum(income) AS total FROM {rows} GROUP BY id)"
MEDIAN = "SELECT MEDIAN(place) AS middle FROM people"
_DIGEST = (
    "md5(concat_ws('|', 'salt', id, province, place, CAST(income * 100 AS BIGINT), CAST(spending * 100 AS BIGINT)))"
)
_RANKED = f"(SELECT *, row_number() OVER (PARTITION BY id ORDER BY {_DIGEST}) AS ord FROM {{rows}})"
_BOUNDED = f"SELECT province, count(*), sum(income), avg(income) FROM {_RANKED} WHERE ord <= 3 GROUP BY province"


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the plain statement it is held against, and the ratio it must reach.

    `others` are plain statements told beside it. In all of them {people} and {visits} stand for the original file,
    {prepared} for the prepared one.
    """

    title: str
    sql: str
    plain: str
    limit: float
    others: Mapping[str, str]


CASES = (
    Case(
        "13 keys",
        _OURS.format(key="province", value="income", rows="people"),
        _PLAIN.format(key="province", value="income", rows="{people}"),
        1.2,
        {"plain on the prepared file": _PLAIN.format(key="province", value="income", rows="{prepared}")},
    ),
    Case(
        "13 keys, clamped in the question",
        _OURS.format(key="province", value="CLAMP(income, 1000, 100000)", rows="people"),
        _PLAIN.format(key="province", value="income", rows="{people}"),
        2.5,
        {},
    ),
    Case(
        "13 keys, clamped in the question, a column without bounds",
        _OURS.format(key="province", value="CLAMP(spending, 0, 40000)", rows="people"),
        _PLAIN.format(key="province", value="spending", rows="{people}"),
        2.5,
        {},
    ),
    Case(
        "100,000 keys",
        _OURS.format(key="place", value="income", rows="people"),
        _PLAIN.format(key="place", value="income", rows="{people}"),
        3,
        {},
    ),
    Case(
        "13 keys, three rows per unit count, by the stored order",
        _OURS.format(key="province", value="income", rows="visits"),
        _PLAIN.format(key="province", value="income", rows="{visits}"),
        1.5,
        {"plain, three rows per unit by md5 inside the query": _BOUNDED.format(rows="{visits}")},
    ),
    Case(
        "mean of totals per unit, three rows per unit count",
        "SELECT AVG(total) AS mean FROM (SELECT id, SUM(income) AS total FROM visits GROUP BY id)",
        _PER_UNIT.format(rows="{visits}"),
        8,
        {"plain, grouped by province": _PLAIN.format(key="province", value="income", rows="{visits}")},
    ),
    Case("median", MEDIAN, "SELECT median(place) FROM {people}", 2, {}),
)


def run(
    rows: int = ROWS,
    *,
    cases: Sequence[Case] = CASES,
    rounds: int = ROUNDS,
    survey_rows: int = SURVEY_ROWS,
    scalar_rounds: int = SCALAR_ROUNDS,
    page: Path = PAGE,
) -> dict[str, float]:
    """Measure, and write what was found into `page`."""
    text = {"cores": float(os.cpu_count() or 1)}
    with tempfile.TemporaryDirectory() as folder:
        house = build_house(Path(folder), rows=rows)
        found = {case.title: _take_turns(case, house, rounds) for case in cases}
        median = _parts(house.workspace, MEDIAN, rounds)
    with tempfile.TemporaryDirectory() as folder:
        scalar = _scalar(Path(folder), survey_rows, scalar_rounds)
    write_block(page, "query", _page_of_cases(cases, found, rows, rounds))
    write_block(page, "scalar", _page_of_parts(scalar, survey_rows, scalar_rounds, median, rows, rounds))
    for case in cases:
        text |= _figures(case, found[case.title])
    for question, figures in (("scalar COUNT", scalar), ("median", median)):
        text |= {f"{question}, {part} (ms)": 1000 * seconds for part, seconds in figures.seconds.items()}
    return text


def _take_turns(case: Case, house: House, rounds: int) -> dict[str, Figures]:
    files = {
        "people": house.original("people"),
        "visits": house.original("visits"),
        "prepared": house.prepared("people"),
    }
    worker = [sys.executable, "-m", "benchmarks.worker"]
    commands = {
        "plain": [*worker, "plain", case.plain.format(**files)],
        "discreet": [*worker, "discreet", str(house.workspace), case.sql],
        **{name: [*worker, "plain", sql.format(**files)] for name, sql in case.others.items()},
    }
    return take_turns(commands, rounds=rounds)


def _scalar(folder: Path, rows: int, rounds: int) -> Figures:
    """One count on the sample survey, with what each step takes."""
    os.environ["DISCREET_KEYS"] = str(folder / "keys")
    _discreet("sample", "survey", str(folder / "data"), "--rows", str(rows))
    card = folder / "data" / "survey.yaml"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace("epsilon: 3, per_analyst: 1", "epsilon: 900"), encoding="utf-8")
    _discreet("init", str(folder / "w"))
    _discreet("add", "-w", str(folder / "w"), str(folder / "data" / "survey.parquet"))
    return _parts(folder / "w", "SELECT COUNT(*) FROM survey", rounds)


def _parts(workspace: Path, sql: str, rounds: int) -> Figures:
    command = [sys.executable, "-m", "benchmarks.worker", "parts", str(workspace), sql]
    return take_turns({"parts": command}, rounds=rounds)["parts"]


def _discreet(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "discreet", *words], check=True, stdout=subprocess.DEVNULL)


def _figures(case: Case, found: Mapping[str, Figures]) -> dict[str, float]:
    ours, plain = found["discreet"], found["plain"]
    text = {
        f"{case.title}: plain (s)": plain.whole,
        f"{case.title}: Discreet (s)": ours.whole,
        f"{case.title}: ratio, at most {case.limit:g}": ours.whole / plain.whole,
        f"{case.title}: ratio with .rows read": _with(ours, "rows") / plain.whole,
        f"{case.title}: ratio with .rows and .intervals read": _with(ours, "rows", "intervals") / plain.whole,
        f"{case.title}: peak memory (MB)": ours.peak_mb,
    }
    for name in case.others:
        text[f"{case.title}: ratio to {name}"] = ours.whole / found[name].whole
    return text


def _with(figures: Figures, *parts: str) -> float:
    return figures.whole + sum(figures.seconds[part] for part in parts)


# --- the page -------------------------------------------------------------------------------------------------------


def _page_of_cases(
    cases: Sequence[Case], found: Mapping[str, Mapping[str, Figures]], rows: int, rounds: int
) -> list[str]:
    head = [
        "question",
        "plain (s)",
        "Discreet (s)",
        "ratio",
        "at most",
        "ratio with `.rows`",
        "and `.intervals`",
        "plain (MB)",
        "Discreet (MB)",
    ]
    lines = [_line(case, found[case.title]) for case in cases]
    beside = [
        [f"{case.title}: {name}", _seconds(figures.whole), _times(ours.whole / figures.whole), f"{figures.peak_mb:.0f}"]
        for case in cases
        for name in case.others
        for ours, figures in [(found[case.title]["discreet"], found[case.title][name])]
    ]
    return [
        f"{rows:,} rows; medians of {rounds} rounds taken in turn; peak resident memory of a fresh process, which for",
        f"Discreet must stay below {MOST_MB:,} MB.",
        describe_machine(),
        "",
        *table(head, lines),
        "",
        "Beside them, for information:",
        "",
        *table(["statement", "seconds", "Discreet to it", "MB"], beside),
    ]


def _line(case: Case, found: Mapping[str, Figures]) -> list[str]:
    ours, plain = found["discreet"], found["plain"]
    return [
        case.title,
        _seconds(plain.whole),
        _seconds(ours.whole),
        f"**{_times(ours.whole / plain.whole)}**",
        _times(case.limit),
        _times(_with(ours, "rows") / plain.whole),
        _times(_with(ours, "rows", "intervals") / plain.whole),
        f"{plain.peak_mb:.0f}",
        f"{ours.peak_mb:.0f}",
    ]


def _page_of_parts(
    scalar: Figures, survey_rows: int, scalar_rounds: int, median: Figures, rows: int, rounds: int
) -> list[str]:
    steps = [
        [part, *(f"{1000 * figures.seconds.get(part, 0):.1f}" for figures in (scalar, median))]
        for part in scalar.seconds
    ]
    return [
        f"Through Python, every charge synced to disk. The first is `SELECT COUNT(*) FROM survey` over {survey_rows:,}",
        f"rows (medians of {scalar_rounds} rounds): what is beyond the engine must stay below {SCALAR_LIMIT_MS} ms.",
        f"The second is `{MEDIAN}`, which chooses among {PLACES:,} places, over",
        f"{rows:,} rows ({rounds} rounds): below {MEDIAN_LIMIT_MS} ms.",
        "",
        *table(["step", "count (ms)", "median (ms)"], steps),
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×"
