"""Which language is spoken: one for each thread or task, English unless somebody says otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Final

__all__ = ["ENGLISH", "FRENCH", "LANGUAGES", "choose_language", "language", "speak", "speaking"]

ENGLISH: Final = "en"
FRENCH: Final = "fr"
LANGUAGES: Final = (ENGLISH, FRENCH)
_LOCALES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def language() -> str:
    """The language of this moment."""
    return _spoken.get()


def speak(chosen: str) -> None:
    """From now on in this thread or task. What is not one of LANGUAGES is English."""
    _spoken.set(chosen if chosen in LANGUAGES else ENGLISH)


@contextmanager
def speaking(chosen: str) -> Iterator[None]:
    """While something is said in a language."""
    token = _spoken.set(chosen if chosen in LANGUAGES else ENGLISH)
    try:
        yield
    finally:
        _spoken.reset(token)


def choose_language(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """The language that the words of a command name, else DISCREET_LANG, else the locale, else English.

    A language that is not spoken here is passed over; the command itself refuses it.
    """
    named = _named(words) or environment.get("DISCREET_LANG", "").strip()
    if named:
        return named if named in LANGUAGES else ENGLISH
    locale = next((environment[name] for name in _LOCALES if environment.get(name)), "")
    return FRENCH if locale.casefold().startswith(FRENCH) else ENGLISH


def _named(words: Sequence[str]) -> str:
    for word, following in pairwise([*words, ""]):
        if word == "--":
            break
        if word == "--lang":
            return following
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return ""
