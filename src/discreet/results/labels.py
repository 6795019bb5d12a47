"""Texts for readers in both languages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Labels"]


@dataclass(frozen=True, slots=True)
class Labels:
    """A text for readers in both languages."""

    en: str
    fr: str

    def __post_init__(self) -> None:
        if not self.en.strip() or not self.fr.strip():
            raise ValueError("a label has words in both languages")

    def text(self, lang: str) -> str:
        return self.fr if lang == "fr" else self.en
