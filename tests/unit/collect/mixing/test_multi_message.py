"""Split and mix: exact sums, drop-outs, and the bound on shares against exact enumeration."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.mixing import multi_message
from discreet.collect.mixing.multi_message import MultiMessageSum, count_shares
from discreet.collect.mixing.permutation import Shuffler
from discreet.errors import ParameterInvalid
from discreet.guarantees.types import Neighbours, ShuffleDP
from discreet.noise import Entropy, SystemEntropy, polya

ENTROPY = SystemEntropy()


def sums(**changes: object) -> MultiMessageSum:
    settings: dict[str, object] = {"epsilon": 1, "delta": "1e-6", "clients": 40, "largest": 90, "cells": 3}
    return MultiMessageSum(**{**settings, **changes})  # type: ignore[arg-type]


def histogram(clients: int, cells: int, largest: int) -> NDArray[np.int64]:
    """Weighted contributions, one cell each, at and between the ends of their range."""
    values = np.zeros((clients, cells), dtype=np.int64)
    values[np.arange(clients), np.arange(clients) % cells] = np.linspace(1, largest, clients).astype(np.int64)
    return values


@pytest.fixture
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(entropy: Entropy, *, shape: Fraction, scale: Fraction) -> int:
        return 0

    monkeypatch.setattr(multi_message, "polya", nothing)


def run(protocol: MultiMessageSum, values: NDArray[np.int64]) -> list[int]:
    """Encode, shuffle and analyse, as three parties would."""
    shuffler = Shuffler(minimum=protocol.senders * protocol.shares, width=protocol.width)
    for person in range(len(values)):
        shares = protocol.encode(ENTROPY, values[person : person + 1])
        for cell in range(protocol.cells):
            shuffler.accept_payloads(str(cell), protocol.write_payloads(shares[:, cell]))
    return [protocol.analyse(protocol.read_payloads(shuffler.release(str(cell)))) for cell in range(protocol.cells)]


@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize("clients", [20, 37, 60])
def test_without_noise_the_sums_are_exact(clients: int) -> None:
    values = histogram(clients, 3, 90)
    assert run(sums(clients=clients), values) == values.sum(axis=0).tolist()


@pytest.mark.usefixtures("without_noise")
def test_negative_sums_and_drop_outs() -> None:
    protocol = sums(lowest=-500, largest=90, survivors="0.5", cells=2)
    values = -histogram(40, 2, 500)[:23]
    assert run(protocol, values) == values.sum(axis=0).tolist()


@pytest.mark.usefixtures("without_noise")
def test_the_ends_of_the_range_do_not_wrap() -> None:
    for bound in (-90, 90):
        protocol = sums(lowest=-90, cells=1)
        assert run(protocol, np.full((40, 1), bound)) == [40 * bound]


@pytest.mark.usefixtures("without_noise")
def test_coarse_steps_round_both_ways_and_keep_whole_ones() -> None:
    protocol = sums(cells=1, largest=90, coarsening=30)
    assert run(protocol, np.full((40, 1), 60)) == [2400]
    assert run(protocol, np.full((40, 1), 0)) == [0]
    total = run(protocol, np.full((40, 1), 70))[0]
    assert total % 30 == 0
    assert 40 * 60 <= total <= 40 * 90


def test_with_noise_the_totals_stay_in_reach() -> None:
    values = histogram(40, 3, 90)
    protocol = sums(survivors="0.8")
    for total, true in zip(run(protocol, values), values.sum(axis=0).tolist(), strict=True):
        low, high = protocol.interval(total, level="0.999999999")
        assert low <= true <= high


def test_the_analyst_sees_a_multiset() -> None:
    protocol = sums(cells=1)
    shares = protocol.encode(ENTROPY, histogram(40, 1, 90)).ravel()
    assert protocol.analyse(shares) == protocol.analyse(np.sort(shares)) == protocol.analyse(shares[::-1])


def test_sums_are_centred() -> None:
    protocol = sums(cells=1)
    half = 1 << (protocol.bits - 1)
    shares = np.zeros(protocol.clients * protocol.shares, dtype=np.uint64)
    for value in (half, half - 1, -half + 1, -1, 0, 1):
        shares[3] = value % (2 * half)
        assert protocol.analyse(shares) == value


@pytest.mark.parametrize("change", [-1, 1, "too few", "too many"])
def test_lost_shares_and_too_few_clients_are_refused(change: int | str) -> None:
    protocol = sums(survivors="0.75")
    sizes = {"too few": 29 * protocol.shares, "too many": 41 * protocol.shares}
    size = sizes[change] if isinstance(change, str) else 35 * protocol.shares + change
    with pytest.raises(ParameterInvalid, match="30 to 40 clients"):
        protocol.analyse(np.zeros(size, dtype=np.uint64))
    assert protocol.analyse(np.zeros(30 * protocol.shares, dtype=np.uint64)) == 0


def test_payloads_have_one_width() -> None:
    protocol = sums()
    shares = protocol.encode(ENTROPY, histogram(40, 3, 90))
    assert shares.shape == (40, 3, protocol.shares)
    assert int(shares.max()) < 1 << protocol.bits
    payloads = protocol.write_payloads(shares)
    assert payloads.shape == (shares.size, protocol.width)
    assert (protocol.read_payloads(payloads) == shares.ravel()).all()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"neighbours": Neighbours.ADD_REMOVE}, 90),
        ({"neighbours": Neighbours.REPLACE_ONE}, 180),
        ({"neighbours": Neighbours.REPLACE_ONE, "cells": 1}, 90),
        ({"neighbours": Neighbours.REPLACE_ONE, "cells": 1, "lowest": -10}, 100),
        ({"neighbours": Neighbours.ADD_REMOVE, "cells": 1, "lowest": -100}, 100),
        ({"neighbours": Neighbours.REPLACE_ONE, "contributions": 2}, 270),
        ({"neighbours": Neighbours.ADD_REMOVE, "contributions": 2}, 180),
        ({"neighbours": Neighbours.ADD_REMOVE, "coarsening": 4}, 23),
    ],
)
def test_sensitivity_names_its_neighbours(changes: dict[str, object], expected: int) -> None:
    assert sums(**changes).sensitivity == expected


@pytest.mark.parametrize("contributions", [1, 2, 3])
@pytest.mark.parametrize("lowest", [0, -1, -3])
def test_no_pair_of_people_differs_by_more(contributions: int, lowest: int) -> None:
    """Every pair of rows on a small grid: the derived sensitivity is the largest distance, and is reached."""
    protocol = sums(contributions=contributions, lowest=lowest, largest=2, neighbours=Neighbours.REPLACE_ONE)
    rows = [row for row in product(range(lowest, 3), repeat=3) if sum(value != 0 for value in row) <= contributions]
    farthest = max(sum(abs(a - b) for a, b in zip(one, two, strict=True)) for one in rows for two in rows)
    assert protocol.sensitivity == farthest
    absent = sums(contributions=contributions, lowest=lowest, largest=2)
    assert absent.sensitivity == max(sum(map(abs, row)) for row in rows)


def test_the_guarantee_promises_nothing_without_the_shuffler() -> None:
    protocol = sums(survivors="0.75")
    assert protocol.guarantee() == ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=None, anonymity=30)
    assert protocol.scale == 90
    assert (1 + math.e) * 3 * 2.0 ** (-protocol.security - 1) <= 1e-6


def test_shares_of_the_published_example() -> None:
    assert count_shares(senders=10_000, security=40, bits=32) == 12


def test_shares_outside_the_domain_are_refused() -> None:
    with pytest.raises(ValueError, match="too few senders"):
        count_shares(senders=18, security=40, bits=32)
    with pytest.raises(ValueError, match="too little security"):
        count_shares(senders=10**6, security=10, bits=32)


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"clients": 18}, "clients"),
        ({"clients": 30, "survivors": "0.5"}, "survivors"),
        ({"survivors": 0}, "survivors"),
        ({"survivors": "1.1"}, "survivors"),
        ({"delta": 0}, "delta"),
        ({"largest": 0}, "largest"),
        ({"largest": 1 << 60}, "largest"),
        ({"lowest": 1}, "lowest"),
        ({"contributions": 4}, "contributions"),
        ({"coarsening": 0}, "coarsening"),
        ({"epsilon": 101}, "epsilon"),
    ],
)
def test_parameters_out_of_range_are_refused(changes: dict[str, object], parameter: str) -> None:
    with pytest.raises(ParameterInvalid, match=parameter):
        sums(**changes)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((40, 2), dtype=np.int64),
        np.zeros((40, 3)),
        np.full((1, 3), [91, 0, 0]),
        np.full((1, 3), [-1, 0, 0]),
        np.full((1, 3), [1, 1, 0]),
    ],
)
def test_contributions_out_of_range_are_refused(values: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match=r"contribut"):
        sums().encode(ENTROPY, values)


def test_too_few_senders_are_refused() -> None:
    with pytest.raises(ParameterInvalid, match="the guarantee fails"):
        sums(survivors="0.5").variance(senders=19)


def test_theory_of_the_noise() -> None:
    one = sums()
    decay = math.exp(-1 / 90)
    assert one.variance() == pytest.approx(2 * decay / (1 - decay) ** 2)
    spread = sums(survivors="0.5")
    assert spread.variance() == pytest.approx(2 * one.variance())
    assert spread.variance(senders=20) == pytest.approx(one.variance())
    assert spread.half_width("0.95", senders=20) == one.half_width("0.95")


@pytest.mark.parametrize(("scale", "shape"), [(3, 2.0), (40, 1.25), (5000, 2.0)])
def test_half_widths_of_several_shares_cover_their_level(scale: int, shape: float) -> None:
    """Against the law summed directly: shapes of difference laws from the Pólya point probabilities."""
    size, decay = 40 * scale, math.exp(-1 / scale)
    steps = np.arange(1, size)
    law = np.concatenate([[1.0], np.cumprod((steps - 1 + shape) / steps * decay)])
    law /= law.sum()
    spectrum = np.fft.rfft(law, n=2 * size)
    difference = np.fft.irfft(spectrum * np.conj(spectrum), n=2 * size)
    reach = multi_message._polya_half_width(shape=shape, scale=float(scale), missing=0.05)
    inside = difference[: reach + 1].sum() + difference[-reach:].sum()
    assert 0.95 - 1e-9 <= inside < 0.953 + 0.5 / scale


def test_intervals_hold_what_coarse_steps_round() -> None:
    """40 people at the middle of a step, hardly any noise: the exact law of how many are rounded up."""
    protocol = sums(cells=1, epsilon=100, largest=30, coarsening=30)
    reach = protocol.half_width("0.95")
    held = sum(math.comb(40, up) for up in range(41) if abs(30 * up - 40 * 15) <= reach)
    assert held / 2**40 >= 0.95


@pytest.mark.parametrize("survivors", ["1", "0.95"])
def test_noise_far_above_the_sums_does_not_wrap(survivors: str) -> None:
    protocol = sums(cells=1, clients=20, largest=1, epsilon="0.001", survivors=survivors)
    assert 20 + protocol.half_width("0.999999999") < 1 << (protocol.bits - 1)


def test_the_noise_shares_use_the_permitted_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []

    def watch(entropy: Entropy, *, shape: Fraction, scale: Fraction) -> int:
        shapes.append((shape, scale))
        return polya(entropy, shape=shape, scale=scale)

    monkeypatch.setattr(multi_message, "polya", watch)
    sums(survivors="0.75").encode(ENTROPY, histogram(1, 3, 90))
    assert set(shapes) == {(Fraction(1, 30), Fraction(90))}
    assert len(shapes) == 6


def expected_weight(*, people: int, shares: int, modulus: int) -> Fraction:
    """E[q^(c-1)] for c the components that a random matching of shares leaves among people, by exact series."""
    terms = [Fraction(math.factorial(j * shares), math.factorial(j)) for j in range(people + 1)]
    power = [Fraction(1)]
    for n in range(1, people + 1):
        total = sum(((j * modulus - (n - j)) * terms[j] * power[n - j] for j in range(1, n + 1)), Fraction(0))
        power.append(total / n)
    return power[people] * math.factorial(people) / math.factorial(people * shares) / modulus


def components(order: tuple[int, ...], people: int, shares: int) -> int:
    root = list(range(people))
    for out, into in enumerate(order):
        one, two = out // shares, into // shares
        while root[one] != one:
            one = root[one]
        while root[two] != two:
            two = root[two]
        root[one] = two
    return sum(root[person] == person for person in range(people))


@pytest.mark.parametrize(("people", "shares", "modulus"), [(2, 2, 3), (3, 2, 2), (2, 3, 5), (4, 2, 4)])
def test_the_series_counts_components(people: int, shares: int, modulus: int) -> None:
    orders = list(permutations(range(people * shares)))
    total = sum(modulus ** (components(order, people, shares) - 1) for order in orders)
    assert expected_weight(people=people, shares=shares, modulus=modulus) == Fraction(total, len(orders))


@pytest.mark.parametrize(("people", "shares"), [(6, 9), (10, 6), (10, 9), (19, 5), (19, 8), (33, 5), (33, 8)])
def test_the_bound_of_the_proof_holds(people: int, shares: int) -> None:
    """The excess over 1 is at most q·(e/n)^(m-2), up to the largest modulus allowed; unsplit values break it."""
    largest = int(3 / people**2 * (people / math.e) ** (shares - 2))
    assert largest >= 2
    for modulus in {2, max(2, largest // 10), largest}:
        unlikely = modulus * (math.e / people) ** (shares - 2)
        assert 0 < float(expected_weight(people=people, shares=shares - 1, modulus=modulus) - 1) <= unlikely
        assert float(expected_weight(people=people, shares=1, modulus=modulus) - 1) > unlikely


def views(inputs: tuple[int, ...], shares: int, modulus: int) -> Counter[tuple[int, ...]]:
    """How often each multiset of shares comes, over all ways to split the inputs."""
    splits = [
        [(*free, (value - sum(free)) % modulus) for free in product(range(modulus), repeat=shares - 1)]
        for value in inputs
    ]
    return Counter(tuple(sorted(sum(choice, ()))) for choice in product(*splits))


def ideal(total: int, length: int, modulus: int) -> Counter[tuple[int, ...]]:
    vectors = product(range(modulus), repeat=length - 1)
    return Counter(tuple(sorted((*free, (total - sum(free)) % modulus))) for free in vectors)


@pytest.mark.parametrize(("people", "shares", "modulus"), [(2, 3, 3), (2, 4, 3), (3, 3, 3), (2, 3, 5)])
def test_what_leaves_the_shuffler_is_near_its_ideal(people: int, shares: int, modulus: int) -> None:
    """Exact distances, for every input, below half the root of the excess: the heart of the proof."""
    bound = 0.5 * math.sqrt(expected_weight(people=people, shares=shares - 1, modulus=modulus) - 1)
    worst = 0.0
    for inputs in product(range(modulus), repeat=people):
        seen, wanted = views(inputs, shares, modulus), ideal(sum(inputs), people * shares, modulus)
        all_seen, all_wanted = seen.total(), wanted.total()
        apart = sum(abs(seen[view] / all_seen - wanted[view] / all_wanted) for view in {*seen, *wanted})
        worst = max(worst, apart / 2)
    assert 0 < worst <= bound
