"""The laws behind shuffled sums, each beside a fault that the same comparison must reject.

Laws are compared by the largest distance of distribution functions: for the nearest fault at distance `gap`,
n = 2*ln(2/alpha)/gap**2 draws keep both the true sampler and the fault on their sides of gap/2 (Dvoretzky, Kiefer,
Wolfowitz, Massart) but for a probability alpha = 1e-8. Means, variances and coverage are sums over thousands of runs
and are held to 6.5 standard errors (1e-10 each under the normal law). Fewer than 90 comparisons: below 1e-6 in all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.mixing.multi_message import MultiMessageSum
from discreet.collect.mixing.permutation import draw_permutation
from discreet.collect.mixing.vector_sum import VectorSum
from discreet.noise import SystemEntropy

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ERRORS = 6.5
ENTROPY = SystemEntropy()
Law = dict[int, float]


def distance(one: Law, other: Law) -> float:
    apart = worst = 0.0
    for value in sorted({*one, *other}):
        apart += one.get(value, 0.0) - other.get(value, 0.0)
        worst = max(worst, abs(apart))
    return worst


def empirical(values: Iterable[int]) -> Law:
    counts = Counter(values)
    return {value: count / counts.total() for value, count in counts.items()}


def draws_for(gap: float) -> int:
    return math.ceil(2 * math.log(2 / ALPHA) / gap**2)


def noise_law(shape: float, scale: float) -> Law:
    """The difference of two Pólya draws, from their point probabilities."""
    size = math.ceil(60 * scale)
    steps = np.arange(1, size)
    one = np.concatenate([[1.0], np.cumprod((steps - 1 + shape) / steps * math.exp(-1 / scale))])
    one /= one.sum()
    both = np.convolve(one, one[::-1])
    return {z: float(both[z + size - 1]) for z in range(-size + 1, size)}


def laplace_law(scale: float) -> Law:
    weights = {z: math.exp(-abs(z) / scale) for z in range(-math.ceil(45 * scale), math.ceil(45 * scale) + 1)}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def sums(cells: int, *, clients: int, epsilon: str = "1", survivors: str = "1") -> MultiMessageSum:
    return MultiMessageSum(epsilon=epsilon, delta="1e-6", clients=clients, largest=2, cells=cells, survivors=survivors)


def protocol_noise(protocol: MultiMessageSum, senders: int) -> list[int]:
    """What is left in the total of each cell when everybody contributes nothing.

    Where too few send, others are put in who send no noise either: the analyst would refuse them otherwise.
    """
    shares = protocol.encode(ENTROPY, np.zeros((senders, protocol.cells), dtype=np.int64))
    silent = np.zeros((max(0, protocol.senders - senders), protocol.cells, protocol.shares), dtype=np.uint64)
    shares = np.concatenate([shares, silent])
    return [protocol.analyse(shares[:, cell].ravel()) for cell in range(protocol.cells)]


def test_the_noise_of_all_clients_is_one_discrete_laplace_draw() -> None:
    law, fault = laplace_law(2), laplace_law(8)
    gap = distance(law, fault)
    cells = draws_for(gap)
    assert distance(law, noise_law(1, 2)) < 1e-9
    assert distance(law, empirical(protocol_noise(sums(cells, clients=20), 20))) < gap / 2
    assert distance(law, empirical(protocol_noise(sums(cells, clients=20, epsilon="0.25"), 20))) > gap / 2


@pytest.mark.long
def test_after_drop_outs_at_least_one_draw_is_left() -> None:
    """With a permitted half of 40 clients: 20 senders leave one draw, 40 leave the sum of two, and 10 too little."""
    one, two, fault = noise_law(1, 2), noise_law(2, 2), noise_law(0.5, 2)
    gap = min(distance(one, two), distance(one, fault))
    protocol = sums(draws_for(gap), clients=40, survivors="0.5")
    left = empirical(protocol_noise(protocol, 20))
    assert distance(one, left) < gap / 2
    assert distance(two, left) > gap / 2
    assert distance(fault, empirical(protocol_noise(protocol, 10))) < gap / 2


@pytest.mark.long
@pytest.mark.parametrize(("survivors", "senders", "shape"), [("1", 24, 1.0), ("0.8", 24, 1.25), ("0.8", 20, 20 / 19.2)])
def test_noise_drawn_at_once_has_the_law_of_the_protocol(survivors: str, senders: int, shape: float) -> None:
    law, fault = noise_law(shape, 2), noise_law(shape * 2, 2)
    gap = distance(law, fault)
    protocol = sums(1, clients=24, survivors=survivors)
    at_once = protocol.draw_total_noise(ENTROPY, draws_for(gap), senders=senders)
    assert distance(law, empirical(at_once)) < gap / 2
    assert distance(fault, empirical(at_once)) > gap / 2
    cells = sums(draws_for(gap), clients=24, survivors=survivors)
    assert distance(law, empirical(protocol_noise(cells, senders))) < gap / 2


def test_the_noise_has_the_stated_variance() -> None:
    protocol = sums(1, clients=24, survivors="0.8")
    drawn = np.array(protocol.draw_total_noise(ENTROPY, 20_000), dtype=float)
    squares = drawn**2
    error = squares.std() / math.sqrt(len(squares))
    assert abs(squares.mean() - protocol.variance()) < ERRORS * error
    assert abs(squares.mean() - protocol.variance() * 0.8) > ERRORS * error
    covered = np.mean(np.abs(drawn) <= protocol.half_width("0.95"))
    assert covered > 0.95 - ERRORS * math.sqrt(0.95 * 0.05 / len(drawn))


def test_every_share_alone_is_uniform() -> None:
    """Each place among the shares of one client, by its lowest and highest four bits, for the largest contribution."""
    uniform = dict.fromkeys(range(16), 1 / 16)
    gap = 0.1
    protocol = sums(1, clients=20)
    people = np.full((draws_for(gap), 1), 2)
    shares = protocol.encode(ENTROPY, people)[:, 0]
    for place in range(protocol.shares):
        for shift in (0, protocol.bits - 4):
            seen = (shares[:, place] >> np.uint64(shift)) & np.uint64(15)
            assert distance(uniform, empirical(seen.tolist())) < gap / 2
    contribution = shares.sum(axis=1, dtype=np.uint64) & np.uint64(15)
    assert distance(uniform, empirical(contribution.tolist())) > gap / 2


def test_coarse_rounding_has_no_bias() -> None:
    protocol = MultiMessageSum(epsilon=100, delta="1e-6", clients=19, largest=10, coarsening=10)
    people = np.full((20_000, 1), 3)
    shares = protocol.encode(ENTROPY, people)[:, 0]
    modulus = 1 << protocol.bits
    rounded = (shares.sum(axis=1, dtype=np.uint64) % np.uint64(modulus)).astype(np.int64)
    mean = 10 * np.where(rounded > modulus // 2, rounded - modulus, rounded).mean()
    error = 10 * math.sqrt(0.3 * 0.7 / len(people))
    assert abs(mean - 3) < ERRORS * error
    assert abs(mean - 3.5) > ERRORS * error


@pytest.mark.parametrize("count", [40, 70])
def test_a_permutation_sends_each_place_everywhere(count: int) -> None:
    """Where the last one goes; a permutation by keys of one byte, ties in their order, sends it too far back."""
    uniform = dict.fromkeys(range(count), 1 / count)
    gap = 0.05
    n = draws_for(gap)
    seen = [int(np.flatnonzero(draw_permutation(ENTROPY, count) == count - 1)[0]) for _ in range(n)]
    assert distance(uniform, empirical(seen)) < gap / 2
    keys = np.frombuffer(ENTROPY.read(n * count), dtype=np.uint8).reshape(n, count) % 8
    tied = np.argsort(keys, axis=1, kind="stable")
    late = np.argmax(tied == count - 1, axis=1)
    assert distance(uniform, empirical(late.tolist())) > gap / 2


RUNS = 2000


def vector_runs(protocol: VectorSum, values: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Errors of the totals, and whether their 95% intervals hold the truth, run by run."""
    truth = values.sum(axis=0)
    errors, covers = [], []
    for _ in range(RUNS):
        totals = protocol.analyse(protocol.randomise(ENTROPY, values))
        low, high = totals.intervals(level="0.95")
        errors.append(totals.estimates - truth)
        covers.append((low <= truth) & (truth <= high))
    return np.array(errors), np.array(covers)


