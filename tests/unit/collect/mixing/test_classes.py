"""Weight classes: chosen from weights alone, never worse than local privacy, and strict about who is in them."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.mixing import amplification
from discreet.collect.mixing.allowance import allow, rung_below
from discreet.collect.mixing.amplification import largest_local_epsilon, suffices
from discreet.collect.mixing.batch_question import BatchQuestion, CategoryQuestion, NumberQuestion
from discreet.collect.mixing.weight_classes import BLUR_PRICE, WeightClass, WeightClasses, choose_classes
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.errors import ParameterInvalid

pytestmark = pytest.mark.slow

QUESTIONS = (CategoryQuestion(5), CategoryQuestion(40), NumberQuestion(900))
DELTA = Decimal("1e-6")


def spread_weights(people: int, seed: int = 1) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    drawn: NDArray[np.int64] = np.rint(20_000 * np.exp(0.8 * rng.standard_normal(people))).astype(np.int64)
    return drawn


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("epsilon", ["0.6", "1", "3", "5.99"])
def test_never_above_local(question: BatchQuestion, epsilon: str) -> None:
    weights = spread_weights(3_000)
    chosen = choose_classes(weights, question=question, epsilon=epsilon, delta=DELTA)
    local = float((weights.astype(float) ** 2).sum()) * question.noise(epsilon=Decimal(epsilon), delta=DELTA, people=1)
    assert chosen.variance <= local * (1 + 1e-9)
    assert sum(one.people for one in chosen.classes) == len(weights)
    assert chosen.total == weights.sum()
    assert sum(one.squares for one in chosen.classes) == sum(int(weight) ** 2 for weight in weights)


def test_hiding_is_worth_it_at_a_small_epsilon() -> None:
    weights = spread_weights(20_000)
    chosen = choose_classes(weights, question=QUESTIONS[0], epsilon=1, delta=DELTA)
    local = float((weights.astype(float) ** 2).sum()) * QUESTIONS[0].noise(epsilon=Decimal(1), delta=DELTA, people=1)
    assert chosen.variance < local / 20
    assert len(chosen.classes) > 2


def test_no_better_partition_of_a_few_weights() -> None:
    """Against every partition of the distinct weights, each class closed or open."""
    question, epsilon = CategoryQuestion(3), Decimal(1)
    values, counts = [100, 130, 400, 420, 3_000], [400, 900, 700, 150, 60]
    weights = np.repeat(values, counts).astype(np.int64)
    chosen = choose_classes(weights, question=question, epsilon=epsilon, delta=DELTA)
    price_of_blur = BLUR_PRICE * question.spread()

    def price(group: tuple[int, ...]) -> float:
        inside = weights[np.isin(weights, [values[i] for i in group])].astype(float)
        noise = question.noise(epsilon=epsilon, delta=DELTA, people=rung_below(len(inside)))
        closed = inside.mean() ** 2 * len(inside) * noise + price_of_blur * ((inside - inside.mean()) ** 2).sum()
        return min(float(closed), float((inside**2).sum()) * question.noise(epsilon=epsilon, delta=DELTA, people=1))

    best = min(
        sum(price(tuple(range(a, b))) for a, b in itertools.pairwise((0, *cuts, 5)))
        for size in range(5)
        for cuts in itertools.combinations(range(1, 5), size)
    )
    # Interpolated prices steer the choice, so a near tie may go the other way.
    assert best * (1 - 1e-9) <= chosen.variance <= 1.05 * best


def test_nearby_epsilons_share_their_classes() -> None:
    weights = spread_weights(20_000)
    laid_out = {
        epsilon: choose_classes(weights, question=QUESTIONS[0], epsilon=epsilon, delta=DELTA)
        for epsilon in ("0.6", "1")
    }
    assert [one.low for one in laid_out["0.6"].classes] == [one.low for one in laid_out["1"].classes]
    assert laid_out["1"].variance < laid_out["0.6"].variance


def test_equal_weights_are_never_cut() -> None:
    weights = np.repeat([100, 200], [1_000, 5]).astype(np.int64)
    chosen = choose_classes(weights, question=QUESTIONS[0], epsilon=1, delta=DELTA)
    assert chosen.assign(weights).tolist() == sorted(chosen.assign(weights).tolist())
    one = choose_classes(np.full(500, 7), question=QUESTIONS[0], epsilon=1, delta=DELTA)
    assert [(c.people, c.anonymity, c.blur) for c in one.classes] == [(500, 500, 0.0)]
    alone = choose_classes(np.array([9]), question=QUESTIONS[0], epsilon=1, delta=DELTA)
    assert alone.classes[0].open


def test_other_people_are_refused() -> None:
    weights = spread_weights(2_000)
    chosen = choose_classes(weights, question=QUESTIONS[0], epsilon=1, delta=DELTA)
    with pytest.raises(ParameterInvalid, match="hide less"):
        chosen.assign(weights[1:])
    with pytest.raises(ParameterInvalid, match="hide less"):
        chosen.assign(np.append(weights[1:], 0))


@pytest.mark.parametrize("wrong", [np.array([]), np.array([1.5]), np.array([-1]), np.array([1 << 40])])
def test_wrong_weights(wrong: NDArray[Any]) -> None:
    with pytest.raises(ParameterInvalid, match="weights"):
        choose_classes(wrong, question=QUESTIONS[0], epsilon=1, delta=DELTA)


def test_broken_classes() -> None:
    good = WeightClass(low=1, high=2, people=3, total=4, squares=6, anonymity=3)
    with pytest.raises(ValueError, match="all of them or none"):
        WeightClass(low=1, high=2, people=3, total=4, squares=6, anonymity=2)
    with pytest.raises(ValueError, match="overlap"):
        WeightClasses((good, good), 1.0)
    for question in (CategoryQuestion, NumberQuestion):
        with pytest.raises(ParameterInvalid):
            question(0)


@pytest.mark.parametrize("categories", [None, 2, 8])
def test_allowances_are_proven(categories: int | None) -> None:
    epsilon, before = Decimal("0.8"), Decimal(0)
    for people in (1, 2, 7, 60, 333, 1_777, 9_999, 31_000):
        local = allow(epsilon=epsilon, delta=DELTA, people=people, categories=categories)
        assert local >= max(before, epsilon)
        assert suffices(local_epsilon=local, epsilon=epsilon, delta=DELTA, anonymity=people, categories=categories)
        before = local


@pytest.mark.parametrize(("categories", "people"), [(5, 100), (40, 20), (40, 1_000), (300, 20)])
def test_a_randomiser_spends_by_the_account_of_its_own_kind(categories: int, people: int) -> None:
    """The allowance of randomised response is larger than that of any other randomiser, and is for itself alone."""
    epsilon = Decimal("0.2")
    chosen = CategoryQuestion(categories).randomiser(epsilon=epsilon, delta=DELTA, people=people)
    account = categories if isinstance(chosen, GeneralisedResponse) else None
    assert suffices(local_epsilon=chosen.epsilon, epsilon=epsilon, delta=DELTA, anonymity=people, categories=account)


@pytest.mark.parametrize("categories", [None, 5])
def test_allowances_are_near_the_largest(categories: int | None) -> None:
    facts: dict[str, Any] = {"epsilon": Decimal(1), "delta": DELTA, "categories": categories}
    for people in (16, 29, 165, 939, 6_316, 33_000, 800_000):
        largest = largest_local_epsilon(anonymity=rung_below(people), **facts)
        assert largest - Decimal("0.03") <= allow(people=people, **facts) <= largest + Decimal("0.001")


def test_allowances_are_found_in_a_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    look = amplification._divergence

    def watch(local_epsilon: float, anonymity: int, delta: float, categories: int | None) -> Any:
        nonlocal looks
        looks += 1
        return look(local_epsilon, anonymity, delta, categories)

    monkeypatch.setattr(amplification, "_divergence", watch)
    sizes = sorted({rung_below(people) for people in range(2, 40_000)})
    for people in sizes:
        allow(epsilon=Decimal("1.23"), delta=DELTA, people=people, categories=6)
    assert len(sizes) <= looks < 2.2 * len(sizes)


def test_a_batch_beyond_the_ladder_has_the_allowance_of_its_top() -> None:
    facts: dict[str, Any] = {"epsilon": Decimal(1), "delta": DELTA}
    top = rung_below(10**12)
    assert top <= amplification.LARGEST_ANONYMITY
    assert allow(people=10**12, **facts) == allow(people=top, **facts) > allow(people=10**6, **facts)
