"""Texts of the source that look like sentences and are not said."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.catalogue.sentences import SAYERS, SOURCES, list_sentences

# A sentence has four words with nothing but signs between them. Names, codes and SQL have not.
_WORDS = re.compile(r"(?:\b[A-Za-z]?[a-z’']+\b[,;:]? ){3,}[a-z’']+\b")
_PROGRAMMERS = {"AssertionError", "ValueError", "TypeError", "NotImplementedError", "KeyError", "RuntimeError"}
_HELPS = {"help", "short_help", "epilog", "about", "example"}


def find_unsaid(file: Path) -> Iterator[str]:
    """Sentences in a file that no catalogue knows: "line: text"."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed = _passed_over(tree)
    said = {sentence.one for sentence in list_sentences()}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        text = _text(node)
        if text is not None and _WORDS.search(text) and text not in said:
            yield f"{node.lineno}: {text[:100]}"  # type: ignore[attr-defined]


def _passed_over(tree: ast.Module) -> set[int]:
    """Docstrings, what is said, what programmers read, and help texts, which are taken from the commands."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in SAYERS or name in _PROGRAMMERS or name in {"register", "deprecated"}:
                passed |= {id(part) for argument in node.args for part in ast.walk(argument)}
            passed |= {id(part) for word in node.keywords if word.arg in _HELPS for part in ast.walk(word.value)}
        elif isinstance(node, ast.Assert) and node.msg is not None:
            passed |= {id(part) for part in ast.walk(node.msg)}
    return passed


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def list_unsaid() -> dict[str, list[str]]:
    """By file of the packages, each below one of SOURCES."""
    files = ((file, house) for house in SOURCES for file in sorted(house.rglob("*.py")))
    found = {file.relative_to(house).as_posix(): list(find_unsaid(file)) for file, house in files}
    return {name: lines for name, lines in found.items() if lines}
