"""The exact table that an agency holds, and what a method of today makes of it.

Both are for the custodian's eyes: holdings are confidential, and nothing published from them here is protected by a
proof. A margin is named by the places of the keys it keeps, as in `tables.layout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Guarantee
from discreet.tables import Layout, Margin, every_margin, keep_keys

__all__ = ["Figures", "HeldPerson", "Hidden", "Holdings", "Integers", "Published", "require_whole"]

Integers = NDArray[np.int64]
Figures = NDArray[Any]
Hidden = NDArray[np.bool_]

_MOST_STEPS = 1 << 62


def require_whole(value: object, *, parameter: str, least: int, most: int | None = None) -> int:
    """A whole number within its range; anything else is refused by name."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or int(str(value)) < least or (most is not None and int(str(value)) > most):
        if most is None:
            rule = say("must be a whole number of at least {least}", least=least)
        else:
            rule = say("must be a whole number between {least} and {most}", least=least, most=most)
        raise ParameterInvalid(parameter=parameter, rule=rule, given=str(value))
    return int(str(value))


@dataclass(frozen=True, slots=True)
class HeldPerson:
    """Someone in the table: the cell, and what they add to it (1 in a table of counts)."""

    cell: tuple[int, ...]
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """An exact table: people in each cell; for a table of totals also what each of them adds, in whole steps.

    `contributions` has one row (cell in C order, value, people) for each value in each cell. In a table of totals
    `counts` are the people who have a value. `step` is what a whole step is in the table's unit, and `names` name the
    keys. Build it with `of_counts` or `of_contributions`.
    """

    counts: Integers
    contributions: Integers | None
    layout: Layout
    figures: Integers = field(repr=False)
    step: Fraction = Fraction(1)
    names: tuple[str, ...] = ()

    @classmethod
    def of_counts(cls, counts: Figures, *, margins: Iterable[Margin] | None = None) -> Holdings:
        """A table of counts; all margins are published unless some are named."""
        held = _check_integers(np.asarray(counts), what=say("the counts"))
        if held.size and held.min() < 0:
            raise ParameterInvalid(
                parameter=Phrase("the counts"), rule=say("must not be negative"), given=say("a negative count")
            )
        return cls(held, None, _lay_out(held.shape, margins), held)

    @classmethod
    def of_contributions(
        cls, sizes: Sequence[int], contributions: Figures, *, margins: Iterable[Margin] | None = None
    ) -> Holdings:
        """A table of totals from its rows (cell, value, people)."""
        layout = _lay_out(tuple(sizes), margins)
        rows = _check_integers(np.asarray(contributions), what=say("the contributions")).reshape(-1, 3)
        cells, values, people = rows.T
        if rows.size and (cells.min() < 0 or cells.max() >= prod(layout.sizes) or people.min() < 1):
            raise ParameterInvalid(
                parameter=Phrase("the contributions"),
                rule=say("must name cells of the table and at least one person each"),
                given=say("a cell outside it, or nobody"),
            )
        if rows.size and int(np.abs(values).max()) * int(people.sum()) >= _MOST_STEPS:
            raise ParameterInvalid(
                parameter=Phrase("the totals"), rule=say("must lie below 2^62 steps"), given=say("larger ones")
            )
        counts, totals = np.zeros((2, prod(layout.sizes)), dtype=np.int64)
        np.add.at(counts, cells, people)
        np.add.at(totals, cells, values * people)
        return cls(counts.reshape(layout.sizes), rows, layout, totals.reshape(layout.sizes))

    def called(self, names: Sequence[str], *, step: Fraction = Fraction(1)) -> Holdings:
        """The same table with names for its keys, and with the size of its step."""
        if len(names) != len(self.layout.sizes):
            raise ValueError("a name for each key")
        return replace(self, names=tuple(names), step=step)

    def name(self, index: int) -> str:
        """What a key is called."""
        return self.names[index] if self.names else say("key {number}", number=index + 1)

    def in_units(self, steps: int) -> int | float:
        """Whole steps in the table's unit."""
        found = steps * self.step
        return int(found) if found.denominator == 1 else float(found)

    @property
    def magnitude(self) -> bool:
        """Whether the figures are totals and not counts."""
        return self.contributions is not None

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    @property
    def nonnegative(self) -> bool:
        """Whether nobody can lower a figure."""
        return self.contributions is None or not len(self.contributions) or bool(self.contributions[:, 1].min() >= 0)

    def rows(self) -> tuple[Integers, Integers, Integers]:
        """Cells, values and people, row by row; in a table of counts everyone adds 1."""
        if self.contributions is not None:
            cells, values, people = self.contributions.T
            return cells, values, people
        people = self.counts.ravel()
        return np.arange(people.size), np.ones_like(people), people

    def margin(self, margin: Margin) -> Integers:
        """The exact figures of a margin."""
        return keep_keys(self.figures, margin)

    def draw_person(self, rng: np.random.Generator) -> HeldPerson:
        """Anyone, each person with the same chance."""
        cells, values, people = self.rows()
        row = int(np.searchsorted(np.cumsum(people), rng.integers(self.people), side="right"))
        return HeldPerson(
            tuple(int(at) for at in np.unravel_index(int(cells[row]), self.layout.sizes)), int(values[row])
        )

    def number(self, person: HeldPerson, rng: np.random.Generator) -> int:
        """The place in the file of someone like that, each of them with the same chance."""
        cells, values, people = self.rows()
        flat = int(np.ravel_multi_index(person.cell, self.layout.sizes))
        row = int(np.flatnonzero((cells == flat) & (values == person.value) & (people > 0))[0])
        return int(people[:row].sum()) + int(rng.integers(people[row]))

    def stand(self, numbers: Integers) -> tuple[Integers, Integers]:
        """The cells, in C order, of people by their places in the file, and what each adds."""
        cells, values, people = self.rows()
        rows = np.searchsorted(np.cumsum(people), numbers, side="right")
        return cells[rows], values[rows]

    def divide(self, numbers: Integers, target: int) -> Integers:
        """What these people add together, by place of the target key."""
        cells, values = self.stand(numbers)
        divided = np.zeros(self.layout.sizes[target], dtype=np.int64)
        np.add.at(divided, np.unravel_index(cells, self.layout.sizes)[target], values)
        return divided

    def people_like(self, person: HeldPerson, target: int) -> Integers:
        """How many people stand at each place of the target key, all other keys the person's."""
        like: Integers = np.moveaxis(self.counts, target, -1)[person.cell[:target] + person.cell[target + 1 :]]
        return like

    def without(self, person: HeldPerson) -> Holdings:
        """The same table had this person not been in it."""
        if self.contributions is None:
            counts = self.counts.copy()
            counts[person.cell] -= 1
            if counts[person.cell] < 0:
                raise ParameterInvalid(
                    parameter=Phrase("the person"), rule=say("must be in the table"), given=say("an empty cell")
                )
            return replace(self, counts=counts, figures=counts)
        flat = int(np.ravel_multi_index(person.cell, self.layout.sizes))
        theirs = np.flatnonzero((self.contributions[:, 0] == flat) & (self.contributions[:, 1] == person.value))
        if not theirs.size:
            raise ParameterInvalid(
                parameter=Phrase("the person"), rule=say("must be in the table"), given=say("a person who is not in it")
            )
        rows = self.contributions.copy()
        rows[theirs[0], 2] -= 1
        counts, figures = self.counts.copy(), self.figures.copy()
        counts[person.cell] -= 1
        figures[person.cell] -= person.value
        return replace(self, counts=counts, contributions=rows[rows[:, 2] > 0], figures=figures)


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A table as a method publishes it: figures for every margin, and which of them are left out.

    `reach` is how far a shown figure may lie from the held one, which everyone who knows the method knows; `steady`
    says that equal figures are published equally. A method that found no table (`found`) has no figures.
    """

    method: str
    did: str
    parameters: Mapping[str, object]
    guarantee: Guarantee
    figures: Mapping[Margin, Figures] = field(repr=False)
    hidden: Mapping[Margin, Hidden] = field(repr=False)
    reach: Mapping[Margin, float] = field(repr=False)
    steady: bool
    found: bool = True

    def values(self, margin: Margin) -> Any:
        """The margin as nested lists, the grand total as a number; None for what is left out."""
        shown = self.figures[margin].astype(object)
        shown[self.hidden[margin]] = None
        return shown.tolist()

    def additive(self) -> bool:
        """Whether every shown margin is the sum of its cells, where all of those are shown."""
        cells = max(self.figures, key=len)
        for margin, figures in self.figures.items():
            clear = ~self.hidden[margin] & (keep_keys(self.hidden[cells].astype(np.int64), margin) == 0)
            if not np.array_equal(np.asarray(figures)[clear], keep_keys(self.figures[cells], margin)[clear]):
                return False
        return True


def _check_integers(found: Figures, *, what: str) -> Integers:
    if not np.issubdtype(found.dtype, np.integer):
        raise ParameterInvalid(
            parameter=what, rule=say("must be whole numbers"), given=say("an array of {dtype}", dtype=found.dtype)
        )
    return found.astype(np.int64)


def _lay_out(sizes: tuple[int, ...], margins: Iterable[Margin] | None) -> Layout:
    if not sizes or any(size < 1 for size in sizes):
        raise ParameterInvalid(
            parameter=Phrase("the table"),
            rule=say("must have a key, and each key a cell"),
            given=" × ".join(map(str, sizes)) or say("none"),
        )
    cells = tuple(range(len(sizes)))
    chosen = tuple(every_margin(len(sizes))) if margins is None else tuple(dict.fromkeys((cells, *margins)))
    try:
        return Layout(sizes, None, chosen)
    except ValueError as error:
        raise ParameterInvalid(
            parameter="margins", rule=say("must fit the table: {error}", error=error), given=str(chosen)
        ) from None
