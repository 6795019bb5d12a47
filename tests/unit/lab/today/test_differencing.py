"""The attack recovers a planted person under suppression and set-size restriction, and not under DP."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import ZCDP, ApproxDP, Neighbours, PureDP, Unproven
from discreet.lab.today.controlled_rounding import ControlledRounding
from discreet.lab.today.differencing import Certainty, weigh_rounding
from discreet.lab.today.holdings import Figures, HeldPerson, Holdings
from discreet.lab.today.methods_comparison import compare, list_methods
from discreet.lab.today.private_release import Draw, PrivateRelease, Seen, deduce_private, success_ceiling
from discreet.lab.today.restriction import SetSizeRestriction
from discreet.lab.today.rounding import RandomRounding, SystematicRounding
from discreet.lab.today.suppression import Suppression
from discreet.lab.today.swapping import RecordSwapping
from discreet.lab.today.trials import TodayMethod, attack_once

pytestmark = pytest.mark.slow

Laplace = Callable[[str], PrivateRelease]


class OneMore(PrivateRelease):
    """Adds one step to every cell."""

    epsilon = Decimal(1)
    guarantee = PureDP(epsilon=1)

    def draw(self, figures: Figures) -> Draw:
        return Draw((), lambda: figures + 1)


@pytest.mark.parametrize("method", [Suppression(), SetSizeRestriction()])
def test_planted_persons_are_recovered(method: Suppression, sparse: Holdings) -> None:
    for cell in np.ndindex(sparse.layout.sizes):
        verdict = attack_once(method, sparse, HeldPerson(cell, 1), target=1)
        assert verdict is not None
        assert verdict.certainty is Certainty.SURE
        assert (verdict.guess, verdict.right) == (cell[1], True)


@pytest.mark.parametrize("method", [Suppression(), SetSizeRestriction()])
def test_planted_contributors_are_recovered(method: Suppression, incomes: Holdings) -> None:
    for cell, value in (((1, 0), 90), ((0, 1), 100)):
        verdict = attack_once(method, incomes, HeldPerson(cell, value), target=1)
        assert verdict is not None
        assert (verdict.certainty, verdict.right) == (Certainty.SURE, True)


def test_a_table_without_margins_hides_the_hidden_cells() -> None:
    """Where only two cells of the person's line are hidden in both tables, they stay apart by nothing published."""
    held = Holdings.of_counts(np.array([[2, 3, 40], [50, 60, 70]]), margins=[])
    verdict = attack_once(Suppression(), held, HeldPerson((0, 0), 1), target=1)
    assert verdict is not None
    assert verdict.certainty is Certainty.GUESSED
    seen = attack_once(Suppression(), held, HeldPerson((0, 2), 1), target=1)
    assert seen is not None
    assert (seen.certainty, seen.right) == (Certainty.SURE, True)


def test_rounding_gives_away_who_crosses() -> None:
    held = Holdings.of_counts(np.array([[53, 61], [70, 81]]))
    crossing = attack_once(SystematicRounding(base=5), held, HeldPerson((0, 0), 1), target=1)
    assert crossing is not None
    assert (crossing.certainty, crossing.right) == (Certainty.SURE, True)
    still = attack_once(SystematicRounding(base=10), held, HeldPerson((1, 1), 1), target=1)
    assert still is not None
    assert still.certainty is not Certainty.SURE


def test_swapping_hides_only_the_exchanged_key() -> None:
    held = Holdings.of_counts(np.random.default_rng().integers(50, 90, (4, 3)))
    other = attack_once(RecordSwapping(share=1), held, HeldPerson((2, 1), 1), target=1)
    assert other is not None
    assert (other.certainty, other.right) == (Certainty.SURE, True)
    place = attack_once(RecordSwapping(share=1), held, HeldPerson((2, 1), 1), target=0)
    assert place is not None
    assert place.certainty is not Certainty.SURE
    unswapped = attack_once(RecordSwapping(share=0), held, HeldPerson((2, 1), 1), target=0)
    assert unswapped is not None
    assert unswapped.right


def test_swapped_cells_are_added_up_where_no_margin_is_published() -> None:
    held = Holdings.of_counts(np.random.default_rng().integers(50, 90, (4, 3)), margins=[])
    verdict = attack_once(RecordSwapping(share=1), held, HeldPerson((2, 1), 1), target=1)
    assert verdict is not None
    assert (verdict.certainty, verdict.right) == (Certainty.SURE, True)


METHODS: list[TodayMethod] = [
    Suppression(),
    SystematicRounding(base=3),
    RandomRounding(base=3),
    ControlledRounding(base=3),
    SetSizeRestriction(),
    RecordSwapping(share=0.5),
    RecordSwapping(share=0.5, exchanged=1),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9), st.integers(1, 9)), min_size=1, max_size=20),
    st.booleans(),
    st.integers(0, 2**32),
)
@settings(max_examples=30, deadline=None)
def test_who_is_recovered_is_named_rightly(
    method: TodayMethod, rows: list[tuple[int, int, int]], with_margins: bool, seed: int
) -> None:
    """Beyond doubt means beyond doubt: values of either sign, with margins and without."""
    held = Holdings.of_contributions((2, 3), np.array(rows), margins=None if with_margins else [])
    rng = np.random.default_rng(seed)
    for _ in range(5):
        verdict = attack_once(method, held, held.draw_person(rng), target=1, rng=rng)
        assert verdict is None or verdict.right or verdict.certainty is not Certainty.SURE


