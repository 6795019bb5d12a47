"""Tables through the whole path, from measured rows to published figures: coverage, and the error that was explained.

Coverage: tables are drawn again and again from the same exact cells. Where the cells alone are measured, the cells of a
draw are independent; elsewhere each draw gives one figure of each margin, chosen at random. Shares of n independent
trials are held against Chernoff's bound at alpha = 1e-9; with fewer than 50 comparisons a false alarm in this file has
probability below 1e-7. Variance: the mean square error of all figures, one vote for each margin, is averaged over runs
that are independent; at seven standard errors, with a skewness of at most 0.2, a false alarm has probability below
1e-6 (Cramér's correction of the normal tail). Entropy is fresh and nothing is rerun. Noise that is 30% larger than the
explanation knows of must be found out, and so must noise of half the size again, or of six tenths, by the intervals of
cells; a grand total's one figure a draw finds noise of four times the size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.engines.engine import Measured
from discreet.release.measurement.noisy_measures import Noisy, draw
from discreet.release.measurement.pricing import Pricing
from discreet.release.stored_answer import Answer
from discreet.results import Amount, Charged, Figure, Quality, Release
from discreet.tables.linear.layout import keep_keys
from discreet.tables.table_design import Design
from discreet.tables.table_figures import EstimatedMeasure
from discreet.tables.table_reading import figure_margins, read_table
from tests.releases import LEFT
from tests.unit.tables.office import WITH_DELTA, Office, open_office, person

pytestmark = pytest.mark.statistical

ALPHA = 1e-9
SIGMAS = 7
FAULT = 1.3
LEVEL = Decimal("0.95")
CHOICES = np.random.default_rng()
PEOPLE = [person(pid) for pid in range(1, 3001)]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, WITH_DELTA, PEOPLE) as opened:
            yield opened


@dataclass(frozen=True)
class Desk:
    """One table, its exact cells, and as many draws of it as are wanted."""

    design: Design
    pricing: Pricing
    measured: Measured

    def draw(self, *, fault: float = 1) -> Release:
        """A table as published; with a fault, its noise is larger than what is stored with it."""
        noisy = draw(self.design.statement.plan, self.pricing, self.measured)
        if fault != 1:
            noisy = spoil(noisy, self.measured, fault)
        answer = Answer(
            statement=self.design.statement,
            cards=self.design.formed.cards,
            versions={"people": 1},
            noisy=noisy,
            level=LEVEL,
            settlement=Charged(Amount(), LEFT, replayed=False),
            request_id="one",
        )
        return read_table(self.design, answer, level=LEVEL)

    def entries(self, *, fault: float = 1) -> list[Figure]:
        """Every figure with its ends, those too that a table leaves out because their groups may be nobody."""
        noisy = spoil(draw(self.design.statement.plan, self.pricing, self.measured), self.measured, fault)
        margins, keys = figure_margins(self.design, noisy, level=LEVEL), range(len(self.design.formed.sizes))
        return [
            Figure((), tuple(place for place in keys if place not in margin), value, raw, low, high, Quality.NOT_RATED)
            for margin, one in margins.items()
            for value, raw, low, high in zip(one.values, one.raw, one.low, one.high, strict=True)
        ]

    def truth(self) -> Release:
        """The same table without noise."""
        return self.draw(fault=0)


def spoil(noisy: Noisy, measured: Measured, fault: float) -> Noisy:
    """The same draw with its noise made larger; with a fault of 0, without it."""
    columns = cast("Sequence[Sequence[int]]", measured.columns)
    return replace(
        noisy,
        measures=tuple(
            replace(
                one,
                values=tuple(
                    exact + round((value - exact) * fault) for value, exact in zip(one.values, column, strict=True)
                ),
            )
            for one, column in zip(noisy.measures, columns, strict=True)
        ),
    )


def make_desk(office: Office, by: str, **options: Any) -> Desk:
    design = office.design(by, **options)
    measured = office.measure(design.statement.plan, design)
    return Desk(design, design.price(), measured)


def covers(entry: Figure, truth: Figure) -> bool:
    assert entry.low is not None
    assert entry.high is not None
    assert truth.raw is not None
    return entry.low - 1e-6 <= truth.raw <= entry.high + 1e-6


def is_below(hits: int, trials: int, chance: float) -> bool:
    """Whether so few hits have probability below alpha when each has at least this chance."""
    share = hits / trials
    if share >= chance:
        return False
    divergence = share * math.log(share / chance) if share else 0.0
    divergence += (1 - share) * math.log((1 - share) / (1 - chance))
    return trials * divergence > -math.log(ALPHA)


def is_above(hits: int, trials: int, chance: float) -> bool:
    return is_below(trials - hits, trials, 1 - chance)


# --- coverage ---------------------------------------------------------------------------------------------------------

COVERED: dict[str, dict[str, Any]] = {
    "counts, Laplace": {"by": "region,smokes,age", "noise": "laplace"},
    "counts, Gaussian": {"by": "region,smokes,age", "noise": "gaussian"},
    "weighted counts, Laplace": {"by": "region,smokes,age", "weighted": True, "noise": "laplace"},
    "weighted counts, Gaussian": {"by": "smokes,region", "weighted": True, "noise": "gaussian"},
    "signed totals": {"by": "smokes,grade", "value": "change", "noise": "laplace"},
    "weighted means": {"by": "region,smokes", "value": "height", "mean": True, "weighted": True, "noise": "laplace"},
}
QUICK = ("counts, Laplace", "signed totals")
DRAWS = 300
KINDS = ["laplace", pytest.param("gaussian", marks=pytest.mark.long)]


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in QUICK else [pytest.mark.long]) for case in COVERED]
)
def test_every_margin_is_covered_at_least_at_its_level(office: Office, case: str) -> None:
    desk = make_desk(office, epsilon="0.3", **COVERED[case])
    truth = desk.entries(fault=0)
    margins: dict[tuple[int, ...], list[int]] = {}
    for place, entry in enumerate(truth):
        # the mean of nobody is no number to be covered
        if not (desk.design.formed.mean is not None and entry.low == 1.0 and entry.high == 2.5):
            margins.setdefault(entry.over, []).append(place)
    hits = dict.fromkeys(margins, 0)
    for _ in range(DRAWS):
        drawn = desk.entries()
        for over, places in margins.items():
            place = int(CHOICES.choice(places))
            hits[over] += covers(drawn[place], truth[place])
    assert len(hits) == 2 ** len(desk.design.formed.sizes)
    for over, found in hits.items():
        assert not is_below(found, DRAWS, 0.95), (case, over, found)
    spoilt = sum(covers(desk.draw(fault=4).margins[-1], truth[-1]) for _ in range(DRAWS))
    assert is_below(spoilt, DRAWS, 0.95)


def count_fine(desk: Desk, draws: int, fault: float = 1) -> tuple[int, int]:
    """Cells covered, and cells looked at, over many draws: those so far from 0 that an interval hardly ever holds it.

    Which they are follows from the exact table, so the noise has no say in it.
    """
    truth, hits, trials = desk.truth(), 0, 0
    far = [place for place, entry in enumerate(truth.cells) if entry.raw is not None and entry.raw > 60]
    for _ in range(draws):
        drawn = desk.draw(fault=fault)
        hits += sum(covers(drawn.cells[place], truth.cells[place]) for place in far)
        trials += len(far)
    return hits, trials


@pytest.mark.parametrize("noise", KINDS)
def test_far_from_zero_and_on_a_fine_grid_coverage_is_the_level(office: Office, noise: str) -> None:
    desk = make_desk(office, "smokes,grade", noise=noise, epsilon="0.2", margins=False)
    hits, trials = count_fine(desk, 900)
    assert trials >= 8000
    assert not is_below(hits, trials, 0.93)
    assert not is_above(hits, trials, 0.97)
    assert is_below(*count_fine(desk, 300, fault=1.5), 0.93)
    assert is_above(*count_fine(desk, 300, fault=0.6), 0.97)


# --- the error that is explained --------------------------------------------------------------------------------------

WIDE = """
dataset: people
population: everyone
unit: {{column: pid, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 10, delta: 1e-6}}
columns:
  pid: {{kind: id, type: integer}}
  region: {{kind: category, categories: [{twelve}]}}
  smokes: {{kind: category, categories: [{four}]}}
  serial: {{kind: category, categories: [{fifteen}]}}
