"""Spellings of earlier releases: understood, and said to be old."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

__all__ = ["translate"]

_FLAGS: Final = {
    "--no-margins": ["--margins", "none"],
    "--no-missing": ["--leave-out", "missing"],
}
_DRAWINGS: Final = {"--heat-map": "heat-map", "--bars": "bars"}
_LIVES: Final = {
    "--compare": ["lab", "compare"],
    "--examine": ["lab", "examine"],
    "--explain": ["table", "explain"],
}


def translate(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The words of a command as they are written today, and a sentence where they were written otherwise."""
    match list(words):
        case ["table", *rest]:
            spelt = _table(rest)
        case ["query", *rest]:
            spelt = _query(rest)
        case _:
            return list(words), None
    if spelt == list(words):
        return spelt, None
    changed = [word for word in _split(words) if word.startswith("--") and word not in spelt]
    named = f" {changed[0]}" if changed else ""
    return spelt, f"'discreet {words[0]}{named}' is an old spelling. Today it is: discreet {shlex.join(spelt)}"


def _split(words: Sequence[str]) -> list[str]:
    """`--name=value` as two words, up to `--`."""
    lines: list[str] = []
    for index, word in enumerate(words):
        if word == "--":
            return [*lines, *words[index:]]
        name, equals, value = word.partition("=")
        lines += [name, value] if equals and name in {*_DRAWINGS, "--method", "--margin", "--strategy"} else [word]
    return lines


def _table(words: Sequence[str]) -> list[str]:
    given, kept, command = _split(words), list[str](), ["table"]
    while given:
        word = given.pop(0)
        if word == "--":
            kept += [word, *given]
            break
        if word in _LIVES and not (word == "--explain" and command[0] == "lab"):
            command = _LIVES[word]
        elif word == "--method" and given and given[0] in {"dp", "bootstrap"}:
            if given.pop(0) == "bootstrap" and command == ["table"]:
                command = ["lab", "bootstrap"]
        elif word == "--bootstrap-method":
            kept.append("--method")
        elif word in _FLAGS:
            kept += _FLAGS[word]
        elif word == "--margin":
            kept.append("--margins")
        elif word in _DRAWINGS and given:
            kept += ["--draw", f"{_DRAWINGS[word]}={given.pop(0)}"]
        elif word != "--margins" or (given and not given[0].startswith("-") and "=" not in given[0]):
            kept.append(word)
    return [*command, *kept]


def _query(words: Sequence[str]) -> list[str]:
    given = _split(words)
    if "--strategy" not in given[:-1] or "--" in given[: given.index("--strategy")]:
        return ["query", *words]
    index = given.index("--strategy")
    if given[index + 1] == "public":
        return ["query", *given[:index], *given[index + 2 :]]
    return ["lab", "ask", *given]
