"""What was answered before: in every format, for nothing, to whoever it was given to."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from discreet.catalogue import Phrase, language, say
from discreet.errors import ChargedNotAnswered, ParameterInvalid, UnknownName
from discreet.present import FORMATS, file_parts
from discreet.results import Release, write_release
from discreet.server.asking import RELEASE_TYPE, wants_release
from discreet.server.callers import Analyst, Caller

__all__ = ["MEDIA", "router"]

router = APIRouter(tags=["answers"])

_MEDIA: Final = {
    "json": ("application/json", "json"),
    "release": (RELEASE_TYPE, "release.json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "sdmx-csv": ("application/vnd.sdmx.data+csv; charset=utf-8", "sdmx.csv"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "parquet": ("application/vnd.apache.parquet", "parquet"),
    "html": ("text/html; charset=utf-8", "html"),
    "svg": ("image/svg+xml", "svg"),
    "png": ("image/png", "png"),
    "pdf": ("application/pdf", "pdf"),
    "txt": ("text/plain; charset=utf-8", "txt"),
}
assert {*_MEDIA} - {"release", "txt"} == {*FORMATS} - {"table"}, "every format can be had"
MEDIA: Final = tuple(media for media, _ in _MEDIA.values())
_MOST: Final = 1_000


@router.get("/answers/{number}", summary="An answer of yours, by its number in your history.", response_class=Response)
def answer(
    number: int,
    request: Request,
    caller: Analyst,
    format: Annotated[str | None, Query(description=", ".join(_MEDIA), examples=["xlsx"])] = None,
) -> Response:
    chosen = format or ("release" if wants_release(request) else "json")
    if chosen not in _MEDIA:
        raise ParameterInvalid(
            parameter="format", rule=say("must be one of {formats}", formats=", ".join(_MEDIA)), given=say("another")
        )
    release = _recall(caller, number)
    media, suffix = _MEDIA[chosen]
    if chosen == "release":
        content = write_release(release)
    else:
        content = b"".join(file_parts(release, "table" if chosen == "txt" else chosen, language()))
    headers = {"content-disposition": f'attachment; filename="answer-{number}.{suffix}"'}
    return Response(content, media_type=media, headers=headers)


def _recall(caller: Caller, number: int) -> Release:
    """The answer, in the same words whether it is not stored yet or may not leave yet."""
    office = caller.office
    found = office.session.ledger.question(analyst=caller.name, ordinal=number) if number >= 1 else None
    if found is None:
        raise UnknownName(sort=Phrase("Answer"), name=str(number)[:20], where=Phrase("your history"))
    if not office.has_left(found):
        raise ChargedNotAnswered(dataset=found.dataset, request_id=found.request_id, suspended=False)
    return caller.granted.recall(found.number)


@router.get("/history", summary="Your own questions, the newest first.")
def history(
    caller: Analyst, limit: Annotated[int, Query(ge=1, le=_MOST, description="At most so many.")] = 100
) -> dict[str, object]:
    office = caller.office
    found = caller.granted.history(analyst=caller.name, limit=limit)
    return {
        "history": [{**item.to_dict(), "answer": item.ordinal, "answered": office.has_left(item)} for item in found]
    }
