"""Offices that publish their own tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.tables.office import CARD, WITH_DELTA, Office, open_office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A pure budget."""
    with open_office(tmp_path) as opened:
        yield opened


@pytest.fixture
def generous(tmp_path: Path) -> Iterator[Office]:
    """The same people, under a budget with a delta."""
    with open_office(tmp_path, WITH_DELTA) as opened:
        yield opened


@pytest.fixture(scope="module")
def reading_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One office for a whole file of tests, where nothing is spent."""
    yield from open_room(tmp_path_factory.mktemp("reading"), CARD)


@pytest.fixture(scope="module")
def generous_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The same under a budget with a delta."""
    yield from open_room(tmp_path_factory.mktemp("generous"), WITH_DELTA)


def open_room(folder: Path, card: str) -> Iterator[Office]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, card) as opened:
            yield opened
