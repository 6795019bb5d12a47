"""Whether published figures mislead: tables of hidden people, drawn again and again beside their exact figures.

6,000 people in regions of nobody to 2,000, with skewed values and unequal weights. Every sort of table is released many
times as it would be, from the rows to the grades, past the ledger; entropy is fresh. Counted are shares: of intervals
that hold (of means, before any is left out, over groups that have somebody), of tables that show a mean of nobody, of
good figures that are wrong by more than a third; and the intervals that have no width.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import numpy as np

from discreet.engines import Measured
from discreet.release import Noisy, draw
from discreet.results import Quality
from discreet.session import Session
from discreet.tables import Design, MarginFigures, Target, keep_keys, table_request
from discreet.tables.calibration import calibrate
from discreet.tables.table_reading import figure_margins

__all__ = ["CALIBRATED", "KINDS", "Tally", "hidden_people", "measure_calibrated", "measure_kind", "run"]

TABLES = 300
LEVEL = Decimal("0.95")
WRONG = 0.33
SIZES = (0, 0, 0, 3, 6, 12, 25, 50, 100, 200, 400, 800, 1_404, 2_000)
PEOPLE = sum(SIZES) + 1_000
_CARD = """\
dataset: hidden
population: hidden
unit: {{column: pid, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 100000}}
weight: {{column: weight, cap: 60}}
columns:
  pid: {{kind: id, type: integer}}
  region: {{kind: category, categories: [{regions}]}}
  sex: {{kind: category, categories: [1, 2]}}
  income: {{kind: integer, bounds: [0, 200000], missing: [999999]}}
  height: {{kind: number, bounds: [120, 210], step: 0.1}}
  weight: {{kind: number, bounds: [0, 60], step: 0.1}}
"""
KINDS: Mapping[str, Mapping[str, Any]] = {
    "mean income by region": {"by": "region", "value": "income", "mean": True},
    "mean income by region and sex": {"by": "region,sex", "value": "income", "mean": True},
    "weighted mean income by region": {"by": "region", "value": "income", "mean": True, "weighted": True},
    "mean height by region": {"by": "region", "value": "height", "mean": True},
    "count by region and sex": {"by": "region,sex"},
    "weighted count by region": {"by": "region", "weighted": True},
    "total income by region": {"by": "region", "value": "income"},
}
"""Sorts of tables by name: what each is asked with."""

CALIBRATED = "calibrated weighted count by region and sex"

EPSILONS = ("0.1", "0.2", "1")


@dataclass
class Tally:
    """What was counted over the tables of one sort."""

    tables: int = 0
    figures: int = 0
    covered: int = 0
    shown_of_nobody: int = 0
    tables_with_nobody: int = 0
    good: int = 0
    good_but_wrong: int = 0
    without_width: int = 0
    totals_missed: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another sort's tables too."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def told(self) -> dict[str, float]:
        return {
            "intervals that hold (%)": 100 * self.covered / max(self.figures, 1),
            "tables that show a mean of nobody (%)": 100 * self.tables_with_nobody / max(self.tables, 1),
            "good figures (%)": 100 * self.good / max(self.figures, 1),
            "good figures that are wrong by more than a third (%)": 100 * self.good_but_wrong / max(self.good, 1),
            "intervals without width": self.without_width,
            "public totals missed": self.totals_missed,
            "mean width": float(np.mean(self.widths)),
        }


def run(*, tables: int = TABLES) -> dict[str, float]:
    """Every sort at every epsilon."""
    result: dict[str, float] = {}
    with hidden_people() as session:
        for kind in KINDS:
            for epsilon in EPSILONS:
                tally = measure_kind(session, kind, epsilon=epsilon, tables=tables)
                result |= {f"{kind}, epsilon {epsilon}: {what}": figure for what, figure in tally.told().items()}
        for epsilon in EPSILONS:
            tally = measure_calibrated(session, epsilon=epsilon, tables=tables)
            result |= {f"{CALIBRATED}, epsilon {epsilon}: {what}": figure for what, figure in tally.told().items()}
    return result


@contextmanager
def hidden_people(setenv: Callable[[str, str], None] = os.environ.setdefault, seed: int = 16) -> Iterator[Session]:  # type: ignore[assignment]
    """A workspace with the people; only their noise is drawn anew each time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        setenv("DISCREET_KEYS", str(folder / "keys"))
        setenv("DISCREET_ANALYST", "bench")
        (folder / "hidden.csv").write_text(_rows(np.random.default_rng(seed)), encoding="utf-8")
        regions = ", ".join(str(index + 1) for index in range(len(SIZES)))
        (folder / "hidden.yaml").write_text(_CARD.format(regions=regions), encoding="utf-8")
        with Session.create(folder / "w") as session:
            session.add(folder / "hidden.csv", confirm=lambda _: True)
            yield session


def _rows(random: np.random.Generator) -> str:
    """Some people have no region, some no income; incomes are log-normal, other in each region, and heights normal."""
    regions = np.concatenate([np.full(size, index + 1) for index, size in enumerate(SIZES)])
    regions = np.concatenate([regions, np.zeros(PEOPLE - len(regions), dtype=np.int64)])
    sex = random.integers(1, 3, PEOPLE)
    income = np.exp(random.normal(9.6 + 0.06 * regions, 0.9)).astype(np.int64)
    income[random.random(PEOPLE) < 0.05] = 999_999
    height = np.round(random.normal(165 + 6 * (sex == 2), 9), 1)
    weight = np.round(np.minimum(5 + random.gamma(1.2, 12, PEOPLE), 80), 1)
    lines = zip(regions.tolist(), sex.tolist(), income.tolist(), height.tolist(), weight.tolist(), strict=True)
    rows = [
        f"{pid},{region or ''},{rest[0]},{rest[1]},{rest[2]},{rest[3]}" for pid, (region, *rest) in enumerate(lines)
    ]
    return "\n".join(["pid,region,sex,income,height,weight", *rows, ""])


