"""Sends what is in the outbox of a study, each envelope when it may leave, until the other office has it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Final

from discreet.catalogue import say
from discreet.linkage.envelopes import ROUTES, OfficeRole, tell_kind, tell_role
from discreet.linkage.office_network.couriers import post_envelope
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.offices.office_studies import moment

__all__ = ["Postman"]

_LOOKS: Final = 0.05
_SOON: Final = 0.5
_LATE: Final = 300.0
_TAKEN: Final = 202
_NEVER: Final = frozenset({400, 409, 413, 415})


class Postman:
    """For one receiver. What cannot be sent is tried again later and later; a restart goes on with what is left."""

    def __init__(self, mailbox: Mailbox, role: OfficeRole, url: str, tell: Callable[[str], None]) -> None:
        self._mailbox = mailbox
        self._role = role
        self._url = url
        self._tell = tell
        self._pause = 0.0
        self._after = 0.0

    def run(self, stop: Event) -> None:
        """Until `stop` is set."""
        while not stop.wait(self._rest()):
            self.deliver()

    def deliver(self) -> None:
        """Send what may leave now, unless the receiver was found away a short while ago."""
        if time.monotonic() < self._after:
            return
        for item in self._mailbox.outgoing():
            if ROUTES[item.kind][1] is not self._role or item.leaves > moment():
                continue
            status = post_envelope(self._url, item.kind, self._mailbox.content(item))
            if status == _TAKEN or status in _NEVER:
                self._mailbox.sent(item, refused=status != _TAKEN)
                self._pause = 0.0
                if status != _TAKEN:
                    self._tell(
                        say(
                            "The {role} did not take a {kind} ({status}). It is tried again after a restart.",
                            role=tell_role(self._role),
                            kind=tell_kind(item.kind),
                            status=status,
                        )
                    )
            else:
                self._wait()
                return

    def _wait(self) -> None:
        if not self._pause:
            self._tell(
                say("The {role} cannot be reached. What is for it is kept and sent later.", role=tell_role(self._role))
            )
        self._pause = min(max(2 * self._pause, _SOON), _LATE)
        self._after = time.monotonic() + self._pause

    def _rest(self) -> float:
        """Until the next look: no later than the next envelope may leave."""
        mine = (item.leaves for item in self._mailbox.outgoing() if ROUTES[item.kind][1] is self._role)
        first = min(mine, default=None)
        if first is None:
            return _LOOKS
        return min(_LOOKS, max((first - moment()).total_seconds(), 0.02))


def postmen(mailbox: Mailbox, addresses: Mapping[OfficeRole, str], tell: Callable[[str], None]) -> list[Postman]:
    return [Postman(mailbox, role, url, tell) for role, url in addresses.items()]
