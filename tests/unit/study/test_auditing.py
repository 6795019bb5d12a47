"""The bound of an audit by hand: on answers that are known, and with events that are."""

from __future__ import annotations

import math
from itertools import cycle

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.study.auditing import Event, audit

pytest.importorskip("scipy")


def test_answers_that_never_meet_show_all_that_so_many_samples_can() -> None:
    found = audit(lambda: 1.0, lambda: 0.0, claimed=0.01, samples=200, alpha=0.001)
    # All of 100 on one side and none of 100 on the other: the limits of Clopper and Pearson are powers of alpha / 2.
    edge = 0.0005 ** (1 / 100)
    assert found.lower_bound == pytest.approx(math.log(edge / (1 - edge)))
    assert found.refuted
    assert found.to_dict()["samples"] == 200


def test_a_delta_is_granted_first() -> None:
    plain = audit(lambda: 1.0, lambda: 0.0, claimed=5, samples=200)
    granted = audit(lambda: 1.0, lambda: 0.0, claimed=5, samples=200, delta=0.5)
    edge = 0.0005 ** (1 / 100)
    assert plain.lower_bound - granted.lower_bound == pytest.approx(math.log(edge / (edge - 0.5)))
    assert not granted.refuted


def test_the_same_answers_show_nothing() -> None:
    first, second = cycle((1.0, 2.0, 3.0)), cycle((1.0, 2.0, 3.0))
    found = audit(lambda: next(first), lambda: next(second), claimed=0.01, samples=600)
    assert found.lower_bound == 0
    assert not found.refuted


def test_the_event_is_measured_on_answers_that_did_not_choose_it() -> None:
    answers = iter([1.0] * 100 + [0.0] * 100)
    found = audit(lambda: next(answers), lambda: 0.0, claimed=0.01, samples=200)
    assert found.lower_bound == 0


def test_a_difference_of_scale_alone_is_found() -> None:
    wide, narrow = cycle((-9.0, 9.0)), cycle((-1.0, 1.0))
    found = audit(lambda: next(wide), lambda: next(narrow), claimed=0.01, samples=400)
    assert found.lower_bound > 3
    assert found.event.centre is not None
    assert found.event.tell().startswith("distance from")


def test_events_count_either_side_of_a_threshold() -> None:
    answers = np.array([-2.0, 0.0, 3.0])
    assert Event(True, 0.0, None, 0).count(answers) == 2
    assert Event(False, 0.0, None, 0).count(answers) == 1
    assert Event(True, 2.5, 1.0, 0).count(answers) == 1
    assert Event(False, 2.0, None, 0).tell() == "answer below 2"


@pytest.mark.parametrize("wrong", [{"samples": 99}, {"samples": 200, "alpha": 0.0}, {"samples": 200, "delta": 1.0}])
def test_wrong_figures_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterInvalid, match="audit samples"):
        audit(lambda: 0.0, lambda: 0.0, claimed=1, **wrong)  # type: ignore[arg-type]
