"""How a request is refused before a handler has seen it: a number, a word that machines know, nothing of the request.

One place writes what is said: the application's own (`Refuse`), else the phrase of the number in plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

__all__ = ["REFUSALS", "Headers", "Refuse", "RequestRefused", "phrase_of", "protect", "write_refusal"]

Headers = list[tuple[bytes, bytes]]

Refuse = Callable[[int, str], bytes]
"""From the number and the word of a refusal to the problem document that is sent."""

REFUSALS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "BodyEncoded": 415,
        "BodyNotExpected": 400,
        "BodyNotJson": 415,
        "BodyTooLong": 413,
        "Busy": 503,
        "Ending": 503,
        "ForwardedInvalid": 400,
        "HeadTooLong": 431,
        "HeaderInvalid": 400,
        "HostInvalid": 400,
        "JsonInvalid": 400,
        "JsonTooDeep": 400,
        "MethodNotAllowed": 405,
        "OriginForeign": 403,
        "RequestInvalid": 400,
        "TargetInvalid": 400,
        "TooManyRequests": 429,
        "Unforeseen": 500,
    }
)
"""Every word with its number. `RequestInvalid` may come with 501 too."""

_ALWAYS: Final = {
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}
_UNLESS_SET: Final = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}


class RequestRefused(Exception):
    """A request that no handler sees; `code` is one of REFUSALS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
        self.status = REFUSALS[code]


def protect(headers: Headers) -> Headers:
    """The headers of a response with those that every response has. Nothing is ever said to pages of other origins."""
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in _ALWAYS and not name.lower().startswith(b"access-control-")
    ]
    named = {name.lower() for name, _ in kept}
    return [*kept, *_ALWAYS.items(), *((name, value) for name, value in _UNLESS_SET.items() if name not in named)]


def write_refusal(refuse: Refuse | None, status: int, code: str) -> tuple[Headers, bytes]:
    """Headers and body of a refusal."""
    if refuse is None:
        sort, said = b"text/plain; charset=utf-8", phrase_of(status)
    else:
        sort, said = b"application/problem+json", refuse(status, code)
    return protect([(b"content-type", sort), (b"content-length", str(len(said)).encode())]), said


def phrase_of(status: int) -> bytes:
    return HTTPStatus(status).phrase.encode()
