"""The workspace or the server of a command, open as long as the command runs."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.catalogue import say
from discreet.cli.hints import remember_server
from discreet.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from discreet.client import RemoteJob, RemoteSession
    from discreet.session import Session

__all__ = ["close_sessions", "find_session", "is_remote", "open_session"]

_OPENED: Final = ExitStack()
_SERVER: Final = "DISCREET_SERVER"
_WORKSPACE: Final = "DISCREET_WORKSPACE"


def open_session(workspace: Path | None) -> Session:
    """As `discreet.session` opens it; `main` lets ledger and engines go, however the command ends."""
    from discreet import session

    return _OPENED.enter_context(session.open(workspace))


def find_session(workspace: Path | None, server: str | None, token_file: Path | None) -> Session | RemoteSession:
    """The workspace, or a session with the server that was named, here or in the environment."""
    url = _choose(workspace, server)
    if url is None:
        if token_file is not None:
            raise UsageError(say("--token-file is for a server. Name it with --server, or leave the file out."))
        return open_session(workspace)
    from discreet.cli.screen import show_note
    from discreet.client import connect, read_token

    token = None if token_file is None else read_token(token_file)
    return _OPENED.enter_context(connect(url, token, progress=_Waiting().tell, notes=show_note))


def is_remote(session: Session | RemoteSession) -> TypeIs[RemoteSession]:
    """Whether a server is asked. Where nothing of the client was loaded, none is."""
    client = sys.modules.get("discreet.client.remote_session")
    return client is not None and isinstance(session, client.RemoteSession)


def close_sessions() -> None:
    """Called last of all."""
    remember_server(None)
    _OPENED.close()


def _choose(workspace: Path | None, server: str | None) -> str | None:
    """The server to ask; None for a workspace. What was typed goes before the environment."""
    if workspace is not None and server is not None:
        raise UsageError(say("-w and --server exclude each other: ask a workspace or a server."))
    if workspace is not None or server is not None:
        return server
    url = os.environ.get(_SERVER) or None
    if url is not None and os.environ.get(_WORKSPACE):
        raise UsageError(
            say(
                "{server} and {workspace} are both set. Say which is meant with --server or -w.",
                server=_SERVER,
                workspace=_WORKSPACE,
            )
        )
    return url


class _Waiting:
    """Says once that an answer is waited for, and under which number it is."""

    def __init__(self) -> None:
        self._said = False

    def tell(self, job: RemoteJob) -> None:
        if not self._said and not job.ended:
            from discreet.cli.screen import show_note

            self._said = True
            show_note(
                say(
                    "This takes longer, and goes on if you leave. Ask again with --request-id {request_id} for the "
                    "answer; it costs nothing more.",
                    request_id=job.request_id,
                )
            )
