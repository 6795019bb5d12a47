"""What each office does with envelopes that come by network, and with what it makes of them.

Accepting an envelope takes as long as its own bytes do. Drawing and counting are done afterwards, one at a time, in the
order of the requests' ids; what they make leaves at the slots of the request.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, Final

from discreet.catalogue import say
from discreet.errors import DiscreetError, QueryRefused, RequestConflict, SignatureInvalid, UnknownName, UsageError
from discreet.linkage.envelopes import EnvelopeKind, envelope_limit, refuse_envelope, tell_kind
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.offices.envelope_contents import LARGEST_REQUEST, GroupLabels, NoisyAnswer, largest_sample
from discreet.linkage.offices.holder_desk import DrawOutcome, HolderDesk, PendingDraw
from discreet.linkage.offices.office_studies import Study, moment
from discreet.linkage.offices.registry_desk import RegistryDesk
from discreet.work import next_slot

__all__ = ["HolderPost", "OfficePost", "RegistryPost", "ResearcherPost", "draw_waiting", "received_answer"]

_HOPELESS: Final = (SignatureInvalid, RequestConflict, QueryRefused, UnknownName, UsageError)
_SOON: Final = 1.0
_LATE: Final = 600.0


class OfficePost(ABC):
    """One study by network. `accept` is called from many threads, `work` from one."""

    takes: ClassVar[tuple[EnvelopeKind, ...]]
    works: ClassVar[EnvelopeKind | None] = None

    def __init__(self, study: Study, tell: Callable[[str], None]) -> None:
        self.study = study
        self.mailbox = Mailbox(study)
        self._tell = tell
        self._waits: dict[str, tuple[float, float]] = {}

    @property
    @abstractmethod
    def limit(self) -> int:
        """The longest envelope that this office takes."""

    @abstractmethod
    def accept(self, kind: EnvelopeKind, data: bytes) -> None:
        """Keep an envelope, or refuse it: SignatureInvalid, or RequestConflict for another body than before."""

    def answer(self, request: str) -> bytes | None:
        """The answer to a request, once it may leave."""
        return None

    def work(self) -> bool:
        """Do one thing that waits, the one with the smallest id. False when there is nothing to do now."""
        if (kind := self.works) is None:
            return False
        for request in self.mailbox.waiting(kind):
            if self._waits.get(request, (0.0, 0.0))[0] <= time.monotonic():
                self._try(kind, request)
                return True
        return False

    @abstractmethod
    def deal(self, request: str) -> None:
        """Make what is made of a request that waits, and settle it."""

    def leaves(self, asked: datetime) -> datetime:
        """When something may leave that is ready now."""
        return next_slot(asked, moment()) if self.study.agreement.terms.slots else moment()

    def _try(self, kind: EnvelopeKind, request: str) -> None:
        try:
            self.study.require_current()
            self.deal(request)
        except Exception as error:
            said = str(error) if isinstance(error, DiscreetError) else type(error).__name__
            ended = moment() >= self.study.agreement.terms.ends
            if ended or isinstance(error, _HOPELESS):
                self.mailbox.settle(kind, request, refused=type(error).__name__)
                self._tell(say("A {kind} was put aside: {said}", kind=tell_kind(kind), said=said))
                return
            pause = min(2 * self._waits.get(request, (0.0, _SOON / 2))[1], _LATE)
            self._waits[request] = time.monotonic() + pause, pause
            self._tell(
                say("A {kind} is tried again in {pause:g} s: {said}", kind=tell_kind(kind), pause=pause, said=said)
            )
        else:
            self._waits.pop(request, None)


class HolderPost(OfficePost):
    """Requests wait for a person, or are drawn as they come."""

    takes = (EnvelopeKind.REQUEST,)

    def __init__(self, study: Study, tell: Callable[[str], None], *, desk: HolderDesk, approved: bool) -> None:
        super().__init__(study, tell)
        self._desk = desk
        self.works = EnvelopeKind.REQUEST if approved else None  # type: ignore[misc]

    @property
    def limit(self) -> int:
        return envelope_limit(LARGEST_REQUEST)

    def accept(self, kind: EnvelopeKind, data: bytes) -> None:
        now = moment()
        found, opened = self._desk.open_request(data, now=now)
        asked = opened.header.created
        self.mailbox.receive(kind, found.request, data, body=opened.body, asked=asked, now=now)

    def deal(self, request: str) -> None:
        arrived = self.mailbox.take(EnvelopeKind.REQUEST, request).arrived
        draw_waiting(self._desk, request, now=arrived)


class RegistryPost(OfficePost):
    """Samples are counted as they come, and forgotten."""

    takes = (EnvelopeKind.SAMPLE,)
    works = EnvelopeKind.SAMPLE

    def __init__(self, study: Study, tell: Callable[[str], None], *, desk: RegistryDesk, pushes: bool) -> None:
        super().__init__(study, tell)
        self._desk = desk
        self._pushes = pushes

    @property
    def limit(self) -> int:
        return envelope_limit(largest_sample(self.study.agreement.terms.largest_sample))

    def accept(self, kind: EnvelopeKind, data: bytes) -> None:
        now = moment()
        sample, _, _, asked = self._desk.open_sample(data, now=now)
        self.mailbox.receive(kind, sample.request, data, body=sample.to_bytes(), asked=asked, now=now)

    def deal(self, request: str) -> None:
        received = self.mailbox.take(EnvelopeKind.SAMPLE, request)
        counted = self._desk.count(received.data, now=received.arrived)
        leaves = self.leaves(received.asked)
        if self._pushes:
            self.mailbox.post(EnvelopeKind.ANSWER, request, counted.answer, leaves=leaves)
        self.mailbox.settle(EnvelopeKind.SAMPLE, request, leaves=leaves.isoformat())

    def answer(self, request: str) -> bytes | None:
        leaves = (self.mailbox.settled(EnvelopeKind.SAMPLE, request) or {}).get("leaves")
        if leaves is None or moment() < datetime.fromisoformat(leaves):
            return None
        noted = self.study.noted(request)
        return None if noted is None else b64decode(noted["answer"])


class ResearcherPost(OfficePost):
    """Answers and labels to this office's own requests are kept until they are read."""

    takes = (EnvelopeKind.ANSWER, EnvelopeKind.LABELS)

    @property
    def limit(self) -> int:
        return envelope_limit(0)

    def accept(self, kind: EnvelopeKind, data: bytes) -> None:
        now = moment()
        opened = self.study.unseal(data, kind, now=now)
        read = NoisyAnswer.from_bytes if kind is EnvelopeKind.ANSWER else GroupLabels.from_bytes
        request = opened.header.request
        if read(opened.body).request != request or self.study.noted(request) is None:
            raise refuse_envelope()
        self.mailbox.receive(kind, request, data, body=opened.body, asked=opened.header.created, now=now)

    def deal(self, request: str) -> None:
        return  # what came is kept until somebody reads it


