"""Every sentence a person reads, in the reader's language.

A sentence stands in English where its facts are, as `say("… {name} …", name=name)` or, said later, as a `Phrase`. The
catalogues beside this file hold the other languages (`locale/<language>/LC_MESSAGES/discreet.po`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.catalogue.languages import ENGLISH, FRENCH, LANGUAGES, choose_language, language, speak, speaking
    from discreet.catalogue.numerals import Numeral, localise, numeral
    from discreet.catalogue.phrases import Labels, Phrase, say, say_count, say_list
    from discreet.catalogue.translations import is_built, translate
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "ENGLISH",
    "FRENCH",
    "LANGUAGES",
    "Labels",
    "Numeral",
    "Phrase",
    "choose_language",
    "is_built",
    "language",
    "localise",
    "numeral",
    "say",
    "say_count",
    "say_list",
    "speak",
    "speaking",
    "translate",
]
