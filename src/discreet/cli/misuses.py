"""What Typer says of words that it cannot parse, in the language of this moment.

Typer speaks English and gives whole sentences. Each of its sentences is known here by its pattern; one that is not
known stays as it is.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from discreet.catalogue import ENGLISH, Phrase, language

__all__ = ["say_misuse"]

_SENTENCES: Final = (
    (r"Try '(?P<command>[^']+)' for help\.", Phrase("Try '{command}' for help.")),
    (r"(?m)^Error: ", Phrase("Error: ")),
    (r"Missing argument (?P<name>'[^']+')\.", Phrase("Missing argument {name}.")),
    (r"Missing option (?P<name>'[^\n]+')\.", Phrase("Missing option {name}.")),
    (r"Missing command\.", Phrase("Missing command.")),
    (r"No such command (?P<name>'[^\n]*?')\.", Phrase("No such command {name}.")),
    (r"No such option: (?P<name>\S+)", Phrase("No such option: {name}")),
    (r"Did you mean one of: (?P<names>[^\n]*)\?", Phrase("Did you mean one of: {names}?")),
    (r"Did you mean (?P<name>[^\n?]+)\?", Phrase("Did you mean {name}?")),
    (r"\(Possible options: (?P<names>[^)]*)\)", Phrase("(Possible options: {names})")),
    (r"Invalid value for (?P<name>[^\n:]+): ", Phrase("Invalid value for {name}: ")),
    (r"Invalid value: ", Phrase("Invalid value: ")),
    (r"is not one of (?P<names>[^\n]*)\.", Phrase("is not one of {names}.")),
    (r"is not a valid int(?:eger)?\.", Phrase("is not a valid integer.")),
    (r"is not a valid float\.", Phrase("is not a valid number.")),
    (r"is not in the range (?P<range>[^\n]*)\.", Phrase("is not in the range {range}.")),
    (r"Got unexpected extra arguments? \((?P<names>[^\n]*)\)", Phrase("Got unexpected extra words: {names}")),
    (r"Option (?P<name>'[^\n]+?') requires an argument\.", Phrase("Option {name} requires a value.")),
    (r"Option (?P<name>'[^\n]+?') does not take a value\.", Phrase("Option {name} takes no value.")),
)


def say_misuse(text: str) -> str:
    """Typer's sentences in another language than English, in which they are left as they are."""
    if language() == ENGLISH:
        return text
    for pattern, phrase in _SENTENCES:
        text = re.sub(pattern, partial(_say_found, phrase), text)
    return text


def _say_found(phrase: Phrase, found: re.Match[str]) -> str:
    return str(phrase.about(**found.groupdict()))
