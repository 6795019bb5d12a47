"""The account of the shuffle: never below the truth, near published figures, honest where it cannot help."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.mixing import amplification
from discreet.collect.mixing.amplification import (
    Amplification,
    amplified_epsilon,
    largest_local_epsilon,
    shuffled,
    suffices,
)
from discreet.collect.mixing.closed_form import closed_epsilon, largest_closed_domain
from discreet.collect.mixing.divergence import _Blanket, _coarsen, divergence_of_any, divergence_of_response
from discreet.errors import ParameterInvalid

pytestmark = pytest.mark.slow

Law = dict[tuple[int, ...], float]
FINE = 1e-12


def shuffle(channel: NDArray[np.float64], inputs: tuple[int, ...]) -> Law:
    """The law of the histogram of reports, by adding one respondent after another."""
    outputs = channel.shape[1]
    law: Law = {(0,) * outputs: 1.0}
    for answer in inputs:
        grown: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for counts, chance in law.items():
            for report in range(outputs):
                more = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                grown[more] += chance * float(channel[answer, report])
        law = dict(grown)
    return law


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, chance - math.exp(epsilon) * other.get(counts, 0.0)) for counts, chance in one.items())


def worst(channel: NDArray[np.float64], people: int, epsilon: float) -> float:
    """The largest true divergence over all answers of the others and both answers of one respondent."""
    answers = range(channel.shape[0])
    found = 0.0
    for others in itertools.combinations_with_replacement(answers, people - 1):
        laws = [shuffle(channel, (*others, own)) for own in answers]
        for one, other in itertools.permutations(laws, 2):
            found = max(found, hockey_stick(one, other, epsilon))
    return found


def response(categories: int, local_epsilon: float) -> NDArray[np.float64]:
    lie = 1 / (math.exp(local_epsilon) + categories - 1)
    return np.full((categories, categories), lie) + np.eye(categories) * lie * math.expm1(local_epsilon)


@pytest.mark.parametrize(("categories", "people"), [(2, 2), (2, 6), (3, 2), (3, 5), (4, 4), (5, 3)])
@pytest.mark.parametrize("local_epsilon", [0.3, 1.0, 3.0])
def test_response_bound_holds_for_every_data_set(categories: int, people: int, local_epsilon: float) -> None:
    channel = response(categories, local_epsilon)
    tight = divergence_of_response(local_epsilon=local_epsilon, anonymity=people, delta=1e-6, categories=categories)
    loose = divergence_of_any(local_epsilon=local_epsilon, anonymity=people, delta=1e-6)
    for epsilon in np.array([0.01, 0.2, 0.5, 0.8, 0.95]) * local_epsilon:
        truth = worst(channel, people, epsilon)
        assert truth > 0
        assert tight(epsilon) >= truth - FINE
        assert loose(epsilon) >= truth - FINE
        assert tight(epsilon) <= loose(epsilon) * (1 + 1e-6) + FINE


def test_binary_response_is_exact_in_a_pair() -> None:
    """Two people, two answers: the bound is loose only by what the other's truth hides."""
    bound = divergence_of_response(local_epsilon=1.0, anonymity=2, delta=1e-6, categories=2)(0.5)
    assert worst(response(2, 1.0), 2, 0.5) <= bound <= 2 * worst(response(2, 1.0), 2, 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_any_bound_holds_for_other_randomisers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 2, size=(3, 4)) + 0.0
    levels[:, 0] = rng.permutation(3) > 0
    raw = np.exp(levels * 1.0)
    channel = raw / raw.sum(axis=1, keepdims=True)
    ratios = channel.max(axis=0) / channel.min(axis=0)
    local_epsilon = math.log(float(ratios.max()))
    bound = divergence_of_any(local_epsilon=local_epsilon, anonymity=4, delta=1e-6)
    for share in (0.1, 0.5, 0.9):
        assert bound(share * local_epsilon) >= worst(channel, 4, share * local_epsilon) - FINE


def test_counts_of_two_values_alone_are_no_bound() -> None:
    """A tempting shortcut, which drops what the other values tell, lies below the truth from four categories on."""
    categories, people, local_epsilon, epsilon = 4, 4, 1.0, 0.4
    channel = response(categories, local_epsilon)
    merged: list[Law] = []
    for own in (0, 1):
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for counts, chance in shuffle(channel, (2, 2, 2, own)).items():
            law[counts[:2]] += chance
        merged.append(dict(law))
    shortcut = hockey_stick(merged[0], merged[1], epsilon)
    truth = worst(channel, people, epsilon)
    bound = divergence_of_response(local_epsilon=local_epsilon, anonymity=people, delta=1e-6, categories=categories)
    assert shortcut < truth * 0.999
    assert bound(epsilon) >= truth - FINE


def test_published_setting() -> None:
    setting: dict[str, Any] = {"local_epsilon": 4, "anonymity": 33_511, "delta": "1e-6"}
    numeric, tight = amplified_epsilon(**setting), amplified_epsilon(**setting, categories=5)
    assert (numeric.method, tight.method) == ("numeric", "numeric-response")
    assert float(numeric.epsilon) == pytest.approx(0.307, abs=0.001)
    assert float(tight.epsilon) == pytest.approx(0.207, abs=0.001)
    closed = closed_epsilon(local_epsilon=4.0, anonymity=33_511, delta=1e-6)
    assert closed == pytest.approx(0.80, abs=0.005)


