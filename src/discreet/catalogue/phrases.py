"""Sentences with facts in them, said in one language or another.

A template is English, with facts in braces as `str.format` reads them. It is looked up as it stands; where a language
has no other form, English is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.catalogue.languages import ENGLISH, FRENCH, language
from discreet.catalogue.numerals import write_facts
from discreet.catalogue.translations import translate, translate_count

__all__ = ["Labels", "Phrase", "say", "say_count", "say_list"]


@dataclass(frozen=True, slots=True)
class Labels:
    """A text for readers in both languages, such as a card has it."""

    en: str
    fr: str

    def __post_init__(self) -> None:
        if not self.en.strip() or not self.fr.strip():
            raise ValueError("a label has words in both languages")

    def text(self, lang: str) -> str:
        return self.fr if lang == FRENCH else self.en


class Phrase(Labels):
    """A sentence of ours that is said later, in the language asked for then; as text, in that of the moment."""

    __slots__ = ("facts", "template")
    template: str
    facts: dict[str, object]

    def __init__(self, template: str, /, **facts: object) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "facts", facts)

    def about(self, **facts: object) -> Phrase:
        """The same sentence with these facts."""
        return Phrase(self.template, **facts)

    @property
    def en(self) -> str:
        return self.text(ENGLISH)

    @property
    def fr(self) -> str:
        return self.text(FRENCH)

    def text(self, lang: str) -> str:
        return _fill(translate(self.template, lang), self.facts, lang)

    def __str__(self) -> str:
        return self.text(language())

    def __repr__(self) -> str:
        return f"Phrase({self.en!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and (self.en, self.fr) == (other.en, other.fr)

    def __hash__(self) -> int:
        return hash((self.en, self.fr))


def say(template: str, /, **facts: object) -> str:
    """A sentence in the language of this moment, its facts filled in."""
    spoken = language()
    return _fill(translate(template, spoken), facts, spoken)


def say_count(one: str, many: str, count: int, /, **facts: object) -> str:
    """The form for so many; `{count}` is the number."""
    spoken = language()
    return _fill(translate_count(one, many, count, spoken), {"count": count, **facts}, spoken)


def say_list(items: Sequence[str], *, either: bool = False) -> str:
    """ "a, b and c", or with `either` "a, b or c"."""
    word = say(" or ") if either else say(" and ")
    return word.join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _fill(template: str, facts: dict[str, object], lang: str) -> str:
    if not facts:
        # Most sentences have no facts. Braces are doubled in all of them, so that a translator knows one rule.
        return template.format() if "{" in template or "}" in template else template
    return template.format(**{name: _word(fact, lang) for name, fact in write_facts(facts, lang).items()})


def _word(fact: object, lang: str) -> object:
    return fact.text(lang) if isinstance(fact, Labels) else fact
