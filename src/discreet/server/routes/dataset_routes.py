"""Datasets as their cards describe them, and what remains of their budgets: nothing from a row."""

from __future__ import annotations

from fastapi import APIRouter, Response

from discreet.catalogue import language
from discreet.server.callers import Custodian, Somebody

__all__ = ["router"]

router = APIRouter(tags=["datasets"])


@router.get("/datasets", summary="The datasets you were granted.")
def datasets(caller: Somebody) -> dict[str, object]:
    session = caller.session
    listed = [
        {
            "name": item.name,
            "version": item.version,
            "title": item.card.title.text(language()),
            "population": item.card.population,
            "unit": item.card.unit.column,
            "columns": len(item.card.columns),
            "suspended": caller.office.is_suspended(item.name),
        }
        for item in session.datasets()
    ]
    return {"datasets": listed}


@router.get("/datasets/{dataset}", summary="What a card says: columns, categories, bounds, unit, budget.")
def dataset_face(dataset: str, caller: Somebody) -> dict[str, object]:
    return {**caller.session.describe(dataset, language()), "suspended": caller.office.is_suspended(dataset)}


@router.get("/datasets/{dataset}/card.yaml", summary="The card itself.", response_class=Response)
def card(dataset: str, caller: Somebody) -> Response:
    found = caller.session.workspace.dataset(dataset)
    return Response((found.report.parent / "card.yaml").read_bytes(), media_type="application/yaml")


@router.post("/datasets/{dataset}/resume", summary="Lift a suspension after you have looked.")
def resume(dataset: str, caller: Custodian) -> dict[str, object]:
    caller.session.resume(dataset, custodian=True)
    return {"name": dataset, "suspended": False}


@router.get("/populations/{population}/budget", summary="What was spent and what remains; of the shares, your own.")
def budget(population: str, caller: Somebody) -> dict[str, object]:
    session = caller.office.session.acting_for(caller.name) if caller.oversees else caller.session
    return session.budget(population).to_dict()
