"""Laplace noise at a scale that follows from the data: exact discrete noise on a grid fine against the scale.

Guarantee: none of its own. Where the scale depends on the rows, the noise tells about them however it is drawn.
Requires:  a positive sensitivity; whoever shows the result rounds it to a grid that is public.
Proof:     none
Refs:      [DMNS06] for the noise the strategies without proof imitate.

A grid that follows from the card alone could not hold every scale the rows may call for, and whether noise can be drawn
must not depend on them. So the grid follows the scale: 2^-40 of it, to the nearest power of two.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.mechanisms import DiscreteLaplace, round_up

if TYPE_CHECKING:
    from discreet.lab.strategies.subject import HeldValues, Subject

__all__ = ["add_laplace", "answer_of", "draw_laplace", "settle"]

_FINE: Final = 40
DiscreteLaplace(scale=Fraction(1)).load()  # with this module, before a marker: nothing may fail to load after it


def add_laplace(exact: Fraction, *, sensitivity: Fraction, epsilon: Decimal) -> float:
    """The value with Laplace noise of scale sensitivity / epsilon, whatever the size of either."""
    [noisy] = draw_laplace(exact, 1, sensitivity=sensitivity, epsilon=epsilon)
    return noisy


def draw_laplace(exact: Fraction, count: int, *, sensitivity: Fraction, epsilon: Decimal) -> list[float]:
    """The same, so many times, each with noise of its own."""
    scale = sensitivity / Fraction(epsilon)
    grid = Fraction(2) ** (scale.numerator.bit_length() - scale.denominator.bit_length() - _FINE)
    drawn = DiscreteLaplace(scale=round_up(scale / grid)).release([round(exact / grid)] * count)
    return [float(noisy * grid) for noisy in drawn]


def answer_of(subject: Subject, held: HeldValues) -> Fraction:
    """The exact answer, settled where there is none."""
    return settle(subject, held.result(subject))


def settle(subject: Subject, found: Fraction | None) -> Fraction:
    """What was found; where there is nothing to speak of, the value nearest to 0 that the card admits.

    A refusal, or no answer, would tell that no row fits the question.
    """
    return min(max(0, subject.low), subject.high) * subject.step if found is None else found
