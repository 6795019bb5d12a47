"""The front of the house: short, one picture, and links that work wherever the README is shown."""

from __future__ import annotations

import re
import tomllib

from tests.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
RAW = SOURCE.replace("github.com", "raw.githubusercontent.com")
LINKS = re.findall(r"\]\(([^)]+)\)", README)
PICTURES = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)


def test_it_is_read_in_three_minutes() -> None:
    assert len(README.split()) <= 600


def test_it_shows_one_picture() -> None:
    (picture,) = PICTURES
    assert picture.startswith(f"{RAW}/main/docs/pictures/")


def test_links_are_absolute_and_lead_to_files_that_are_here() -> None:
    assert len(LINKS) > 8
    for link in LINKS:
        start = f"{RAW}/main/" if link in PICTURES else f"{SOURCE}/blob/main/"
        assert link.startswith(start), link
        assert (ROOT / link.removeprefix(start)).is_file(), link


def test_every_room_is_in_the_drawing_of_the_house() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [file for file in (ROOT / "src" / "discreet").iterdir() if not file.name.startswith(("_", "py.typed"))]
    assert [room.name for room in rooms if f"`{room.name}`" not in page] == []


def test_places_named_for_contributors_exist() -> None:
    for page in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"):
        named = re.findall(r"`([a-z_]+/[a-z_/-]+(?:\.(?:py|md))?)`", page.read_text(encoding="utf-8"))
        roots = (ROOT, ROOT / "src" / "discreet")
        assert len(named) > 5
        assert [name for name in named if not any((root / name).exists() for root in roots)] == []
