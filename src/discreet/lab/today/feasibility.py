"""What the shown figures say about the hidden ones: each one's feasible interval, by linear programming.

The unknowns are the hidden cells; every shown margin is an equation in them, and cells are not negative where nobody
can lower one. An auditor who knew more, such as the rule that hid a cell, could narrow the interval further.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.today.controlled_rounding import margin_matrix
from discreet.lab.today.holdings import Hidden, Holdings
from discreet.tables import Margin

__all__ = ["INFEASIBLE", "Figure", "Pattern", "solve_program"]

INFEASIBLE = 2

Figure = tuple[Margin, int]
"""A margin and the place of one of its figures, in C order."""

_SLACK = 1e-6
_WITNESSES = 5
_SHORTEST = 1e-3
_SOLVED, _STOPPED = 0, 1


def solve_program(
    cost: NDArray[np.float64], equations: Any, right: NDArray[np.float64], *, nonnegative: bool, until: float = np.inf
) -> tuple[int, NDArray[np.float64] | None]:
    """The status of a linear program and its solution, if any, by the clock `until`.

    Through `milp`, which has half the overhead of `linprog`.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    bounds = Bounds(0 if nonnegative else -np.inf, np.inf)
    options = {} if until == np.inf else {"time_limit": max(until - monotonic(), _SHORTEST)}
    solved = milp(cost, constraints=LinearConstraint(equations, right, right), bounds=bounds, options=options)
    return int(solved.status), None if solved.x is None else np.asarray(solved.x)


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A table with some figures hidden; `hidden` has an entry for every published margin."""

    holdings: Holdings
    hidden: Mapping[Margin, Hidden]

    def interval(self, figure: Figure) -> tuple[float, float]:
        """The least and the largest value that a hidden figure may have; infinite where nothing bounds it."""
        program = _Program(self)
        return program.reach(figure, -1), program.reach(figure, 1)

    def find_narrow(self, widths: Mapping[Figure, float], *, until: float) -> list[Figure]:
        """The figures whose interval is narrower than asked for; those not reached by the clock `until` are left out.

        Every solution widens all intervals at once: a few programs about all figures come first, and most figures need
        none of their own.
        """
        program = _Program(self)
        names = list(widths)
        asked = np.array([widths[name] for name in names])
        rows = program.rows(names)
        lowest, highest = rows @ program.held, rows @ program.held
        for pattern in range(_WITNESSES if len(names) > 2 * _WITNESSES else 0):
            signs = 1.0 - 2 * (np.arange(len(names)) >> pattern & 1)
            for found in (program.solve(signs @ rows, direction, until=until)[1] for direction in (1, -1)):
                if found is not None:
                    lowest, highest = np.minimum(lowest, rows @ found), np.maximum(highest, rows @ found)
        narrow = []
        for index, name in enumerate(names):
            for direction in (1, -1):
                if highest[index] - lowest[index] >= asked[index] - _SLACK or monotonic() > until:
                    break
                status, found = program.solve(rows[[index]].toarray()[0], direction, until=until)
                if found is None:
                    highest[index] = highest[index] if status == _STOPPED else np.inf
                    break
                lowest, highest = np.minimum(lowest, rows @ found), np.maximum(highest, rows @ found)
            else:
                if highest[index] - lowest[index] < asked[index] - _SLACK:
                    narrow.append(name)
        return narrow


class _Program:
    """The equations that hidden cells obey."""

    def __init__(self, pattern: Pattern) -> None:
        layout = pattern.holdings.layout
        self._sizes = layout.sizes
        self._unknown = np.flatnonzero(pattern.hidden[layout.cells].ravel())
        self.held: NDArray[np.float64] = pattern.holdings.figures.ravel()[self._unknown].astype(np.float64)
        self._nonnegative = pattern.holdings.nonnegative
        self._equations = self._state_equations(pattern)

    def rows(self, figures: list[Figure]) -> Any:
        """One row for each figure: which unknown cells it holds."""
        from scipy.sparse import vstack

        matrices = {margin: margin_matrix(self._sizes, margin)[:, self._unknown] for margin, _ in figures}
        return vstack([matrices[margin][[index]] for margin, index in figures]).tocsr()

    def reach(self, figure: Figure, direction: int) -> float:
        row = self.rows([figure]).toarray()[0]
        _, found = self.solve(row, direction)
        return direction * np.inf if found is None else float(row @ found)

    def solve(
        self, row: NDArray[np.float64], direction: int, *, until: float = np.inf
    ) -> tuple[int, NDArray[np.float64] | None]:
        """The hidden cells that make a figure largest (1) or least (−1).

        The held cells are feasible, so a program without a solution that was not stopped is one without an end.
        """
        if not row.any():
            return _SOLVED, self.held
        right = self._equations @ self.held
        return solve_program(-direction * row, self._equations, right, nonnegative=self._nonnegative, until=until)

    def _state_equations(self, pattern: Pattern) -> Any:
        from scipy.sparse import vstack

        parts = [margin_matrix(self._sizes, ())[:, self._unknown][:0]]
        for margin, hidden in pattern.hidden.items():
            if margin == pattern.holdings.layout.cells:
                continue
            sums = margin_matrix(self._sizes, margin)[:, self._unknown]
            text = ~hidden.ravel() & (sums @ np.ones(self._unknown.size) > 0)
            parts.append(sums[np.flatnonzero(text)])
        return vstack(parts).tocsr()