def test_vector_sums_are_unbiased_with_the_stated_variance() -> None:
    protocol = VectorSum(epsilon=2, delta="1e-4", clients=1500, coordinates=3, grid=100, levels=3)
    people = np.arange(1500)
    values = np.stack([np.zeros(1500), people % 101, 20 + people % 5], axis=1).astype(np.int64)
    errors, covers = vector_runs(protocol, values)
    spread = errors.std(axis=0)
    assert (np.abs(errors.mean(axis=0)) < ERRORS * spread / math.sqrt(RUNS)).all()
    # Without the correction for random answers the middle level would pull every total.
    pull = float(protocol.gamma) * (values.sum(axis=0) - 1500 * 50)
    assert (np.abs(pull[[0, 2]]) > ERRORS * spread[[0, 2]] / math.sqrt(RUNS)).all()
    theory = np.array([protocol.variance(values[:, j]) for j in range(3)])
    assert (np.abs(spread**2 / theory - 1) < ERRORS * math.sqrt(2 / RUNS)).all()
    assert (np.abs(spread**2 / theory / 2 - 1) > ERRORS * math.sqrt(2 / RUNS)).all()
    # Who drew a coordinate is a sample from all, and its share is not taken off: the level or a little more.
    assert (covers.mean(axis=0) > 0.95 - 0.01 - ERRORS * math.sqrt(0.95 * 0.05 / RUNS)).all()
    assert (covers.mean(axis=0) < 0.99).all()
