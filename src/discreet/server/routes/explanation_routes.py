"""What a question would measure, add and cost. The checks are those of the question itself; the data are not opened."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from discreet.people import Bucket
from discreet.release import Explanation
from discreet.server.bodies import ExplanationBody, TableBody, TargetBody, WorkloadBody
from discreet.server.callers import Analyst, Caller
from discreet.server.spending_questions import QuestionKind, SpendingQuestion
from discreet.tables import TableExplanation

__all__ = ["WORKLOADS", "router"]

router = APIRouter(tags=["explanations"])
_IN_A_MINUTE = 120
WORKLOADS = 30
"""Of a person in a minute: one workload may be as much to plan as hundreds of questions."""


@router.post("/explanations", summary="What a query would measure, add, charge and leave.")
async def explain(body: ExplanationBody, caller: Analyst) -> dict[str, object]:
    return await _in_turn(caller, lambda: _explain(body, caller))


@router.post("/targets", summary="The least epsilon that reaches these half-widths.")
async def target(body: TargetBody, caller: Analyst) -> dict[str, object]:
    return await _in_turn(caller, lambda: _explain(body, caller))


@router.post("/workloads/plan", summary="How a workload's budget would be shared, and what it reaches.")
async def plan_workload(body: WorkloadBody, caller: Analyst) -> dict[str, object]:
    return await _in_turn(caller, lambda: _plan_workload(body, caller), WORKLOADS)


@router.post("/tables/plan", summary="How a table would be measured, and its expected errors.")
async def plan_table(body: TableBody, caller: Analyst) -> dict[str, object]:
    return await _in_turn(caller, lambda: _plan_table(body, caller))


async def _in_turn(
    caller: Caller, work: Callable[[], dict[str, object]], most: int = _IN_A_MINUTE
) -> dict[str, object]:
    await run_in_threadpool(caller.office.people.limits.take, Bucket(f"explain {most}:{caller.name}", most, 60))
    return await caller.office.turns.take(caller.name, work)


def _explain(body: ExplanationBody | TargetBody, caller: Caller) -> dict[str, object]:
    found = caller.granted.explain(**body.model_dump(), analyst=caller.name)
    return _tell(found)


def _plan_workload(body: WorkloadBody, caller: Caller) -> dict[str, object]:
    question = SpendingQuestion(QuestionKind.WORKLOAD, body.model_dump())
    found = caller.granted.plan(question.workload, analyst=caller.name)
    told = [[output.told(found.level) for output in part.outputs] for part in found.parts]
    return {"plan": found.to_dict(), "told": told, "lines": found.outlook.lines()}


def _plan_table(body: TableBody, caller: Caller) -> dict[str, object]:
    words = body.model_dump()
    fresh = words.pop("fresh")
    session = caller.granted
    found = session.tables.explain(session.read_table(words, analyst=caller.name), fresh=fresh)
    return _tell(found)


def _tell(found: Explanation | TableExplanation) -> dict[str, object]:
    """Its facts, and its words in the language of whoever asks."""
    return {
        "explanation": found.to_dict(),
        "heading": found.heading(),
        "lines": found.to_text().splitlines(),
        "summary": found.summary(),
    }
