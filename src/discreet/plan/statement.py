"""A statement that was read: what is measured, what is shown of it, and the words for both.

Only `plan` reaches an engine and a hash; the rest dresses the answer and the explanation.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction

from discreet.data.card import Labels
from discreet.plan.algebra import Plan
from discreet.plan.outputs import Presentation

__all__ = ["KeyFace", "MeasureFace", "Statement"]


@dataclass(frozen=True, slots=True)
class KeyFace:
    """How the cells of a key are shown: codes and labels of categories, else whole steps, else texts as they are."""

    name: str
    codes: tuple[str, ...] = ()
    labels: tuple[Labels, ...] = ()
    step: Fraction | None = None

    def shown(self, cell: int | str | None) -> int | float | str | None:
        """A code, a number, a text; None for the NULL key."""
        if cell is None or isinstance(cell, str):
            return cell
        if self.codes:
            return self.codes[cell]
        if self.step is None or self.step.denominator == 1:
            return cell if self.step is None else cell * self.step.numerator
        value = cell * self.step
        return int(value) if value.denominator == 1 else float(value)


@dataclass(frozen=True, slots=True)
class MeasureFace:
    """What a measure is in the words of the statement, and the size of its whole step."""

    text: str
    step: Fraction


@dataclass(frozen=True, slots=True)
class Statement:
    """A question as planned. Faces stand in the order of the plan's keys and measures.

    `private` are the columns with private bounds that it sums or ranks, each with its step. They are clamped to what
    a search has found for them; those in `searched`, for which there has been none yet, to all that it looks at.
    `readings` say which measures each aggregate is made of, and of which value as it was written.
    """

    plan: Plan
    presentation: Presentation
    keys: tuple[KeyFace, ...]
    measures: tuple[MeasureFace, ...]
    searched: tuple[str, ...] = ()
    private: tuple[tuple[str, Fraction], ...] = ()
    readings: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """What the question is known by: the hash of its plan; before a search, also of what bounds will make of it.

        Until the middle of the bounds is known, the plan of SUM(x) and that of AVG(x) measure the same sum.
        """
        if not self.searched:
            return self.plan.hash
        told = json.dumps([self.plan.hash, sorted(self.searched), self.readings], separators=(",", ":"))
        return hashlib.sha256(told.encode()).hexdigest()
