"""Vector sums by one message: the channel, the blanket against exact divergences, and the estimates."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.mixing.blanket import _binomial, _window, blanket_delta, channel_delta, smallest_gamma
from discreet.collect.mixing.permutation import Shuffler
from discreet.collect.mixing.vector_sum import VectorSum, choose_levels
from discreet.errors import ParameterInvalid
from discreet.noise import SystemEntropy

pytestmark = pytest.mark.slow

ENTROPY = SystemEntropy()
Law = dict[tuple[int, ...], float]


def vector_sum(**changes: object) -> VectorSum:
    settings: dict[str, object] = {
        "epsilon": 1,
        "delta": "1e-6",
        "clients": 33_511,
        "coordinates": 5,
        "grid": 1000,
        "levels": 3,
    }
    return VectorSum(**{**settings, **changes})  # type: ignore[arg-type]


def channel(protocol: VectorSum, row: list[int]) -> list[Fraction]:
    """The chance of every message for one respondent, from the definition."""
    chances = []
    for coordinate, level in product(range(protocol.coordinates), range(protocol.levels + 1)):
        whole, rest = divmod(row[coordinate] * protocol.levels, protocol.grid)
        part = Fraction(rest, protocol.grid)
        true = (1 - part) * (level == whole) + part * (level == whole + 1)
        chance = protocol.gamma / (protocol.levels + 1) + (1 - protocol.gamma) * true
        chances.append(chance / protocol.coordinates)
    assert sum(chances) == 1
    return chances


def test_one_message_is_as_local_as_stated() -> None:
    protocol = vector_sum(coordinates=2)
    rows = [list(row) for row in product((0, 250, 333, 500, 1000), repeat=2)]
    laws = [channel(protocol, row) for row in rows]
    worst = max(one / two for a in laws for b in laws for one, two in zip(a, b, strict=True))
    local = float(protocol.local_epsilon())
    assert math.log(worst) <= local
    assert local == pytest.approx(math.log(worst), abs=2e-9)


def added(one: Law, two: Law) -> Law:
    total: Counter[tuple[int, ...]] = Counter()
    for (a, p), (b, q) in product(one.items(), two.items()):
        total[tuple(x + y for x, y in zip(a, b, strict=True))] += p * q  # type: ignore[assignment]
    return dict(total)


def histograms(people: list[list[float]]) -> Law:
    """The law of the shuffled messages: how many of each symbol."""
    size = len(people[0])
    law: Law = {(0,) * size: 1.0}
    for chances in people:
        law = added(law, {tuple(int(i == s) for i in range(size)): chances[s] for s in range(size)})
    return law


def hockey_stick(one: Law, two: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, p - math.exp(epsilon) * two.get(view, 0.0)) for view, p in one.items())


def respond(truth: dict[int, float], gamma: float, size: int) -> list[float]:
    return [gamma / size + (1 - gamma) * truth.get(symbol, 0.0) for symbol in range(size)]


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5])
def test_the_blanket_bounds_the_exact_divergence(gamma: float, epsilon: float) -> None:
    """Two coordinates, two levels, seven people, whatever the others answer: never above the stated delta."""
    low, high = {0: 0.5, 2: 0.5}, {1: 0.5, 3: 0.5}
    bound = channel_delta(epsilon=epsilon, clients=7, gamma=gamma, symbols=4, cut=1e-9)
    worst = 0.0
    for others in ([low] * 6, [high] * 6, [low, high] * 3):
        rest = [respond(other, gamma, 4) for other in others]
        one = histograms([respond(low, gamma, 4), *rest])
        two = histograms([respond(high, gamma, 4), *rest])
        worst = max(worst, hockey_stick(one, two, epsilon), hockey_stick(two, one, epsilon))
    assert worst <= bound
    if epsilon < 0.5:  # a crowd that is not there would promise too much
        assert worst > channel_delta(epsilon=epsilon, clients=200, gamma=gamma, symbols=4, cut=1e-9)


@pytest.mark.parametrize(
    ("clients", "cover", "epsilon"), [(2, 0.3, 0.2), (40, 0.2, 0.5), (40, 0.5, 1.0), (6, 0.4, 40.0), (6, 0.5, 90.0)]
)
def test_the_stated_delta_is_the_sum_it_stands_for(clients: int, cover: float, epsilon: float) -> None:
    total = 0.0
    for count in range(clients):
        pairs = math.comb(clients - 1, count) * (2 * cover) ** count * (1 - 2 * cover) ** (clients - 1 - count)
        for a in range(count + 1):
            gain = max(0.0, 1 - math.exp(epsilon) * (count - a) / (a + 1))
            total += pairs * math.comb(count, a) / 2**count * gain
    assert blanket_delta(epsilon=epsilon, clients=clients, cover=cover, cut=1e-12) == pytest.approx(total, rel=2e-6)


@pytest.mark.parametrize("cut", [1e-2, 1e-4, 1e-6])
def test_what_is_cut_off_is_added(cut: float) -> None:
    """Few random messages are rare and give the most away: the rarest of them are not summed, but never forgotten."""
    exact = blanket_delta(epsilon=3.0, clients=200, cover=0.1, cut=1e-15)
    assert exact <= blanket_delta(epsilon=3.0, clients=200, cover=0.1, cut=cut) <= exact * (1 + 2e-6) + cut


@pytest.mark.parametrize(("cover", "epsilon"), [(5e-4, 10.0), (1e-3, 6.0), (1e-3, 3.0)])
def test_small_deltas_keep_their_digits(cover: float, epsilon: float) -> None:
    """Many people, few random messages, a delta near the smallest: against the sum in whole numbers."""
    people, growth, share = 33_510, Fraction(math.exp(epsilon)), Fraction(2 * cover)
    odds, pairs, total = share / (1 - share), (1 - share) ** 0, Fraction(0)
    weight = Fraction(math.exp(people * math.log1p(-2 * cover)))
    for count in range(150):
        gains = (
            math.comb(count, a) * max(Fraction(0), 1 - growth * Fraction(count - a, a + 1)) for a in range(count + 1)
        )
        total += pairs * sum(gains, Fraction(0)) / 2**count
        pairs *= Fraction(people - count, count + 1) * odds
    found = blanket_delta(epsilon=epsilon, clients=people + 1, cover=cover, cut=1e-30)
    assert found == pytest.approx(float(total * weight), rel=2e-6, abs=1e-29)
    assert found >= float(total * weight)


def test_chances_of_a_billion_people_are_not_lost() -> None:
    low, high = _window(10**9, 6e-4, 1e-13)
    chances = _binomial(10**9, 6e-4, low, high)
    assert math.fsum(chances) >= 1 - 1e-12
    assert math.fsum(c * p for c, p in enumerate(chances, start=low)) == pytest.approx(6e5, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_smallest_gamma_is_enough_and_barely(epsilon: str) -> None:
    gamma = smallest_gamma(
        epsilon=Fraction(epsilon), delta=Fraction(1, 10**6), clients=33_511, symbols=10, most=Fraction(9, 10)
    )
    assert gamma is not None

    def delta(factor: float) -> float:
        tried = float(gamma) * factor
        return channel_delta(epsilon=float(epsilon), clients=33_511, gamma=tried, symbols=10, cut=1e-12)

    assert delta(1) <= 1e-6 < delta(0.97)


def test_gamma_beats_the_published_forms_where_they_hold() -> None:
    """Those of [SCM22], for ε below 6. They jump up at ε = 1, where the γ of a smaller ε will do too."""
    size, log_term = 5 * 3 / 33_510, math.log(2 / 1e-6)
    for epsilon in (0.5, 1, 3, 5.9):
        below = min(epsilon, 1.0)
        published = size * max(14 * log_term / below**2, 27 / below)
        if epsilon >= 1:
            published = min(published, size * max(80 * log_term / epsilon**2, 36 / (11 * epsilon)))
        assert published < 1
        assert vector_sum(epsilon=epsilon).gamma < published


def test_a_small_crowd_falls_back_to_a_local_message() -> None:
    protocol = vector_sum(clients=50)
    assert float(protocol.gamma) == pytest.approx(4 / (math.e + 3), abs=1e-9)
    assert protocol.local_epsilon() == protocol.epsilon


def test_the_guarantee_states_both_sides() -> None:
    guarantee = vector_sum().guarantee()
    assert guarantee.anonymity == 33_511
    assert guarantee.local_epsilon is not None
    assert guarantee.local_epsilon > guarantee.epsilon


def test_whole_levels_are_exact_without_noise() -> None:
    protocol = vector_sum(clients=300, coordinates=3, grid=6)
    object.__setattr__(protocol, "gamma", Fraction(0))
    values = np.tile(np.array([[0, 2, 6]]), (300, 1))
    totals = protocol.analyse(protocol.randomise(ENTROPY, values))
    assert totals.estimates.tolist() == pytest.approx([0, 600, 1800])
    assert totals.variances.tolist() == pytest.approx([0, 0, 0], abs=1e-6)
    assert totals.messages.sum() == 300


def test_random_messages_are_any_of_the_levels() -> None:
    """Whoever speaks at random covers every level: one that only the truth can send would hide nobody."""
    protocol = vector_sum(coordinates=1)
    object.__setattr__(protocol, "gamma", Fraction(1))
    for value in (0, 1000):
        assert set(protocol.randomise(ENTROPY, np.full((500, 1), value)).tolist()) == {0, 1, 2, 3}


def test_encode_shuffle_analyse() -> None:
    protocol = vector_sum(clients=2000, coordinates=3, epsilon=3)
    values = np.tile(np.array([[0, 400, 1000]]), (2000, 1))
    messages = protocol.randomise(ENTROPY, values)
    shuffler = Shuffler(minimum=2000, width=protocol.width)
    shuffler.accept_payloads("all", messages.astype(np.uint8).reshape(-1, 1))
    left = shuffler.release("all").ravel().astype(np.int64)
    seen, direct = protocol.analyse(left), protocol.analyse(messages)
    assert (seen.estimates == direct.estimates).all()  # no order survives, and none is needed
    low, high = seen.intervals(level="0.999999999")
    assert (low <= values.sum(axis=0)).all()
    assert (values.sum(axis=0) <= high).all()


def test_a_coordinate_nobody_drew_says_so() -> None:
    protocol = vector_sum(clients=2, coordinates=2, levels=1)
    totals = protocol.analyse(np.array([0, 1]))
    assert math.isinf(totals.variances[1])
    assert totals.messages.tolist() == [2, 0]


def test_few_messages_that_agree_are_not_sure() -> None:
    """Ten zeros in a row: the sample has no variance, but the random answers among them have."""
    protocol = vector_sum(clients=10, coordinates=1, levels=2)
    totals = protocol.analyse(np.zeros(10, dtype=np.int64))
    least = min(protocol.message_variance(i / 64) for i in range(65))
    assert protocol.least_variance() == pytest.approx(least)
    assert totals.variances[0] == pytest.approx(10 * least * 1000**2)
    low, high = totals.intervals(level="0.95")
    assert (low < high).all()


def test_theory_of_a_message() -> None:
    protocol = vector_sum(coordinates=1)
    for position in (0, 250, 500, 1000):
        chances = [float(p) for p in channel(protocol, [position])]
        mean = sum(level * p for level, p in enumerate(chances))
        square = sum(level**2 * p for level, p in enumerate(chances))
        scale = 3 * (1 - float(protocol.gamma))
        assert protocol.message_variance(position / 1000) == pytest.approx((square - mean**2) / scale**2)
    same = np.full(100, 250)
    assert protocol.variance(same) == pytest.approx(100 * protocol.message_variance(0.25) * 1000**2)


def test_more_people_bear_more_levels() -> None:
    few = choose_levels(epsilon=1, delta="1e-6", clients=2000, coordinates=5, grid=1000)
    many = choose_levels(epsilon=1, delta="1e-6", clients=10**6, coordinates=5, grid=1000)
    assert few < many
    assert choose_levels(epsilon=1, delta="1e-6", clients=10**6, coordinates=5, grid=1) == 1
    assert VectorSum(epsilon=1, delta="1e-6", clients=2000, coordinates=5, grid=1000).levels == few


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"clients": 1}, "clients"),
        ({"coordinates": 0}, "coordinates"),
        ({"grid": 0}, "grid"),
        ({"levels": 0}, "levels"),
        ({"levels": 1001}, "levels"),
    ],
)
def test_parameters_out_of_range_are_refused(changes: dict[str, object], parameter: str) -> None:
    with pytest.raises(ParameterInvalid, match=parameter):
        vector_sum(**changes)


@pytest.mark.parametrize(
    "values", [np.zeros((3, 4), dtype=np.int64), np.zeros((3, 5)), np.full((3, 5), 1001), np.full((3, 5), -1)]
)
def test_values_off_the_grid_are_refused(values: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match="value"):
        vector_sum().randomise(ENTROPY, values)


def test_messages_that_cannot_be_are_refused() -> None:
    protocol = vector_sum(clients=3)
    with pytest.raises(ParameterInvalid, match="messages"):
        protocol.analyse(np.array([1, 2]))
    with pytest.raises(ValueError, match="outside"):
        protocol.analyse(np.array([1, 2, 20]))
