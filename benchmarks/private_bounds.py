"""Private bounds: the rule against others it could have been, on the 26 queries of the thesis, row by row as units.

Each figure is the mean relative error over the queries of a data set and `RUNS` runs each, search and answer together.
Under replace-one it is public which rows have a value, as the thesis assumes; under add-remove nothing is, and a mean
divides a noisy sum by a noisy count. `python -m benchmarks private_bounds --data DIR`; without data, breast alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from statistics import fmean

from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.public_ranges import COLUMNS, Range
from discreet_replications.thesis.data.readings import ThesisTable, read_data
from discreet_replications.thesis.data.thesis_queries import QUERIES, ThesisQuery

from discreet.guarantees import Neighbours
from discreet.mechanisms import DiscreteLaplace, NoisyMax
from discreet.noise import laplace_threshold
from discreet.release.measurement.private_bounds import choose_bounds, edges

RUNS = 40
EPSILONS = ("0.01", "0.1")
EDGES = edges()
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

Bounds = tuple[int, int]
Rule = Callable[[Sequence[int], Fraction, int], Bounds]
"""Bounds from exact counts, the epsilon of the search, and how far a unit moves the counts."""


@dataclass(frozen=True)
class Case:
    """One query: its values in steps, and how many rows have each."""

    query: ThesisQuery
    histogram: tuple[tuple[int, int], ...]

    @cached_property
    def present(self) -> int:
        return sum(count for _, count in self.histogram)

    @cached_property
    def truth(self) -> Fraction:
        total = sum(value * count for value, count in self.histogram)
        return Fraction(total, self.present if self.query.aggregate == "AVG" else 1)

    @cached_property
    def counts(self) -> list[int]:
        counts = [0] * len(EDGES)
        for value, count in self.histogram:
            counts[bisect_right(EDGES, value) - 1] += count
        return counts

    @cached_property
    def _totals(self) -> dict[Bounds, int]:
        return {}

    def total(self, low: int, high: int) -> int:
        if (low, high) not in self._totals:
            clamped = (min(max(value, low), high) * count for value, count in self.histogram)
            self._totals[low, high] = sum(clamped)
        return self._totals[low, high]


def run(data: Path | None = None, *, runs: int = RUNS) -> dict[str, float]:
    tables = read_data(data).tables(KidneyReading.CLEAN)
    cases = [_case(query, tables[query.dataset]) for query in QUERIES if query.dataset in tables]
    figures = {}
    for neighbours in Neighbours:
        for epsilon in EPSILONS:
            for name, rule, share in RULES:
                errors = [
                    (case.query, _error(case, rule, share, Fraction(epsilon), neighbours, runs)) for case in cases
                ]
                for group, mean in _by_group(errors):
                    figures[f"{neighbours.value}, epsilon {epsilon}, {name}: {group}"] = mean
    return figures


def _by_group(errors: list[tuple[ThesisQuery, float]]) -> Iterator[tuple[str, float]]:
    for dataset in dict.fromkeys(query.dataset for query, _ in errors):
        yield dataset, fmean(error for query, error in errors if query.dataset == dataset)
    visits = [error for query, error in errors if query.column == "number_emergency"]
    if visits:
        yield "number_emergency", fmean(visits)
    yield "all", fmean(error for _, error in errors)


def _case(query: ThesisQuery, table: ThesisTable) -> Case:
    [step] = [
        Decimal(item.step) for item in COLUMNS[query.dataset] if isinstance(item, Range) and item.column == query.column
    ]
    return Case(query, tuple((round(value / step), count) for value, count in table.histogram(query.column)))


def _error(case: Case, rule: Rule, share: Fraction, epsilon: Fraction, neighbours: Neighbours, runs: int) -> float:
    replaced = neighbours is Neighbours.REPLACE_ONE
    errors = []
    for _ in range(runs):
        low, high = rule(case.counts, epsilon * share, 2 if replaced else 1)
        answered = _answer(case, (low, high), epsilon * (1 - share), replaced)
        errors.append(float(abs(answered - case.truth) / abs(case.truth)))
    return fmean(errors)


def _answer(case: Case, bounds: Bounds, epsilon: Fraction, replaced: bool) -> Fraction:
    low, high = bounds
    total = case.total(low, high)
    mean = case.query.aggregate == "AVG"
    if replaced:
        found = Fraction(_noisy(total, high - low, epsilon))
        return min(max(found / case.present, Fraction(low)), Fraction(high)) if mean else found
    if not mean:
        return Fraction(_noisy(total, max(abs(low), abs(high)), epsilon))
    middle = (low + high) // 2
    centred = _noisy(total - middle * case.present, max(high - middle, middle - low), epsilon / 2)
    size = max(1, _noisy(case.present, 1, epsilon / 2))
    return min(max(middle + Fraction(centred, size), Fraction(low)), Fraction(high))


def _noisy(value: int, sensitivity: int, epsilon: Fraction) -> int:
    [noisy] = DiscreteLaplace.calibrate(sensitivity=sensitivity, epsilon=epsilon).release([value])
    return noisy


# --- the rules ------------------------------------------------------------------------------------------------------


def _ours(counts: Sequence[int], epsilon: Fraction, moved: int) -> Bounds:
    mechanism = DiscreteLaplace.calibrate(sensitivity=moved, epsilon=epsilon)
    found = choose_bounds(mechanism.release(counts), scale=mechanism.scale)
    return found.low, found.high


def _one_threshold(chance: Fraction) -> Rule:
    """All bins that pass one threshold, which no empty bin passes but for this chance, as in [WZLDG20]."""

    def found(counts: Sequence[int], epsilon: Fraction, moved: int) -> Bounds:
        mechanism = DiscreteLaplace.calibrate(sensitivity=moved, epsilon=epsilon)
        least = _threshold(mechanism.scale, chance / len(counts))
        return _hull([index for index, count in enumerate(mechanism.release(counts)) if count >= least])

    return found


@cache
def _threshold(scale: Fraction, chance: Fraction) -> int:
    return laplace_threshold(scale=scale, probability=chance)


def _by_rank(counts: Sequence[int], epsilon: Fraction, moved: int) -> Bounds:
    """Each end chosen by noisy max, aiming as many rows deep as keeps it from the empty bins beyond but for 1/20."""
    chooser = NoisyMax.calibrate(sensitivity=1, epsilon=epsilon / 2)
    depth = chooser.half_width("0.95", candidates=len(counts))
    below = [0, *accumulate(counts)][:-1]
    above = [sum(counts) - count for count in accumulate(counts)]
    ends = [chooser.release([(-abs(rows - depth), 1) for rows in side]).run for side in (below, above)]
    return _hull(ends)


def _hull(indices: list[int]) -> Bounds:
    if not indices:
        return 0, 1
    low, high = EDGES[min(indices)], -EDGES[len(EDGES) - 1 - max(indices)]
    return (low, high) if low < high else (min(low, 0), max(high, low + 1))


RULES: tuple[tuple[str, Rule, Fraction], ...] = (
    ("the rule", _ours, HALF),
    ("the rule, a quarter searches", _ours, QUARTER),
    ("one threshold 1e-9", _one_threshold(Fraction(1, 10**9)), HALF),
    ("one threshold 1e-3", _one_threshold(Fraction(1, 10**3)), HALF),
    ("by rank", _by_rank, HALF),
)
