"""The people of a workspace, for the time of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.open_sessions import open_session

if TYPE_CHECKING:
    from discreet.people import People

__all__ = ["open_people"]


@contextmanager
def open_people(workspace: Path | None) -> Iterator[tuple[People, str]]:
    """The people, and who acts on them: whoever has the folder."""
    from discreet.people import People

    session = open_session(workspace)
    people = People(session.workspace, session.ledger)
    try:
        yield people, session.who
    finally:
        people.close()
