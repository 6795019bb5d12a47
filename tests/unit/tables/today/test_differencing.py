"""The attack recovers a planted person under suppression and set-size restriction, and not under DP."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import ZCDP, ApproxDP, Neighbours, PureDP, Unproven
from discreet.noise.bits import discrete_laplace_many
from discreet.noise.entropy import SystemEntropy
from discreet.tables.today.comparison import compare, list_methods
from discreet.tables.today.controlled import ControlledRounding
from discreet.tables.today.differencing import Certainty, weigh_rounding
from discreet.tables.today.holdings import Figures, Holdings, Person
from discreet.tables.today.restriction import SetSizeRestriction
from discreet.tables.today.rounding import RandomRounding, SystematicRounding
from discreet.tables.today.suppression import Suppression
from discreet.tables.today.swapping import RecordSwapping
from discreet.tables.today.trials import attack_once, clopper_pearson, success_ceiling


def add_laplace(figures: Figures, epsilon: Decimal) -> Figures:
    noise = discrete_laplace_many(SystemEntropy(), scale=1 / Fraction(epsilon), count=figures.size)
    noisy: Figures = figures + np.array(noise).reshape(figures.shape)
    return noisy


@pytest.mark.parametrize("method", [Suppression(), SetSizeRestriction()])
def test_planted_persons_are_recovered(method: Suppression, sparse: Holdings) -> None:
    for cell in np.ndindex(sparse.layout.sizes):
        verdict = attack_once(method, sparse, Person(cell, 1), target=1)
        assert verdict is not None
        assert verdict.certainty is Certainty.SURE
        assert (verdict.guess, verdict.right) == (cell[1], True)


@pytest.mark.parametrize("method", [Suppression(), SetSizeRestriction()])
def test_planted_contributors_are_recovered(method: Suppression, incomes: Holdings) -> None:
    for cell, value in (((1, 0), 90), ((0, 1), 100)):
        verdict = attack_once(method, incomes, Person(cell, value), target=1)
        assert verdict is not None
        assert (verdict.certainty, verdict.right) == (Certainty.SURE, True)


def test_a_table_without_margins_hides_the_hidden_cells() -> None:
    """Where only two cells of the person's line are hidden in both tables, they stay apart by nothing published."""
    held = Holdings.of_counts(np.array([[2, 3, 40], [50, 60, 70]]), margins=[])
    verdict = attack_once(Suppression(), held, Person((0, 0), 1), target=1)
    assert verdict is not None
    assert verdict.certainty is Certainty.GUESSED
    seen = attack_once(Suppression(), held, Person((0, 2), 1), target=1)
    assert seen is not None
    assert (seen.certainty, seen.right) == (Certainty.SURE, True)


def test_rounding_gives_away_who_crosses() -> None:
    held = Holdings.of_counts(np.array([[53, 61], [70, 81]]))
    crossing = attack_once(SystematicRounding(base=5), held, Person((0, 0), 1), target=1)
    assert crossing is not None
    assert (crossing.certainty, crossing.right) == (Certainty.SURE, True)
    still = attack_once(SystematicRounding(base=10), held, Person((1, 1), 1), target=1)
    assert still is not None
    assert still.certainty is not Certainty.SURE


def test_swapping_hides_only_the_exchanged_key() -> None:
    held = Holdings.of_counts(np.random.default_rng().integers(50, 90, (4, 3)))
    other = attack_once(RecordSwapping(share=1), held, Person((2, 1), 1), target=1)
    assert other is not None
    assert (other.certainty, other.right) == (Certainty.SURE, True)
    place = attack_once(RecordSwapping(share=1), held, Person((2, 1), 1), target=0)
    assert place is not None
    assert place.certainty is not Certainty.SURE
    unswapped = attack_once(RecordSwapping(share=0), held, Person((2, 1), 1), target=0)
    assert unswapped is not None
    assert unswapped.right


def test_random_rounding_is_weighed_rightly() -> None:
    """Averaged over remainders, base 5: +5 has the chance 35/125 with the person, 20/125 without; −5 10 and 20."""
    weights = weigh_rounding(base=5, value=1)((0,), np.array([5.0, 0.0, -5.0]))
    assert np.exp(weights) == pytest.approx([35 / 20, 80 / 85, 10 / 20])


def test_ceilings() -> None:
    held = Holdings.of_counts(np.array([[10, 10], [30, 10]]))
    pure = PureDP(epsilon=Decimal(1))
    e = float(np.e)
    replace = success_ceiling(held, 1, guarantee=pure, neighbours=Neighbours.REPLACE_ONE)
    assert replace == pytest.approx((20 * e / (1 + e) + 40 * 3 * e / (1 + 3 * e)) / 60)
    both = success_ceiling(held, 1, guarantee=pure, neighbours=Neighbours.ADD_REMOVE)
    assert both is not None
    assert replace is not None
    assert replace < both < 1
    assert success_ceiling(
        held, 1, guarantee=ApproxDP(epsilon=Decimal("0.01"), delta=Decimal("0.001")), neighbours=Neighbours.ADD_REMOVE
    ) == pytest.approx(40 / 60 * np.exp(0.01) + 0.001)
    assert success_ceiling(held, 1, guarantee=ZCDP(rho=1), neighbours=Neighbours.ADD_REMOVE) is None
    assert success_ceiling(held, 1, guarantee=Unproven("no"), neighbours=Neighbours.ADD_REMOVE) is None
    huge = success_ceiling(held, 1, guarantee=PureDP(epsilon=Decimal(1000)), neighbours=Neighbours.ADD_REMOVE)
    assert huge == 1


