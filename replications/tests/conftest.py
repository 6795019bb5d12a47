"""The replications' tests: all of them long, with the fixtures of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import process, run
from tests.conftest import _own_folder, _own_keys

__all__ = ["_own_folder", "_own_keys", "process", "run"]

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.long)
