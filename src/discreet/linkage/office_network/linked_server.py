"""An office of linked counts as a server: listens, works through what came, and sends what it made."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread
from typing import Final

from discreet.catalogue import Phrase
from discreet.errors import ExtraMissing
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.office_network.office_posts import HolderPost, OfficePost, RegistryPost, ResearcherPost
from discreet.linkage.office_network.postman import postmen
from discreet.linkage.offices.holder_desk import HolderDesk
from discreet.linkage.offices.office_studies import Study
from discreet.linkage.offices.registry_desk import RegistryDesk

try:
    from discreet.linkage.office_network.linked_app import linked_app
    from discreet.server import GuardedProtocol, WebServer
except ModuleNotFoundError:
    raise ExtraMissing(needed_for=Phrase("Serving linked counts"), extra="linked") from None

__all__ = ["serve_study"]

_LOOKS: Final = 0.05
_ENDS: Final = 30.0


def serve_study(
    study: Study,
    *,
    listener: socket.socket,
    addresses: Mapping[OfficeRole, str],
    approved: bool = False,
    announce: Callable[[], None],
    tell: Callable[[str], None],
) -> None:
    """Serve one study until SIGTERM or SIGINT. What was accepted is on the disk, and a restart goes on with it."""
    with (
        Mailbox(study).hold(),
        _opened(study, tell, approved=approved, pushes=OfficeRole.RESEARCHER in addresses) as post,
    ):
        stop = Event()
        post.mailbox.retry()
        threads = [make_thread(_work, post, stop)]
        for postman in postmen(post.mailbox, addresses, tell):
            threads.append(make_thread(postman.run, stop))
        server = WebServer(linked_app(post, tell), protocol=GuardedProtocol, announce=announce, starts=False)
        for thread in threads:
            thread.start()
        try:
            server.run(sockets=[listener])
        finally:
            stop.set()
            for thread in threads:
                thread.join(_ENDS)


@contextmanager
def _opened(study: Study, tell: Callable[[str], None], *, approved: bool, pushes: bool) -> Iterator[OfficePost]:
    if study.role is OfficeRole.RESEARCHER:
        yield ResearcherPost(study, tell)
        return
    with study.open_session() as session:
        if study.role is OfficeRole.HOLDER:
            yield HolderPost(study, tell, desk=HolderDesk(study, session), approved=approved)
        else:
            desk = RegistryDesk(study, session)
            len(desk.index.people)  # read now, so that the first sample does not wait for it
            yield RegistryPost(study, tell, desk=desk, pushes=pushes)


def make_thread(task: Callable[..., None], *given: object) -> Thread:
    """A thread that speaks the language of this one."""
    return Thread(target=copy_context().run, args=(task, *given), daemon=True)


def _work(post: OfficePost, stop: Event) -> None:
    while not stop.is_set():
        if not post.work():
            stop.wait(_LOOKS)