"""
RUNS = {"laplace": 700, "gaussian": 200}


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Keys with 13, 5 and 16 cells, the one without a value among them."""
    card = WIDE.format(**{name: ", ".join(map(str, range(1, count + 1))) for name, count in SIZES.items()})
    folder = tmp_path_factory.mktemp("wide")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, card, PEOPLE[:10]) as opened:
            yield opened


SIZES = {"twelve": 12, "four": 4, "fifteen": 15}


def mean_squares(desk: Desk, runs: int) -> NDArray[np.float64]:
    """For each run the mean over margins of the mean square error of the linear estimate of their figures."""
    component, plan, pricing = desk.design.components[0], desk.design.statement.plan, desk.pricing

    def estimate(noisy: Noisy) -> NDArray[np.float64]:
        return EstimatedMeasure(
            component.layout, component.chosen.measured, noisy.in_order_of(desk.design.statement)
        ).raw

    found = np.empty(runs)
    exact = estimate(spoil(draw(plan, pricing, desk.measured), desk.measured, 0))
    for run in range(runs):
        errors = estimate(draw(plan, pricing, desk.measured)) - exact
        found[run] = np.mean([np.mean(keep_keys(errors, margin) ** 2) for margin in component.layout.margins])
    return found


@pytest.mark.parametrize("noise", KINDS)
def test_realised_variance_is_the_one_that_is_explained(wide: Office, noise: str) -> None:
    desk = make_desk(wide, "region,smokes,serial", noise=noise, epsilon="0.1")
    assert desk.design.formed.sizes == (13, 5, 16)
    asked = wide.read("region,smokes,serial", noise=noise, epsilon="0.1")
    told: Any = wide.session.tables.explain(asked).to_dict()["measures"]
    strategies = [one for one in told[0]["strategies"] if one["noise"] == noise]
    (expected,) = [one["mean_expected_variance"] for one in strategies if one["chosen"]]
    assert expected == min(one["mean_expected_variance"] for one in strategies)
    squares = mean_squares(desk, RUNS[noise])
    reach = SIGMAS * squares.std() / len(squares) ** 0.5
    assert abs(squares.mean() - expected) < reach
    assert abs(squares.mean() * FAULT**2 - expected) > reach * FAULT**2
