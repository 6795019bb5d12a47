"""The compiled catalogue: found by halving, the same as Python's gettext reads it."""

from __future__ import annotations

import gettext
from pathlib import Path

import pytest
from hatch_build import compile_catalogues

from discreet.catalogue.translations import (
    CatalogueFile,
    catalogue_path,
    is_built,
    open_catalogue,
    translate,
    translate_count,
)

PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "a"
msgstr "à"

msgid "ab"
msgstr "âb"

msgid "a row"
msgid_plural "{count} rows"
msgstr[0] "{count} ligne"
msgstr[1] "{count} lignes"

msgid "é"
msgstr "e"

msgid "empty"
msgstr ""
"""


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    folder = tmp_path / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "discreet.po").write_text(PO, encoding="utf-8")
    [path] = compile_catalogues(tmp_path)
    return path


@pytest.mark.parametrize("text", ["a", "ab", "é", "empty", "missing", "", "zz"])
def test_a_sentence_is_found_as_gettext_finds_it(compiled: Path, text: str) -> None:
    with compiled.open("rb") as stream:
        theirs = gettext.GNUTranslations(stream)
    found = CatalogueFile(compiled.read_bytes()).find(text)
    assert (found or text) == theirs.gettext(text) or not text


def test_the_whole_catalogue_is_found_as_gettext_finds_it() -> None:
    path = catalogue_path("fr")
    with path.open("rb") as stream:
        theirs = gettext.GNUTranslations(stream)
    ours = CatalogueFile(path.read_bytes())
    known = {text: said for text, said in theirs._catalog.items() if isinstance(text, str) and text}  # type: ignore[attr-defined]
    assert len(known) > 1_000
    assert {text: ours.find(text) for text in known} == known


def test_forms_for_several_are_apart(compiled: Path) -> None:
    assert CatalogueFile(compiled.read_bytes()).find("a row") == "{count} ligne\0{count} lignes"


def test_what_is_no_catalogue_is_refused() -> None:
    with pytest.raises(ValueError, match="not a compiled catalogue"):
        CatalogueFile(b"x" * 64)


def test_a_language_that_was_not_built_says_english() -> None:
    assert not is_built("xx")
    assert open_catalogue("xx") is None
    assert translate("a sentence", "xx") == "a sentence"
    assert translate_count("{count} row", "{count} rows", 2, "xx") == "{count} rows"


def test_english_opens_no_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.catalogue.translations.open_catalogue", lambda _: pytest.fail("opened"))
    assert translate("a sentence", "en") == "a sentence"
    assert translate_count("{count} row", "{count} rows", 1, "en") == "{count} row"
