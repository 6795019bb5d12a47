"""Refusals of a server as the errors that they were there: the same class, words, facts and exit code.

Classes are those of `discreet.errors`, and no others: a name that is none of theirs is never looked up. They are made
without their constructors, which make sentences of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from discreet import errors
from discreet.catalogue import Phrase, say
from discreet.errors import MOST_LINES, CardInvalid, ChargedNotAnswered, DiscreetError, Refused, legible

__all__ = [
    "KINDS",
    "answered_unreadably",
    "charged_perhaps",
    "gave_up",
    "key_of",
    "no_server",
    "not_understood",
    "rebuild",
    "still_working",
    "unreachable",
    "untrusted",
]

E = TypeVar("E", bound=DiscreetError)

KINDS: Final[Mapping[str, type[DiscreetError]]] = MappingProxyType(
    {
        one.__name__: one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, DiscreetError) and one.__module__ == errors.__name__
    }
)
"""Every class of the tree by its name."""

_FIELD: Final = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_MOST_FIELDS: Final = 50
_MOST_PROBLEMS: Final = 10_000


def rebuild(document: Mapping[str, Any], *, request_id: str | None = None) -> DiscreetError:
    """The error that a problem document tells of. ValueError where it is no such document.

    With a `request_id` it is about that question: one about another is a ValueError, and what was charged names it.
    """
    name, message = document.get("error"), document.get("message")
    fields, problems = document.get("fields", {}), document.get("problems", [])
    if not (isinstance(name, str) and isinstance(message, str) and isinstance(fields, dict)):
        raise ValueError("no problem document")
    if not (isinstance(problems, list) and all(isinstance(problem, str) for problem in problems)):
        raise ValueError("problems are texts")
    unknown: type[DiscreetError] = DiscreetError if document.get("charged") is not False else Refused
    error = _made(KINDS.get(name, unknown), message.split("\n"), _facts(fields))
    if isinstance(error, CardInvalid):
        error.problems = tuple(map(legible, problems[:_MOST_PROBLEMS]))
    if request_id is not None:
        if error.fields.get("request_id", request_id) != request_id:
            raise ValueError("the problem is another question's")
        if isinstance(error, ChargedNotAnswered):
            error.fields = {**error.fields, "request_id": request_id}
    return error


def _facts(fields: Mapping[Any, Any]) -> dict[str, str | int | None]:
    """Those of the sorts that errors have."""
    return {
        name: legible(fact) if isinstance(fact, str) else fact
        for name, fact in list(fields.items())[:_MOST_FIELDS]
        if isinstance(name, str) and _FIELD.fullmatch(name) and isinstance(fact, str | int | None)
    }


def _made(kind: type[E], lines: Iterable[str], fields: Mapping[str, str | int | None]) -> E:
    """An error with these words, whatever its constructor would say; a last line tells how many were left out."""
    error = kind.__new__(kind)
    error.message = "\n".join(map(legible, list(lines)[: MOST_LINES + 1]))
    error.args = (error.message,)
    error.fields = dict(fields)
    if isinstance(error, CardInvalid):
        error.problems = ()
    return error


# --- where no server told anything ----------------------------------------------------------------------------------


def unreachable(host: str) -> Refused:
    """Nothing was sent."""
    return Refused(
        say("the server at '{host}' cannot be reached. Nothing was asked or charged; try again later.", host=host),
        host=host,
    )


def untrusted(host: str) -> Refused:
    """Its certificate is not its own, or of an authority that is not known here."""
    return Refused(
        say(
            "the certificate of '{host}' is not trusted here, so the token was not sent. Ask whoever runs the server; "
            "SSL_CERT_FILE may name a file with your own authority's certificate.",
            host=host,
        ),
        host=host,
    )


def gave_up(host: str, *, status: int | None) -> Refused:
    """It was asked for as long as there was patience, and nothing can have been charged. `status` is its last word."""
    if status is None:
        return Refused(say("the server at '{host}' did not answer in time. Try again later.", host=host), host=host)
    return Refused(
        say(
            "the server at '{host}' would not answer: its last word was {status}. Nothing was charged; try again "
            "later.",
            host=host,
            status=status,
        ),
        host=host,
        status=status,
    )


def no_server(host: str, *, status: int) -> Refused:
    """Something else is at this address, such as a page or a way to another place."""
    return Refused(
        say(
            "what '{host}' answered ({status}) is not how a Discreet server answers. Check the address. Nothing was "
            "charged.",
            host=host,
            status=status,
        ),
        host=host,
        status=status,
    )


def not_understood(host: str, *, status: int, reason: Phrase | None = None) -> Refused:
    """An answer to something that costs nothing, which is not as agreed."""
    if reason is not None:
        return Refused(
            say(
                "what the server at '{host}' answered ({status}) cannot be read: {reason}. Check the address.",
                host=host,
                status=status,
                reason=reason,
            ),
            host=host,
            status=status,
        )
    return Refused(
        say(
            "what the server at '{host}' answered ({status}) cannot be read. Check the address, and whether server and "
            "client are of the same version.",
            host=host,
            status=status,
        ),
        host=host,
        status=status,
    )


def charged_perhaps(host: str, request_id: str, *, reason: Phrase | None = None) -> ChargedNotAnswered:
    """Nobody knows what became of a question that spends: it counts as charged, and may be asked again for nothing."""
    if reason is not None:
        message = say(
            "what the server at '{host}' answered cannot be read: {reason}. Whether the question was charged is not "
            "known. Ask again with --request-id {request_id}: it costs nothing more.",
            host=host,
            reason=reason,
            request_id=request_id,
        )
        return _of_question(message, host, request_id)
    message = say(
        "the server at '{host}' gave no answer that can be read; whether the question was charged is not known. Ask "
        "again with --request-id {request_id}: it costs nothing more.",
        host=host,
        request_id=request_id,
    )
    return _of_question(message, host, request_id)


def answered_unreadably(address: str, host: str, request_id: str, *, number: int | None) -> ChargedNotAnswered:
    """A release came that cannot be read here: under the key it would come again, so another way to it is told."""
    message = say(
        "the server at '{host}' answered, and may have charged for it, but this program cannot read the answer: the "
        "two seem to be of different versions. For nothing, have it in another format ({url}), or upgrade and ask "
        "again with --request-id {request_id}.",
        host=host,
        url=f"{address}/v1/answers/{'NUMBER' if number is None else number}?format=csv",
        request_id=request_id,
    )
    return _of_question(message, host, request_id)


def key_of(request_id: str) -> str:
    """What is told whoever leaves while a question that spends is on its way."""
    return say(
        "The question may have been charged. Ask again with --request-id {request_id}: it costs nothing more.",
        request_id=request_id,
    )


def still_working(host: str, request_id: str) -> ChargedNotAnswered:
    """A job that took longer than anybody waited."""
    message = say(
        "the server at '{host}' still works on the question, which may have been charged. Ask again with --request-id "
        "{request_id}: it costs nothing more.",
        host=host,
        request_id=request_id,
    )
    return _of_question(message, host, request_id)


def _of_question(message: str, host: str, request_id: str) -> ChargedNotAnswered:
    return _made(ChargedNotAnswered, [message], {"host": legible(host), "request_id": legible(request_id)})
