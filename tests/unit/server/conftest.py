"""One served house for each module that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.server.serving import Asker, furnish, serving


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """A client of a server whose answers leave as soon as they are ready. Its house is the module's own."""
    folder: Path = tmp_path_factory.mktemp("house")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with serving(furnish(folder, budget="1000", per_analyst="500")) as asker:
            yield asker
