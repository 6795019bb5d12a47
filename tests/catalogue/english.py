"""English in what should be French: words and numbers that French has not, and what stands alike in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["find_alike", "find_english", "find_english_numbers"]

_ENGLISH = frozenset(
    [
        "the",
        "of",
        "is",
        "are",
        "was",
        "were",
        "with",
        "which",
        "what",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "not",
        "from",
        "by",
        "for",
        "and",
        "has",
        "have",
        "had",
        "be",
        "been",
        "will",
        "would",
        "can",
        "cannot",
        "each",
        "every",
        "only",
        "than",
        "then",
        "there",
        "they",
        "them",
        "their",
        "you",
        "your",
        "who",
        "where",
        "when",
        "how",
        "because",
        "nothing",
        "something",
        "more",
        "less",
        "same",
        "other",
        "another",
        "here",
        "one",
        "rows",
        "row",
        "column",
        "columns",
        "dataset",
        "answer",
        "answers",
        "read",
        "write",
        "wrote",
        "file",
        "files",
        "named",
        "must",
        "needs",
        "need",
        "does",
        "did",
        "do",
        "an",
        "any",
        "all",
        "some",
        "above",
        "below",
        "between",
        "until",
        "without",
        "within",
        "about",
        "again",
        "also",
        "but",
        "if",
        "so",
        "such",
        "to",
        "two",
        "three",
        "out",
        "own",
        "use",
        "used",
        "list",
        "lists",
        "given",
        "asked",
        "made",
        "make",
    ]
)
_CODE = (
    r"`[^`]*`",  # things to type
    r"\bdiscreet (?:[a-z]+ )*[^\n]*",  # commands, to the end of their line
    r"\bpip install [^\n]*",
    r"^\$ [^\n]*",  # the command that was given
    r"\b[A-Z_]{2,}\b(?:[ ,(*=<>]+\b[A-Z_a-z*]+\b)*\)?",  # SQL
    r"'[^'\n]*'",
    r"\"[^\"\n]*\"",
    r"«[^»\n]*»",
    r"--[a-z-]+(?:[ =][\w.|=:,-]+)?",
    r"<[^>\n]*>",
    r"[\w./-]+\.(?:yaml|json|csv|xlsx|html|svg|parquet|env|jsonl|txt|pub|key|png|py|md)\b",
)


# A point between digits, two commas among them, a per cent sign that touches one.
_ENGLISH_NUMBER = re.compile(r"(?<![\w.,:/@-])\d+\.\d+(?![\w.:/-])|\d,\d{3},\d{3}|\d%")
_STORED = (
    r"^[A-Z]+\d+ .*",  # a cell of a workbook, whose format writes it
    r"^ *(?:# *)?[\w ]+: (?:[\d.]+|\{.*\})$",  # a key of a file
    r"^ *\"\w+\": .*",
    r"\d\.\d\).*",  # what is to be typed, in brackets
)


def find_english(text: str) -> Iterator[str]:
    """Lines with two words or more that only English has, where they are not code."""
    for line in text.splitlines():
        plain = _without(line, _CODE)
        words = {word for word in re.findall(r"[a-z’]+", plain.casefold()) if word in _ENGLISH}
        if len(words) > 1:
            yield line.strip()


def find_english_numbers(text: str) -> Iterator[str]:
    """Lines with a number as English writes it, where it is no code and no stored value."""
    for line in text.splitlines():
        if _ENGLISH_NUMBER.search(_without(line.strip(), (*_STORED, *_CODE))):
            yield line.strip()


def find_alike(english: str, french: str) -> set[str]:
    """Texts of a page, a drawing or a table on the screen that are the same in both, numbers apart.

    They are names and codes, or what nobody has translated, however short.
    """
    return _texts(english) & _texts(french)


def _texts(shown: str) -> set[str]:
    plain = re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)
    texts = map(str.strip, re.split(r"<[^>]*>|\n| {3,}", plain))
    return {text for text in texts if re.search(r"[A-Za-z]{3}", text)}


def _without(line: str, patterns: Sequence[str]) -> str:
    for pattern in patterns:
        line = re.sub(pattern, " ", line)
    return line
