"""Every source cited in code and notes is in docs/refs.bib, with a place to look."""

from __future__ import annotations

import re

from tests.places import DOCS, ROOT

BIBLIOGRAPHY = (DOCS / "refs.bib").read_text("utf-8")
ENTRY = re.compile(r"^@(\w+)\{(\w+),$(.*?)^\}$", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\[([A-Z][A-Za-z]*\d{2})\b")


def entries() -> dict[str, str]:
    return {key: body for _, key, body in ENTRY.findall(BIBLIOGRAPHY)}


def citations() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    files = [*(ROOT / "src").rglob("*.py"), *(DOCS).rglob("*.md")]
    for file in sorted(files):
        for key in CITED.findall(file.read_text("utf-8")):
            found.setdefault(key, []).append(str(file.relative_to(ROOT)))
    return found


def test_keys_are_unique_and_every_entry_was_read() -> None:
    keys = re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(entries())


def test_every_citation_has_an_entry() -> None:
    missing = {key: files for key, files in citations().items() if key not in entries()}
    assert missing == {}


def test_every_entry_says_where_to_look() -> None:
    without = [key for key, body in entries().items() if not re.search(r"^\s*note\s*= \{.{10,}", body, re.M)]
    assert without == []


def test_the_founding_documents_are_listed() -> None:
    assert {"R", "T", "L", "B", "P"} <= entries().keys()
