"""Releases built by hand, one differentially private and one not; and the offices whose tables are presented."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.guarantees.types import BootstrapDP, Guarantee, PureDP
from discreet.results import Figure, Heading, KeyFace, Labels, Note, Number, Quality, Release, Shown
from discreet.results.notes import (
    BootstrapCaution,
    BootstrapGuarantee,
    BootstrapNeighbours,
    Coverage,
    MarginsAddUp,
    MarginsAreSums,
    MeasuredMargin,
    StrategyUsed,
    Unbounded,
)
from tests.releases import make_release, put_figures
from tests.unit.tables.conftest import generous, office

__all__ = ["generous", "office"]

PROVINCE = Heading(
    "province",
    Labels("Province", "Province"),
    KeyFace(
        "province",
        codes=("10", "24", "=59"),
        labels=(
            Labels("Newfoundland and Labrador", "Terre-Neuve-et-Labrador"),
            Labels("Quebec", "Québec"),
            Labels("=HYPERLINK(1)", "=LIEN(1)"),
        ),
    ),
)
SMOKING = Heading(
    "smoking",
    Labels("Type of smoker", "Type de fumeur"),
    KeyFace(
        "smoking",
        codes=("1", "2", "-3", "@4"),
        labels=(
            Labels("+Daily", "+Tous les jours"),
            Labels("-Occasionally", "-À l’occasion"),
            Labels('\tNot, "any more"', "\tPlus du tout"),
            Labels("\r@never", "\r@jamais"),
        ),
    ),
)
PROVINCES: tuple[Shown, ...] = ("10", "24", "=59")
SMOKERS: tuple[Shown, ...] = ("1", "2", "-3", "@4", None)

# Published values by province, then type of smoker; noise made some raw estimates negative.
VALUES = ((57_300, 12_100, 150_250, 210_000, 0), (904_000, 301_500, 2_104_600, 3_311_800, 12), (3, 0, 41, 7, 0))
RAWS = ((57_311, 12_094, 150_246, 210_010, -13), (904_002, 301_512, 2_104_588, 3_311_795, 20), (-4, -16, 52, 18, -9))
HALF = 47
QUALITIES = (
    Quality.GOOD, Quality.GOOD, Quality.GOOD, Quality.GOOD, Quality.UNRELIABLE,
    Quality.GOOD, Quality.GOOD, Quality.GOOD, Quality.GOOD, Quality.UNRELIABLE,
    Quality.SUPPRESSED, Quality.UNRELIABLE, Quality.CAUTION, Quality.UNRELIABLE, Quality.UNRELIABLE,
)  # fmt: skip

# The sentence of the strategy begins with its measure, as text that a spreadsheet might run.
STRATEGY = StrategyUsed(
    "laplace",
    (MeasuredMargin(("province", "smoking"), residual=False, share=Fraction(1)),),
    "=SUM(weight)",
    Fraction(1),
)
WARNING = Unbounded("cchs-2017", 2)
NOTES: tuple[Note, ...] = (Coverage("raw"), STRATEGY, MarginsAddUp(), WARNING)
NOTES_OF_BOOTSTRAP: tuple[Note, ...] = (
    BootstrapGuarantee(BootstrapDP(epsilon="0.5").epsilon),
    BootstrapNeighbours(""),
    MarginsAreSums(),
    Coverage("nothing"),
    BootstrapCaution("outsiders"),
    WARNING,
)


def make_figure(
    codes: tuple[Shown, ...], over: tuple[int, ...], value: Number, raw: Number, quality: Quality, *, interval: bool
) -> Figure:
    if quality is Quality.SUPPRESSED:
        return Figure(codes, over, None, None, None, None, quality)
    low, high = (raw - HALF, raw + HALF) if interval else (None, None)
    return Figure(codes, over, value, raw, low, high, quality)


def make_counts(guarantee: Guarantee, notes: tuple[Note, ...], *, interval: bool = True) -> Release:
    """Weighted counts by province and type of smoker, with every margin."""
    quality = iter(QUALITIES if interval else [Quality.NOT_RATED] * 15)
    cells = [
        make_figure((province, smoker), (), VALUES[line][column], RAWS[line][column], next(quality), interval=interval)
        for line, province in enumerate(PROVINCES)
        for column, smoker in enumerate(SMOKERS)
    ]
    rated = Quality.GOOD if interval else Quality.NOT_RATED
    margins = [
        *(
            make_figure((province, None), (1,), sum(VALUES[line]), sum(RAWS[line]), rated, interval=interval)
            for line, province in enumerate(PROVINCES)
        ),
        *(
            make_figure(
                (None, smoker),
                (0,),
                sum(line[column] for line in VALUES),
                sum(line[column] for line in RAWS),
                rated,
                interval=interval,
            )
            for column, smoker in enumerate(SMOKERS)
        ),
        make_figure((None, None), (0, 1), sum(map(sum, VALUES)), sum(map(sum, RAWS)) + 0.5, rated, interval=interval),
    ]
    return make_release(
        (PROVINCE, SMOKING),
        [*cells, *margins],
        guarantee=guarantee,
        title=Labels("Health survey: province × smoking", "Enquête sur la santé : province × tabac"),
        statistic=Labels("Weighted count", "Effectif pondéré"),
        notes=notes,
    )


def with_plain_codes(release: Release) -> Release:
    """The table with codes that no spreadsheet would run."""
    plain = {"=59": "59", "@4": "4"}
    headings = tuple(
        replace(one, face=replace(one.face, codes=tuple(plain.get(code, code) for code in one.face.codes)))
        for one in release.headings
    )
    cells, margins = (
        [one._replace(codes=tuple(plain.get(str(code), code) for code in one.codes)) for one in figures]
        for figures in (release.cells, release.margins)
    )
    return put_figures(replace(release, headings=headings), cells=cells, margins=margins)


@pytest.fixture
def counted() -> Release:
    """Differentially private, with intervals, a NULL key, and labels that a spreadsheet might run."""
    return make_counts(PureDP(epsilon="0.5"), NOTES)


@pytest.fixture
def bootstrapped() -> Release:
    """Not differentially private, without intervals."""
    return make_counts(BootstrapDP(epsilon="0.5"), NOTES_OF_BOOTSTRAP, interval=False)
