"""What holds of every release that is read from elsewhere, beyond the types of its values: its parts fit each other.

Whoever presents a release relies on it: rows can be told, and what notes, mechanisms and promises name is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from discreet.results.claims import Accounted, Charged, Collected, Marked, Settlement
from discreet.results.figures import Margin, Statistic
from discreet.results.headings import Heading
from discreet.results.notes import POOLS, Variance
from discreet.results.published_release import Release, ReleaseKind

__all__ = ["check_release"]

_STEP: Final = re.compile(r"\d{1,40}(\.\d{1,40})?", re.ASCII)
_TABLES: Final = (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP)
_PAID: Final[Mapping[ReleaseKind, type[Settlement]]] = {
    ReleaseKind.QUERY: Charged,
    ReleaseKind.TABLE: Charged,
    ReleaseKind.WORKLOAD: Charged,
    ReleaseKind.UNPROVEN: Marked,
    ReleaseKind.BOOTSTRAP: Marked,
    ReleaseKind.LOCAL: Collected,
    ReleaseKind.LINKED: Accounted,
}
_ASKED: Final[Mapping[ReleaseKind, frozenset[str]]] = {
    ReleaseKind.UNPROVEN: frozenset({"strategy", "model", "sample_size"}),
    ReleaseKind.BOOTSTRAP: frozenset({"bootstrap_method", "membership"}),
    ReleaseKind.LOCAL: frozenset({"verified", "sampled", "by"}),
}


def check_release(release: Release) -> None:
    """ValueError where two parts of it, or of an answer in it, do not fit each other."""
    _check_kind(release)
    for one in (release, *release.parts.values()):
        _check_promise(one)
        _check_rows(one)


def _check_kind(release: Release) -> None:
    """It was paid, asked and divided as its kind is."""
    kind = release.kind
    if not isinstance(release.settlement, _PAID[kind]):
        raise ValueError("a release of this kind is paid otherwise")
    if not release.asked.keys() >= _ASKED.get(kind, frozenset()):
        raise ValueError("a release of this kind says how it was asked")
    if kind is ReleaseKind.WORKLOAD and not release.parts:
        raise ValueError("a workload has answers")
    if kind is ReleaseKind.LOCAL and not any(isinstance(note, Variance) for note in release.notes):
        raise ValueError("a collection says what its intervals count")


def _check_promise(release: Release) -> None:
    """What promise and mechanisms name is there."""
    if release.claim.neighbours_from not in (None, *POOLS):
        raise ValueError("a pool is one of those that there are")
    if "sql" in release.asked and "method" not in release.asked:
        raise ValueError("a statement was asked by a method")
    if any(item.shown and item.by is None and not item.noise for item in release.mechanisms.value):
        raise ValueError("a measure has noise")


# --- rows -----------------------------------------------------------------------------------------------------------


def _check_rows(release: Release) -> None:
    """Keys and figures fit each other, such that rows can be told."""
    keys, statistics = ({item.name for item in items} for items in (release.headings, release.statistics))
    if len(keys) != len(release.headings) or len(statistics) != len(release.statistics):
        raise ValueError("two columns have one name")
    if not (keys or statistics or release.parts):
        raise ValueError("a release has columns")
    if release.order and set(release.order) != keys | statistics:
        raise ValueError("a row has other columns than the release")
    margins = [item.figures.margins for item in release.statistics]
    for margin in chain(*margins, () if release.bare is None else (release.bare,)):
        _check_margin(margin, len(release.headings))
    if len({tuple((margin.over, len(margin)) for margin in found) for found in margins}) > 1:
        raise ValueError("statistics have other rows")
    if release.kind in _TABLES and not any(len(margin) and not margin.over for margin in chain(*margins[:1])):
        raise ValueError("a table has cells")
    _check_shown(release.headings, release.statistics)


def _check_margin(margin: Margin, keys: int) -> None:
    columns = (*margin.codes, margin.raw, margin.low, margin.high, margin.quality, margin.uncalibrated)
    if any(column is not None and len(column) != len(margin) for column in columns):
        raise ValueError("columns have other lengths")
    if len(margin.codes) != keys or not set(margin.over) <= set(range(keys)):
        raise ValueError("keys are not those of the release")


def _check_shown(headings: Iterable[Heading], statistics: Iterable[Statistic]) -> None:
    """Labels are those of the codes; a step says with how many decimals figures are written: not with a million."""
    for heading in headings:
        if heading.face.labels and len(heading.face.labels) != len(heading.face.codes):
            raise ValueError("labels are not those of the codes")
    for statistic in statistics:
        if statistic.step is not None and not _STEP.fullmatch(statistic.step):
            raise ValueError("a step is no short decimal")
        if len({margin.over for margin in statistic.figures.margins}) < len(statistic.figures.margins):
            raise ValueError("a margin stands once")