def measure_kind(session: Session, kind: str, *, epsilon: str, tables: int, fault: int = 1) -> Tally:
    """Release the table so many times, and count; with a fault, with so many times the noise that is told."""
    asked = dict(KINDS[kind])
    design = session.tables.read(table_request("hidden", asked.pop("by"), **asked), epsilon=epsilon).design
    plan, pricing = design.statement.plan, design.price()
    measured = session.open_engine(design.formed.datasets).measure(plan)
    truth, people = _exact(design, draw(plan, pricing, measured), measured)
    tally = Tally()
    for _ in range(tables):
        noisy = _spoilt(draw(plan, pricing, measured), measured, fault)
        _count(tally, figure_margins(design, noisy, level=LEVEL), truth, people)
    return tally


def measure_calibrated(session: Session, *, epsilon: str, tables: int, fault: int = 1) -> Tally:
    """Weighted counts brought to totals by region, a little above what capped weights add up to: x·T/Σx is covered."""
    request = table_request("hidden", "region,sex", weighted=True)
    design = session.tables.read(request, epsilon=epsilon).design
    plan, pricing = design.statement.plan, design.price()
    measured = session.open_engine(design.formed.datasets).measure(plan)
    exact, _ = _exact(design, draw(plan, pricing, measured), measured)
    known = np.append(np.ceil(1.03 * exact[(0,)][:-1]), np.nan)
    cells = exact[(0, 1)].reshape(len(known), -1)[:-1]
    truth = calibrate(np.maximum(cells, 0), [Target((0,), known[:-1])]).values
    tally = Tally()
    for _ in range(tables):
        noisy = _spoilt(draw(plan, pricing, measured), measured, fault)
        found = figure_margins(design, noisy, level=LEVEL, targets=[Target((0,), known)])
        tally.totals_missed += int((np.array(found[(0,)].values) != known[:-1]).sum())
        for margin in ((0, 1), (1,)):
            shown = np.array([low is not None for low in found[margin].low])  # regions of nobody have a total of 0
            wanted = keep_keys(truth, margin).ravel()[shown]
            _count_figures(tally, found[margin], shown, wanted)
        tally.tables += 1
    return tally


def _count_figures(tally: Tally, found: MarginFigures, shown: np.ndarray, wanted: np.ndarray) -> None:
    values, low, high = (np.array(item, dtype=np.float64)[shown] for item in (found.values, found.low, found.high))
    good = np.array([quality is Quality.GOOD for quality in found.grades()])[shown]
    tally.figures += len(wanted)
    tally.covered += int(((low - 1e-6 <= wanted) & (wanted <= high + 1e-6)).sum())
    tally.without_width += int((high <= low).sum())
    tally.widths.append(float(np.mean(high - low)))
    tally.good += int(good.sum())
    tally.good_but_wrong += int((good & (np.abs(values - wanted) > WRONG * wanted)).sum())


def _exact(design: Design, drawn: Noisy, measured: Measured) -> tuple[dict[Any, np.ndarray], dict[Any, np.ndarray]]:
    """The exact figures by margin, and whether there is anybody in them: the same reading of values without noise."""
    still = _spoilt(drawn, measured, 0)
    found = figure_margins(design, still, level=LEVEL)
    truth = {margin: np.array(item.raw, dtype=np.float64) for margin, item in found.items()}
    if design.formed.mean is None:
        return truth, {margin: np.ones(len(item), dtype=np.bool_) for margin, item in truth.items()}
    return truth, _inhabited(design, still)


def _spoilt(drawn: Noisy, measured: Measured, fault: int) -> Noisy:
    """The same draw with so many times its noise."""
    columns = cast("list[list[int]]", measured.columns)
    measures = tuple(
        replace(
            item,
            values=tuple(exact + fault * (value - exact) for value, exact in zip(item.values, column, strict=True)),
        )
        for item, column in zip(drawn.measures, columns, strict=True)
    )
    return replace(drawn, measures=measures)


def _inhabited(design: Design, still: Noisy) -> dict[Any, np.ndarray]:
    """Where the size of a mean is not 0."""
    from discreet.tables.table_reading import estimate_measures

    sizes = estimate_measures(design, still)[1]
    return {margin: keep_keys(sizes.raw, margin).ravel() > 0.01 for margin in design.formed.request.kept()}


def _count(
    tally: Tally, drawn: Mapping[Any, MarginFigures], truth: Mapping[Any, Any], people: Mapping[Any, Any]
) -> None:
    nobody = 0
    for margin, item in drawn.items():
        low, high, exact, there = np.array(item.low), np.array(item.high), truth[margin], people[margin]
        shown = np.ones(len(low), dtype=np.bool_) if item.too_small is None else ~item.too_small
        slack = 1e-9 * max(float(np.abs(exact).max()), 1)  # what an exact figure loses when it is estimated
        held = (low - slack <= exact) & (exact <= high + slack)
        tally.figures += int(there.sum())
        tally.covered += int((held & there).sum())
        nobody += int((shown & ~there).sum())
        tally.without_width += int((high <= low).sum())
        tally.widths.append(float(np.mean((high - low)[there])))
        good = shown & np.array([quality is Quality.GOOD for quality in item.grades()])
        off = np.abs(np.array(item.values, dtype=np.float64) - exact) > WRONG * np.abs(exact)
        tally.good += int(good.sum())
        tally.good_but_wrong += int((good & (off | ~there)).sum())
    tally.tables += 1
    tally.shown_of_nobody += nobody
    tally.tables_with_nobody += nobody > 0
