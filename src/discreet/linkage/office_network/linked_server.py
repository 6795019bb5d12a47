"""An office of linked counts as a server: listens, works through what came, and sends what it made."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread
from types import FrameType
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid, UsageError
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.office_network.office_posts import HolderPost, OfficePost, RegistryPost, ResearcherPost
from discreet.linkage.office_network.postman import postmen
from discreet.linkage.offices.holder_desk import HolderDesk
from discreet.linkage.offices.office_studies import Study
from discreet.linkage.offices.registry_desk import RegistryDesk
from discreet.paths import tell_reason

try:
    import uvicorn

    from discreet.linkage.office_network.linked_app import linked_app
    from discreet.server import GuardedProtocol
except ModuleNotFoundError:
    raise ExtraMissing(needed_for=Phrase("Serving linked counts"), extra="linked") from None

__all__ = ["open_listener", "serve_study"]

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
        config = uvicorn.Config(
            linked_app(post, tell),
            http=GuardedProtocol,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=10,
        )
        for thread in threads:
            thread.start()
        try:
            _LinkedServer(config, announce).run(sockets=[listener])
        finally:
            stop.set()
            for thread in threads:
                thread.join(_ENDS)


def open_listener(host: str, port: int, *, beyond: bool) -> socket.socket:
    """A socket that listens; with `beyond` also on addresses that other machines can reach."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise ParameterInvalid(parameter="host", rule=say("must be an IP address"), given=ascii(host[:60])) from None
    if not address.is_loopback and not beyond:
        raise UsageError(
            say(
                "'{host}' can be reached from other machines. TLS and who may connect are a proxy's: put one "
                "before it and say so with --behind-proxy, or listen on 127.0.0.1.",
                host=host,
            )
        )
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), port), family=family, backlog=128)
    except OSError as error:
        raise ParameterInvalid(
            parameter="port",
            rule=say("must be free to listen on ({strerror})", strerror=tell_reason(error)),
            given=str(port),
        ) from None


class _LinkedServer(uvicorn.Server):
    """Says when it listens, and ends on a signal as on any other end."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


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
