"""The card: what scalars mean, every rule, every problem at once."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.cards.card import Card, CardFault, Column, ColumnKind, Labels, SizeRule, WeightRule, parse_card, read_card
from discreet.cards.card_schema import CARD
from discreet.cards.draft import draft_card
from discreet.cards.schema import walk_keys
from discreet.catalogue import FRENCH, speaking
from discreet.errors import CardInvalid, CardUndecided, PathInvalid, UnknownName
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import Neighbours, Unit
from tests.places import DOCS


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(CardInvalid) as refused:
        parse_card(text, file="survey.yaml")
    return refused.value.problems


def test_a_whole_card(card: Card) -> None:
    assert card.dataset == "survey"
    assert card.title.text("fr") == "Enquête sur la santé"
    assert card.unit == Unit("person_id", 2)
    assert card.neighbours is Neighbours.ADD_REMOVE
    assert card.size is SizeRule.PRIVATE
    assert card.column("province").categories[1].label == Labels("Québec", "Québec")
    assert card.weight is not None
    assert card.weight.largest == 1700
    assert card.weight.cap_for("24") == Decimal("12.5")
    assert card.weight.cap_for(None) == 1700
    assert card.terms() == PopulationTerms("cchs-2017", card.budget, card.neighbours, "person_id", "integer")
    assert card.text.startswith("dataset: survey")


def test_storage_is_the_smallest_that_holds_the_bounds(card: Card) -> None:
    stored = {column.name: column.storage for column in card.columns}
    assert stored == {
        "person_id": "int64",
        "province": "int8",
        "age": "int8",
        "weight": "int32",
        "height": "int16",
        "diagnosis": "text",
    }
    assert (card.column("height").low_units, card.column("height").high_units) == (1200, 2100)


def test_defaults() -> None:
    text = """\
dataset: d
unit: {column: i, rows: 1}
neighbours: replace-one
size: public
budget: {epsilon: 0.1, delta: 1e-6}
columns:
  i: {kind: id, type: text}
  n: {kind: integer}
