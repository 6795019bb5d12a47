"""Survey weights: how many of the population each person stands for.

Weights start from their region's published mean, spread as the PUMF's are, and are raked until the weighted
totals of every variable hold. A sample of another size keeps the spread of the weights; its totals grow or
shrink with it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from discreet.samples.published_figures import PublishedFigures
from discreet.samples.published_totals import Ranks, not_stated_by_province
from discreet.samples.raking import Floats, Integers, WeightMargin, rake

__all__ = ["draw_weights"]

# A shifted lognormal: no weight starts below a seventh of its region's mean, the tail reaches twelve times.
_FLOOR: Final = 0.15
_SPREAD: Final = 0.885


def draw_weights(
    rng: np.random.Generator, figures: PublishedFigures, ranks: Ranks, stated: dict[str, Integers]
) -> Floats:
    """A weight for each person, to the cent. The full survey reaches the published extremes."""
    weight = figures.measures["weight"]
    regions = figures.variables["health_region"]
    people = len(ranks["province"])
    means = np.array(regions.weighted) / np.array(regions.counts)
    shape = np.exp(_SPREAD * rng.standard_normal(people) - _SPREAD**2 / 2)
    drawn = means[ranks["health_region"]] * (_FLOOR + (1 - _FLOOR) * shape)
    np.clip(drawn, weight.minimum, weight.maximum, out=drawn)
    # A small sample cannot bear one person who stands for fourteen thousand.
    extremes = [drawn.argmin(), drawn.argmax()] if people >= figures.rows else []
    pinned = np.array(extremes, dtype=np.int64)
    drawn[pinned] = (weight.minimum, weight.maximum)[: len(pinned)]
    margins = _margins(figures, ranks, stated, scale=people / figures.rows)
    return np.round(rake(drawn, margins, least=weight.minimum, most=weight.maximum, pinned=pinned), 2)


def _margins(
    figures: PublishedFigures, ranks: Ranks, stated: dict[str, Integers], *, scale: float
) -> list[WeightMargin]:
    """Published weighted totals, the most exactly wanted last: region and province come out to the cent."""
    margins = [
        WeightMargin(ranks[name], np.array(figures.variables[name].weighted) * scale)
        for name in ("marital_status", "age_group", "sex")
    ]
    province = ranks["province"].astype(np.int16)
    for name, silent in stated.items():
        totals = not_stated_by_province(figures, figures.measures[name]) * scale
        margins.append(WeightMargin(province * np.int16(2) + silent, totals.ravel()))
    for variable in reversed(figures.by_province):
        totals = np.array([category.by_province for category in variable.categories]).T * scale
        margins.append(WeightMargin(province * np.int16(totals.shape[1]) + ranks[variable.name], totals.ravel()))
    regions = figures.variables["health_region"]
    return [*margins, WeightMargin(ranks["health_region"], np.array(regions.weighted) * scale)]
