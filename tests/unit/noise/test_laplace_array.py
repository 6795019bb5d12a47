"""Columns of noise read the same bytes as the list sampler and give the same integers."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import ByteTape, SystemEntropy, discrete_laplace_many
from discreet.noise.bits import BATCH, expand
from discreet.noise.laplace_array import LARGEST_SCALE, discrete_laplace_array, geometric_array


@pytest.mark.parametrize(
    "scale", [Fraction(1, 50), Fraction(1), Fraction(10, 3), Fraction(900), Fraction(LARGEST_SCALE)]
)
@pytest.mark.parametrize("count", [0, 1, 7, BATCH + 3])
def test_the_same_bytes_give_the_same_integers(scale: Fraction, count: int) -> None:
    data = os.urandom(70 * count + 200)
    tapes = ByteTape(data), ByteTape(data)
    drawn = discrete_laplace_array(tapes[0], scale=scale, count=count)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == discrete_laplace_many(tapes[1], scale=scale, count=count)
    assert tapes[0].used == tapes[1].used


def test_what_lies_beyond_the_digits_is_added() -> None:
    digits = len(expand(Fraction(1)).places)
    beyond = bytes.fromhex("00 00" + "ff" * digits + "00" * 12 + "ff") + bytes(64)
    tapes = ByteTape(beyond), ByteTape(beyond)
    drawn = discrete_laplace_array(tapes[0], scale=Fraction(1), count=1)
    assert drawn.tolist() == discrete_laplace_many(tapes[1], scale=Fraction(1), count=1) == [1 + (1 << digits)]


def test_a_geometric_column_is_the_magnitude_without_sign_and_zero() -> None:
    tail = os.urandom(4000)
    head = bytes(2 * 100)  # even signs, and coins of not being 0 that all hold
    signed = discrete_laplace_array(ByteTape(head + tail), scale=Fraction(5), count=100)
    assert (signed - 1).tolist() == geometric_array(ByteTape(tail), scale=Fraction(5), count=100).tolist()


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(LARGEST_SCALE + 1)])
def test_scales_have_limits(scale: Fraction) -> None:
    for sampler in (discrete_laplace_array, geometric_array):
        with pytest.raises(ValueError, match="scale"):
            sampler(SystemEntropy(), scale=scale, count=1)