"""
    card = parse_card(text, file="d.yaml")
    assert (card.population, card.title.en, card.size) == ("d", "d", SizeRule.PUBLIC)
    assert (card.budget.delta, card.budget.per_analyst) == (Decimal("0.000001"), Decimal("0.1"))
    assert card.column("n").step == 1
    assert card.column("n").storage == "int64"


def test_codes_are_the_text_one_sees(card_text: str) -> None:
    codes = [
        "ON",
        "NO",
        "yes",
        "010",
        "1e-6",
        "0.1",
        "0x1F",
        "1_000",
        ".5",
        "12:30",
        "null",
        "~",
        "true",
        "2020-01-01",
    ]
    extra = f"  seen: {{kind: category, categories: [{', '.join(codes)}]}}\n"
    card = parse_card(card_text + extra, file="c.yaml")
    assert [category.code for category in card.column("seen").categories] == codes


@pytest.mark.parametrize(
    ("written", "meant"),
    [("010", "10"), ("1e1", "10"), ("+10", "10"), ("10.0", "10"), (".5e2", "50"), ("1e-6", "0.000001")],
)
def test_numbers_mean_what_they_look_like(card_text: str, written: str, meant: str) -> None:
    extra = f"  x: {{kind: number, bounds: [0, 100], step: 1e-6, missing: [{written}]}}\n"
    step_extra = f"  y: {{kind: number, bounds: [0, 100], step: {written}}}\n"
    card = parse_card(card_text + extra + step_extra, file="c.yaml")
    assert card.column("y").step == Decimal(meant)
    assert Decimal(card.column("x").missing[0]) == Decimal(meant)


@pytest.mark.parametrize(
    "written",
    ["1_000", "0x1F", "12:30", "nan", ".inf", "inf", "'1,000'", "ten", "true", "''", "1e99", "1e-10", "١"],
)
def test_what_is_no_number(card_text: str, written: str) -> None:
    text = card_text.replace("step: 0.001", f"step: {written}")
    assert any("step of column 'height'" in problem for problem in problems(text))


@pytest.mark.parametrize("written", ["yes", "on", "True", "TRUE", "1", "no"])
def test_booleans_are_only_true_and_false(card_text: str, written: str) -> None:
    found = problems(card_text.replace("public: true", f"public: {written}"))
    assert found == (f"survey.yaml:11: public of column 'province' must be true or false; received '{written}'",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("categories:", "catagories:", "11: unknown key 'catagories' in column 'province'; did you mean"),
        ("dataset: survey", "dataset: Survey", "1: dataset 'Survey' must be a lower-case letter"),
        ("population: cchs-2017", "population: CCHS", "3: population 'CCHS' must be"),
        ("person_id, rows: 2", "persn_id, rows: 2", "is not among the columns; did you mean 'person_id'?"),
        ("person_id, rows: 2", "age, rows: 2", "4: unit column 'age' must be of kind id"),
        ("rows: 2", "rows: 0", "4: rows of the unit must be a whole number from 1 to 1,000,000"),
        ("rows: 2", "rows: 1.5", "4: rows of the unit must be a whole number"),
        ("add-remove", "add_remove", "5: neighbours must be add-remove or replace-one"),
        ("size: private", "size: public", "6: size: public is allowed only with neighbours: replace-one"),
        ("epsilon: 3", "epsilon: 0", "8: budget epsilon must be positive"),
        ("epsilon: 3", "epsilon: 1e308", "8: budget epsilon must be"),
        ("epsilon: 3,", "epsilon: 3, per_analyst_delta: 1e-6,", "8: budget: per_analyst_delta"),
        ("budget: {epsilon: 3, per_analyst: 1}\n", "", "1: key 'budget' is missing in the card"),
        ("type: integer", "type: float", "10: type of column 'person_id' must be integer, text or row; received 'fl"),
        ("kind: text", "kind: text, bounds: [0, 1]", "15: 'bounds' does not go with kind text"),
        ("[12, 110]", "[110, 12]", "12: bounds of column 'age' must be [low, high] with low < high; received [1"),
        ("[12, 110]", "[12]", "12: bounds of column 'age' must be a list of two numbers"),
        ("[12, 110]", "[12.5, 110]", "12: bound 12.5 of column 'age' is not a multiple of its step"),
        ("bounds: [1.2, 2.1], step: 0.001, ", "", "14: number column 'height' needs bounds, or a step"),
        ("step: 0.001", "step: -0.001", "14: step of column 'height' must be positive"),
        ("10: 1700, ", "", "7: caps are missing for '10' of 'province'"),
        ("10: 1700", "10: 1700, 99: 3", "7: caps are given for '99'"),
        ("10: 1700", "10: 1700.001", "7: cap 1700.001 is not a multiple of the weight's step"),
        ("10: 1700", "10: 17000", "7: cap 17000 is above the weight's upper bound 15000"),
        ("10: 1700", "10: 0", "7: cap of '10' must be positive; received 0"),
        ("by: province", "by: age", "7: cap column 'age' must be a public category column"),
        ("column: weight", "column: diagnosis", "7: weight column 'diagnosis' must be a number"),
        ("[0, 15000]", "[-1, 15000]", "weight column 'weight' must have bounds from 0 upwards"),
        ("24: Québec", "10.0: x", "codes '10' and '10.0' of column 'province' are the same code"),
        ("public: true,", "public: true, missing: [24],", "'province' is both a category and missing"),
        ("fr: Terre-Neuve", "de: Neufundland", "11: key 'fr' is missing in categories of column 'province'"),
        ("  age:", "  ord:", "12: column name 'ord' is reserved"),
        ("  age:", "  _discreet_x:", "12: column name '_discreet_x' is reserved"),
        ("  age:", "  2x:", "12: column name '2x' must be letters"),
        ("  age:", "  Height:", "differ by case only"),
        ("kind: text", "kind: text, provenance: from_rows", "does not go with kind text"),
        ("[12, 110]", "[12, 110], provenance: rows", "12: provenance of column 'age' can only be from_rows"),
        ("size: private", "allow: [bootstrp]", "6: allow must be bootstrap or generated; received 'bootstrp'"),
        ("kind: text", "kind: texte", "15: kind of column 'diagnosis' must be id, category"),
    ],
)  # fmt: skip
def test_every_rule_is_told_with_its_line(card_text: str, old: str, new: str, told: str) -> None:
    assert old in card_text
    found = problems(card_text.replace(old, new, 1))
    assert any(f"survey.yaml:{told}" in problem or told in problem for problem in found), found


def test_all_problems_at_once(card_text: str) -> None:
    text = card_text.replace("[12, 110]", "[110, 12]").replace("add-remove", "add").replace("kind: text", "knd: text")
    found = problems(text)
    assert [problem.split(" ")[0] for problem in found] == [
        "survey.yaml:5:",
        "survey.yaml:12:",
        "survey.yaml:15:",
        "survey.yaml:15:",
    ]


def test_decide_names_each_place(card_text: str) -> None:
    text = card_text.replace("rows: 2", "rows: DECIDE").replace("[12, 110]", "[DECIDE, 110]")
    with pytest.raises(CardUndecided) as refused:
        parse_card(text, file="survey.yaml")
    assert refused.value.problems == (
        "survey.yaml:4: rows of the unit is still to be decided",
        "survey.yaml:12: bounds of column 'age' is still to be decided",
    )


def test_a_quoted_decide_is_text(card_text: str) -> None:
    card = parse_card(card_text.replace("24: Québec", "24: 'DECIDE'"), file="survey.yaml")
    assert card.column("province").categories[1].label.en == "DECIDE"


def test_problems_beside_decisions_are_problems(card_text: str) -> None:
    text = card_text.replace("rows: 2", "rows: DECIDE").replace("[12, 110]", "[110, 12]")
    with pytest.raises(CardInvalid) as refused:
        parse_card(text, file="survey.yaml")
    assert not isinstance(refused.value, CardUndecided)
    assert len(refused.value.problems) == 2


def test_unknown_column_names_the_nearest(card: Card) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'province'"):
        card.column("provinse")


def test_from_rows_is_remembered(card_text: str) -> None:
    card = parse_card(card_text.replace("[12, 110]", "[12, 110], provenance: from_rows"), file="c.yaml")
    assert card.from_rows == ("age",)


def test_types_check_themselves() -> None:
    with pytest.raises(CardFault, match="or a step"):
        Column("x", ColumnKind.NUMBER, Labels("x", "x"))
    with pytest.raises(CardFault, match="one cap, or caps by a column"):
        WeightRule("w")


def test_files(tmp_path: Path, card_text: str) -> None:
    file = tmp_path / "survey.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + card_text.encode())
    assert read_card(file).dataset == "survey"
    file.write_bytes(b"dataset: x\ntitle: \xe9")
    with pytest.raises(CardInvalid, match=r"survey\.yaml:2: a card must be UTF-8"):
        read_card(file)
    with pytest.raises(PathInvalid):
        read_card(tmp_path / "none.yaml")
    file.write_bytes(b"#" * 1_000_002)
    with pytest.raises(CardInvalid, match="at most 1,000,000 bytes"):
        read_card(file)


def test_a_card_that_was_read_before_is_read_anew_once_its_text_differs(tmp_path: Path, card_text: str) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text(card_text, encoding="utf-8")
    first = read_card(file)
    assert read_card(file) is first
    file.write_text(card_text.replace("dataset: survey", "dataset: census"), encoding="utf-8")
    assert read_card(file).dataset == "census"
    file.write_text("dataset: [", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(CardInvalid):
            read_card(file)


def test_the_table_of_keys_is_whole() -> None:
    paths = [path for path, _ in walk_keys(CARD.fields)]
    assert len(set(paths)) == len(paths)
    assert {"unit.column", "weight.cap.by", "columns.*.kind", "budget.delta"} <= set(paths)


def test_the_page_on_cards_is_true() -> None:
    page = (DOCS / "card.md").read_text("utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    card = parse_card(example, file="card.md")
    assert card.from_rows == ("gain",)
    assert card.column("gain").source == "capital-gain"


@pytest.mark.parametrize(
    ("bounds", "step"),
    [
        ("[1.2, 2.1]", "0.0000001"),
        ("[0, 100]", "0.0001"),
        ("[0, 5000000]", "1"),
        ("[0.12345, 9000]", "0.00001"),
    ],
)
def test_a_number_with_bounds_has_a_fine_grid_of_its_own(card_text: str, bounds: str, step: str) -> None:
    card = parse_card(card_text + f"  x: {{kind: number, bounds: {bounds}}}\n", file="c.yaml")
    assert card.column("x").step == Decimal(step)


def test_a_weight_need_not_be_listed_among_the_columns() -> None:
    card = parse_card(
        """
