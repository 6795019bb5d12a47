"""Tables without people who cannot exist: complete columns, --no-missing, --leave-out, and what was released before.

Epsilon is so large here that figures are the true ones but for a negligible chance: what counts is who is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from discreet.errors import ParameterInvalid, QueryRefused, UnknownName
from discreet.present.messages import say_message
from discreet.release import ask_reader
from discreet.results import Release
from discreet.sql.algebra import Key, Relation
from discreet.sql.reader import grouping
from tests.unit.tables.office import CARD, PEOPLE, Office, open_office

COMPLETE: Final = CARD.replace('2: {en: "no", fr: non}}', '2: {en: "no", fr: non}}\n    complete: true').replace(
    "edges: [0, 18, 65, 99]", "edges: [0, 18, 65, 99], complete: true"
)
SURE: Final = "4000"


def figures(table: Release) -> dict[tuple[object, ...], object]:
    """Values by codes; what is summed over is 'all'."""
    return {
        tuple("all" if place in entry.over else code for place, code in enumerate(entry.codes)): entry.value
        for entry in (*table.cells, *table.margins)
    }


def count(*names: str) -> Counter[tuple[object, ...]]:
    """The people by their codes, who have a value of every name."""
    kept = [one for one in PEOPLE if all(one[name] is not None for name in names)]
    return Counter(tuple(str(one[name]) for name in names) for one in kept)


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Office]:
    with open_office(tmp_path, COMPLETE) as opened:
        yield opened


def test_a_complete_key_has_no_row_for_the_missing_and_margins_leave_them_out(whole: Office) -> None:
    found = figures(whole.table("smokes", epsilon=SURE))
    truth = count("smokes")
    assert found == {("1",): truth["1",], ("2",): truth["2",], ("all",): truth["1",] + truth["2",]}
    assert whole.session.query("SELECT COUNT(*) AS n FROM people", epsilon=SURE).rows == [{"n": len(PEOPLE)}]


def test_bands_of_a_complete_number_have_none_either(whole: Office) -> None:
    found = figures(whole.table("age", epsilon=SURE))
    ages = [one["age"] for one in PEOPLE if one["age"] is not None]
    assert found == {
        ("0-17",): sum(age < 18 for age in ages),
        ("18-64",): sum(18 <= age < 65 for age in ages),
        ("65-99",): sum(age >= 65 for age in ages),
        ("all",): len(ages),
    }


def test_the_plan_says_why_rows_are_left_out(whole: Office) -> None:
    told = whole.session.tables.explain(whole.read("smokes")).to_text()
    assert "where smokes IS NOT NULL (complete by the card)" in told
    assert "group by smokes (2 values): 2 cells" in told


def test_the_custodian_sees_how_many_rows_break_it(whole: Office) -> None:
    lacking = {name: sum(one[name] is None for one in PEOPLE) for name in ("smokes", "age")}
    assert whole.session.report("people", custodian=True).incomplete == lacking
    assert whole.session.incomplete("people", custodian=True) == lacking


# --- by request -----------------------------------------------------------------------------------------------------


def test_no_missing_leaves_null_keys_out_of_cells_and_margins(office: Office) -> None:
    table = office.table("region,smokes", epsilon=SURE, no_missing=True)
    truth = count("region", "smokes")
    found = figures(table)
    assert {codes: value for codes, value in found.items() if "all" not in codes} == {
        (region, smokes): truth[region, smokes] for region in "NS" for smokes in "12"
    }
    assert found["all", "all"] == truth.total()
    assert None not in {code for entry in table.cells for code in entry.codes}
    assert table.title.en.endswith(", without missing values")
    assert table.title.fr.endswith(", sans les valeurs manquantes")


def test_codes_are_left_out_and_null_stays(office: Office) -> None:
    table = office.table("smokes,age", epsilon=SURE, leave_out={"smokes": [2], "age": ["65-99"]})
    found = figures(table)
    assert {codes[0] for codes in found} == {"1", None, "all"}
    assert {codes[1] for codes in found} == {"0-17", "18-64", None, "all"}
    kept = [one for one in PEOPLE if one["smokes"] != 2 and not (one["age"] is not None and one["age"] >= 65)]
    assert found["all", "all"] == len(kept)
    assert table.title.en.endswith(", without smokes: no or age: 65–99")
    assert table.title.fr.endswith(", sans fume\N{NO-BREAK SPACE}: non ou âge\N{NO-BREAK SPACE}: 65–99")
    notes = {heading.en: (said.en, said.fr) for heading, said in map(say_message, table.notes)}
    assert "is counted, not in margins either" in notes["Not in the table"][0]
    assert "marges comprises" in notes["Not in the table"][1]
    assert table.asked["leave_out"] == {"smokes": ["2"], "age": ["65-99"]}


def test_a_listed_integer_is_left_out_by_its_value(office: Office) -> None:
    assert set(figures(office.table("grade", epsilon=SURE, leave_out={"grade": [2]}))) == {
        (1,),
        (3,),
        (None,),
        ("all",),
    }


@pytest.mark.parametrize(
    ("leave_out", "fault", "words"),
    [
        ({"smokes": ["11"]}, UnknownName, "code '11' is not in the categories of 'smokes'. Did you mean '1' "),
        ({"smokes": ["yes"]}, UnknownName, "Did you mean '1' "),
        ({"age": ["0-18"]}, UnknownName, "code '0-18' is not in the bands of 'age'. Did you mean '0-17' "),
        ({"smoke": ["1"]}, UnknownName, "Did you mean 'smokes'?"),
        ({"grade": ["4"]}, ParameterInvalid, "must be a value that it can take: a multiple of 1 from 1 to 3"),
        ({"grade": ["x"]}, ParameterInvalid, "must be a value that it can take"),
        ({"smokes": ["1", "2"], "age": ["0-17", "18-64", "65-99"]}, None, ""),
        ("smokes=1", ParameterInvalid, "must be lists of codes by column"),
        ({"smokes": "1"}, ParameterInvalid, "must be a list"),
    ],
)
def test_what_cannot_be_left_out_is_said(
    reading_room: Office, leave_out: Any, fault: type[Exception] | None, words: str
) -> None:
    if fault is None:
        assert reading_room.design("smokes,age,grade", leave_out=leave_out).formed.sizes == (1, 1, 4)
        return
    with pytest.raises(fault, match=words.replace("?", r"\?")):
        reading_room.design("smokes,age,grade", leave_out=leave_out)


def test_a_table_of_which_nothing_is_left_is_refused_before_a_charge(office: Office) -> None:
    with pytest.raises(QueryRefused, match="leave no value of 'smokes'"):
        office.table("smokes", epsilon=1, no_missing=True, leave_out={"smokes": ["1", "2"]})
    assert office.spent == 0


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("by", ["smokes", "region,smokes", "region,smokes,age"])
def test_keys_of_one_cell_are_keys(generous_room: Office, by: str, noise: str) -> None:
    design = generous_room.design(by, noise=noise, no_missing=True, leave_out={"smokes": ["2"]}, epsilon="0.5")
    drawn = generous_room.draw(design)
    assert [len(one.values) for one in drawn.in_order_of(design.statement)]
    assert not drawn.widened(design.statement)


TOTALS: Final = "totals: {by: region, source: the register, values: {N: 900, S: 1500}}\n"


@pytest.mark.parametrize(
    ("options", "met"),
    [
        ({}, True),
        ({"no_missing": True}, False),
        ({"leave_out": {"smokes": ["2"]}}, False),
        ({"where": "age > 3"}, False),
    ],
)
def test_a_table_of_some_is_not_brought_to_the_totals_of_everybody(
    tmp_path: Path, options: dict[str, Any], met: bool
) -> None:
    with open_office(tmp_path, CARD + TOTALS) as office:
        assert bool(office.read("region,smokes", weighted=True, **options).targets) is met
        assert office.read("smokes", weighted=True).targets


def test_people_who_cannot_be_missing_are_not_left_out(tmp_path: Path) -> None:
    with open_office(tmp_path, COMPLETE + TOTALS) as office:
        assert office.read("smokes", weighted=True, no_missing=True).targets
        assert not office.read("region,smokes", weighted=True, no_missing=True).targets


# --- what was released before ---------------------------------------------------------------------------------------


@contextmanager
def as_before() -> Iterator[None]:
    """Statements read as main a14e1e5 read them: with every cell of the domain."""

    def close_nothing(source: Relation, keys: list[Key], cards: object) -> tuple[Relation, tuple[Key, ...]]:
        return source, tuple(keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "close_keys", close_nothing)
        patch.setattr(ask_reader, "_READINGS", {})
        yield


ASKED: Final = (
    "SELECT region, smokes, COUNT(*) AS n, SUM(weight) AS w FROM people WHERE smokes <> 1 AND region IS NOT NULL "
    "GROUP BY region, smokes ORDER BY n DESC"
)


def test_an_answer_of_then_is_given_again_cell_by_cell(office: Office) -> None:
    """Every value stands with its key: they are the true ones, and no two cells have the same."""
    with as_before():
        before = office.session.query(ASKED, epsilon=SURE)
    again = office.session.query(ASKED, epsilon=SURE)
    assert (before.replayed, again.replayed, len(before.rows), len(again.rows)) == (False, True, 9, 2)
    assert again.source.plan_hash == before.source.plan_hash
    assert again.rows == [row for row in before.rows if row["smokes"] == "2" and row["region"] is not None]
    assert [row["n"] for row in again.rows] == sorted(
        (count("region", "smokes")[region, "2"] for region in "NS"), reverse=True
    )
    kept = [place for place, row in enumerate(before.rows) if row in again.rows]
    assert again.intervals == [before.intervals[place] for place in kept]
    fresh = office.session.query(ASKED, epsilon=SURE, fresh=True)
    assert [row["region"] for row in fresh.rows] == [row["region"] for row in again.rows]


@pytest.mark.parametrize(("noise", "margins"), [("laplace", True), ("gaussian", True), ("laplace", False)])
def test_a_table_of_then_is_given_again_as_it_was(generous: Office, noise: str, margins: bool) -> None:
    """Also where fewer cells would now be measured in another way; without margins they are measured in the same."""

    def ask() -> Release:
        asked = generous.read("region,smokes,age", where="smokes = 2", noise=noise, margins=margins, epsilon=2)
        return generous.session.tables.release(asked)

    with as_before():
        before = ask()
    spent = generous.spent
    again = ask()
    assert figures(again) == figures(before)
    assert [(one.low, one.high) for one in again.cells] == [(one.low, one.high) for one in before.cells]
    assert generous.spent == spent
    assert len(generous.read("region,smokes,age", where="smokes = 2").design.formed.plan.keys[1].cells or ()) == 1


def test_a_charge_of_then_without_an_answer_is_met(office: Office) -> None:
    asked = "SELECT smokes, COUNT(*) AS n FROM people WHERE smokes = 2 GROUP BY smokes"
    with as_before():
        first = office.session.query(asked, epsilon=SURE, request_id="then").source.plan_hash
    spent = office.spent
    again = office.session.query(asked, epsilon=SURE, request_id="then")
    assert (again.source.plan_hash, office.spent) == (first, spent)
    assert again.rows == [{"smokes": "2", "n": count("smokes")["2",]}]
