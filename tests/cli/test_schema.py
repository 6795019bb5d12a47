"""JSON Schemas from the command line, and drafts that name them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.cards.json_schema import make_json_schema
from discreet.cli.file_schemas import FileKind, load_schema
from tests.cli.clinic import CARD, Run
from tests.places import DOCS


@pytest.mark.parametrize("kind", FileKind)
def test_a_schema_is_printed_and_written_as_it_is_published(run: Run, tmp_path: Path, kind: FileKind) -> None:
    published = (DOCS / "schemas" / f"{kind}.json").read_text(encoding="utf-8")
    assert run("schema", kind).out == published
    run("schema", kind, "--out", "s.json")
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == published


def test_meanings_come_in_both_languages(run: Run) -> None:
    card = load_schema(FileKind.CARD)
    found = json.loads(run("schema", "card", "--lang", "fr").out)
    assert found == make_json_schema(card, "fr")
    assert found["title"] == "Fiche du jeu de données"
    assert found["properties"]["unit"]["description"] == "Qui la garantie protège."


def test_another_kind_is_refused_with_those_that_there_are(run: Run) -> None:
    refused = run("schema", "cards", code=2).err
    assert all(kind in refused for kind in FileKind)


def test_every_draft_begins_with_its_schema(run: Run, tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "visits.csv").write_text("patient,cost\n1,2.5\n2,3.5\n", encoding="utf-8")
    run("study", "init", "study.yaml")
    run("plan", "init", "tables.yaml")
    run("linked", "init", "terms.yaml")
    drafts = {
        FileKind.CARD: run("card", "init", "visits.csv", "--out", "new.yaml").out,
        FileKind.MANIFEST: run("local", "init", "clinic.yaml", "--epsilon", "2").out,
        FileKind.WORKLOAD: (tmp_path / "tables.yaml").read_text(encoding="utf-8"),
        FileKind.STUDY: (tmp_path / "study.yaml").read_text(encoding="utf-8"),
        FileKind.AGREEMENT: (tmp_path / "terms.yaml").read_text(encoding="utf-8"),
    }
    assert drafts.keys() == set(FileKind)
    for kind, text in drafts.items():
        published = json.loads((DOCS / "schemas" / f"{kind}.json").read_text(encoding="utf-8"))
        assert text.splitlines()[0] == f"# yaml-language-server: $schema={published['$id']}"
