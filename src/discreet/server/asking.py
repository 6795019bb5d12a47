"""How a question that spends is answered: in the request, or as a job, as follows from plan and public sizes.

Whatever comes of it, an answer, a refusal or a failure, leaves at a public slot (RULES 30), so that nobody can tell how
long it took. The key of the request is the ledger's request id: the same again is the same answer, for nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from discreet.catalogue import Phrase, language, say, speaking
from discreet.errors import DiscreetError, NotAllowed, ParameterInvalid, QueryRefused
from discreet.ledger import check_name
from discreet.people import Role
from discreet.present import file_parts
from discreet.results import Release, write_release
from discreet.server.callers import Caller
from discreet.server.office import Office
from discreet.server.problems import problem_of
from discreet.server.server_log import tell_log
from discreet.server.spending_questions import QuestionKind, SpendingQuestion
from discreet.work import Job, JobOutcome, is_long, next_slot

__all__ = ["RELEASE_TYPE", "answer_question", "at_slot", "perform_job", "release_response", "tell_job"]

RELEASE_TYPE = "application/vnd.discreet.release+json"
_POLL_SECONDS = 1

T = TypeVar("T")


async def at_slot(office: Office, owner: str, key: str, work: Callable[[], T]) -> T:
    """What `work` gives or raises, not before the next public slot of when it was first asked under this key."""
    if not office.settings.slots:
        return await run_in_threadpool(work)
    asked = datetime.now(UTC)
    since = await run_in_threadpool(partial(office.underway.begin, owner, key, asked=asked))
    try:
        return await run_in_threadpool(work)
    finally:
        now = datetime.now(UTC)
        await asyncio.sleep((next_slot(since, now) - now).total_seconds())
        if since == asked:  # whoever asks beside it under the same key does not end it
            await run_in_threadpool(office.underway.end, owner, key)


async def answer_question(request: Request, caller: Caller, question: SpendingQuestion) -> Response:
    """Answer with 200, or with 202 and a job."""
    office, key = caller.office, _key(request)
    as_release = RELEASE_TYPE in request.headers.get("accept", "")

    def work() -> Response:
        session = caller.granted
        found = question.read(session, analyst=caller.name, request_id=key)
        if is_long(found.asks):
            now = datetime.now(UTC)
            job = office.jobs.submit(
                caller.name, question.kind, key, dict(question.words), language=language(), asked=now
            )
            return _accepted(office, job)
        return release_response(office, caller.name, found.answer(), as_release=as_release)

    return await at_slot(office, caller.name, key, work)


def release_response(office: Office, analyst: str, release: Release, *, as_release: bool) -> Response:
    """A release as JSON, or as what a client makes a Release of again; `Location` is where it can be had again."""
    if as_release:
        content, media = write_release(release), RELEASE_TYPE
    else:
        content, media = b"".join(file_parts(release, "json", language())), "application/json"
    found = office.session.ledger.question(analyst=analyst, request_id=release.source.request_id)
    headers = {} if found is None else {"location": f"/v1/answers/{found.number}"}
    return Response(content, media_type=media, headers=headers)


def tell_job(office: Office, job: Job) -> dict[str, object]:
    """A job as its owner sees it: where it has an answer, the number under which that can be had."""
    face = job.face(datetime.now(UTC))
    return {**{name: value for name, value in face.items() if name != "charge"}, "answer": face["charge"]}


def perform_job(office: Office, job: Job, before_charge: Callable[[], bool]) -> JobOutcome:
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
            return JobOutcome(charge=None if found is None else found.number, problem=None)
        except DiscreetError as error:
            return JobOutcome(charge=None, problem=problem_of(error, tell=tell_log).document)


def _accepted(office: Office, job: Job) -> Response:
    headers = {"location": f"/v1/jobs/{job.id}", "retry-after": str(_POLL_SECONDS)}
    return JSONResponse({"job": tell_job(office, job)}, status_code=202, headers=headers)


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
