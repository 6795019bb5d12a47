"""The workspace of a command, open as long as the command runs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discreet.session import Session

__all__ = ["close_sessions", "open_session"]

_OPENED: Final = ExitStack()


def open_session(workspace: Path | None) -> Session:
    """As `discreet.session` opens it; `main` lets ledger and engines go, however the command ends."""
    from discreet import session

    return _OPENED.enter_context(session.open(workspace))


def close_sessions() -> None:
    """Called last of all."""
    _OPENED.close()
