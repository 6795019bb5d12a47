"""What makes a worker warm: everything that the first question would wait for is loaded and opened before it comes."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Final

from discreet.errors import DiscreetError
from discreet.release import Question, letting_go, read_ask
from discreet.session import Session

__all__ = ["warm"]

_LOADED: Final = (("discreet.present", "file_parts"), ("discreet.tables", "table_request"))
"""What formats and tables need is loaded with these."""


def warm(session: Session) -> None:
    """Read a question about each dataset and open its engine. Nothing is asked, charged or logged, and no row is seen.

    What cannot be opened now is refused when somebody asks.
    """
    for room, named in _LOADED:
        getattr(import_module(room), named)
    for dataset in session.datasets():
        with suppress(DiscreetError):
            asked = read_ask(
                f'SELECT COUNT(*) AS n FROM "{dataset.name}"',
                session.workspace,
                session.ledger,
                analyst=session.who,
                epsilon="1",
            )
            with letting_go():
                Question(asked, session.open_engine).prepare(session.ledger)
