"""A release that was sent is the release, in every format and both languages, whatever it is of."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from discreet.catalogue import Phrase
from discreet.errors import DiscreetError
from discreet.guarantees import types
from discreet.present import FORMATS
from discreet.results import (
    Accounted,
    Chosen,
    Collected,
    Figures,
    Labels,
    Later,
    Margin,
    MeasureNoise,
    Note,
    Quality,
    Release,
    ReleaseKind,
    Statistic,
    claims,
    figures,
    headings,
    noise_facts,
    notes,
    published_release,
    read_release,
    write_release,
)
from discreet.results.sent_release import RELEASE_FORM, decode_release, encode_release
from tests.releases import make_release, make_table, put_step, render_text
from tests.unit.results.real_releases import GUARANTEES, RELEASES, SLICES, make_full, names_in, open_office

LANGUAGES = ("en", "fr")
FOR_MANY_ROWS = ("json", "csv")
TEXTS = [name for name in FORMATS if name not in ("xlsx", "parquet", "png", "pdf")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Release]]:
    with open_office(tmp_path_factory.mktemp("office")) as (house, folder):
        yield {name: make(house, folder) for name, make in RELEASES.items()}


@pytest.fixture(params=RELEASES)
def real(request: pytest.FixtureRequest, made: dict[str, Release]) -> Release:
    return made[request.param]


# --- what was sent is what came -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_has_the_same_figures_and_facts(real: Release) -> None:
    require_same(read_release(write_release(real)), real)


def require_same(found: Release, sent: Release) -> None:
    assert repr(found) == repr(sent)
    assert list(found.parts) == list(sent.parts)
    for name, part in found.parts.items():
        require_same(part, sent.parts[name])
    for name in ("rows", "intervals", "figures", "value", "columns", "charge", "remaining", "warnings"):
        assert getattr(found, name) == getattr(sent, name), name
    own = {item.name for item in dataclasses.fields(Release)} - {"statistics", "mechanisms", "bare", "parts"}
    for name in own:
        assert getattr(found, name) == getattr(sent, name), name
    assert found.mechanisms.value == sent.mechanisms.value
    assert [(item.name, item.title, item.step, item.whole) for item in found.statistics] == [
        (item.name, item.title, item.step, item.whole) for item in sent.statistics
    ]
    for one, other in zip(found.statistics, sent.statistics, strict=True):
        assert list(map(type_of_numbers, one.figures)) == list(map(type_of_numbers, other.figures))
    assert list(found.bare or ()) == list(sent.bare or ())


def type_of_numbers(figure: Any) -> list[type]:
    return [type(number) for number in (*figure.codes, figure.value, figure.raw, figure.low, figure.high)]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_written_the_same_in_every_format(real: Release, language: str, tmp_path: Path) -> None:
    found = read_release(write_release(real))
    long = len(real) > 5_000
    for name in FOR_MANY_ROWS if long else TEXTS:
        assert said(found, name, language) == said(real, name, language), name
    assert found.to_dict(language) == real.to_dict(language)
    tables = [
        pyarrow.parquet.read_table(release.save(tmp_path / f"{place}.parquet", language=language))
        for place, release in enumerate((found, real))
    ]
    assert tables[0].equals(tables[1], check_metadata=True)
    if not long:
        one, other = (
            read_book(release.save(tmp_path / f"{place}.xlsx", language=language))
            for place, release in enumerate((found, real))
        )
        assert one == other


def said(release: Release, format: str, language: str) -> str:
    """The text, or why there is none."""
    try:
        return render_text(release, format, language)
    except DiscreetError as refused:
        return str(refused)


def read_book(path: Path) -> dict[str, bytes]:
    """Everything in a workbook but when it was written."""
    with zipfile.ZipFile(path) as book:
        return {name: book.read(name) for name in book.namelist() if name != "docProps/core.xml"}


@pytest.mark.slow
def test_a_message_is_plain_json(real: Release) -> None:
    message = {"format": RELEASE_FORM, "release": encode_release(real)}
    assert json.loads(write_release(real)) == message
    require_plain(message)
    again = decode_release(message["release"])
    assert write_release(again) == write_release(real)


def require_plain(value: object) -> None:
    """Nothing but Python's own types, not even their descendants."""
    if type(value) is dict:
        for name, item in value.items():
            assert type(name) is str
            require_plain(item)
    elif type(value) is list:
        if set(map(type, value)) & {dict, list}:
            for item in value:
                require_plain(item)
        else:
            assert set(map(type, value)) <= {int, float, str, bool, type(None)}
    else:
        assert type(value) in {int, float, str, bool, type(None)}


# --- every noun is known --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_every_promise_comes_back(guarantee: types.Guarantee) -> None:
    full = make_full()
    sent = dataclasses.replace(full, claim=dataclasses.replace(full.claim, guarantee=guarantee))
    require_same(read_release(write_release(sent)), sent)


