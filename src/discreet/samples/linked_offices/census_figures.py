"""The published counts of Ontario's census that the files to link follow.

They are read from one resource, resources/ontario_census.json, which says where each of them was published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

__all__ = ["CensusFigures", "load_census"]


@dataclass(frozen=True, slots=True)
class CensusFigures:
    """Counts by household size (1 to 5 or more), by five-year age group (0 to 85 and older), and by language.

    `mother_tongue` holds shares of people, who share themselves equally between the languages they name.
    """

    household_sizes: tuple[int, ...]
    people_in_households: int
    ages: tuple[int, ...]
    mother_tongue: Mapping[str, float]
    first_official: Mapping[str, int]
    home_language: Mapping[str, int]


@cache
def load_census() -> CensusFigures:
    """The counts, read once."""
    resource = files("discreet.samples") / "resources" / "ontario_census.json"
    document = json.loads(resource.read_text(encoding="utf-8"))
    french = document["french_mother_tongue"] / document["people_by_language"]
    others = document["mother_tongue_percent"]  # to one decimal: what the exact count of French leaves, in proportion
    left = (1 - french) / sum(others.values())
    return CensusFigures(
        household_sizes=tuple(document["household_sizes"]),
        people_in_households=document["people_in_households"],
        ages=tuple(document["ages"]),
        mother_tongue=MappingProxyType(
            {"french": french, "english": others["english"] * left, "other": others["other"] * left}
        ),
        first_official=MappingProxyType(document["first_official"]),
        home_language=MappingProxyType(document["home_language"]),
    )
