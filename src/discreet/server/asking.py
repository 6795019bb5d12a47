"""How a question that spends is answered: in the request, or as a job, as follows from plan and public sizes.

Whatever comes of it, an answer, a refusal or a failure, leaves at a public slot (RULES 30), so that nobody can tell how
long it took. The key of the request is the ledger's request id: the same again is the same answer, for nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from discreet.catalogue import Phrase, language, say, speaking
from discreet.errors import DiscreetError, NotAllowed, ParameterInvalid, QueryRefused
from discreet.ledger import PastQuestion, check_name
from discreet.people import Role
from discreet.present import file_parts
from discreet.results import RELEASE_FORM, Release, write_release
from discreet.server.callers import Caller
from discreet.server.office import ServedOffice
from discreet.server.problems import MEDIA_TYPE, interrupted, problem_of
from discreet.server.server_log import tell_log
from discreet.server.spending_questions import QuestionKind, SpendingQuestion
from discreet.work import Job, JobOutcome, is_long, next_slot

__all__ = ["RELEASE_TYPE", "answer_question", "perform_job", "tell_job", "wants_release"]

RELEASE_TYPE = "application/vnd.discreet.release+json"
_POLL_SECONDS = 1


async def answer_question(request: Request, caller: Caller, question: SpendingQuestion) -> Response:
    """Answer with 200, or with 202 and a job: not before the next public slot, nor before the answer's own."""
    office, key = caller.office, _key(request)
    as_release = wants_release(request)
    asked = ready = datetime.now(UTC)

    def work() -> Response:
        nonlocal ready
        session = caller.granted
        found = question.read(session, analyst=caller.name, request_id=key)
        if is_long(found.asks):
            job = office.jobs.submit(
                caller.name, question.kind, key, dict(question.words), language=language(), asked=asked
            )
            return _accepted(office, job)
        release = found.answer()
        stored = office.session.ledger.question(analyst=caller.name, request_id=key)
        assert stored is not None, "what was answered stands on the ledger"
        ready = office.leaves(stored) or ready
        return _respond(release, stored, as_release=as_release)

    async def leave() -> None:
        if office.settings.slots:
            now = datetime.now(UTC)
            await asyncio.sleep((next_slot(asked, max(now, ready)) - now).total_seconds())

    try:
        try:
            response = await office.turns.take(caller.name, work)
        except Exception:
            await leave()
            raise
        await leave()
    except asyncio.CancelledError:  # the server ends
        told = interrupted(key)
        response = Response(told.to_bytes(), told.status, media_type=MEDIA_TYPE)
    return response


def _respond(release: Release, stored: PastQuestion, *, as_release: bool) -> Response:
    """A release as JSON, or as what a client makes a Release of again; `Location` is where it can be had again."""
    if as_release:
        content, media = write_release(release), RELEASE_TYPE
    else:
        content, media = b"".join(file_parts(release, "json", language())), "application/json"
    return Response(content, media_type=media, headers={"location": f"/v1/answers/{stored.ordinal}"})


def tell_job(office: ServedOffice, job: Job) -> dict[str, object]:
    """A job as its owner sees it: where it has an answer, the number under which that can be had."""
    face = job.face(datetime.now(UTC))
    number = face.pop("charge")
    found = None if number is None else office.session.ledger.question(number=int(str(number)))
    return {**face, "answer": None if found is None else found.ordinal}


def perform_job(office: ServedOffice, job: Job, before_charge: Callable[[], bool]) -> JobOutcome:
    """Do what a job asks, in the name and with the grants that its owner has now."""
    with speaking(job.language):
        try:
            office.people.catch_up()
            person = office.people.person(job.owner)
            if person.suspended or Role.ANALYST not in person.roles:
                raise NotAllowed(say("this is for another role: {roles}.", roles=Role.ANALYST.value))
            session = office.session.acting_for(person.name, datasets=person.datasets)
            question = SpendingQuestion(QuestionKind(job.kind), job.body)
            read = question.read(session, analyst=person.name, request_id=job.request_id)
            if not before_charge():
                raise QueryRefused(say("this was cancelled before it was asked. Nothing was charged."))
            read.answer()
            found = office.session.ledger.question(analyst=person.name, request_id=job.request_id)
            assert found is not None, "what was answered stands on the ledger"
            return JobOutcome(charge=found.number, problem=None, ready=office.leaves(found))
        except DiscreetError as error:
            return JobOutcome(charge=None, problem=problem_of(error, tell=tell_log).document)


def _accepted(office: ServedOffice, job: Job) -> Response:
    headers = {"location": f"/v1/jobs/{job.id}", "retry-after": str(_POLL_SECONDS)}
    return JSONResponse({"job": tell_job(office, job)}, status_code=202, headers=headers)


def wants_release(request: Request) -> bool:
    """Whether whoever asks reads releases; ParameterInvalid, and nothing is charged, where they read another form."""
    for accepted in request.headers.get("accept", "").split(","):
        media, *named = (part.strip().lower() for part in accepted.split(";"))
        if media == RELEASE_TYPE:
            form = dict(part.partition("=")[::2] for part in named).get("form", str(RELEASE_FORM))
            if form != str(RELEASE_FORM):
                raise ParameterInvalid(
                    parameter=Phrase("Accept"),
                    rule=say("must name the form of a release that this server writes: {form}", form=str(RELEASE_FORM)),
                    given=say("another"),
                )
            return True
    return False


def _key(request: Request) -> str:
    """The ledger's request id. A call that spends needs one, so that a lost answer never has to be paid twice."""
    given = request.headers.get("idempotency-key")
    if given is None:
        raise ParameterInvalid(
            parameter=Phrase("Idempotency-Key"),
            rule=say("must be sent with what spends, so that asking again costs nothing"),
            given=say("nothing"),
        )
    return check_name(given, parameter=Phrase("Idempotency-Key"))
