"""The exact law of a sampler, by walking every branch of its uniform choices."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.noise import ByteTape, Entropy

Law = tuple[dict[int, Fraction], Fraction]
Walk = Callable[[Callable[[Entropy], int]], Law]


class _Pruned(Exception):
    pass


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Returns a function giving {outcome: probability found}, and the probability of the branches cut off."""
    smallest = Fraction(1, 100_000)
    script: list[tuple[int, int]] = []
    position = 0

    def scripted(_: Entropy, n: int) -> int:
        nonlocal position
        if n == 1:
            return 0
        if position == len(script):
            weight = Fraction(1, n)
            for _choice, options in script:
                weight /= options
            if weight < smallest:
                raise _Pruned
            script.append((0, n))
        choice = script[position][0]
        position += 1
        return choice

    for module in ("coin", "laplace", "negative_binomial"):
        monkeypatch.setattr(f"discreet.noise.{module}.uniform_below", scripted)

    def run(draw: Callable[[Entropy], int]) -> Law:
        nonlocal position
        masses: dict[int, Fraction] = {}
        cut = Fraction(0)
        script.clear()
        while True:
            position = 0
            try:
                outcome: int | None = draw(ByteTape(b""))
            except _Pruned:
                outcome = None
            weight = Fraction(1)
            for _, options in script:
                weight /= options
            if outcome is None:
                cut += weight
            else:
                masses[outcome] = masses.get(outcome, Fraction(0)) + weight
            while script and script[-1][0] == script[-1][1] - 1:
                script.pop()
            if not script:
                return masses, cut
            choice, options = script[-1]
            script[-1] = (choice + 1, options)

    return run
