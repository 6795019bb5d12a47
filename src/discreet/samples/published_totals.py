"""Published totals as margins of a table of people.

Tables here have one row per group of like people, and their groups are numbered with the province outermost
(`cross`), so that a row's province follows from its number.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.samples.published_figures import Measure, PublishedFigures, Variable
from discreet.samples.raking import Floats, Integers, TableMargin, fit

__all__ = ["Ranks", "cross", "national", "not_stated_by_province", "provincial", "provincial_measure"]

Ranks = Mapping[str, Integers]


def cross(ranks: Ranks, names: tuple[str, ...], shape: tuple[int, ...]) -> NDArray[np.int16]:
    """Each person's group: the place of their answers to `names` in an array of the given shape."""
    groups = np.zeros(len(ranks[names[0]]), dtype=np.int16)
    for name, size in zip(names, shape, strict=True):
        groups = groups * np.int16(size) + ranks[name]
    return groups


def national(
    figures: PublishedFigures, variable: Variable, *, people: int, groups: int, columns: Integers
) -> TableMargin:
    """The variable's published counts over all groups; `columns` gives the category of each column."""
    totals = np.array([variable.counts]) * (people / figures.rows)
    return TableMargin(np.zeros(groups, dtype=np.int64), columns, totals)


def provincial(
    figures: PublishedFigures, variable: Variable, ranks: Ranks, *, groups: int, columns: Integers
) -> TableMargin:
    """The variable's counts by province."""
    weighted = np.array([category.by_province for category in variable.categories]).T
    counts = np.array(variable.counts)
    return _by_province(figures, ranks, weighted=weighted, counts=counts, groups=groups, columns=columns)


def provincial_measure(
    figures: PublishedFigures, measure: Measure, ranks: Ranks, *, groups: int, columns: Integers
) -> TableMargin:
    """How many stated the measure (column 0) and how many did not (column 1), by province."""
    counts = np.array([figures.rows - measure.not_stated_count, measure.not_stated_count])
    weighted = not_stated_by_province(figures, measure)
    return _by_province(figures, ranks, weighted=weighted, counts=counts, groups=groups, columns=columns)


def not_stated_by_province(figures: PublishedFigures, measure: Measure) -> Floats:
    """Weighted totals of those who stated the measure and those who did not.

    By province only sums with the non-response code inside were published. What they exceed the mean by comes
    from non-response, as the code is several times any true value.
    """
    if measure.not_stated is None or measure.weighted_mean is None:
        raise ValueError(f"{measure.name} is stated by everyone")
    provinces = np.array(figures.variables["province"].weighted)
    excess = np.array(measure.sum_with_codes_by_province) - measure.weighted_mean * provinces
    missing = np.maximum(excess / (measure.not_stated - measure.weighted_mean), 0.001 * provinces)
    missing *= measure.not_stated_weighted / missing.sum()
    return np.stack([provinces - missing, missing], axis=1)


def _by_province(
    figures: PublishedFigures, ranks: Ranks, *, weighted: Floats, counts: Integers, groups: int, columns: Integers
) -> TableMargin:
    """Counts by province were not published: the weighted totals' pattern, scaled to the counts both ways."""
    sizes = np.bincount(ranks["province"], minlength=len(weighted))
    scaled = counts[None, :] * (sizes.sum() / figures.rows)
    every = np.zeros(len(weighted), dtype=np.int64)
    totals = fit(weighted, sizes, [TableMargin(every, np.arange(len(counts)), scaled)])
    return TableMargin(np.repeat(np.arange(len(sizes)), groups // len(sizes)), columns, totals)
