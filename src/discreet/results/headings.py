"""What stands beside figures: the keys of a release, and how their cells are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.catalogue import Phrase
from discreet.results.labels import Labels

__all__ = ["ALL", "NOTHING", "Heading", "KeyFace", "Shown"]

Shown = int | float | str | None

ALL = Phrase("All")
NOTHING = Phrase("(no value)")


@dataclass(frozen=True, slots=True)
class KeyFace:
    """How the cells of a key are shown: codes and labels of categories, else whole steps, else texts as they are."""

    name: str
    codes: tuple[str, ...] = ()
    labels: tuple[Labels, ...] = ()
    step: Fraction | None = None

    def shown(self, cell: int | str | None) -> Shown:
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
class Heading:
    """One key of a release: its column's name and title, and how its cells are shown."""

    name: str
    title: Labels
    face: KeyFace

    def code(self, cell: int | str | None) -> Shown:
        return self.face.shown(cell)

    def label(self, code: Shown, language: str) -> str:
        """What a reader sees for a code: its label; the code itself where it has none; words for no value."""
        if code is None:
            return NOTHING.text(language)
        if self.face.labels and code in self.face.codes:
            return self.face.labels[self.face.codes.index(str(code))].text(language)
        return str(code)

    def labels(self, language: str) -> dict[str, str]:
        """Code to label, where the key has labels."""
        return {code: label.text(language) for code, label in zip(self.face.codes, self.face.labels, strict=False)}