def test_private_changes_are_weighed_by_their_exact_law() -> None:
    """Two releases with scale 2: the chances of differences, by adding up the law of one noise twice over."""
    alpha = np.exp(-1 / 2)
    noise = alpha ** np.abs(np.arange(-400, 401)) * (1 - alpha) / (1 + alpha)
    law = dict(zip(range(-800, 801), np.convolve(noise, noise), strict=True))
    evidence = np.log(law[4 - 3] / law[4]) - np.log(law[-2 - 3] / law[-2])
    for extra, guess in ((-1e-6, 0), (1e-6, 1)):
        seen = [
            Draw((Seen((0,), np.array(cells), np.array([2.0, 2.0])),), lambda: np.zeros(2))
            for cells in ([14, 8], [10, 10])
        ]
        common = np.array([1.0, np.exp(evidence + extra)])
        verdict = deduce_private(seen[0], seen[1], HeldPerson((0,), 3), target=0, common=common)
        assert (verdict.guess, verdict.certainty) == (guess, Certainty.GUESSED)


def test_private_margins_are_evidence_too() -> None:
    cells = np.zeros((2, 2))
    margin = np.array([0, 5])
    first = Draw((Seen((0, 1), cells, np.array(3.0)), Seen((1,), margin, np.array(3.0))), lambda: cells)
    second = Draw((Seen((0, 1), cells, np.array(3.0)), Seen((1,), 0 * margin, np.array(3.0))), lambda: cells)
    verdict = deduce_private(first, second, HeldPerson((0, 1), 4), target=1, common=np.array([10.0, 9.0]))
    assert verdict.guess == 1


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


def test_a_comparison_has_a_line_for_every_method(sparse: Holdings, laplace: Laplace) -> None:
    told: list[tuple[str, int, int]] = []
    made = compare(
        sparse.called(["province", "smoking"]),
        private=[laplace("0.1"), laplace("1"), laplace("3.0")],
        trials=20,
        progress=lambda title, done, total: told.append((title, done, total)),
    )
    assert [line.title for line in made.lines] == [
        "suppression",
        "systematic rounding",
        "random rounding",
        "controlled rounding",
        "set-size restriction",
        "overlap control",
        "query auditing",
        "partitioning",
        "swapping of province",
        "swapping of smoking",
        "fixed perturbation",
        "DP, epsilon 0.1",
        "DP, epsilon 1",
        "DP, epsilon 3",
    ]
    assert [line.private for line in made.lines] == [False] * 11 + [True] * 3
    assert told[-1] == ("DP, epsilon 3", 14, 14)
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
    assert made.to_dict()["target"] == "smoking"
    told_of = " ".join(made.sentences())
    assert "all of that person's keys but smoking" in told_of
    assert "The table is optimal." in told_of
    assert "recovered beyond doubt" in hidden.sentence()


def test_totals_are_compared_in_their_unit(incomes: Holdings) -> None:
    made = compare(incomes.called("ab", step=Fraction(1, 100)), private=[OneMore()], trials=5)
    assert [line.parameters.get("base") for line in made.lines[1:4]] == [5, 5, 5]
    assert "multiple of 5," in made.lines[1].did
    assert made.lines[-1].mean_error == pytest.approx(0.01)
    assert made.lines[-1].margin_largest_error == pytest.approx(0.04)


def test_no_ceiling_is_stated_where_none_holds(sparse: Holdings, laplace: Laplace) -> None:
    for bounded in (True, False):
        made = compare(sparse, private=[laplace("1")], trials=1, methods=[], bounded=bounded)
        assert made.lines[0].attack is not None
        assert (made.lines[0].attack.ceiling is not None) == bounded


def test_a_search_without_a_result_is_a_line_that_says_so(laplace: Laplace) -> None:
    held = Holdings.of_counts(np.array([[[1, 2], [2, 0]], [[2, 1], [1, 0]]]))
    made = compare(held, private=[laplace("1")], trials=3, methods=[ControlledRounding(base=2)])
    line = made.lines[0]
    assert line.attack is None
    assert line.mean_error is None
    assert line.additive is None
    assert "no such table exists" in line.sentence()
    assert "nothing to attack" in line.sentence()


def test_a_table_without_people_has_nobody_to_attack(laplace: Laplace) -> None:
    made = compare(Holdings.of_counts(np.zeros((2, 2), dtype=int)), private=[laplace("1")], trials=3)
    assert all(line.attack is None for line in made.lines)


def test_one_cell_is_compared_too(laplace: Laplace) -> None:
    made = compare(Holdings.of_counts(np.array([9])), private=[laplace("1")], trials=3)
    assert all(line.attack is not None and line.attack.base_rate == 1 for line in made.lines)


def test_wrong_calls_are_refused(sparse: Holdings, laplace: Laplace) -> None:
    with pytest.raises(ParameterInvalid, match="trials"):
        compare(sparse, private=[laplace("1")], trials=0)
    with pytest.raises(ParameterInvalid, match="target"):
        compare(sparse, private=[laplace("1")], target=2)
    with pytest.raises(ParameterInvalid, match="epsilons"):
        compare(sparse, private=[])
    with pytest.raises(ParameterInvalid, match="target"):
        attack_once(RandomRounding(), sparse, HeldPerson((0, 0), 1), target=5)
    with pytest.raises(ParameterInvalid, match="threshold"):
        list_methods(sparse, threshold=0)
