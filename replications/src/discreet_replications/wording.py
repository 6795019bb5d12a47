"""What all reproductions say alike: where their files are, a value of ε, a figure as it was printed.

The catalogue knows an English word once. Those here mean something else in it, and have their French beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from discreet.catalogue import Labels, Numeral, Phrase, language, localise, say

__all__ = [
    "DRAWINGS",
    "KEPT",
    "NO_GUARANTEE",
    "OMITTED",
    "TIME",
    "tell_epsilon",
    "tell_files",
    "tell_printed",
    "tell_word",
]

DRAWINGS: Final = Labels("Figures", "Figures")
KEPT: Final = Labels("kept", "tenue")  # a promise
NO_GUARANTEE: Final = Labels("none", "aucune")
OMITTED: Final = Labels("left out", "écartée")  # a strategy
TIME: Final = Labels("Time", "Temps")

_FILES: Final = {
    "comparison": Phrase("comparison"),
    "figures": Phrase("figures"),
    "page": Phrase("page"),
    "report": Phrase("report"),
    "results": Phrase("results"),
    "tables": Phrase("tables"),
}


def tell_word(word: Labels) -> str:
    """A word in the language of this moment."""
    return word.text(language())


def tell_files(files: Mapping[str, str]) -> list[str]:
    """One line for each file or folder; machines know them by their English names."""
    return [say("{name}: {file}", name=_FILES[name], file=file) for name, file in files.items()]


def tell_epsilon(epsilon: str) -> str:
    """A value of ε, given as decimal text."""
    return say("ε = {epsilon}", epsilon=Numeral(epsilon))


def tell_printed(figure: str) -> str:
    """A figure that English printed ("57.738", "100,000", "64.3%") as the reader writes it."""
    return localise(figure, language())