@pytest.mark.parametrize(
    ("kind", "settlement"),
    [("local", Collected(9, {"no mark": 2}, 1)), ("linked", Accounted(20, 300, 415, 4))],
)
def test_every_settlement_comes_back(kind: str, settlement: Any) -> None:
    asked = {"by": (), "sampled": False, "verified": True}
    sent = dataclasses.replace(make_full(), kind=ReleaseKind(kind), settlement=settlement, asked=asked)
    require_same(read_release(write_release(sent)), sent)


def test_every_noun_that_a_release_may_hold_is_sent() -> None:
    sent = [
        *(make_release((), [], guarantee=guarantee) for guarantee in GUARANTEES),
        *(dataclasses.replace(make_full(), settlement=paid) for paid in (Collected(1), Accounted(1, 2, 3))),
    ]
    modules = (claims, figures, headings, noise_facts, notes, published_release, types)
    nouns = {
        name
        for module in modules
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if dataclasses.is_dataclass(kind) and not issubclass(kind, Phrase)
    }
    assert {name for release in sent for name in names_in(encode_release(release))} == nouns - {Note.__name__}


def test_what_few_releases_have_comes_back() -> None:
    sent = make_full()
    found = read_release(write_release(sent))
    require_same(found, sent)
    assert list(map(type, found.asked.values())) == [tuple, list, type(None), float, bool]


# --- columns, numbers and texts -------------------------------------------------------------------------------------


def make_columns(values: Any, **more: Any) -> Release:
    """A table of one key whose codes are numbers."""
    margin = Margin((), ([*range(len(values))],), values, **more)
    statistic = Statistic("value", Labels("V", "V"), Figures(len(values), lambda: [margin]))
    return dataclasses.replace(make_table({"a": 1}, lambda _: 1), statistics=(statistic,))


def columns_of(release: Release) -> Margin:
    [margin] = read_release(write_release(release)).statistic.figures.margins
    return margin


def test_arrays_come_back_as_lists_of_the_same_numbers() -> None:
    grades = Chosen([Quality.GOOD, Quality.CAUTION], np.array([0, 1, 1]))
    found = columns_of(
        make_columns(np.array([1, 2, 3]), raw=np.array([0.1, 2, 1e300]), low=range(3), high=[None, np.float64(0.5), 7])
    )
    assert (found.values, found.raw, found.low, found.high) == ([1, 2, 3], [0.1, 2.0, 1e300], [0, 1, 2], [None, 0.5, 7])
    assert [type(number) for number in (found.high or ())] == [type(None), float, int]
    assert columns_of(make_columns([1, 2, 3], quality=grades)).quality == [*grades]


def test_numbers_come_back_to_the_last_digit() -> None:
    numbers = [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, -(10**200), 3, 3.0, None]
    found = columns_of(make_columns(numbers))
    assert list(map(repr, found.values)) == list(map(repr, numbers))


def test_a_part_that_is_worked_out_later_is_worked_out_to_be_sent() -> None:
    worked: list[int] = []

    def work_out() -> list[MeasureNoise]:
        worked.append(1)
        return [MeasureNoise("COUNT(*)", SLICES)]

    sent = dataclasses.replace(make_full(), mechanisms=Later(work_out))
    assert worked == []
    assert read_release(write_release(sent)).mechanisms.value == [MeasureNoise("COUNT(*)", SLICES)]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, Decimal(1), Fraction(1, 2), True, "1", b"1"], ids=repr)
def test_what_is_no_number_is_not_sent(number: Any) -> None:
    with pytest.raises(ValueError, match=r"a (number|value) is"):
        write_release(make_columns([1, number]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": Decimal("NaN")},
        {"level": 0.95},
        {"kind": "survey"},
        {"notes": (Note(),)},
        {"notes": ("a note",)},
        {"asked": {"what": b"1"}},
        {"asked": {1: 2}},
        {"claim": GUARANTEES[0]},
    ],
    ids=str,
)
def test_what_is_not_of_its_type_is_not_sent(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a value|a number|valid"):
        write_release(dataclasses.replace(make_full(), **wrong))


def test_the_steps_of_published_figures_are_read() -> None:
    for step in ("1", "100", "0.5", "0.000000001", None):
        assert read_release(write_release(put_step(make_full(), step))).statistic.step == step


def test_a_phrase_comes_back_as_the_texts_it_says() -> None:
    title = Phrase("{count:,} rows by {key}", count=1_234, key=Labels("{sex}", "{sexe.__class__}"))
    found = read_release(write_release(dataclasses.replace(make_full(), title=title)))
    assert type(found.title) is Labels
    assert (found.title.en, found.title.fr) == (title.en, title.fr)
    assert found.title.fr.endswith("{sexe.__class__}")


def test_a_text_that_no_encoding_has_comes_back() -> None:
    sent = dataclasses.replace(make_full(), title=Labels("half \ud800", "une moitié \udfff, 😀"))
    assert read_release(write_release(sent)).title == sent.title


# --- to other processes ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_came_may_be_sent_on_to_another_process(real: Release) -> None:
    found = read_release(write_release(real))
    again = pickle.loads(pickle.dumps(found))
    assert write_release(again) == write_release(found)
    assert again.rows == found.rows
