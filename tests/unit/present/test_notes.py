"""What is said beside the figures of a release: in both languages, once, and in every format for people."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest

from discreet.guarantees.types import Unit
from discreet.present.messages import say_message
from discreet.present.note_list import list_details, list_facts, list_notes, list_warnings, warn_reader
from discreet.present.words import tell_calibration, tell_charge, tell_level, tell_unit
from discreet.results import Calibration, CalibrationTarget, Charged, Labels, Release
from tests.releases import render_text
from tests.unit.present.conftest import WARNING
from tests.unit.tables.office import Office

ENGLISH = re.compile(r"\b(the|noise on|each|rows|interval|judged|every figure|only|budget:)\b")


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"value": "height", "mean": True}, {"value": "change"}])
def test_what_is_ours_is_said_in_french(office: Office, options: dict[str, object]) -> None:
    for heading, said in list_notes(office.table("region,smokes", **options), "fr"):
        assert not ENGLISH.search(said), f"{heading}: {said}"


def test_every_fact_is_named_once(office: Office) -> None:
    table = office.table("region,smokes", where="age > 17")
    headings = [heading for heading, _ in (*list_notes(table, "en"), *list_details(table, "en"))]
    assert len(headings) == len(set(headings))
    assert set(headings) > {
        "Protection",
        "Strength of the protection",
        "Guarantee",
        "Protected unit",
        "Neighbours",
        "Charged",
        "Method",
        "Date",
        "Plan hash",
        "What an interval covers",
        "Quality counts",
    }
    facts = dict(list_facts(table, "en"))
    assert facts["Only rows where"] == "age > 17"
    assert dict(list_details(table, "en"))["Charged"] == "epsilon 1"
    assert "Plan hash" not in dict(list_details(table, "en", hashes=False))


def test_measures_of_a_mean_are_told_apart(office: Office) -> None:
    told = [said for heading, said in list_notes(office.table("smokes", value="height", mean=True), "en")]
    strategies = [said for said in told if "Laplace noise on" in said]
    total, size = strategies
    assert re.match(r"SUM\(height − 1\.75\), \d+\.\d% of the budget: ", total)
    assert re.match(r"COUNT\(height\), \d+\.\d% of the budget: ", size)


def test_a_stored_answer_says_what_it_cost_when_it_was_drawn(office: Office) -> None:
    first, again = office.table("region", epsilon="0.5"), office.table("region", epsilon="0.5")
    assert again.charge == {"epsilon": "0", "delta": "0"}
    assert tell_charge(first, "en") == "epsilon 0.5"
    assert tell_charge(again, "en") == "epsilon 0.5, when it was drawn (a stored answer, the same as before)"
    assert tell_charge(again, "fr") == "epsilon 0,5, lors du tirage (réponse conservée, la même qu’auparavant)"


def test_a_stored_gaussian_table_says_its_rho(generous: Office) -> None:
    for _ in range(2):
        gaussian = generous.session.tables.release(generous.read("region,smokes", noise="gaussian"))
    assert isinstance(gaussian.settlement, Charged)
    assert gaussian.settlement.cost is not None
    assert tell_charge(gaussian, "en").startswith(f"rho {gaussian.settlement.cost.to_dict()['rho']}, when")


def test_gaussian_noise_says_what_it_does_to_epsilon(generous: Office) -> None:
    table = generous.session.tables.release(generous.read("region,smokes", noise="gaussian"))
    facts = dict(list_details(table, "en"))
    assert facts["Guarantee"].startswith("zCDP, rho = ")
    strength = dict(list_facts(table, "en"))["Strength of the protection"]
    assert re.search(r"rho = 0\.\d+, that is epsilon = .*; there is a chance of at most 1 in 1,000,000", strength)
    assert re.fullmatch(r"rho 0\.\d+(, delta \S+)? \(epsilon of the population: 0 → \d+\.\d+\)", facts["Charged"])
    assert "privacy, rho = 0." in render_text(table, "html", "en").partition("<main>")[0].replace("\u00a0", " ")


def test_a_condition_is_part_of_the_title(office: Office) -> None:
    title = office.table("region", where="age > 17\n  AND smokes = '1'").title
    assert title.en == "Count by region, where age > 17 AND smokes = '1'"
    assert title.fr == "Effectif selon région, où age > 17 AND smokes = '1'"


@pytest.mark.parametrize("format", ["table", "html"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_pages_and_texts_hold_every_note(office: Office, format: str, language: str) -> None:
    table = office.table("region,smokes")
    shown = unescape(render_text(table, format, language)).replace("\n  ", " ")  # plain text is folded
    for heading, said in list_notes(table, language):
        assert heading in shown
        assert said in shown


def test_warnings_that_notes_say_are_not_said_twice(counted: Release, bootstrapped: Release) -> None:
    for release in (counted, bootstrapped):
        assert list_warnings(release, "en") == [say_message(WARNING)[1].en]
        said = [sentence for _, sentence in list_notes(release, "en")]
        assert len(said) == len(set(said))
        assert set(said) > {say_message(note)[1].en for note in release.notes}
    assert warn_reader(counted, "en") is None


def test_a_calibration_says_which_totals_and_from_where(counted: Release) -> None:
    made = Calibration((CalibrationTarget("census.people", ("province",)),))
    assert tell_calibration(replace(counted, calibration=made), "en") == "census.people (by Province)"
    assert tell_calibration(replace(counted, calibration=made), "fr") == "census.people (selon Province)"
    whole = Calibration((CalibrationTarget("survey.totals", (), Labels("Census", "Recensement")),))
    assert tell_calibration(replace(counted, calibration=whole), "en") == "survey.totals (all), Census"
    assert tell_calibration(replace(counted, calibration=whole), "fr") == "survey.totals (ensemble), Recensement"
    shared = replace(counted, calibration=replace(made, shared_out=(("census.people", {}),) * 2))
    assert "2 shared out like the rest of the table" in tell_calibration(shared, "en")
    assert "2 répartis comme le reste du tableau" in tell_calibration(shared, "fr")


def test_levels_and_units_as_each_language_writes_them(counted: Release, bootstrapped: Release) -> None:
    assert tell_level(replace(counted, level=Decimal("0.995")), "fr") == "99,5\u00a0%"
    assert tell_level(counted, "en") == "95%"
    assert tell_level(bootstrapped, "en") == ""
    many = replace(counted, claim=replace(counted.claim, unit=Unit("pid", 3)))
    assert tell_unit(many, "fr") == "pid (au plus 3 lignes par unité)"
