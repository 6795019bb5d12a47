"""Sending an envelope to another office, and fetching an answer from it, over HTTP."""

from __future__ import annotations

import http.client
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused, RequestConflict
from discreet.linkage.envelopes import EnvelopeKind, envelope_limit, read_header, refuse_envelope, tell_kind

__all__ = ["PATHS", "check_url", "fetch_answer", "post_envelope", "send_envelope"]

PATHS: Final[Mapping[EnvelopeKind, str]] = MappingProxyType(
    {
        EnvelopeKind.REQUEST: "/linked/requests",
        EnvelopeKind.SAMPLE: "/linked/samples",
        EnvelopeKind.LABELS: "/linked/labels",
        EnvelopeKind.ANSWER: "/linked/answers",
    }
)
"""Where an office takes a kind of envelope."""

_SECONDS: Final = 60.0
_REQUEST: Final = re.compile(r"[0-9a-f]{32}")


def send_envelope(url: str, data: bytes) -> None:
    """Send an envelope to the office at `url`; it has arrived when this returns."""
    kind = read_header(data).kind
    if kind not in PATHS:
        raise Refused(
            say(
                "an envelope with a {kind} is not sent by network. Give the file to the other office.",
                kind=tell_kind(kind),
            )
        )
    status = post_envelope(url, kind, data)
    if status is None:
        raise unreachable(url)
    if status == http.HTTPStatus.CONFLICT:
        raise RequestConflict(say("that office already has other bytes for this request. Make a new request."))
    if status != http.HTTPStatus.ACCEPTED:
        raise Refused(
            say("that office did not take the envelope ({status}). Ask it why.", status=status), status=status
        )


def fetch_answer(url: str, request: str) -> bytes | None:
    """The envelope with the answer to a request, from the registry at `url`; None as long as it has none to give."""
    if _REQUEST.fullmatch(request) is None:
        raise ParameterInvalid(parameter="request", rule=say("must be 32 hexadecimal digits"), given=request[:40])
    found = _talk(url, "GET", f"{PATHS[EnvelopeKind.ANSWER]}/{request}", None)
    if found is None:
        raise unreachable(url)
    status, data = found
    if status == http.HTTPStatus.NOT_FOUND:
        return None
    if status != http.HTTPStatus.OK:
        raise Refused(say("that office did not give an answer ({status}). Ask it why.", status=status), status=status)
    if read_header(data).request != request:
        raise refuse_envelope()
    return data


def post_envelope(url: str, kind: EnvelopeKind, data: bytes) -> int | None:
    """The number that an office answers an envelope with; None where it cannot be reached."""
    found = _talk(url, "POST", PATHS[kind], data)
    return None if found is None else found[0]


def check_url(url: str, parameter: str) -> str:
    """The address of an office as somebody gave it, or ParameterInvalid."""
    try:
        found = urlsplit(url)
        fit = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
        fit = fit and not (found.username or found.query or found.fragment)
    except ValueError:
        fit = False
    if not fit or not url.isascii() or not url.isprintable() or " " in url:
        raise ParameterInvalid(
            parameter=parameter, rule=say("must be an address such as http://127.0.0.1:8520"), given=ascii(url[:60])
        )
    return url.rstrip("/")


def unreachable(url: str) -> Refused:
    host = urlsplit(url).hostname or ""
    return Refused(
        say("the office at '{host}' could not be reached. Nothing was sent; try again.", host=host), host=host
    )


def _talk(url: str, method: str, path: str, body: bytes | None) -> tuple[int, bytes] | None:
    """Status and body of one exchange, without redirects, proxies or cookies."""
    place = urlsplit(check_url(url, "url"))
    make = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = make(place.hostname or "", place.port, timeout=_SECONDS)
    headers = {"Content-Type": "application/octet-stream"} if body is not None else {}
    most = envelope_limit(0)
    try:
        connection.request(method, place.path + path, body, headers)
        response = connection.getresponse()
        data = response.read(most + 1)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return (response.status, data) if len(data) <= most else None
