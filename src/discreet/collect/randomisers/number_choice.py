"""Which randomiser to take for a number: all of them by name, and the one with the smallest expected variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.collect.randomisers.bounded_laplace import BoundedLaplace
from discreet.collect.randomisers.comparisons import AbsoluteLaplace, ClippedLaplace, ModuloLaplace
from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.grid import GridRandomiser
from discreet.collect.randomisers.hybrid import Hybrid
from discreet.collect.randomisers.laplace_number import LaplaceNumber
from discreet.collect.randomisers.piecewise import Piecewise, WidePiecewise
from discreet.errors import ParameterInvalid, UnknownName
from discreet.guarantees import ExactLike, exact, shown

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["NUMBER_RANDOMISERS", "choose_number", "middle_half", "number_randomiser"]

_PLAIN: Final[tuple[type[GridRandomiser], ...]] = (
    Duchi,
    LaplaceNumber,
    Piecewise,
    WidePiecewise,
    Hybrid,
    BoundedLaplace,
)
_COMPARISONS: Final[tuple[type[GridRandomiser], ...]] = (ClippedLaplace, AbsoluteLaplace, ModuloLaplace)

# From simple to involved: of equal variances the first is taken.
NUMBER_RANDOMISERS: Final[dict[str, type[GridRandomiser]]] = {kind.name: kind for kind in (*_PLAIN, *_COMPARISONS)}

_POINTS: Final = 33
_TIE: Final = 1 - 1e-9
_COARSE: Final = 1024  # beyond it the cube of the grid rules bounded Laplace out, and its table takes time


def number_randomiser(name: str, *, epsilon: ExactLike, grid: int, origin: int = 0) -> GridRandomiser:
    """The randomiser of this name; `origin` (position 0 in steps of the unit) matters to 'abs' and 'modulo' alone."""
    if name == AbsoluteLaplace.name:
        return AbsoluteLaplace(epsilon=epsilon, grid=grid, origin=origin)
    if name == ModuloLaplace.name:
        return ModuloLaplace(epsilon=epsilon, grid=grid, origin=origin)
    if name not in NUMBER_RANDOMISERS:
        where = say("the randomisers of numbers")
        raise UnknownName(sort=Phrase("randomiser"), name=shown(name), where=where, known=NUMBER_RANDOMISERS)
    return NUMBER_RANDOMISERS[name](epsilon=epsilon, grid=grid)


def choose_number(*, epsilon: ExactLike, grid: int, position: float | None = None) -> GridRandomiser:
    """The randomiser with the smallest expected variance, at a position or on average over the middle half.

    Bounds are set so that nearly every answer fits, so most answers lie away from them; the worst case is at the ends
    and would favour randomisers that are better there and worse where people are. Comparisons are never chosen.
    """
    total = exact(epsilon, parameter="epsilon")
    if position is not None and not 0 <= position <= grid:
        raise ParameterInvalid(
            parameter="position", rule=say("must lie between 0 and {most}", most=grid), given=shown(position)
        )
    best: GridRandomiser = LaplaceNumber(epsilon=total, grid=grid)
    indices = middle_half(grid) if position is None else np.array([float(position)])
    least = np.inf
    for kind in _PLAIN:
        if not kind.supports(epsilon=total, grid=grid) or (kind is BoundedLaplace and grid > _COARSE):
            continue
        candidate = kind(epsilon=total, grid=grid)
        expected = float(candidate.variance(indices).mean())
        if expected < least * _TIE:
            best, least = candidate, expected
    return best


def middle_half(grid: int) -> NDArray[float64]:
    """Positions spread evenly over the middle half of the grid; people stand on positions, not between them."""
    return np.unique(np.rint(np.linspace(grid / 4, 3 * grid / 4, _POINTS)))
