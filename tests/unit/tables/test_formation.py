"""A request becomes a plan, or is refused for what the card says; nothing is charged either way."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import DiscreetError, ParameterInvalid, QueryRefused, UnknownName
from discreet.sql.serialisation import plan_hash
from discreet.tables.formation import Formed, form_table, may_be_negative
from discreet.tables.request import table_request
from tests.unit.tables.office import Office


def form(office: Office, by: str, **options: Any) -> Formed:
    return form_table(office.request(by, **options), office.session.workspace)


def test_keys_have_every_listed_cell_and_one_without_a_value(reading_room: Office) -> None:
    formed = form(reading_room, "region,smokes,age,grade")
    assert formed.sizes == (3, 3, 4, 4)
    shown = [
        [heading.code(cell) for cell in key.cells or ()]
        for heading, key in zip(formed.headings, formed.plan.keys, strict=True)
    ]
    assert shown == [
        ["N", "S", None],
        ["1", "2", None],
        ["0-17", "18-64", "65-99", None],
        [1, 2, 3, None],
    ]


def test_headings_speak_both_languages(reading_room: Office) -> None:
    region, age = form(reading_room, "region,age").headings
    assert (region.title.fr, region.label("S", "fr"), region.label(None, "fr")) == ("Région", "Sud", "(sans valeur)")
    assert (age.title.fr, age.label("18-64", "en")) == ("Âge", "18–64")


@pytest.mark.parametrize(
    ("options", "title", "titre", "step"),
    [
        ({}, "Count by region and smokes", "Effectif selon région et fume", Fraction(1)),
        (
            {"weighted": True},
            "Weighted count by region and smokes",
            "Effectif pondéré selon région et fume",
            Fraction(1),
        ),
        (
            {"value": "height"},
            "Total of Height by region and smokes",
            "Total\N{NO-BREAK SPACE}: Taille selon région et fume",
            Fraction(1, 100),
        ),
        (
            {"value": "height", "mean": True, "weighted": True},
            "Mean of Height, weighted by region and smokes",
            "Moyenne pondérée\N{NO-BREAK SPACE}: Taille selon région et fume",
            None,
        ),
    ],
)
def test_a_table_says_what_it_shows(
    reading_room: Office, options: dict[str, Any], title: str, titre: str, step: Fraction | None
) -> None:
    formed = form(reading_room, "region,smokes", **options)
    assert (formed.title.en, formed.title.fr, formed.step) == (title, titre, step)
    assert (formed.mean is None) == (step is not None)


def test_only_totals_of_what_may_be_negative_may_be_negative(reading_room: Office) -> None:
    assert not may_be_negative(form(reading_room, "region"))
    assert not may_be_negative(form(reading_room, "region", value="height", weighted=True))
    assert may_be_negative(form(reading_room, "region", value="change"))
    assert may_be_negative(form(reading_room, "region", value="change", weighted=True))


REFUSED: dict[str, tuple[type[DiscreetError], str, dict[str, Any]]] = {
    "unknown key": (UnknownName, "regoin", {}),
    "unknown value": (UnknownName, "region", {"value": "hieght"}),
    "unknown margin": (UnknownName, "region", {"margins": ["smokes"]}),
    "unknown column of edges": (ParameterInvalid, "region", {"edges": {"aeg": [0, 99]}}),
    "edges of a category": (ParameterInvalid, "region", {"edges": {"region": [0, 99]}}),
    "edges that miss the bounds": (ParameterInvalid, "age", {"edges": {"age": [0, 50]}}),
    "more bands than are cut": (ParameterInvalid, "serial", {"edges": {"serial": [*range(1001), 999_999]}}),
    "edges off the grid": (ParameterInvalid, "height", {"edges": {"height": ["1", "1.005", "2.5"]}}),
    "unknown column in the condition": (UnknownName, "region", {"where": "hieght > 1"}),
    "open text": (QueryRefused, "town", {}),
    "an id": (QueryRefused, "pid", {}),
    "a number without bands": (QueryRefused, "wide", {}),
    "a category added up": (QueryRefused, "region", {"value": "smokes"}),
    "too many cells of one key": (QueryRefused, "serial", {}),
    "too many cells": (QueryRefused, "serial,smokes", {"edges": None}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_card_does_not_allow_is_refused(reading_room: Office, case: str) -> None:
    error, by, options = REFUSED[case]
    before = reading_room.head
    with pytest.raises(error):
        form(reading_room, by, **options)
    assert reading_room.head == before


@pytest.mark.parametrize(
    "where",
    [
        "",
        "age > 3) OR (age < 2",
        "age > 3) GROUP BY 1 --",
        "age > 3) GROUP BY 1, 2 HAVING (COUNT(*) > 3",
        "age > 3) LIMIT 1 --",
        "age > 3)) AS t --",
        "age > 3; SELECT 1",
        "age > 3;",
        "; age > 3",
        "age > 3 AS grown",
        "-- nothing",
        "age > 3 GROUP BY 1",
        "age > 3 ORDER BY 1",
        "age > 3 /*",
        "age > 3 UNION SELECT 1",
    ],
)
def test_a_condition_is_a_single_condition(reading_room: Office, where: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        form(reading_room, "region", where=where)
    assert refused.value.fields["part"] == "where"


def test_brackets_of_a_condition_may_be_its_own(reading_room: Office) -> None:
    plain = form(reading_room, "region", where="age > 3 AND (smokes = '1' OR town = ')')")
    assert plan_hash(plain.plan) == plan_hash(
        form(reading_room, "region", where="(age > 3) AND ((smokes = '1') OR town = ')') -- so").plan
    )


def test_a_condition_beyond_the_limits_is_told_so(reading_room: Office) -> None:
    with pytest.raises(QueryRefused, match="nest deeper than 50"):
        form(reading_room, "region", where=f"{'(' * 51}age > 3{')' * 51}")
    with pytest.raises(QueryRefused, match="at most 10,000"):
        form(reading_room, "region", where="age > 3 OR " * 1000 + "age < 2")
    with pytest.raises(QueryRefused, match="more than 2,000 parts"):
        form(reading_room, "region", where="age>3 OR " * 1000 + "age<2")


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("age > 3 ADN age < 5", "single condition.* Did you mean AND for 'ADN'"),
        ("height > 1,65", r"single condition.* Use a point: write 1\.65"),
        ("CLAMP(height, 1,5, 2) > 1", r"three arguments.* Use a point: write 1\.5"),
    ],
)
def test_a_slip_in_a_condition_is_named(reading_room: Office, where: str, told: str) -> None:
    with pytest.raises(QueryRefused, match=told):
        form(reading_room, "region", where=where)


def test_a_band_without_people_is_named_by_its_column(reading_room: Office) -> None:
    with pytest.raises(QueryRefused, match="leave no value of 'age'"):
        form(reading_room, "age", no_missing=True, leave_out={"age": ["0-17", "18-64", "65-99"]})


def test_a_public_table_needs_no_protection(reading_room: Office) -> None:
    with pytest.raises(QueryRefused, match="public table"):
        form_table(table_request("regions", "region"), reading_room.session.workspace)


def test_the_cells_are_the_same_plan_as_the_question_in_sql(reading_room: Office) -> None:
    told = reading_room.session.explain(
        "SELECT region, smokes, COUNT(*) AS n FROM people GROUP BY region, smokes", epsilon=1
    )
    assert plan_hash(form(reading_room, "region,smokes").plan) == told.plan_hash
    assert plan_hash(form(reading_room, "smokes,region").plan) != told.plan_hash


def test_a_measured_number_is_told_how_to_become_a_key(reading_room: Office) -> None:
    with pytest.raises(QueryRefused, match=r"--edges height=1,…,2\.5"):
        form(reading_room, "region,height")
    assert form(reading_room, "region,height", edges={"height": ("1", "1.8", "2.5")}).sizes == (3, 3)