def test_clopper_pearson_at_known_values() -> None:
    assert clopper_pearson(0, 10) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert clopper_pearson(10, 10) == pytest.approx((0.025 ** (1 / 10), 1))
    assert clopper_pearson(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)


def test_a_comparison_has_a_line_for_every_method(sparse: Holdings) -> None:
    told: list[tuple[str, int, int]] = []
    epsilons = [Decimal("0.1"), Decimal(1), Decimal(3)]
    made = compare(
        sparse,
        epsilons=epsilons,
        publish_dp=add_laplace,
        trials=20,
        progress=lambda title, done, total: told.append((title, done, total)),
    )
    assert [line.method for line in made.lines[:6]] == [
        "suppression",
        "systematic rounding",
        "random rounding",
        "controlled rounding",
        "set-size restriction",
        "record swapping",
    ]
    assert [line.private for line in made.lines] == [False] * 6 + [True] * 3
    assert told[-1] == ("differential privacy, epsilon 3", 9, 9)
    for line in made.lines:
        assert line.guarantee.startswith("not differentially private") != line.private
        assert line.attack is not None
        assert line.attack.ceiling is None or line.private
    hidden, systematic = made.lines[0], made.lines[1]
    assert hidden.attack is not None
    assert hidden.attack.sure == hidden.attack.trials > 0
    assert hidden.mean_error == 0
    assert hidden.suppressed
    exact = np.abs((sparse.counts + 2) // 5 * 5 - sparse.counts)
    assert systematic.mean_error == pytest.approx(exact.mean())
    assert systematic.largest_error == exact.max()
    assert systematic.changed == pytest.approx((exact > 0).mean())
    as_dict = made.to_dict()
    assert as_dict["target"] == 1
    assert len(list(made.sentences())) == 10
    assert "recovered beyond doubt" in hidden.sentence()


def test_totals_are_compared_in_their_steps(incomes: Holdings) -> None:
    made = compare(incomes, epsilons=[Decimal(1)], publish_dp=lambda figures, _: figures + 1, trials=5)
    assert [line.parameters.get("base") for line in made.lines[1:4]] == [500, 500, 500]
    assert made.lines[-1].mean_error == 1
    assert made.lines[-1].margin_largest_error == 4


def test_a_search_without_a_result_is_a_line_that_says_so() -> None:
    held = Holdings.of_counts(np.array([[[1, 2], [2, 0]], [[2, 1], [1, 0]]]))
    made = compare(held, epsilons=[Decimal(1)], publish_dp=add_laplace, trials=3, methods=[ControlledRounding(base=2)])
    line = made.lines[0]
    assert line.attack is None
    assert line.mean_error is None
    assert line.additive is None
    assert "no such table exists" in line.did
    assert "nothing to attack" in line.sentence()


def test_a_table_without_people_has_nobody_to_attack() -> None:
    held = Holdings.of_counts(np.zeros((2, 2), dtype=int))
    made = compare(held, epsilons=[Decimal(1)], publish_dp=add_laplace, trials=3)
    assert all(line.attack is None for line in made.lines)


def test_one_cell_is_compared_too() -> None:
    made = compare(Holdings.of_counts(np.array([9])), epsilons=[Decimal(1)], publish_dp=add_laplace, trials=3)
    assert all(line.attack is not None and line.attack.base_rate == 1 for line in made.lines)


def test_wrong_calls_are_refused(sparse: Holdings) -> None:
    with pytest.raises(ParameterInvalid, match="trials"):
        compare(sparse, epsilons=[Decimal(1)], publish_dp=add_laplace, trials=0)
    with pytest.raises(ParameterInvalid, match="target"):
        compare(sparse, epsilons=[Decimal(1)], publish_dp=add_laplace, target=2)
    with pytest.raises(ParameterInvalid, match="epsilons"):
        compare(sparse, epsilons=[], publish_dp=add_laplace)
    with pytest.raises(ParameterInvalid, match="epsilon"):
        compare(sparse, epsilons=[Decimal(-1)], publish_dp=add_laplace)
    with pytest.raises(ParameterInvalid, match="target"):
        attack_once(RandomRounding(), sparse, Person((0, 0), 1), target=5)
    with pytest.raises(ParameterInvalid, match="threshold"):
        list_methods(sparse, threshold=0)
