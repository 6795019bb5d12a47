"""What samples show, by hand: limits against the binomial law, bounds on answers and events that are known."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import ParameterInvalid
from discreet.lab.audit import AnswerRange, audit_loss, clopper_pearson
from tests.places import TESTS

pytest.importorskip("scipy")


def test_limits_at_known_values() -> None:
    assert clopper_pearson(0, 10) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert clopper_pearson(10, 10) == pytest.approx((0.025 ** (1 / 10), 1))
    assert clopper_pearson(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-11])
@pytest.mark.parametrize(("hits", "trials"), [(1, 7), (30, 31), (3, 90), (60, 120)])
def test_at_its_limits_a_rate_gives_so_many_hits_with_half_of_alpha(hits: int, trials: int, alpha: float) -> None:
    low, high = clopper_pearson(hits, trials, alpha=alpha)
    assert tail(low, trials, range(hits, trials + 1)) == pytest.approx(alpha / 2, rel=1e-6)
    assert tail(high, trials, range(hits + 1)) == pytest.approx(alpha / 2, rel=1e-6)


def tail(rate: float, trials: int, hits: range) -> float:
    """The chance of one of these numbers of hits, in exact fractions."""
    right, wrong = Fraction(rate), 1 - Fraction(rate)
    return float(sum(comb(trials, number) * right**number * wrong ** (trials - number) for number in hits))


# --- audits ----------------------------------------------------------------------------------------------------------

ONES, ZEROS = np.ones(200), np.zeros(200)
# All of 100 on one side and none of 100 on the other: the limits are powers of alpha / 2.
EDGE = 0.0005 ** (1 / 100)


def test_answers_that_never_meet_show_all_that_so_many_samples_can() -> None:
    found = audit_loss(ONES, ZEROS, claimed=0.01, alpha=0.001)
    assert found.lower_bound == pytest.approx(math.log(EDGE / (1 - EDGE)))
    assert found.refuted
    assert found.to_dict()["samples"] == 200


def test_a_bound_by_hand() -> None:
    """Half of 200 against a tenth: 50 and 10 of the fresh hundred, at limits that tables of the beta law give."""
    first, second = np.tile([1.0, 0.0], 100), np.tile([1.0] + 9 * [0.0], 20)
    found = audit_loss(first, second, claimed=1, alpha=0.05)
    assert (found.event.low, found.event.high, found.event.first) == (1, 1, 0)
    assert found.lower_bound == pytest.approx(math.log(0.3983 / 0.1762), abs=1e-3)
    assert not found.refuted


def test_a_delta_is_granted_first() -> None:
    plain = audit_loss(ONES, ZEROS, claimed=5)
    granted = audit_loss(ONES, ZEROS, claimed=5, delta=0.5)
    assert plain.lower_bound - granted.lower_bound == pytest.approx(math.log(EDGE / (EDGE - 0.5)))
    assert not granted.refuted


def test_the_same_answers_show_nothing() -> None:
    found = audit_loss(np.tile([1, 2, 3], 200), np.tile([1, 2, 3], 200), claimed=0.01)
    assert found.lower_bound == 0
    assert not found.refuted


def test_the_event_is_measured_on_answers_that_did_not_choose_it() -> None:
    found = audit_loss([1.0] * 100 + [0.0] * 100, ZEROS, claimed=0.01)
    assert found.lower_bound == 0


def test_a_difference_of_scale_alone_is_found() -> None:
    wide, narrow = np.linspace(-9, 9, 1_000), np.linspace(-1, 1, 1_000)
    shuffled = np.random.default_rng(1)
    found = audit_loss(shuffled.permutation(wide), shuffled.permutation(narrow), claimed=0.01)
    assert found.lower_bound > 3
    assert found.event.centre is not None
    assert found.event.tell().startswith("distance from")


def test_a_value_between_others_is_found() -> None:
    """No threshold parts it from the rest: reports of categories have no order."""
    found = audit_loss(np.tile([1, 2, 3, 2], 100), np.tile([1, 3], 200), claimed=0.01)
    assert (found.event.tell(), found.event.first) == ("answer 2", 0)
    assert found.lower_bound > 2


def test_events_hold_both_their_ends() -> None:
    answers = np.array([-2.0, 0.0, 3.0])
    assert AnswerRange(0.0, math.inf, None, 0).count(answers) == 2
    assert AnswerRange(-math.inf, 0.0, None, 0).count(answers) == 2
    assert AnswerRange(0.0, 0.0, None, 0).count(answers) == 1
    assert AnswerRange(2.5, math.inf, 1.0, 0).count(answers) == 1
    assert AnswerRange(-math.inf, 2.0, None, 0).tell() == "answer at most 2"
    assert AnswerRange(2.0, math.inf, None, 0).tell() == "answer at least 2"


@pytest.mark.parametrize("wrong", [{}, {"second": ZEROS[:150]}, {"alpha": 0.0}, {"delta": 1.0}])
def test_wrong_figures_are_refused(wrong: dict[str, Any]) -> None:
    given = {"first": ZEROS, "second": ZEROS, **wrong} if wrong else {"first": ZEROS[:99], "second": ZEROS[:99]}
    with pytest.raises(ParameterInvalid, match="audit samples"):
        audit_loss(**given, claimed=1)


@pytest.mark.slow
def test_nobody_has_limits_of_their_own() -> None:
    house, suite = Path(discreet.__file__).parent, TESTS
    files = {file for folder in (house, suite) for file in folder.rglob("*.py")}
    found = {file for file in files if "betaincinv" in file.read_text(encoding="utf-8")}
    assert found == {house / "lab/audit.py", Path(__file__)}