dataset: survey
unit: {column: pid, rows: 1}
neighbours: add-remove
weight: {column: w, cap: 4000.125}
budget: {epsilon: 3}
columns:
  pid: {kind: id, type: integer}
""",
        file="survey.yaml",
    )
    weight = card.column("w")
    assert (weight.kind, weight.bounds, weight.step) == (
        ColumnKind.NUMBER,
        (Decimal(0), Decimal("4000.125")),
        Decimal("0.001"),
    )


# --- private bounds, public presence, references --------------------------------------------------------------------


FIXED = (("neighbours: add-remove", "neighbours: replace-one"), ("size: private", "size: public"))


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_bounds_may_be_private(card_text: str) -> None:
    text = changed(card_text, ("bounds: [12, 110]", "bounds: private"), ("bounds: [1.2, 2.1]", "bounds: private"))
    card = parse_card(text, file="c.yaml")
    for name in ("age", "height"):
        column = card.column(name)
        assert (column.private_bounds, column.bounds) == (True, None)
        assert column.low_units == -column.high_units
    assert not card.column("weight").private_bounds


def test_presence_may_be_public(card_text: str) -> None:
    text = changed(card_text, *FIXED, ("[12, 110]", "[12, 110], presence: public"))
    card = parse_card(text, file="c.yaml")
    assert [column.name for column in card.columns if column.public_presence] == ["age"]


def test_a_column_may_point_at_another(card_text: str) -> None:
    text = changed(card_text, ("kind: text", "kind: text, references: clinics.code"))
    assert parse_card(text, file="c.yaml").column("diagnosis").references == ("clinics", "code")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[12, 110]", "private, edges: [12, 110]", "12: edges of column 'age' need bounds"),
        ("[12, 110]", "private, public: true", "12: public integer column 'age' needs bounds"),
        ("[12, 110]", "private, provenance: from_rows", "12: provenance of column 'age' needs bounds or categories"),
        ("[12, 110]", "hidden", "12: bounds of column 'age' must be a list of two numbers, [low, high], or private"),
        ("[1.2, 2.1], step: 0.001", "private", "14: number column 'height' needs bounds, or a step"),
        ("[0, 15000]", "private", "7: weight column 'weight' must be a number or integer with bounds"),
        ("kind: text", "kind: text, bounds: private", "15: 'bounds' does not go with kind text"),
        ("[12, 110]", "[12, 110], presence: public", "12: presence: public of column 'age' needs size: public"),
        ("[12, 110]", "[12, 110], presence: private", "12: presence of column 'age' can only be public"),
        ("kind: text", "kind: text, presence: public", "15: 'presence' does not go with kind text"),
        ("type: integer", "type: integer, presence: public", "10: 'presence' does not go with kind id"),
        ("kind: text", "kind: text, references: clinics", "15: references of column 'diagnosis' name a dataset"),
        ("kind: text", "kind: text, references: Clinics.code", "15: references of column 'diagnosis' name a dataset"),
        ("[1.2, 2.1]", "[1.2, 2.1], references: a.b", "14: 'references' does not go with kind number"),
    ],
)  # fmt: skip
def test_every_such_rule_is_told_with_its_line(card_text: str, old: str, new: str, told: str) -> None:
    found = problems(changed(card_text, (old, new)))
    assert any(f"survey.yaml:{told}" in problem or told in problem for problem in found), found


# --- totals ---------------------------------------------------------------------------------------------------------

TOTALS = "totals: {by: province, values: {10: 459931, 24: 7173161.5}, source: {en: Census, fr: Recensement}}\n"


def test_totals_by_a_public_column(card_text: str) -> None:
    card = parse_card(card_text + TOTALS, file="survey.yaml")
    (totals,) = card.totals
    assert totals.by == "province"
    assert totals.values == (("10", Decimal(459931)), ("24", Decimal("7173161.5")))
    assert totals.total == Decimal("7633092.5")
    assert totals.source.text("fr") == "Recensement"
    assert parse_card(card_text, file="survey.yaml").totals == ()


def test_several_totals_and_a_grand_total(card_text: str) -> None:
    text = "totals:\n  - {values: 30, source: Census}\n  - {by: province, values: {10: 10, 24: 20}, source: Register}\n"
    whole, by_province = parse_card(card_text + text, file="survey.yaml").totals
    assert (whole.by, str(whole.total)) == (None, "30")
    assert by_province.every_total == (Decimal(10), Decimal(20))


@pytest.mark.parametrize(
    ("totals", "says"),
    [
        ("{by: province, values: {10: 1, 24: 2}}", "key 'source' is missing in totals"),
        ("{by: province, source: Census}", "key 'values' is missing in totals"),
        ("{by: province, values: {10: 1}, source: Census}", "totals are missing for '24' of 'province'"),
        ("{by: province, values: {10: 1, 24: 2, 99: 3}, source: C}", "totals are given for '99', not among"),
        ("{by: province, values: {10: -1, 24: 2}, source: C}", "total of '10' must not be negative; received -1"),
        ("{by: province, values: {10: 0, 24: 0}, source: C}", "not all of them 0"),
        ("{by: province, values: {10: many, 24: 2}, source: C}", "total of '10' must be a plain decimal number"),
        ("{by: province, values: 7, source: C}", "totals must be a mapping from code to number"),
        ("{values: {10: 1}, source: C}", "the grand total \\(without `by`\\) must be one number"),
        ("{by: age, values: {10: 1}, source: C}", "totals column 'age' must be a public category column"),
        ("{by: provinse, values: {10: 1}, source: C}", "'provinse' is not among the columns; did you mean 'province'"),
        ("{by: province, valeus: {10: 1}, source: C}", "unknown key 'valeus' in totals; did you mean 'values'"),
        ("[{values: 3, source: C}, {values: 3, source: D}]", "the grand total is given twice"),
        (
            "[{values: 3, source: C}, {by: province, values: {10: 1, 24: 1}, source: D}]",
            "must agree on the grand total; received 3 and 2",
        ),
    ],
)
def test_totals_that_are_refused(card_text: str, totals: str, says: str) -> None:
    found = problems(f"{card_text}totals: {totals}\n")
    assert any(re.search(says, problem) for problem in found), found


def test_totals_need_a_weight(card_text: str) -> None:
    bare = re.sub(r"^weight: .*\n", "", card_text, count=1, flags=re.MULTILINE)
    (problem,) = problems(bare + TOTALS)
    assert "declare `weight` too" in problem


def test_no_draft_has_totals(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("person_id,province,weight\n1,10,4.5\n2,24,5.5\n", encoding="utf-8")
    for from_rows in (False, True):
        assert "totals" not in draft_card(file, from_rows=from_rows)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("budget:", "budgte:", "clé inconnue « budgte » dans la fiche ; vouliez-vous dire « budget » ?"),
        ("rows: 2", "rows: 0", "`rows` de l'unité : un nombre entier de 1 à 1 000 000 est attendu"),
        ("rows: 2", "rows: DECIDE", "`rows` de l'unité : reste à décider"),
        ("bounds: [12, 110]", "bounds: [12.5, 110]", "la borne 12.5 de la colonne « age » n'est pas un multiple de"),
        ("type: integer", "type: float", "`type` dans la colonne « person_id » : integer, text ou row est attendu"),
        ("unit: {", "unit: *x\nother: {", "les alias (*nom) ne sont pas permis"),
        ("unit: {", "unit: [", "ce n'est pas du YAML : une virgule ou un crochet fermant (]) est attendu"),
    ],
)
def test_problems_are_told_in_french(card_text: str, old: str, new: str, says: str) -> None:
    """Keys and what is to be typed, such as the point of a decimal, stay as they are in a card."""
    changed = card_text.replace(old, new, 1)
    assert changed != card_text
    with speaking(FRENCH):
        found = problems(changed)
    plain = [re.sub("[\u00a0\u202f]", " ", problem).replace("’", "'") for problem in found]
    assert any(says in problem for problem in plain), plain
    assert all(re.match(r"survey\.yaml:\d+: ", problem) for problem in plain)
