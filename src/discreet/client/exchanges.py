"""One request and its answer over HTTP, with a limit to everything: time, size, where it goes and what is taken.

No redirect is followed, no cookie kept, no proxy or password of the environment used, nothing decompressed. TLS is
verified against the authorities that this machine trusts.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from threading import TIMEOUT_MAX, Timer
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, language, say
from discreet.client.server_address import ServerAddress
from discreet.client.told_errors import untrusted
from discreet.errors import ExtraMissing, ParameterInvalid, legible
from discreet.results import LARGEST_RELEASE, RELEASE_FORM

if TYPE_CHECKING:
    import httpx

__all__ = [
    "ANSWER",
    "JSON",
    "LONGEST_WAIT",
    "PROBLEM",
    "AnswerNotTaken",
    "Call",
    "Exchange",
    "ExchangeFailed",
    "Reply",
]

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
ANSWER: Final = "application/vnd.discreet.release+json"

_LONGEST_BODY: Final = 65_536
_MOST: Final = 10_000_000
_LONGER_FOR_AN_ANSWER: Final = 30
LONGEST_WAIT: Final = int(TIMEOUT_MAX / _LONGER_FOR_AN_ANSWER)
"""So many seconds a request may have: clocks of threads end."""

_CONNECTING: Final = 10.0
_SECONDS: Final = re.compile(r"\d{1,6}", re.ASCII)
_MEDIA: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}", re.ASCII)
_ANSWER_PATH: Final = re.compile(r"/v1/answers/(\d{1,10})", re.ASCII)
_READ_WHEN_STREAMED: Final = "content-length"


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked of a server. With a `request_id` it is about a question that spends; its POST carries that id."""

    method: str
    pieces: tuple[str, ...]
    body: Mapping[str, object] | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = JSON
    request_id: str | None = None
    language: str | None = None

    @property
    def begun(self) -> bool:
        """Whether what it is about was asked before, and may have been charged."""
        return self.request_id is not None and self.method != "POST"

    def headers(self) -> dict[str, str]:
        """Those of this call; who asks is the wire's to say."""
        wanted = f"{ANSWER}; form={RELEASE_FORM}" if self.accept == ANSWER else self.accept
        found = {"Accept": f"{wanted}, {PROBLEM}", "Accept-Language": self.language or language()}
        if self.body is not None:
            found["Content-Type"] = JSON
        if self.request_id is not None and self.method == "POST":
            found["Idempotency-Key"] = self.request_id
        return found

    def content(self) -> bytes | None:
        """The body as it is sent; ParameterInvalid where no server would take it."""
        if self.body is None:
            return None
        try:
            content = json.dumps(self.body, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ParameterInvalid(
                parameter=Phrase("the question"), rule=say("must be text in UTF-8"), given=say("halves of characters")
            ) from None
        if len(content) > _LONGEST_BODY:
            raise ParameterInvalid(
                parameter=Phrase("the question"),
                rule=say("may have {most:,} bytes in all", most=_LONGEST_BODY),
                given=say("{size:,} bytes", size=len(content)),
            )
        return content


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: status, media type, the pause that was asked for, the whole body, and the number of the answer
    that it says it is."""

    status: int
    media: str
    pause: float | None
    body: bytes
    answer: int | None = None


class ExchangeFailed(Exception):
    """No whole answer came. `sent` says whether the request may have arrived."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("no whole answer came")
        self.sent = sent


class AnswerNotTaken(Exception):
    """An answer began that is not read on, for this `reason`: the same would come again."""

    def __init__(self, status: int, reason: Phrase) -> None:
        super().__init__("the answer was not taken")
        self.status = status
        self.reason = reason


class Exchange:
    """The wire to one server. `timeout` are the seconds in which it must connect, go on, and be done."""

    def __init__(self, address: ServerAddress, token: str, *, timeout: float) -> None:
        try:
            import httpx
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("a server"), extra="client") from None

        self.address = address
        self._timeout = timeout
        self._wires: list[Any] = []
        self._client = httpx.Client(
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": "discreet",
                "Accept-Encoding": "identity",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECTING)),
            trust_env=False,
            verify=ssl.create_default_context() if address.scheme == "https" else False,
        )

    def __repr__(self) -> str:
        return f"<Exchange with {legible(self.address.shown)}>"

    def close(self) -> None:
        self._client.close()

    def send(self, call: Call) -> Reply:
        """The answer, whatever its status; ExchangeFailed where none came whole, AnswerNotTaken beyond the limits."""
        import httpx

        url = self.address.url(call.pieces, call.query)
        body = call.content()
        try:
            with (
                self._cut_after(self._timeout * (_LONGER_FOR_AN_ANSWER if call.accept == ANSWER else 1)),
                self._client.stream(
                    call.method, url, content=body, headers=call.headers(), extensions={"trace": self._note_wire}
                ) as response,
            ):
                return _take(response)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            if _is_about_certificates(error):
                raise untrusted(self.address.host) from None
            raise ExchangeFailed(sent=False) from None
        except (httpx.RequestError, httpx.StreamError):
            raise ExchangeFailed(sent=True) from None

    def _note_wire(self, event: str, facts: Mapping[str, Any]) -> None:
        """Called while a request goes on; a connection is known from when it stands."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._wires = [wire for wire in self._wires if wire.fileno() >= 0]
            self._wires.append(facts["return_value"].get_extra_info("socket"))

    @contextmanager
    def _cut_after(self, seconds: float) -> Iterator[None]:
        """A server that says a letter now and then never runs into a timeout of its own: its connection is cut."""
        timer = Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        # Which wire a thread has cannot be known: others are cut with it, and ask again as after any failure.
        for wire in self._wires:
            with suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)


def _take(response: httpx.Response) -> Reply:
    """The whole body, unless it is too long or coded. Only a release may be long."""
    headers, status = response.headers, response.status_code
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerNotTaken(status, Phrase("it is compressed, which was not asked for"))
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    most = LARGEST_RELEASE if status == 200 and media == ANSWER else _MOST
    too_long = AnswerNotTaken(status, Phrase("it is longer than {most:,} bytes", most=most))
    length = headers.get(_READ_WHEN_STREAMED, "0")
    if not length.isdecimal() or len(length) > 15 or int(length) > most:
        raise too_long
    parts, size = [], 0
    for part in response.iter_raw():
        size += len(part)
        if size > most:
            raise too_long
        parts.append(part)
    pause = headers.get("retry-after", "").strip()
    place = _ANSWER_PATH.fullmatch(headers.get("location", ""))
    return Reply(
        status=status,
        media=media if _MEDIA.fullmatch(media) else "",
        pause=float(pause) if _SECONDS.fullmatch(pause) else None,
        body=b"".join(parts),
        answer=None if place is None else int(place[1]),
    )


def _is_about_certificates(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
