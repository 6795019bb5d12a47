"""Jobs: one's own questions that took longer than a request."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.server.asking import tell_job
from discreet.server.callers import Analyst

__all__ = ["router"]

router = APIRouter(tags=["jobs"])
_MOST = 100


@router.get("/jobs", summary="Your jobs, the newest first.")
def jobs(caller: Analyst) -> dict[str, object]:
    office = caller.office
    return {"jobs": [tell_job(office, job) for job in office.jobs.list(caller.name, limit=_MOST)]}


@router.get("/jobs/{job}", summary="How far a job is.")
def job_face(job: str, caller: Analyst) -> dict[str, object]:
    return tell_job(caller.office, caller.office.jobs.find(caller.name, job))


@router.delete("/jobs/{job}", summary="Cancel a job before it is charged.")
def cancel(job: str, caller: Analyst) -> dict[str, object]:
    return tell_job(caller.office, caller.office.jobs.cancel(caller.name, job))
