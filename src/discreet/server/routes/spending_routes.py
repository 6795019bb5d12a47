"""What spends: queries, workloads, tables. Each needs an Idempotency-Key, which is the ledger's request id."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from starlette.concurrency import run_in_threadpool

from discreet.people import Bucket
from discreet.server.asking import answer_question
from discreet.server.bodies import QueryBody, TableBody, WorkloadBody
from discreet.server.callers import Analyst
from discreet.server.routes.explanation_routes import WORKLOADS
from discreet.server.spending_questions import QuestionKind, SpendingQuestion

__all__ = ["router"]

router = APIRouter(tags=["questions that spend"])

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="1 to 63 letters, digits and . _ @ -; the same key again is the same answer, for nothing.",
        examples=["smokers-1"],
    ),
]
_SAID: dict[int | str, dict[str, Any]] = {
    202: {"description": "It takes longer, and is a job now; Location says where."},
    409: {"description": "The budget does not suffice, or the key was used for another question."},
}


@router.post("/queries", summary="Ask in SQL.", responses=_SAID, response_model=None)
async def query(request: Request, body: QueryBody, caller: Analyst, key: Key = None) -> Response:
    return await answer_question(request, caller, SpendingQuestion(QuestionKind.QUERY, body.model_dump()))


@router.post("/workloads", summary="Ask many questions under one charge.", responses=_SAID, response_model=None)
async def workload(request: Request, body: WorkloadBody, caller: Analyst, key: Key = None) -> Response:
    await run_in_threadpool(caller.office.people.limits.take, Bucket(f"workload:{caller.name}", WORKLOADS, 60))
    return await answer_question(request, caller, SpendingQuestion(QuestionKind.WORKLOAD, body.model_dump()))


@router.post("/tables", summary="Ask for a protected table.", responses=_SAID, response_model=None)
async def table(request: Request, body: TableBody, caller: Analyst, key: Key = None) -> Response:
    return await answer_question(request, caller, SpendingQuestion(QuestionKind.TABLE, body.model_dump()))
