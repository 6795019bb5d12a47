"""An office on both stores: every test that takes `folder`, `open_office` or `office` runs on each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from discreet.people import Role
from tests.conformance.people.people_office import OpenOffice, OpenOffices, make_workspace, opened

DSN_ENV = "DISCREET_TEST_PEOPLE_DSN"


@pytest.fixture(params=["sqlite", "postgres"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace."""
    if request.param == "sqlite":
        return make_workspace(tmp_path / "w", None)
    monkeypatch.setenv(DSN_ENV, request.getfixturevalue("postgres_dsn"))
    return make_workspace(tmp_path / "w", DSN_ENV)


@pytest.fixture
def open_office(folder: Path) -> Iterator[OpenOffices]:
    """Opens it as another process would, as often as it is called."""
    with ExitStack() as stack:
        yield lambda clock=None: stack.enter_context(opened(folder, clock))


@pytest.fixture
def office(open_office: OpenOffices) -> OpenOffice:
    """With one custodian and one analyst."""
    made = open_office()
    made.people.add("ana", {Role.CUSTODIAN}, who="ana")
    made.people.add("ben", {Role.ANALYST}, who="ana")
    return made
