"""Figures that do not mislead: the simulation of hidden people (`python -m benchmarks figures`), with fewer tables.

Shares are held against Chernoff's bound at alpha = 1e-8. Figures of one table are not independent, so there are as many
trials as tables. With fewer than twenty comparisons a false alarm in this file has probability below 2e-7. That no
interval is without width holds for all draws. Noise of four times the size must be found out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from benchmarks.figures import KINDS, Tally, hidden_people, measure_calibrated, measure_kind
from discreet.session import Session

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
MEANS = [kind for kind, asked in KINDS.items() if asked.get("mean")]
OTHERS = [kind for kind in KINDS if kind not in MEANS]


@pytest.fixture(scope="module")
def people() -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch, hidden_people(patch.setenv) as session:
        yield session


def is_above(share: float, trials: int, chance: float) -> bool:
    """Whether such a share has probability below alpha when each of the trials has at most this chance."""
    if share <= chance:
        return False
    divergence = share * math.log(share / chance)
    divergence += (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return trials * divergence > -math.log(ALPHA)


def measure(session: Session, kinds: list[str], tables: int, fault: int = 1) -> Tally:
    found = Tally()
    for kind in kinds:
        found.add(measure_kind(session, kind, epsilon="1", tables=tables, fault=fault))
    return found


def check_means(found: Tally) -> None:
    missed = 1 - found.covered / found.figures
    assert not is_above(missed, found.tables, 0.06)
    assert not is_above(1 - missed, found.tables, 0.97)
    assert not is_above(found.tables_with_nobody / found.tables, found.tables, 0.05)
    assert not is_above(found.good_but_wrong / found.good, found.tables, 0.05)
    assert found.without_width == 0


def check_others(found: Tally) -> None:
    assert not is_above(1 - found.covered / found.figures, found.tables, 0.05)
    assert not is_above(found.good_but_wrong / found.good, found.tables, 0.05)
    assert found.without_width == 0


def test_means_hold_are_never_of_nobody_and_good_ones_are_right(people: Session) -> None:
    check_means(measure(people, MEANS, 30))


def test_counts_and_totals_hold_and_have_width(people: Session) -> None:
    check_others(measure(people, OTHERS, 30))


def check_calibrated(found: Tally) -> None:
    assert found.totals_missed == 0
    assert not is_above(1 - found.covered / found.figures, found.tables, 0.06)
    assert not is_above(found.good_but_wrong / found.good, found.tables, 0.05)
    assert found.without_width == 0


def test_calibrated_figures_meet_their_totals_and_hold(people: Session) -> None:
    check_calibrated(measure_calibrated(people, epsilon="1", tables=40))


@pytest.mark.long
def test_the_same_for_many_tables(people: Session) -> None:
    check_means(measure(people, MEANS, 100))
    check_others(measure(people, OTHERS, 100))
    check_calibrated(measure_calibrated(people, epsilon="0.2", tables=200))


def test_more_noise_than_is_told_is_found_out(people: Session) -> None:
    calibrated = measure_calibrated(people, epsilon="1", tables=100, fault=4)
    assert is_above(1 - calibrated.covered / calibrated.figures, calibrated.tables, 0.06)
    found = measure(people, MEANS[:2], 40, fault=4)
    assert is_above(1 - found.covered / found.figures, found.tables, 0.06)
    assert is_above(found.tables_with_nobody / found.tables, found.tables, 0.05)
