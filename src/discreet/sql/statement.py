"""A statement that was read: what is measured, what is shown of it, and the words for both.

Only `plan` reaches an engine and a hash; the rest dresses the answer and the explanation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from discreet.catalogue import Phrase
from discreet.results import KeyFace
from discreet.sql.algebra import Identity, Measure, Plan
from discreet.sql.outputs import All, KeyAmong, Presentation, Selection
from discreet.sql.reader.typed_values import Typed
from discreet.sql.serialisation import Serialisation, digest

__all__ = ["KeyFace", "MeasureFace", "Statement", "Written", "WrittenAggregate", "WrittenCount"]


@dataclass(frozen=True, slots=True)
class MeasureFace:
    """What a measure is in the words of the statement, and the size of its whole step.

    `text` is the same in every language; where some of its words are ours, `phrase` says them in the reader's.
    """

    text: str
    step: Fraction
    phrase: Phrase | None = field(default=None, compare=False)

    @classmethod
    def of(cls, words: str | Phrase, step: Fraction) -> MeasureFace:
        return cls(words, step) if isinstance(words, str) else cls(words.en, step, words)

    @property
    def words(self) -> str | Phrase:
        return self.phrase or self.text

    @property
    def told(self) -> str:
        """The words in the language of the moment."""
        return str(self.words)


@dataclass(frozen=True, slots=True)
class WrittenCount:
    """A count of rows or units, and its words."""

    counted: Measure
    text: str


@dataclass(frozen=True, slots=True)
class WrittenAggregate:
    """An aggregate of a number: its name, its words, and the number as written, clamped to no bounds that are found.

    `share` is the rank of a quantile, or what a trimmed mean leaves out at each end; `weight` is that of a weighted
    mean; `usual` is the value near which the card lets a mean be taken, in whole steps.
    """

    aggregate: str
    text: str
    value: Typed
    share: Fraction | None = None
    weight: Typed | None = None
    usual: Fraction | None = None


Written = WrittenCount | WrittenAggregate


@dataclass(frozen=True)
class Statement:
    """A question as planned. Faces stand in the order of the plan's keys and measures.

    `names` say what the statement calls its columns: for words, and for nothing that is computed. `private` are the
    columns with private bounds that it sums or ranks, each with its step. They are clamped to what a search has found
    for them; those in `searched`, for which there has been none yet, to all that it looks at. `readings` are the
    aggregates as they were written, in their order, each with the measures it is made of.
    """

    plan: Plan
    presentation: Presentation
    keys: tuple[KeyFace, ...]
    measures: tuple[MeasureFace, ...]
    names: Mapping[Identity, str] = field(default_factory=dict)
    searched: tuple[Identity, ...] = ()
    private: tuple[tuple[Identity, Fraction], ...] = ()
    readings: Mapping[Written, tuple[Measure, ...]] = field(default_factory=dict)

    def called(self, column: Identity) -> str:
        """The name of a column with private bounds; further ones of a name have the first free number behind it."""
        text: dict[Identity, str] = {}
        taken = {self.names[item] for item, _ in self.private}
        for item, _ in self.private:
            name = free = self.names[item]
            number = 1
            while free in text.values() or (number > 1 and free in taken):
                number += 1
                free = f"{name}_{number}"
            text[item] = free
        return text[column]

    @property
    def widened(self) -> Statement:
        """The same over every cell of the domains, of which those that are listed are shown: for what was drawn so."""
        listed: list[Selection] = [
            KeyAmong(index, key.cells)
            for index, key in enumerate(self.plan.keys)
            if key.whole is not None and key.cells is not None
        ]
        if not listed:
            return self
        having = self.presentation.having
        both = All((*listed, *(() if having is None else (having,))))
        return replace(self, plan=self.plan.widened, presentation=replace(self.presentation, having=both))

    @cached_property
    def hash(self) -> str:
        """What the question is known by: the hash of its plan; before a search, also of what bounds will make of it.

        Until the middle of the bounds is known, the plan of SUM(x) and that of AVG(x) measure the same sum.
        """
        written = Serialisation.of(self.plan)
        measured = written.plan(self.plan)
        if not self.searched:
            return measured
        readings = {
            digest([item.aggregate, written.value(item.value.value), [written.measure_id(part) for part in parts]])
            for item, parts in self.readings.items()
            if isinstance(item, WrittenAggregate)
        }
        searched = sorted(written.numbers[column] for column in self.searched)
        return digest(["searching", measured, searched, sorted(readings)])
