"""The ledger: its head for everybody to note down, its events for auditors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from discreet.ledger import LogFilter, describe_event
from discreet.server.bodies import VerifyBody
from discreet.server.callers import Auditor, Caller, office_of
from discreet.server.office import last_minute

__all__ = ["router"]

router = APIRouter(tags=["ledger"])
_MOST: Final = 10_000


@router.get("/ledger/head", summary="The last event before this minute: note it down to find a rollback later.")
def head(request: Request) -> dict[str, object]:
    """As of a full minute, so that nobody reads from it when an answer was ready. It is read once in each."""
    minute = last_minute()
    known = getattr(request.app.state, "head", None)
    if known is None or known[0] != minute:
        event = next(office_of(request).session.ledger.log(LogFilter(until=minute, limit=1)), None)
        told: dict[str, object] = {"sequence": 0, "hash": ""}
        known = minute, told if event is None else {"sequence": event.sequence, "hash": event.hash}
        request.app.state.head = known
    found: dict[str, object] = known[1]
    return found


@router.get("/ledger/events", summary="Who did what, when, and what it cost: one JSON object a line.")
def events(
    caller: Auditor,
    after: Annotated[int, Query(ge=0, description="Only events after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST, description="At most so many.")] = 1_000,
) -> Response:
    return StreamingResponse(_lines(caller, after, limit), media_type="application/x-ndjson")


def _lines(caller: Caller, after: int, limit: int) -> Iterator[str]:
    for event in islice(caller.office.session.ledger.log(LogFilter(after=after)), limit):
        line = {
            **describe_event(event, reasons=False).to_dict(),
            "hash": event.hash,
            "asked": event.payload.get("asked") or None,
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


@router.post("/ledger/verify", summary="Walk the whole ledger.")
def verify(body: VerifyBody, caller: Auditor) -> dict[str, object]:
    return caller.office.session.verify(anchor=body.anchor).to_dict()
