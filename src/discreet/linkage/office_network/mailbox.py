"""What came by network and what is to go, in the study's folder: whole and on the disk before anybody is told.

inbox/REQUEST.KIND     an envelope that nothing was done with yet: a line of JSON, then its bytes, sealed as they came
outbox/REQUEST.KIND    an envelope to be sent, likewise; .refused is added where the other office refused it
settled/REQUEST.KIND   what was made of an envelope from the inbox. Who was in a sample is not kept, only a keyed digest
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import Refused, RequestConflict, UnknownName
from discreet.files import locked, sync, write_whole
from discreet.linkage.envelopes import EnvelopeKind, OfficeRole, refuse_envelope
from discreet.linkage.offices.office_studies import Study
from discreet.paths import read_regular

__all__ = ["Mailbox", "ReceivedEnvelope", "SentEnvelope"]

_INBOX: Final = "inbox"
_OUTBOX: Final = "outbox"
_SETTLED: Final = "settled"
_REFUSED: Final = ".refused"
_REQUEST: Final = re.compile(r"[0-9a-f]{32}")
_WAITING: Final = {
    EnvelopeKind.REQUEST: Phrase("the requests that wait"),
    EnvelopeKind.SAMPLE: Phrase("the samples that wait"),
    EnvelopeKind.ANSWER: Phrase("the answers that wait"),
    EnvelopeKind.LABELS: Phrase("the labels that wait"),
}


@dataclass(frozen=True, slots=True)
class ReceivedEnvelope:
    """An envelope as it came, when, and when its request was made."""

    data: bytes
    asked: datetime
    arrived: datetime


@dataclass(frozen=True, slots=True)
class SentEnvelope:
    """An envelope that is to be sent, not before `leaves`."""

    request: str
    kind: EnvelopeKind
    leaves: datetime


class Mailbox:
    """The three folders of one study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        for name in (_INBOX, _OUTBOX, _SETTLED):
            (study.folder / name).mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """While one process serves the study. It dies with the process."""
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.study.folder / "serve.lock", wait=False))
            except BlockingIOError:
                raise Refused(
                    say("study '{name}' is served by another process of this office.", name=self.study.name)
                ) from None
            yield

    # --- in ---------------------------------------------------------------------------------------------------------

    def receive(
        self, kind: EnvelopeKind, request: str, data: bytes, *, body: bytes, asked: datetime, now: datetime
    ) -> None:
        """Keep an envelope until something is done with it. The same body again changes nothing; another is refused."""
        digest = self._digest(body)
        known = self.settled(kind, request)
        if known is None:
            head = {"digest": digest, "asked": asked.isoformat(), "arrived": now.isoformat()}
            path = self._path(_INBOX, kind, request)
            try:
                write_whole(path, (_line(head), data), mode=0o600, fresh=True)
                return
            except FileExistsError:
                known = _read_head(path) or {"digest": digest}  # gone meanwhile: it was settled
        if not hmac.compare_digest(str(known["digest"]), digest):
            raise RequestConflict(say("other bytes came for this request before. Make a new request."))

    def waiting(self, kind: EnvelopeKind) -> tuple[str, ...]:
        """Requests with an envelope that nothing was done with, in the order of their ids."""
        return tuple(sorted(path.stem for path in (self.study.folder / _INBOX).glob(f"*.{kind.value}")))

    def take(self, kind: EnvelopeKind, request: str) -> ReceivedEnvelope:
        """An envelope that waits. It stays until it is settled."""
        path = self._path(_INBOX, kind, request)
        head = _read_head(path)
        if head is None:
            raise UnknownName(
                sort=Phrase("Request"),
                name=request[:40],
                where=str(_WAITING[kind]),
                known=list(self.waiting(kind))[:20],
            )
        data = read_regular(path)
        times = (datetime.fromisoformat(head[name]) for name in ("asked", "arrived"))
        return ReceivedEnvelope(data[data.index(b"\n") + 1 :], *times)

    def settle(self, kind: EnvelopeKind, request: str, **facts: str | None) -> None:
        """Keep what was made of an envelope, and delete it."""
        path = self._path(_INBOX, kind, request)
        head = _read_head(path)
        if head is not None:
            kept = {"digest": head["digest"], "arrived": head["arrived"], **facts}
            write_whole(self._path(_SETTLED, kind, request), _line(kept), mode=0o600)
            path.unlink()
            sync(path.parent)

    def settled(self, kind: EnvelopeKind, request: str) -> dict[str, Any] | None:
        """What was kept of an envelope that was dealt with."""
        return _read_head(self._path(_SETTLED, kind, request))

    # --- out --------------------------------------------------------------------------------------------------------

    def post(self, kind: EnvelopeKind, request: str, data: bytes, *, leaves: datetime) -> None:
        """Keep an envelope until it was sent."""
        write_whole(self._path(_OUTBOX, kind, request), (_line({"leaves": leaves.isoformat()}), data), mode=0o600)

    def outgoing(self) -> list[SentEnvelope]:
        """What is to be sent, in the order in which it may leave."""
        found = []
        for kind in EnvelopeKind:
            for path in (self.study.folder / _OUTBOX).glob(f"*.{kind.value}"):
                head = _read_head(path)
                if head is not None:
                    found.append(SentEnvelope(path.stem, kind, datetime.fromisoformat(head["leaves"])))
        return sorted(found, key=lambda item: (item.leaves, item.request, item.kind))

    def content(self, item: SentEnvelope) -> bytes:
        data = read_regular(self._path(_OUTBOX, item.kind, item.request))
        return data[data.index(b"\n") + 1 :]

    def sent(self, item: SentEnvelope, *, refused: bool = False) -> None:
        """Delete what has arrived; keep aside what the other office will never take."""
        path = self._path(_OUTBOX, item.kind, item.request)
        if refused:
            path.replace(path.with_name(path.name + _REFUSED))
        else:
            path.unlink(missing_ok=True)
        sync(path.parent)

    def retry(self) -> None:
        """Send again what was refused: whoever carried it may have altered it."""
        for path in (self.study.folder / _OUTBOX).glob(f"*{_REFUSED}"):
            path.replace(path.with_name(path.name.removesuffix(_REFUSED)))

    def refused(self) -> tuple[str, ...]:
        """Requests of which the other office refused an envelope."""
        return tuple(sorted(path.name.partition(".")[0] for path in (self.study.folder / _OUTBOX).glob(f"*{_REFUSED}")))

    def _path(self, folder: str, kind: EnvelopeKind, request: str) -> Path:
        if _REQUEST.fullmatch(request) is None:
            raise refuse_envelope()
        return self.study.folder / folder / f"{request}.{kind.value}"

    def _digest(self, body: bytes) -> str:
        """Of what an envelope holds: sealed again it is the same. Nobody without the key can try guesses on it."""
        key = b"" if self.study.role is OfficeRole.RESEARCHER else self.study.secret("link")
        return hmac.digest(key, b"received\n" + body, hashlib.sha256).hex()


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"


def _read_head(path: Path) -> dict[str, Any] | None:
    """The line that an envelope, or what was made of it, is kept with."""
    try:
        with path.open("rb") as stream:
            found = json.loads(stream.readline(10_000))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise Refused(
            say("'{name}' of this office cannot be read. Restore the office's folder.", name=path.name)
        ) from None
    assert isinstance(found, dict)
    return found