def draw_waiting(
    desk: HolderDesk,
    request: str,
    *,
    approve: Callable[[PendingDraw], bool] | None = None,
    now: datetime | None = None,
) -> DrawOutcome:
    """Draw a request that came by network. Its sample leaves at once, the labels of its groups at its next slot."""
    mailbox, terms = Mailbox(desk.study), desk.study.agreement.terms
    received = mailbox.take(EnvelopeKind.REQUEST, request)
    drawn = desk.draw(received.data, approve=approve, now=now)
    ready = moment()
    mailbox.post(EnvelopeKind.SAMPLE, request, drawn.sample, leaves=ready)
    if drawn.labels is not None:
        leaves = next_slot(received.asked, ready) if terms.slots else ready
        mailbox.post(EnvelopeKind.LABELS, request, drawn.labels, leaves=leaves)
    mailbox.settle(EnvelopeKind.REQUEST, request, drawn=ready.isoformat())
    return drawn


def received_answer(study: Study, request: str) -> tuple[bytes | None, bytes | None]:
    """What came to a researcher by network: the envelopes of the answer and of the labels, where they are there."""
    mailbox = Mailbox(study)
    kinds = EnvelopeKind.ANSWER, EnvelopeKind.LABELS
    found = [mailbox.take(kind, request).data if request in mailbox.waiting(kind) else None for kind in kinds]
    return found[0], found[1]