def test_coarsening_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = divergence_of_response(local_epsilon=3.0, anonymity=3_000, delta=1e-6, categories=7)(0.5)
    for name, value in (("_RESPONSE_BLOCKS", 4_000), ("_NODES", 600)):
        monkeypatch.setattr(f"discreet.collect.mixing.divergence.{name}", value)
    fine = divergence_of_response(local_epsilon=3.0, anonymity=3_000, delta=1e-6, categories=7)(0.5)
    assert fine <= coarse <= 1.25 * fine


def test_inverse_is_held_by_the_account() -> None:
    for categories in (None, 2, 9):
        local = largest_local_epsilon(epsilon=1, delta="1e-6", anonymity=5_000, categories=categories)
        assert amplified_epsilon(
            local_epsilon=local, anonymity=5_000, delta="1e-6", categories=categories
        ).epsilon <= Decimal(1)
        facts: dict[str, Any] = {
            "epsilon": Decimal(1),
            "delta": Decimal("1e-6"),
            "anonymity": 5_000,
            "categories": categories,
        }
        assert suffices(local_epsilon=local, **facts)
        assert not suffices(local_epsilon=local + Decimal("0.01"), **facts)


@pytest.mark.parametrize("categories", [None, 2, 9])
def test_the_stated_epsilon_is_proven_to_its_last_digit(categories: int | None) -> None:
    for local in ("0.5", "1", "2.7", "4"):
        facts: dict[str, Any] = {"anonymity": 5_000, "categories": categories}
        spent = amplified_epsilon(local_epsilon=local, delta="1e-6", **facts)
        assert suffices(local_epsilon=Decimal(local), epsilon=spent.epsilon, delta=Decimal("1e-6"), **facts)


@pytest.mark.parametrize("chance", [0.01, 0.3])
def test_no_number_of_hiding_reports_is_left_out(chance: float) -> None:
    """What is cut off is added as if it gave everything away; at this delta it outweighs the slack of floats."""
    blocks = _coarsen(100_000, chance, 0.1)
    assert blocks.starts[0] == 0
    assert math.fsum(blocks.masses) >= 1
    sizes = np.array([5.0, 3_000.0, 90_000.0])
    blanket = _Blanket.lay(sizes, categories=round(1 / chance), delta=0.1, number=48)
    assert (blanket.nodes[:, 0] == 0).all()
    assert (blanket.masses.sum(axis=1) >= 1).all()


@pytest.mark.parametrize("categories", [3, 13])
def test_blankets_that_are_kept_are_those_laid_anew(categories: int) -> None:
    sizes = np.array([1.0, 2.0, 40.0, 63.0, 64.0, 700.0])
    kept = _Blanket.of(sizes, categories=categories, delta=1e-6)
    for place, size in enumerate(sizes):
        alone = _Blanket.lay(np.array([size]), categories=categories, delta=1e-6, number=48)
        assert kept.nodes[place].tolist() == alone.nodes[0].tolist()
        assert kept.masses[place].tolist() == alone.masses[0].tolist()


@pytest.mark.parametrize(
    ("local_epsilon", "anonymity", "delta"), [(2, 1, "1e-6"), (2, 10**6, 0), (2, 5, "1e-9"), (40, 10**6, "1e-6")]
)
def test_nothing_gained(local_epsilon: int, anonymity: int, delta: str | int) -> None:
    found = amplified_epsilon(local_epsilon=local_epsilon, anonymity=anonymity, delta=delta)
    assert found.epsilon <= local_epsilon
    assert float(found.epsilon) == pytest.approx(local_epsilon, rel=1e-3)
    allowed = largest_local_epsilon(epsilon=local_epsilon, delta=delta, anonymity=anonymity)
    assert float(allowed) == pytest.approx(local_epsilon, rel=1e-3)
    assert allowed >= local_epsilon


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amplification, "_numeric", lambda: False)
    amplification._amplified.cache_clear()
    amplification._largest.cache_clear()
    try:
        inside = amplified_epsilon(local_epsilon=2, anonymity=100_000, delta="1e-7", categories=3)
        assert inside.method == "closed-form"
        domain = largest_closed_domain(anonymity=100_000, delta=1e-7)
        outside = amplified_epsilon(local_epsilon=math.ceil(domain), anonymity=100_000, delta="1e-7")
        assert outside == Amplification(Decimal(math.ceil(domain)), "local")
        local = largest_local_epsilon(epsilon="0.5", delta="1e-7", anonymity=100_000)
        assert Decimal("0.5") < local <= Decimal(domain)
        again = amplified_epsilon(local_epsilon=local, anonymity=100_000, delta="1e-7")
        assert again.epsilon <= Decimal("0.500000001")
        assert largest_local_epsilon(epsilon=3, delta="1e-7", anonymity=50) == 3
    finally:
        amplification._amplified.cache_clear()
        amplification._largest.cache_clear()


def test_guarantee() -> None:
    guarantee = shuffled(local_epsilon=4, anonymity=33_511, delta="1e-6", categories=5)
    assert (guarantee.local_epsilon, guarantee.anonymity) == (Decimal(4), 33_511)
    assert guarantee.epsilon < Decimal("0.21")


@pytest.mark.parametrize(
    "wrong",
    [{"anonymity": 0}, {"anonymity": True}, {"categories": 1}, {"delta": 1}, {"local_epsilon": 0}, {"anonymity": 2.5}],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"local_epsilon": 1, "anonymity": 100, "delta": "1e-6"}
    with pytest.raises(ParameterInvalid, match=next(iter(wrong)).replace("_", " ")):
        amplified_epsilon(**{**right, **wrong})
