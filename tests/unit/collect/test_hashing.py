"""Local hashing: the family collides exactly as claimed, for every number of values."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from discreet.collect.randomisers.hashing import LocalHashing, choose_hash_range, least_prime_factor
from discreet.errors import ParameterInvalid
from discreet.noise import SystemEntropy

RANGES = {2: "0.3", 3: "0.7", 4: "1", 5: "1.3", 6: "1.6", 9: "2.1"}


@pytest.mark.parametrize(("values", "epsilon"), RANGES.items())
@pytest.mark.parametrize("categories", [2, 3, 6])
def test_two_categories_collide_for_exactly_one_hash_in_g(values: int, epsilon: str, categories: int) -> None:
    made = LocalHashing(epsilon=epsilon, categories=categories)
    assert made.hash_range() == values
    hashes = np.array(list(itertools.product(range(values), repeat=made.coefficients())), dtype=np.int64)
    hashed = [made.hash(hashes, category) for category in range(categories)]
    for one, other in itertools.combinations(range(categories), 2):
        assert int((hashed[one] == hashed[other]).sum()) * values == len(hashes)
    for category in range(categories):
        counts = Counter(hashed[category].tolist())
        assert set(counts.values()) == {len(hashes) // values}
        assert len(counts) == values


def test_a_product_modulo_a_prime_and_then_g_would_not_do() -> None:
    """The usual family ((a·x + b) mod P) mod g collides more or less often than 1/g."""
    prime, values = 31, 4
    collisions = sum(
        (a * 1 + b) % prime % values == (a * 2 + b) % prime % values for a in range(1, prime) for b in range(prime)
    )
    assert collisions * values != prime * (prime - 1)


@pytest.mark.parametrize("epsilon", ["0.001", "0.405465108", "0.405465109", "1", "3", "5.99", "10"])
def test_the_range_is_e_to_epsilon_rounded_plus_one(epsilon: str) -> None:
    assert choose_hash_range(Decimal(epsilon)) == round(math.exp(float(epsilon))) + 1


def test_hashing_at_each_category_is_hashing_at_all() -> None:
    made = LocalHashing(epsilon=1, categories=300)
    drawn = made.randomise(SystemEntropy(), np.arange(300))[:, :-1]
    each = made.hash(drawn, np.arange(300))
    assert each.tolist() == [made.hash(drawn[[place]], place).item() for place in range(300)]


@pytest.mark.parametrize(("categories", "number"), [(2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (65536, 17)])
def test_there_is_a_number_for_each_binary_digit(categories: int, number: int) -> None:
    made = LocalHashing(epsilon=1, categories=categories)
    assert made.coefficients() == number
    assert made.parameters()["coefficients"] == str(number)


def test_least_prime_factors() -> None:
    assert [least_prime_factor(number) for number in (2, 3, 4, 9, 15, 35, 97, 401, 22027)] == [
        2,
        3,
        2,
        3,
        3,
        5,
        97,
        401,
        22027,
    ]


def test_channel() -> None:
    channel = LocalHashing(epsilon=1, categories=97).channel()
    assert channel.p == pytest.approx(math.e / (math.e + 3))
    assert channel.q == 0.25


def test_a_high_epsilon_is_refused() -> None:
    with pytest.raises(ParameterInvalid, match="at most 10"):
        LocalHashing(epsilon="10.1", categories=97)
    assert LocalHashing(epsilon=10, categories=65536).randomise(SystemEntropy(), np.array([65535])).shape == (1, 3)
