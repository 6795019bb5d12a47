"""The public face of a dataset as a server tells it: whoever shows it may rely on what stands in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.client.told_values import take, take_texts
from discreet.guarantees import check_name

__all__ = ["read_face"]


def read_face(told: Mapping[str, Any]) -> dict[str, object]:
    """The face that these facts are, as a workspace describes it. ValueError and the like where they are none."""
    for name in ("dataset", "title", "neighbours", "size"):
        take(told, name, str)
    check_name(take(told, "population", str), parameter="population")
    take(told, "version", int), take(told, "suspended", bool)
    unit = take(told, "unit", dict)
    take(unit, "column", str), take(unit, "rows", int)
    if told["weight"] is not None:
        weight = take(told, "weight", dict)
        take(weight, "column", str), take(weight, "cap", str)
        _take_any(weight["by"])
    for totals in told.get("totals", ()):
        take(totals, "total", str), take(totals, "source", str)
        _take_any(totals["by"])
    for column in take(told, "columns", list):
        _read_column(column)
    return dict(told)


def _read_column(told: Mapping[str, Any]) -> None:
    for name in ("name", "kind", "label"):
        take(told, name, str)
    take(told, "public", bool)
    if "categories" in told:
        take_texts({"labels": [*take(told, "categories", dict).values()]}, "labels")
    if "bounds" in told and len(take_texts(told, "bounds")) != 2:
        raise ValueError("bounds are two")
    if told.get("step") is not None:
        take(told, "step", str)
    if "missing" in told:
        take_texts(told, "missing")


def _take_any(found: object) -> None:
    """A name, or nothing."""
    if not isinstance(found, str | None):
        raise ValueError("a name is no text")
