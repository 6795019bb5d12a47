"""Every refusal as one document: `application/problem+json`, made from the error's own `to_dict`.

`charged` says whether a charge may stand: then the same request under the same key costs nothing more. What went wrong
inside the office is told to nobody who asks: it is one fixed sentence, and a line in the office's log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from discreet import errors
from discreet.catalogue import Phrase
from discreet.errors import DiscreetError

__all__ = ["MEDIA_TYPE", "Problem", "interrupted", "problem_of", "refusal", "refuse", "status_of"]

MEDIA_TYPE: Final = "application/problem+json"
_URN: Final = "urn:discreet:error:"

STATUS: Final[Mapping[type[DiscreetError], int]] = {
    errors.UsageError: 400,
    errors.ParameterInvalid: 400,
    errors.PathInvalid: 400,
    errors.RequestInvalid: 400,
    errors.ExtraMissing: 501,
    errors.WorkspaceMissing: 503,
    errors.Refused: 422,
    errors.CardInvalid: 422,
    errors.CardUndecided: 422,
    errors.WorkloadInvalid: 422,
    errors.StudyInvalid: 422,
    errors.ManifestInvalid: 422,
    errors.AgreementInvalid: 422,
    errors.SignatureInvalid: 422,
    errors.FileRefused: 422,
    errors.QueryRefused: 422,
    errors.UnknownName: 404,
    errors.NotSignedIn: 401,
    errors.NotAllowed: 403,
    errors.CustodianOnly: 403,
    errors.PopulationConflict: 409,
    errors.BudgetExceeded: 409,
    errors.RequestConflict: 409,
    errors.DatasetSuspended: 423,
    errors.TooManyRequests: 429,
    errors.EngineUnavailable: 503,
    errors.RecordsUnavailable: 503,
    errors.LedgerUnavailable: 503,
    errors.LedgerUnanchored: 503,
    errors.LedgerDamaged: 503,
    errors.ChargedNotAnswered: 503,
    DiscreetError: 500,
}
"""The status of every class of error; a test sees that none is missing."""

_INSIDE: Final = (
    errors.WorkspaceMissing,
    errors.ExtraMissing,
    errors.PathInvalid,
    errors.EngineUnavailable,
    errors.RecordsUnavailable,
    errors.LedgerUnavailable,
    errors.LedgerDamaged,
)
_UNWELL: Final = Phrase(
    "this office cannot answer just now. What was asked may be asked again under the same key; it costs nothing twice."
)
_REFUSED: Final = {
    400: Phrase("this is not a request that this server reads."),
    403: Phrase("this came from a page of another site, and is refused."),
    404: Phrase("there is nothing here. The list of what there is: GET /v1/openapi.json"),
    405: Phrase("this cannot be done here: only what GET /v1/openapi.json lists."),
    408: Phrase("the request did not come in time."),
    413: Phrase("the body is too long."),
    415: Phrase("the body must be JSON, in UTF-8 and not compressed (content-type: application/json)."),
    429: Phrase("too many requests came from this address. Ask again in a minute; nothing was charged."),
    431: Phrase("the head of the request is too long."),
    500: _UNWELL,
    503: _UNWELL,
}
_NAMES: Final = {429: errors.TooManyRequests.__name__}


class Problem:
    """A status and a document."""

    def __init__(self, status: int, document: Mapping[str, object]) -> None:
        self.status = status
        self.document = {"type": f"{_URN}{document['error']}", "status": status, **document}

    def to_bytes(self) -> bytes:
        return json.dumps(self.document, ensure_ascii=False).encode("utf-8", errors="replace")


def status_of(error: DiscreetError) -> int:
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def problem_of(error: DiscreetError, *, tell: Callable[[str], None]) -> Problem:
    """An error as whoever asked may see it; `tell` hears what only the office may."""
    status, charged = status_of(error), _may_be_charged(error)
    if isinstance(error, _INSIDE):
        tell(f"{error.name}: {error.message}")
        shown = {name: error.fields[name] for name in ("request_id",) if name in error.fields}
        return Problem(status, {"error": error.name, "message": str(_UNWELL), "fields": shown, "charged": charged})
    return Problem(status, {**error.to_dict(), "charged": charged})


def refusal(status: int, code: str = "RequestInvalid") -> Problem:
    """What is refused before anybody knows what it is about; `code` is the word that machines know it by."""
    said = _REFUSED.get(status, _REFUSED[400])
    error = _NAMES.get(status, "RequestInvalid" if status < 500 else "DiscreetError")
    return Problem(status, {"error": error, "message": str(said), "fields": {"code": code}, "charged": False})


def interrupted(request_id: str) -> Problem:
    """What is told of a question that spends when the server ends in the middle of it: it may have been charged."""
    fields = {"request_id": request_id}
    error = errors.ChargedNotAnswered.__name__
    return Problem(503, {"error": error, "message": str(_UNWELL), "fields": fields, "charged": True})


def refuse(status: int, code: str) -> bytes:
    """A refusal as the guard sends it."""
    return refusal(status, code).to_bytes()


def _may_be_charged(error: DiscreetError) -> bool:
    """Whether the charge stands, or may stand because nobody knows what became of it."""
    if isinstance(error, errors.ChargedNotAnswered | errors.LedgerUnanchored):
        return True
    return isinstance(error, errors.LedgerUnavailable) and "request_id" in error.fields
