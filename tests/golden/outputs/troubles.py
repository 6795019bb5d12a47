"""What is changed in the office before a scene: a dataset suspended, a ledger lost, a card with other terms."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import discreet

__all__ = [
    "add_other_people",
    "alter_manifest",
    "change_terms",
    "damage_ledger",
    "lose_ledger",
    "lose_rows",
    "raise_budget",
    "spoil_files",
    "suspend",
]


def suspend(folder: Path) -> None:
    with discreet.open(folder / "w") as house:
        house.ledger.suspend("clinic", population="patients", reason="the engine failed", who="discreet")


def lose_ledger(folder: Path) -> None:
    for file in (folder / "w").glob("ledger.sqlite*"):
        file.unlink()


def damage_ledger(folder: Path) -> None:
    """Another store in its place, with one event."""
    store = sqlite3.connect(folder / "w" / "ledger.sqlite", isolation_level=None)
    store.execute("UPDATE head SET hash = 'spoilt'")
    store.close()


def lose_rows(folder: Path) -> None:
    for file in (folder / "w").rglob("*.parquet"):
        file.write_bytes(b"no rows")


def lose_records(folder: Path) -> None:
    (folder / "w" / "office.sqlite").write_bytes(b"no longer a database")


def raise_budget(folder: Path) -> None:
    change(folder / "clinic.yaml", "epsilon: 6", "epsilon: 8")


def change_terms(folder: Path) -> None:
    """A card that disagrees with its population, and one of a population that is new."""
    raise_budget(folder)
    add_other_people(folder)


def add_other_people(folder: Path) -> None:
    """Another file, of a population that the workspace does not know."""
    card = (folder / "farms.yaml").read_text(encoding="utf-8").replace("dataset: farms", "dataset: other")
    (folder / "other.yaml").write_text(card, encoding="utf-8")
    (folder / "other.csv").write_bytes((folder / "farms.csv").read_bytes())


def alter_manifest(folder: Path) -> None:
    file = folder / "survey.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    found["manifest"]["epsilon"] = "40"
    file.write_text(json.dumps(found), encoding="utf-8")


def spoil_files(folder: Path) -> None:
    """A slip in every file that a person writes."""
    change(folder / "clinic.yaml", "categories:", "catagories:")
    change(folder / "visits.csv", "p1,", "p1,,,,")
    change(folder / "work.yaml", "within: {mean", "witihn: {mean")
    change(folder / "survey.yaml", "mode: split", "mode: spilt")
    change(folder / "study.yaml", "runs:", "run:")
    (folder / "draft.yaml").write_text((folder / "farms.yaml").read_text("utf-8").replace("1000]", "DECIDE]"), "utf-8")


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text, (file.name, old)
    file.write_text(text.replace(old, new), encoding="utf-8")
