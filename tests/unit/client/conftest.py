"""Whoever asks servers, and lets go of them; and one office that serves, for each module that asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.client.hostile import Askers
from tests.unit.client.offices import Office, working


@pytest.fixture
def askers() -> Iterator[Askers]:
    """Of one test."""
    found = Askers()
    with found.opened:
        yield found


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The module's own, whose answers leave as soon as they are ready."""
    folder = tmp_path_factory.mktemp("office")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with working(folder) as found:
            yield found
