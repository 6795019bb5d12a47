"""How the card of a sample is spelled: its columns, categories and labels as lines of YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from discreet.samples.published_figures import Label

__all__ = ["category_lines", "column_lines", "label_pair"]

_PLAIN: Final = re.compile(r"[A-Za-zÀ-ÿ0-9][^,:#\[\]{}\"&*!|>%@`]*")
_BOOLEAN_LIKE: Final = frozenset({"yes", "no", "on", "off", "true", "false", "null"})


def category_lines(pairs: Iterable[tuple[int | str, Label]]) -> list[str]:
    return ["categories:", *(f"  {_scalar(str(code))}: {label_pair(label)}" for code, label in pairs)]


def column_lines(name: str, label: Label, lines: list[str]) -> str:
    return "".join(
        f"{line}\n" for line in (f"  {name}:", *(f"    {x}" for x in (f"label: {label_pair(label)}", *lines)))
    )


def label_pair(label: Label) -> str:
    return f"{{en: {_scalar(label.en)}, fr: {_scalar(label.fr)}}}"


def _scalar(text: str) -> str:
    """Text that every YAML reader takes for text: quoted where it would else end early or change type."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _BOOLEAN_LIKE
    return text if plain else json.dumps(text, ensure_ascii=False)
