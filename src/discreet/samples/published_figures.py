"""The published figures of the CCHS 2017–2018 that the sample survey reproduces.

They are read from one resource, resources/cchs_2017_2018.json, which says where each of them was published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

__all__ = ["Label", "Measure", "PublishedCategory", "PublishedFigures", "Variable", "load_figures"]


@dataclass(frozen=True, slots=True)
class Label:
    """A name in both official languages."""

    en: str
    fr: str


@dataclass(frozen=True, slots=True)
class PublishedCategory:
    """A code that occurs, its records, their weight, and that weight by province where it was published."""

    code: int
    label: Label
    count: int
    weighted: float
    by_province: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.count < 1 or self.weighted <= 0:
            raise ValueError(f"category {self.code}: only codes that occur belong here")


@dataclass(frozen=True, slots=True)
class Variable:
    """A categorical variable: its name here, its name in the PUMF, and its categories in code-book order."""

    name: str
    pumf: str
    label: Label
    categories: tuple[PublishedCategory, ...]

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(category.code for category in self.categories)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(category.count for category in self.categories)

    @property
    def weighted(self) -> tuple[float, ...]:
        return tuple(category.weighted for category in self.categories)

    def rank(self, code: int) -> int:
        """The place of a code among the categories, from 0."""
        return self.codes.index(code)


@dataclass(frozen=True, slots=True)
class Measure:
    """A numeric variable. What concerns non-response is None for the survey weight, which everyone has."""

    name: str
    pumf: str
    label: Label
    minimum: float
    maximum: float
    mean: float
    deviation: float
    weighted_mean: float | None = None
    weighted_deviation: float | None = None
    not_stated: float | None = None
    not_stated_count: int = 0
    not_stated_weighted: float = 0.0
    sum_with_codes_by_province: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """All of them. Every variable's counts add up to `rows`."""

    rows: int
    variables: Mapping[str, Variable]
    measures: Mapping[str, Measure]

    def __post_init__(self) -> None:
        provinces = len(self.variables["province"].categories)
        for variable in self.variables.values():
            if sum(variable.counts) != self.rows:
                raise ValueError(f"{variable.name}: the counts do not add up to {self.rows}")
            if {len(category.by_province) for category in variable.categories} not in ({0}, {provinces}):
                raise ValueError(f"{variable.name}: by_province needs {provinces} totals for every category, or none")

    @property
    def by_province(self) -> tuple[Variable, ...]:
        """The variables whose weighted totals were published by province."""
        return tuple(v for v in self.variables.values() if v.categories[0].by_province)

    @property
    def region_provinces(self) -> tuple[int, ...]:
        """For each health region the rank of its province: a region's code begins with its province's."""
        province = self.variables["province"]
        return tuple(province.rank(code // 1000) for code in self.variables["health_region"].codes)


@cache
def load_figures() -> PublishedFigures:
    """The figures, read once."""
    resource = files("discreet.samples") / "resources" / "cchs_2017_2018.json"
    document = json.loads(resource.read_text(encoding="utf-8"))
    variables = {name: _variable(name, entry) for name, entry in document["variables"].items()}
    measures = {name: _measure(name, entry) for name, entry in document["measures"].items()}
    return PublishedFigures(document["rows"], MappingProxyType(variables), MappingProxyType(measures))


def _variable(name: str, entry: dict[str, Any]) -> Variable:
    categories = tuple(
        PublishedCategory(
            int(code),
            Label(c["en"], c["fr"]),
            c["count"],
            c["weighted"],
            tuple(map(float, c.get("by_province", ()))),
        )
        for code, c in entry["categories"].items()
    )
    return Variable(name, entry["pumf"], Label(**entry["label"]), categories)


def _measure(name: str, entry: dict[str, Any]) -> Measure:
    sums = tuple(map(float, entry.get("sum_with_codes_by_province", ())))
    return Measure(name=name, **{**entry, "label": Label(**entry["label"]), "sum_with_codes_by_province": sums})
