"""Published tables built by hand, one differentially private and one not; and offices that publish their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.data.columns import Labels
from discreet.guarantees.types import BootstrapDP, Guarantee, PureDP
from discreet.plan.statement import KeyFace
from discreet.tables.table import Entry, Heading, Number, Quality, Shown, Table
from tests.unit.tables.office import CARD, WITH_DELTA, Office, open_office

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

NOTES = (
    (
        Labels("What is promised", "Ce qui est promis"),
        Labels("One person changes little.", "Une personne change peu de chose."),
    ),
    (Labels("Margins", "Marges"), Labels("=Sums of the cells.", "=Sommes des cellules.")),
)


def make_entry(
    codes: tuple[Shown, ...], over: tuple[int, ...], value: Number, raw: Number, quality: Quality, *, interval: bool
) -> Entry:
    if quality is Quality.SUPPRESSED:
        return Entry(codes, over, None, None, None, None, quality)
    low, high = (raw - HALF, raw + HALF) if interval else (None, None)
    return Entry(codes, over, value, raw, low, high, quality)


def make_release(guarantee: Guarantee, *, interval: bool) -> dict[str, object]:
    meaning = {"level": "0.95", "interval_meaning": "Privacy noise only: capped weights, cell by cell."}
    return {
        **(meaning if interval else {}),
        "charge": {"epsilon": "0.5", "delta": "0"},
        "guarantee": str(guarantee),
        "differentially_private": guarantee.differentially_private,
        "unit": "person_id (at most 1 row each)",
        "neighbours": "add-remove",
        "population": "cchs-2017",
        "dataset": "survey",
        "version": 1,
        "plan_hash": "a" * 64,
        "request_id": "request-1",
        "replayed": False,
        "warnings": ["Bounds were chosen by the custodian."],
    }


def make_table(guarantee: Guarantee, *, interval: bool = True) -> Table:
    """Weighted counts by province and type of smoker, with every margin."""
    quality = iter(QUALITIES if interval else [Quality.NOT_RATED] * 15)
    cells = [
        make_entry((province, smoker), (), VALUES[line][column], RAWS[line][column], next(quality), interval=interval)
        for line, province in enumerate(PROVINCES)
        for column, smoker in enumerate(SMOKERS)
    ]
    rated = Quality.GOOD if interval else Quality.NOT_RATED
    margins = [
        *(
            make_entry((province, None), (1,), sum(VALUES[line]), sum(RAWS[line]), rated, interval=interval)
            for line, province in enumerate(PROVINCES)
        ),
        *(
            make_entry(
                (None, smoker),
                (0,),
                sum(line[column] for line in VALUES),
                sum(line[column] for line in RAWS),
                rated,
                interval=interval,
            )
            for column, smoker in enumerate(SMOKERS)
        ),
        make_entry((None, None), (0, 1), sum(map(sum, VALUES)), sum(map(sum, RAWS)) + 0.5, rated, interval=interval),
    ]
    return Table(
        dataset="survey",
        title=Labels("Health survey: province × smoking", "Enquête sur la santé : province × tabac"),
        statistic=Labels("Weighted count", "Effectif pondéré"),
        headings=(PROVINCE, SMOKING),
        cells=cells,
        margins=margins,
        step="1",
        level="0.95",
        guarantee=guarantee,
        quality_basis="privacy noise",
        release=make_release(guarantee, interval=interval),
        notes=NOTES,
        created="2026-03-01T12:00:00+00:00",
        description={"strategy": "cells and margins"},
    )


def with_plain_codes(table: Table) -> Table:
    """The table with codes that no spreadsheet would run."""
    plain = {"=59": "59", "@4": "4"}
    headings = tuple(
        replace(one, face=replace(one.face, codes=tuple(plain.get(code, code) for code in one.face.codes)))
        for one in table.headings
    )
    cells, margins = (
        [replace(one, codes=tuple(plain.get(str(code), code) for code in one.codes)) for one in entries]
        for entries in (table.cells, table.margins)
    )
    return replace(table, headings=headings, cells=cells, margins=margins)


@pytest.fixture
def counted() -> Table:
    """Differentially private, with intervals, a NULL key, and labels that a spreadsheet might run."""
    return make_table(PureDP(epsilon="0.5"))


@pytest.fixture
def bootstrapped() -> Table:
    """Not differentially private, without intervals."""
    return make_table(BootstrapDP(epsilon="0.5"), interval=False)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A pure budget."""
    with open_office(tmp_path) as opened:
        yield opened


@pytest.fixture
def generous(tmp_path: Path) -> Iterator[Office]:
    """The same people, under a budget with a delta."""
    with open_office(tmp_path, WITH_DELTA) as opened:
        yield opened


@pytest.fixture(scope="module")
def reading_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One office for a whole file of tests, where nothing is spent."""
    yield from open_room(tmp_path_factory.mktemp("reading"), CARD)


@pytest.fixture(scope="module")
def generous_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The same under a budget with a delta."""
    yield from open_room(tmp_path_factory.mktemp("generous"), WITH_DELTA)


def open_room(folder: Path, card: str) -> Iterator[Office]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, card) as opened:
            yield opened
