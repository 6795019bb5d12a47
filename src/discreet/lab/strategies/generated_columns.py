"""What generated columns reach to, worked out once for each model and sample size and kept beside the model.

    generated.json      in the model's folder: the hash of the model, and for every sample size the least and the
                        greatest value of every number column, in its own units, null where none was generated

A sample of 100,000 rows takes seconds and torch; reading this file takes neither. It is for the custodian alone, as the
model is: its figures come near those of real rows. A file of another model, or a damaged one, is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, UnknownName
from discreet.files import write_whole
from discreet.lab.strategies.subject import AggregateKind
from discreet.sql import Clamp

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.lab.generator.generator_model import GeneratorModel
    from discreet.lab.generator.generator_rows import GeneratorRows
    from discreet.lab.strategies.subject import Subject

__all__ = ["DEFAULT_SAMPLE", "LARGEST_SAMPLE", "GeneratedColumns", "check_sample_size", "reach_of"]

DEFAULT_SAMPLE: Final = 100_000
LARGEST_SAMPLE: Final = 10_000_000
_FILE: Final = "generated.json"
_SCHEMA: Final = 1

Reach = Mapping[str, tuple[Fraction, Fraction] | None]
"""The least and the greatest value of every number column; None where all are missing."""


def check_sample_size(size: int) -> int:
    """How many rows may be generated to look at, or ParameterInvalid."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST_SAMPLE:
        rule = say("must be a whole number from 1 to {most:,}", most=LARGEST_SAMPLE)
        raise ParameterInvalid(parameter=Phrase("sample size"), rule=rule, given=str(size)[:40])
    return size


def reach_of(rows: GeneratorRows) -> Reach:
    """How far the number columns of generated rows reach, in their own units."""
    import numpy as np

    result: dict[str, tuple[Fraction, Fraction] | None] = {}
    for shape in rows.shapes:
        if shape.kind == "category":
            continue
        values = rows.values[shape.name]
        present = values[~np.isnan(values)]
        step = Fraction(shape.step)
        result[shape.name] = (int(present.min()) * step, int(present.max()) * step) if present.size else None
    return result


@dataclass(frozen=True, slots=True)
class GeneratedColumns:
    """The columns of a model in a folder, sampled with so many rows. `load` is called when nothing is kept yet."""

    folder: Path
    load: Callable[[], GeneratorModel]
    sample_size: int = DEFAULT_SAMPLE

    def __post_init__(self) -> None:
        check_sample_size(self.sample_size)

    def maximum(self, column: str) -> Fraction:
        """The greatest absolute value that was generated, in the column's own units; 0 where there is none."""
        reach = self._reach()
        if column not in reach:
            raise UnknownName(
                sort=Phrase("Column"), name=column, where=say("the number columns of the model"), known=reach
            )
        ends = reach[column]
        return Fraction(0) if ends is None else max(map(abs, ends))

    def maximum_for(self, subject: Subject, card: Card) -> Fraction:
        """The greatest absolute value that a question would see in generated rows, in its own units; 0 for counts."""
        if subject.column is None or subject.aggregate is AggregateKind.COUNT:
            return Fraction(0)
        step = card.column(subject.column).step
        assert step is not None, "the number columns of a model have a step"
        found = self.maximum(subject.column) / Fraction(step)
        if isinstance(subject.value, Clamp):
            found = min(found, Fraction(max(abs(subject.value.low), abs(subject.value.high))))
        return found * subject.step

    def _reach(self) -> Reach:
        kept = self._kept()
        if (result := kept.get(str(self.sample_size))) is not None:
            return result
        result = reach_of(self.load().sample(self.sample_size))
        with suppress(OSError):  # what cannot be kept is worked out again
            write_whole(self.folder / _FILE, self._to_json({**kept, str(self.sample_size): result}))
        return result

    def _kept(self) -> dict[str, Reach]:
        try:
            stored = json.loads((self.folder / _FILE).read_text("utf-8"))
            if (stored["schema"], stored["model"]) != (_SCHEMA, self._hash()):
                return {}
            return {size: _read(columns) for size, columns in stored["samples"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
            return {}

    def _hash(self) -> str:
        """What the file is bound to: model.json holds the hash of its tensors."""
        return hashlib.sha256((self.folder / "model.json").read_bytes()).hexdigest()

    def _to_json(self, samples: Mapping[str, Reach]) -> str:
        text = {
            size: {name: None if ends is None else [str(end) for end in ends] for name, ends in columns.items()}
            for size, columns in samples.items()
        }
        return json.dumps({"schema": _SCHEMA, "model": self._hash(), "samples": text}, indent=1) + "\n"


def _read(columns: Mapping[str, list[str] | None]) -> Reach:
    result: dict[str, tuple[Fraction, Fraction] | None] = {}
    for name, ends in columns.items():
        if ends is None:
            result[name] = None
            continue
        low, high = ends
        result[name] = Fraction(low), Fraction(high)
    return result
