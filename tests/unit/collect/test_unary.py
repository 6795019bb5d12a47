"""Unary encodings: bits, their hexadecimal form, and their bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect.randomisers import unary_encoding as unary
from discreet.collect.randomisers.unary_encoding import OptimisedUnary, SymmetricUnary
from discreet.errors import ParameterInvalid
from discreet.noise import ByteTape, SystemEntropy


def test_channels() -> None:
    optimised = OptimisedUnary(epsilon=1, categories=9).channel()
    assert optimised.p == 0.5
    assert optimised.q == pytest.approx(1 / (math.e + 1))
    symmetric = SymmetricUnary(epsilon=1, categories=9).channel()
    assert symmetric.p == pytest.approx(math.exp(0.5) / (math.exp(0.5) + 1))
    assert symmetric.q == pytest.approx(1 - symmetric.p)


def test_a_coin_for_each_bit_by_rows_then_the_true_bits() -> None:
    # 1 with chance 1/(e + 1) = 0.2689...: bytes below 68 are ones
    tape = ByteTape(bytes([0, 255, 67, 69, 255, 0]) + bytes([2, 1]))
    reports = OptimisedUnary(epsilon=1, categories=3).randomise(tape, np.array([0, 1]))
    assert reports.tolist() == [[0, 0, 1], [0, 1, 1]]
    assert tape.used == 8
    # flipped with chance 1/(e^(1/2) + 1) = 0.3775...: bytes below 96
    tape = ByteTape(bytes([0, 255, 95, 97, 255, 0]))
    assert SymmetricUnary(epsilon=1, categories=3).randomise(tape, np.array([0, 1])).tolist() == [[0, 0, 1], [0, 1, 1]]


def test_bits_are_written_with_the_first_category_first() -> None:
    made = OptimisedUnary(epsilon=1, categories=10)
    reports = np.array([[1, 0, 0, 0, 0, 0, 0, 1, 0, 1], [0] * 10], dtype=np.uint8)
    assert made.write_reports(reports) == ["8140", "0000"]


@pytest.mark.parametrize("value", ["8160", "8101", "814", "81400", "81 4", "81g0", "8140\n", "ABC0", 8140])
def test_only_canonical_bits_are_reports(value: object) -> None:
    assert OptimisedUnary(epsilon=1, categories=10).read_reports([value])[1].tolist() == [False]


def test_blocks_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unary, "_BLOCK", 50)
    answers = np.arange(101) % 7
    reports = SymmetricUnary(epsilon=50, categories=7).randomise(SystemEntropy(), answers)
    assert reports.argmax(axis=1).tolist() == answers.tolist()
    assert reports.sum() == 101


def test_long_rows_of_bits_are_refused() -> None:
    with pytest.raises(ParameterInvalid, match="1024"):
        OptimisedUnary(epsilon=1, categories=1025)
