"""The door to randomness: tapes replay, the system's generator never repeats, not even across fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

from discreet.lab.study import SeededEntropy
from discreet.noise import ByteTape, SystemEntropy, TapeExhausted


def test_a_tape_is_read_once_from_left_to_right() -> None:
    tape = ByteTape(b"abcdef")
    assert (tape.read(2), tape.read(0), tape.read(3), tape.used) == (b"ab", b"", b"cde", 5)
    with pytest.raises(TapeExhausted, match="6 bytes"):
        tape.read(2)
    assert tape.used == 5


def test_system_entropy_gives_as_many_bytes_as_asked() -> None:
    entropy = SystemEntropy()
    assert [len(entropy.read(n)) for n in (0, 1, 17, 4096)] == [0, 1, 17, 4096]
    assert entropy.read(32) != entropy.read(32)


FORKING = """
import os, sys
from fractions import Fraction
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.noise import SystemEntropy
wide = DiscreteLaplace(scale=Fraction(2**50))
gaussian = DiscreteGaussian(scale=Fraction(2**50))
entropy = SystemEntropy()
wide.release([0]), gaussian.release([0]), entropy.read(16)
for _ in range(3):
    if os.fork() == 0:
        sys.stdout.write(f"{wide.release([0] * 4)} {gaussian.release([0] * 4)} {entropy.read(16).hex()}\\n")
        sys.stdout.flush()
        os._exit(0)
    os.wait()
print(wide.release([0] * 4), gaussian.release([0] * 4), entropy.read(16).hex())
"""


def test_forked_processes_draw_apart() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for part in range(3):
        assert len({line.split("]")[part] for line in lines}) == 4


def test_a_seed_repeats_its_bytes_however_they_are_read() -> None:
    whole = SeededEntropy(2017).read(50_000)
    cut = SeededEntropy(2017)
    assert b"".join(cut.read(n) for n in (0, 1, 16_383, 1, 20_000, 13_615)) == whole
    assert SeededEntropy(2018).read(50_000) != whole
    assert len(set(whole)) == 256


def test_seeds_are_told_apart_by_their_whole_text() -> None:
    assert len({SeededEntropy(seed).read(16) for seed in (0, 1, 10, 11, 2**64, 2**64 + 1)}) == 6


@pytest.mark.parametrize("seed", [True, -1, 1.5, "1"])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(ValueError, match="whole number"):
        SeededEntropy(seed)
