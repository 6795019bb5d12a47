"""Controlled rounding: every figure to a multiple of the base beside it, so that the table still adds up.

Among all such tables the one nearest to the held figures, cells and margins together, by integer programming. With one
or two keys there always is one, and the optimum is exact [CCE85]. Above two keys there may be none, and finding one may
take too long: the search stops after `seconds`, and the result says how it ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.guarantees import Unproven
from discreet.lab.today.holdings import Figures, Holdings, Integers, Published, require_whole
from discreet.tables import keep_keys

if TYPE_CHECKING:
    from discreet.tables import Margin

__all__ = ["ControlledRounding", "margin_matrix", "require_scipy"]

_ENDED = {
    (0, True): "optimal",
    (1, True): "not proven optimal: time ran out",
    (1, False): "not found: time ran out",
    (2, False): "not found: no such table exists",
}
_FAILED = "not found: the search failed"
_ENDINGS = {
    "optimal": Phrase("The table is optimal."),
    "not proven optimal: time ran out": Phrase("The table is not proven optimal: time ran out."),
    "not found: time ran out": Phrase("Such a table was not found: time ran out."),
    "not found: no such table exists": Phrase("Such a table was not found: no such table exists."),
    _FAILED: Phrase("Such a table was not found: the search failed."),
}


def require_scipy() -> None:
    """Programs are solved, and intervals found, by scipy; without it the comparison is refused by name."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("the comparison with today's methods"), extra="tables") from None


@lru_cache(maxsize=32)
def margin_matrix(sizes: tuple[int, ...], margin: Margin) -> Any:
    """The sparse matrix that sums cells, in C order, to a margin."""
    require_scipy()
    from scipy.sparse import csr_array

    cells = int(np.prod(sizes))
    indices = np.unravel_index(np.arange(cells), sizes)
    kept = tuple(sizes[index] for index in margin)
    rows = np.ravel_multi_index([indices[index] for index in margin], kept) if margin else np.zeros(cells, dtype=int)
    return csr_array((np.ones(cells), (rows, np.arange(cells))), shape=(int(np.prod(kept)), cells))


@dataclass(frozen=True, slots=True)
class ControlledRounding:
    """Every figure to a multiple of `base` beside it, margins the sums of their cells, as near as can be."""

    base: int = 5
    seconds: float = 10.0

    def __post_init__(self) -> None:
        require_whole(self.base, parameter="base", least=2)
        if not 0 < self.seconds <= 3600:
            raise ParameterInvalid(
                parameter="seconds", rule=say("must lie between 0 and 3600"), given=str(self.seconds)
            )

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn. `parameters["search"]` says whether the table is optimal, or why there is none."""
        cells, search = self._search(holdings)
        margins = holdings.layout.margins if cells is not None else ()
        figures: dict[Margin, Figures] = {margin: keep_keys(cells, margin) for margin in margins if cells is not None}
        exact, base = len(holdings.layout.sizes) <= 2, holdings.in_units(self.base)
        if cells is not None:
            did = say(
                "Every cell and margin becomes an adjacent multiple of {base:,}, and the table still adds up.",
                base=base,
            )
        else:
            did = say(
                "Every cell and margin would become an adjacent multiple of {base:,}, and the table would still "
                "add up.",
                base=base,
            )
        did = f"{did} {_ENDINGS[search]}"
        if not exact:
            limit = say("With more than two keys the search is limited to {seconds:g} s.", seconds=self.seconds)
            did = f"{did} {limit}"
        return Published(
            method="controlled rounding",
            did=did,
            parameters={"base": base, "seconds": self.seconds, "search": search},
            guarantee=Unproven("rounded figures; they bound every held figure within one base"),
            figures=figures,
            hidden={margin: np.zeros(values.shape, dtype=np.bool_) for margin, values in figures.items()},
            reach=dict.fromkeys(figures, float(self.base - 1)),
            steady=False,
            found=cells is not None,
        )

    def _search(self, holdings: Holdings) -> tuple[Integers | None, str]:
        """The rounded cells, or None, and how the search ended."""
        held = holdings.figures.ravel()
        below = held // self.base * self.base
        free = np.flatnonzero(held != below)
        if not free.size:
            return holdings.figures.copy(), "optimal"
        ended, ups = self._solve(holdings, below, free)
        if ups is None:
            return None, ended
        below[free] += self.base * ups
        return below.reshape(holdings.layout.sizes), ended

    def _solve(self, holdings: Holdings, below: Integers, free: Integers) -> tuple[str, Integers | None]:
        """Which free cells go up. The distance is linear: one step up costs base − 2·remainder in each figure."""
        margins = [margin_matrix(holdings.layout.sizes, margin) for margin in holdings.layout.margins]
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import vstack

        sums = vstack(margins).tocsr()
        exact = np.concatenate([holdings.margin(margin).ravel() for margin in holdings.layout.margins])
        lowest = exact // self.base * self.base
        highest = np.where(exact == lowest, lowest, lowest + self.base)
        start = sums @ below
        cost = sums[:, free].T @ np.where(exact == lowest, 0, self.base - 2 * (exact - lowest))
        solved = milp(
            cost / self.base,
            integrality=np.ones(free.size),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(sums[:, free], (lowest - start) // self.base, (highest - start) // self.base),
            options={"time_limit": float(self.seconds), "mip_rel_gap": 0.0},
        )
        ups = None if solved.x is None else np.rint(solved.x).astype(np.int64)
        return _ENDED.get((int(solved.status), ups is not None), _FAILED), ups
