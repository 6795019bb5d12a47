"""The single-message protocol: its guarantee, and estimates that depend on the batches alone."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from discreet.collect.mixing.amplification import amplified_epsilon
from discreet.collect.mixing.batch_question import CategoryQuestion, NumberQuestion
from discreet.collect.mixing.single_message import Batch, SingleCategory, SingleNumber, single_message
from discreet.collect.mixing.weight_classes import BLUR_PRICE, WeightClass, WeightClasses
from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.laplace_number import LaplaceNumber
from discreet.errors import ParameterInvalid
from discreet.noise.entropy import SystemEntropy

RNG = np.random.default_rng(5)
WEIGHTS = np.rint(20_000 * np.exp(0.8 * RNG.standard_normal(4_000))).astype(np.int64)
ANSWERS = RNG.integers(0, 5, len(WEIGHTS))
NUMBERS = RNG.integers(300, 700, len(WEIGHTS))


def category(epsilon: str = "1") -> SingleCategory:
    made = single_message(WEIGHTS, question=CategoryQuestion(5), epsilon=epsilon, delta="1e-6")
    assert isinstance(made, SingleCategory)
    return made


def number(epsilon: str = "1") -> SingleNumber:
    made = single_message(WEIGHTS, question=NumberQuestion(900), epsilon=epsilon, delta="1e-6")
    assert isinstance(made, SingleNumber)
    return made


@pytest.mark.parametrize("epsilon", ["0.6", "1", "3"])
def test_every_class_keeps_the_guarantee(epsilon: str) -> None:
    for protocol in (category(epsilon), number(epsilon)):
        for one, randomiser in zip(protocol.classes.classes, protocol.randomisers, strict=True):
            categories = {"grr": 5, "duchi": 2}.get(randomiser.name)
            spent = amplified_epsilon(
                local_epsilon=randomiser.epsilon, anonymity=one.anonymity, delta="1e-6", categories=categories
            )
            assert spent.epsilon <= Decimal(epsilon) + Decimal("2e-9")
        guarantee = protocol.guarantee()
        assert guarantee.epsilon == Decimal(epsilon)
        assert guarantee.local_epsilon == max(protocol.local_epsilons) >= Decimal(epsilon)
        assert guarantee.anonymity == min(one.anonymity for one in protocol.classes.classes)


def test_answers_without_noise_come_back() -> None:
    """At a vast epsilon nothing is changed: the estimate is the weighted count, the mean the weighted mean."""
    entropy = SystemEntropy()
    counted = category("40")
    found = counted.estimate(counted.encode(entropy, ANSWERS, WEIGHTS))
    assert found.estimates == pytest.approx(np.bincount(ANSWERS, weights=WEIGHTS), rel=1e-9)
    averaged = number("40")
    assert averaged.estimate(averaged.encode(entropy, NUMBERS, WEIGHTS)).estimates == pytest.approx(
        [np.average(NUMBERS, weights=WEIGHTS)], rel=1e-6
    )


def test_order_of_reports_does_not_matter() -> None:
    entropy = SystemEntropy()
    for protocol, answers in ((category(), ANSWERS), (number(), NUMBERS)):
        batches = protocol.encode(entropy, answers, WEIGHTS)
        turned = [Batch(b.reports[::-1], None if b.weights is None else b.weights[::-1]) for b in batches]
        one, other = protocol.estimate(batches), protocol.estimate(turned)
        assert one.estimates.tolist() == other.estimates.tolist()
        assert one.variances.tolist() == other.variances.tolist()


def test_only_the_multiset_of_a_batch_leaves() -> None:
    for epsilon in ("1", "5.99"):
        protocol = category(epsilon)
        batches = protocol.encode(SystemEntropy(), ANSWERS, WEIGHTS)
        left = [batch.shuffle() for batch in batches]
        for batch, mixed in zip(batches, left, strict=True):
            if len(batch.reports) > 200:
                assert mixed.reports.tolist() != batch.reports.tolist()
            sent, seen = (
                sorted(zip(b.reports.tolist(), [0] * len(b.reports) if b.weights is None else b.weights, strict=True))
                for b in (batch, mixed)
            )
            assert sent == seen
        assert protocol.estimate(left).estimates.tolist() == protocol.estimate(batches).estimates.tolist()


def test_people_without_weight() -> None:
    """Counts are zero; of a mean nothing can be said."""
    weights, entropy = np.zeros(300, dtype=np.int64), SystemEntropy()
    counted = single_message(weights, question=CategoryQuestion(5), epsilon=1, delta="1e-6")
    assert counted.estimate(counted.encode(entropy, ANSWERS[:300], weights)).estimates.tolist() == [0] * 5
    averaged = single_message(weights, question=NumberQuestion(900), epsilon=1, delta="1e-6")
    found = averaged.estimate(averaged.encode(entropy, NUMBERS[:300], weights))
    assert np.isnan(found.estimates).all()
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)
    assert np.isnan(averaged.expected(NUMBERS[:300], weights).absolute_error).all()


def test_only_open_classes_carry_weights() -> None:
    for epsilon in ("1", "5.99"):
        protocol = category(epsilon)
        for one, batch in zip(
            protocol.classes.classes, protocol.encode(SystemEntropy(), ANSWERS, WEIGHTS), strict=True
        ):
            assert (batch.weights is not None) == one.open
            assert len(batch.reports) == one.people


def test_theory_of_blur() -> None:
    """The bias is that of the blurred weights, and no bias is left where every class is open."""
    protocol = category()
    blurred = np.empty(len(WEIGHTS))
    for index, one in enumerate(protocol.classes.classes):
        members = protocol.classes.assign(WEIGHTS) == index
        blurred[members] = WEIGHTS[members] if one.open else WEIGHTS[members].mean()
    bias = np.bincount(ANSWERS, weights=blurred) - np.bincount(ANSWERS, weights=WEIGHTS)
    expected = protocol.expected(ANSWERS, WEIGHTS)
    assert expected.bias == pytest.approx(bias, rel=1e-6, abs=1e-3)
    assert np.all(expected.absolute_error >= np.abs(expected.bias) * (1 - 1e-9))
    assert category("40").expected(ANSWERS, WEIGHTS).bias == pytest.approx(np.zeros(5), abs=1e-6)


def one_class(*, squares: int) -> WeightClasses:
    """A hundred people of weight 5 on average, whose weights are forgotten."""
    return WeightClasses((WeightClass(low=1, high=9, people=100, total=500, squares=squares, anonymity=100),), 0.0)


def test_intervals_allow_for_blurred_weights() -> None:
    """The same reports of equal weights and of weights 1 and 9, whose squares differ from the mean's by 1,600."""
    epsilon, delta, batch = Decimal(40), Decimal("1e-6"), [Batch(np.repeat([0, 1], 50), None)]
    counted, averaged = [], []
    for classes in (one_class(squares=2_500), one_class(squares=4_100)):
        oracle, laplace = GeneralisedResponse(epsilon=epsilon, categories=2), LaplaceNumber(epsilon=50, grid=1)
        counts = SingleCategory(CategoryQuestion(2), epsilon, delta, classes, (oracle,))
        means = SingleNumber(NumberQuestion(1), epsilon, delta, classes, (laplace,))
        counted.append(counts.estimate(batch).variances[0])
        averaged.append(means.estimate(batch).variances[0])
    assert counted[1] - counted[0] == pytest.approx(BLUR_PRICE * 0.25 * 1_600)
    assert averaged[1] - averaged[0] >= 0.25 * 1_600 / 500**2


def test_incomplete_batches_are_refused() -> None:
    protocol = category()
    batches = protocol.encode(SystemEntropy(), ANSWERS, WEIGHTS)
    short = [Batch(batches[0].reports[1:], batches[0].weights), *batches[1:]]
    with pytest.raises(ParameterInvalid, match="hides less"):
        protocol.estimate(short)
    with pytest.raises(ValueError, match="weight"):
        protocol.encode(SystemEntropy(), ANSWERS[1:], WEIGHTS)


def test_duchi_is_used_where_its_account_is_better() -> None:
    few = single_message(np.full(60, 100), question=NumberQuestion(10), epsilon="0.2", delta="1e-6")
    assert [type(randomiser) for randomiser in few.randomisers] == [Duchi]
