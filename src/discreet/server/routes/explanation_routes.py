"""What a question would measure, add and cost. The checks are those of the question itself; the data are not opened."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.people import Bucket
from discreet.server.bodies import ExplanationBody, TableBody, TargetBody, WorkloadBody
from discreet.server.callers import Analyst, Caller
from discreet.server.spending_questions import QuestionKind, SpendingQuestion

__all__ = ["router"]

router = APIRouter(tags=["explanations"])
_IN_A_MINUTE = 120


@router.post("/explanations", summary="What a query would measure, add, charge and leave.")
def explain(body: ExplanationBody, caller: Analyst) -> dict[str, object]:
    _limit(caller)
    found = caller.granted.explain(**body.model_dump(), analyst=caller.name)
    return {"explanation": found.to_dict(), "lines": found.to_text().splitlines(), "summary": found.summary()}


@router.post("/targets", summary="The least epsilon that reaches these half-widths.")
def target(body: TargetBody, caller: Analyst) -> dict[str, object]:
    _limit(caller)
    found = caller.granted.explain(**body.model_dump(), analyst=caller.name)
    return {"explanation": found.to_dict(), "lines": found.to_text().splitlines(), "summary": found.summary()}


@router.post("/workloads/plan", summary="How a workload's budget would be shared, and what it reaches.")
def plan_workload(body: WorkloadBody, caller: Analyst) -> dict[str, object]:
    _limit(caller)
    question = SpendingQuestion(QuestionKind.WORKLOAD, body.model_dump())
    found = caller.granted.plan(question.workload, analyst=caller.name)
    told = [[output.told(found.level) for output in part.outputs] for part in found.parts]
    return {"plan": found.to_dict(), "told": told, "lines": found.outlook.lines()}


@router.post("/tables/plan", summary="How a table would be measured, and its expected errors.")
def plan_table(body: TableBody, caller: Analyst) -> dict[str, object]:
    _limit(caller)
    words = body.model_dump()
    fresh = words.pop("fresh")
    session = caller.granted
    found = session.tables.explain(session.read_table(words, analyst=caller.name), fresh=fresh)
    return {"explanation": found.to_dict(), "lines": found.to_text().splitlines()}


def _limit(caller: Caller) -> None:
    caller.office.people.limits.take(Bucket(f"explain:{caller.name}", _IN_A_MINUTE, 60))
