"""Linked counts: unbiased and covering for people still under account, and for nobody else; ratios cover too.

Answers come from three offices, and from draws of the noise that a registry adds. How many of n independent intervals
miss is held against Chernoff's bound, exp(-n·divergence), at alpha = 1e-9 on the upper side; fewer than ten such
comparisons. Means of n draws are held against 7 of their deviations: by Bernstein's inequality for sums of at least 500
Laplace variables that leaves less than 1e-8 for each of fewer than ten. A false alarm in this file has probability
below 2e-7. Entropy is fresh, nothing is rerun, and noise that is 30% larger must be found out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.linkage import AskedGroup, LinkedKind, publish_answer
from discreet.noise import SystemEntropy, discrete_laplace_array
from discreet.results import Release
from tests.unit.linkage.noisy_answers import make_agreement, make_answer
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, people_rows, terms_text

pytestmark = pytest.mark.statistical

ALPHA = 1e-9
MISSING = 0.05
DEVIATIONS = 7.0
SCALE = 30
SPREAD = math.sqrt(2) * SCALE
PEOPLE = 20_000
AGES = range(50)
EARLY = range(25)
FILLS = 20
"""Counts with their size at scale 30 that an account of 415 parts holds: 20 parts each."""

Array = NDArray[np.int64]


def bound_misses(trials: int) -> int:
    """More misses than this are too many for a chance of 5%."""

    def unlikely(misses: int) -> bool:
        share = misses / trials
        if share <= MISSING:
            return False
        rest = 0.0 if share == 1 else (1 - share) * math.log((1 - share) / (1 - MISSING))
        return trials * (share * math.log(share / MISSING) + rest) > -math.log(ALPHA)

    return next(misses for misses in range(trials + 1) if unlikely(misses))


def misses(release: Release, name: str, truths: Sequence[float]) -> int:
    """Intervals of a statistic that are shown and do not hold the truth."""
    ends = [row[name] for row in release.intervals]
    pairs = zip(ends, truths, strict=True)
    return sum(1 for (low, high), truth in pairs if low is not None and high is not None and not low <= truth <= high)


# --- by three offices -----------------------------------------------------------------------------------------------


def true_cells(ages: Sequence[int]) -> Array:
    """People in the health file with the property and without, for each age, as `people_rows` makes them."""
    persons = np.arange(1, PEOPLE * 9 // 10 + 1)
    of = [persons[persons % 90 == age] for age in ages]
    return np.array([[np.count_nonzero(item % 4 == 0), np.count_nonzero(item % 4)] for item in of])


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[ThreeOffices]:
    found = open_offices(tmp_path, terms=terms_text(people=f"people: {PEOPLE}"), rows=people_rows(PEOPLE))
    yield found
    found.close()


def ask(offices: ThreeOffices, ages: Sequence[int], *, turn: int) -> Release:
    """Everybody of these ages: a question of its own at every turn, or it would be answered as before."""
    request = offices.researcher.ask(
        property="francophone",
        kind=LinkedKind.COUNT_AND_SIZE,
        scale=SCALE,
        where=f"age < {60 + turn}",
        groups=[AskedGroup(f"{age}", f"age = {age}", Decimal(1)) for age in ages],
    )
    drawn = offices.holder.draw(request.envelope)
    counted = offices.registry.count(drawn.sample)
    return publish_answer(offices.signed.agreement, offices.researcher.read(counted.answer, drawn.labels))


def test_answers_are_unbiased_and_cover_for_people_under_account_alone(offices: ThreeOffices) -> None:
    truths = true_cells(EARLY)
    sums, missed, oversized, trials = truths.sum(axis=1), 0, 0, FILLS * len(EARLY)
    errors: list[float] = []
    for turn in range(FILLS):
        release = ask(offices, EARLY, turn=turn)
        errors += [float(row["count"] or 0) - truth for row, truth in zip(release.rows, truths[:, 0], strict=True)]
        missed += misses(release, "count", truths[:, 0].tolist())
        oversized += misses(release, "size", sums.tolist())
    assert abs(float(np.mean(errors))) < DEVIATIONS * SPREAD / math.sqrt(trials)
    assert max(missed, oversized) < bound_misses(trials)

    # Everybody of these ages has been counted twenty times: they are left out, and the others are not.
    release = ask(offices, AGES, turn=FILLS)
    sizes = np.array([row["size"] for row in release.rows], dtype=float)
    allowed = DEVIATIONS * SPREAD * math.sqrt(2 * len(EARLY))
    early, late = sizes[: len(EARLY)].sum(), sizes[len(EARLY) :].sum()
    assert abs(early) < allowed < true_cells(EARLY).sum() - allowed
    assert abs(late - true_cells(AGES[len(EARLY) :]).sum()) < allowed


# --- by draws of the noise ------------------------------------------------------------------------------------------

CELLS = np.array([[place * 40, 200 + place * 100] for place in range(1, 21)])
NAMES = [f"g{place}" for place in range(len(CELLS))]
REPLICATES = 120
AGREEMENT = make_agreement()
SHARE, POPULATION = "0.2", 100_000


def draw(shape: tuple[int, ...], scale: Fraction) -> Array:
    noise = discrete_laplace_array(SystemEntropy(), scale=scale, count=math.prod(shape))
    return np.asarray(noise, dtype=np.int64).reshape(shape)


def publish(cells: Array, names: Sequence[str], **more: object) -> Release:
    found = make_answer(AGREEMENT, cells.tolist(), groups=names, **more)  # type: ignore[arg-type]
    return publish_answer(AGREEMENT, found, population_share=SHARE, population=POPULATION)


def count_misses(scale: Fraction) -> tuple[dict[str, int], float]:
    """How often each statistic misses over all replicates, and the mean error of counts."""
    having, others = CELLS[:, 0], CELLS[:, 1]
    truths = {
        "count": having,
        "size": having + others,
        "share": having / (having + others),
        "rate_ratio": having / others / (0.2 / 0.8),
        "rate_with": having / 20_000,
        "rate_without": others / 80_000,
    }
    found, errors = dict.fromkeys(truths, 0), []
    for noise in draw((REPLICATES, *CELLS.shape), scale):
        release = publish(CELLS + noise, NAMES)
        errors.append(float(noise[:, 0].mean()))
        for name, truth in truths.items():
            found[name] += misses(release, name, truth.tolist())
    return found, float(np.mean(errors))


def test_counts_shares_and_rates_cover() -> None:
    found, error = count_misses(Fraction(SCALE))
    trials = REPLICATES * len(CELLS)
    assert {name: missed for name, missed in found.items() if missed >= bound_misses(trials)} == {}
    assert abs(error) < DEVIATIONS * SPREAD / math.sqrt(trials)
    assert found["count"] > 0.03 * trials


def test_larger_noise_than_was_agreed_on_is_found_out() -> None:
    found, _ = count_misses(Fraction(SCALE * 13, 10))
    assert found["count"] >= bound_misses(REPLICATES * len(CELLS))


def test_distributions_over_groups_cover() -> None:
    """The first group of each answer, because those of one answer depend on each other."""
    cells, rates, trials = np.array([[300, 900], [500, 400], [200, 300]]), ["0.5", "1", "1"], 500
    raised = cells * np.array([[2], [1], [1]])
    truths = raised[0] / raised.sum(axis=0)
    missed = dict.fromkeys(("distribution_with", "distribution_without"), 0)
    for noise in draw((trials, *cells.shape), Fraction(SCALE)):
        release = publish(cells + noise, NAMES[:3], rates=rates)
        for (name, _), truth in zip(missed.items(), truths, strict=True):
            [low, high] = release.intervals[0][name]
            missed[name] += low is not None and high is not None and not low <= truth <= high
    assert {name: count for name, count in missed.items() if count >= bound_misses(trials)} == {}


def test_the_share_linked_covers() -> None:
    agreement = make_agreement(unit=f"unit: {{map: {'a' * 64}, members: 4}}")
    cells, missed = np.column_stack([CELLS, CELLS[:, 1] // 3]), 0
    truths = CELLS.sum(axis=1) / cells.sum(axis=1)
    for noise in draw((REPLICATES // 3, *cells.shape), Fraction(SCALE)):
        release = publish_answer(agreement, make_answer(agreement, (cells + noise).tolist(), groups=NAMES))
        missed += misses(release, "linked_share", truths.tolist())
    assert missed < bound_misses(REPLICATES // 3 * len(cells))


def test_the_bound_is_neither_slack_nor_tight() -> None:
    assert bound_misses(3_000) < 3_000 * 0.08
    assert bound_misses(3_000) > 3_000 * 0.06
