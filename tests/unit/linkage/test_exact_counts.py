"""Linked counts without their noise, beside a plain computation on the rows: people, households, addresses, weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.linkage import AskedGroup, LinkedKind
from tests.unit.linkage.forged import cells_of, counters_of, exhaust, silence, write
from tests.unit.linkage.three_offices import (
    HEALTH_CARD,
    PEOPLE_CARD,
    ThreeOffices,
    open_offices,
    people_rows,
    terms_text,
)

Open = Callable[..., ThreeOffices]
OPEN_LONG = "closing: {share: 0.99}"
HOUSEHOLD_CARD = PEOPLE_CARD.replace("column: person, rows: 1", "column: household, rows: 6")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens three offices whose answers have no noise."""
    silence(monkeypatch)
    made: list[ThreeOffices] = []

    def make(**options: Any) -> ThreeOffices:
        made.append(open_offices(tmp_path, **options))
        return made[-1]

    yield make
    for offices in made:
        offices.close()


def french(person: int) -> bool:
    return person % 4 == 0


def ill(person: int) -> bool:
    return person % 3 == 0


HELD = range(1, 181)
"""Whom the health file has; the registry has 1 to 200."""


def test_people_are_counted_as_a_plain_computation_counts_them(opened: Open) -> None:
    offices = opened()
    drawn = [person for person in HELD if ill(person)]
    read = offices.researcher.read
    assert read(offices.ask()).answer.cells == ((sum(map(french, drawn)),),)
    has = sum(map(french, drawn))
    assert read(offices.ask(kind="count-and-size")).answer.cells == ((has, len(drawn) - has),)
    assert read(offices.ask("tongue", "histogram")).answer.cells == ((has, len(drawn) - has, 0),)


def test_groups_come_back_in_the_order_of_the_request(opened: Open) -> None:
    offices = opened()
    groups = [AskedGroup(f"g{low}", f"age BETWEEN {low} AND {low + 9}", Decimal(1)) for low in range(0, 90, 10)]
    asked = offices.researcher.ask(
        property="francophone", kind=LinkedKind.COUNT, scale=10, where="ill = 'yes'", groups=groups
    )
    drawn = offices.holder.draw(asked.envelope)
    found = offices.researcher.read(offices.registry.count(drawn.sample).answer, drawn.labels)
    plain = [sum(french(person) for person in HELD if ill(person) and person % 90 // 10 == place) for place in range(9)]
    assert [group[0] for group in found.answer.cells or ()] == plain
    assert found.groups == tuple(group.name for group in groups)
    sizes = [sum(ill(person) and person % 90 // 10 == place for person in HELD) for place in range(9)]
    assert [size for _, size in drawn.groups] == sizes


def test_who_would_be_in_two_groups_is_in_the_first(opened: Open) -> None:
    offices = opened()
    groups = [AskedGroup("ill", "ill = 'yes'", Decimal(1)), AskedGroup("all", None, Decimal(1))]
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None, groups=groups)
    drawn = offices.holder.draw(asked.envelope)
    found = offices.researcher.read(offices.registry.count(drawn.sample).answer, drawn.labels).answer.cells
    first = sum(french(person) for person in HELD if ill(person))
    assert found == ((first,), (sum(map(french, HELD)) - first,))
    assert counters_of(offices)[:180] == [10] * 180


def test_an_exhausted_person_is_left_out_without_a_word(opened: Open) -> None:
    offices = opened(terms=terms_text(closing=OPEN_LONG))
    exhaust(offices, [4, 8])
    assert counters_of(offices)[3] == 415
    assert cells_of(offices, [4, 8, 12, 13]) == [[1]]
    assert cells_of(offices, [4, 8, 12, 13], kind="count-and-size") == [[1, 1]]
    assert cells_of(offices, [4, 12, 8], [0, 0, 1]) == [[1], [0]]
    assert counters_of(offices)[3] == 415


def test_an_account_with_room_for_less_is_left_out_of_what_costs_more(opened: Open) -> None:
    offices = opened(terms=terms_text(closing=OPEN_LONG))
    for _ in range(13):
        assert cells_of(offices, [4], scale=10) == [[1]]
    assert counters_of(offices)[3] == 390
    assert cells_of(offices, [4], scale=10) == [[0]], "30 more would be above 415"
    assert cells_of(offices, [4], scale=30, kind="count-and-size") == [[1, 0]], "20 more is not"
    assert counters_of(offices)[3] == 410


# --- a registry linked in part ----------------------------------------------------------------------------------------


def test_ids_that_the_registry_does_not_know_count_nothing(opened: Open) -> None:
    health, people, homes = people_rows()
    half = "\n".join(people.splitlines()[:101]) + "\n"
    offices = opened(rows=(health, half, homes), terms=terms_text(linked_share="linked_share: 0.55"))
    known = [person for person in HELD if ill(person) and person <= 100]
    has = sum(map(french, known))
    read = offices.researcher.read
    assert read(offices.ask(kind="count-and-size")).answer.cells == ((has, len(known) - has),)
    assert cells_of(offices, [150, 151, 9999], kind="count-and-size") == [[0, 0]]


# --- households by a public map ---------------------------------------------------------------------------------------


def household_terms(members: int = 6) -> str:
    return terms_text(unit=f"unit: {{map: households.csv, members: {members}}}", closing=OPEN_LONG)


def mapped_rows(*more: str, moved: dict[int, str] | None = None) -> tuple[str, str, str]:
    """The usual rows; `more` lines of the map, and people whose row in the registry names another household."""
    health, people, homes = people_rows()
    lines = people.splitlines()
    for person, home in (moved or {}).items():
        lines[person] = lines[person].replace(f",H{person // 4},", f",{home},")
    return health, "\n".join(lines) + "\n", homes + "".join(f"{line}\n" for line in more)


def test_a_household_pays_for_each_member_in_the_sample(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows()
    write(tmp_path / "households.csv", rows[2].splitlines())
    offices = opened(rows=rows, terms=household_terms(), people_card=HOUSEHOLD_CARD, mapped=True)
    assert cells_of(offices, [4, 5, 6, 8]) == [[2]]
    counters = counters_of(offices)
    assert (counters[1], counters[2], sum(counters)) == (30, 10, 40), "H0 is the first unit of the map"
    assert cells_of(offices, [4, 5, 4, 5], kind="count-and-size") == [[1, 1, 0]]
    assert counters_of(offices)[1] == 70
    assert cells_of(offices, [4, 5, 8], [0, 1, 1], property="tongue", kind="histogram") == [[1, 0, 0], [1, 1, 0]]
    assert counters_of(offices, "tongue")[1] == 40


def test_members_that_the_registry_does_not_have_are_charged(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows("901,H1", "902,H1", "903,H500")
    write(tmp_path / "households.csv", rows[2].splitlines())
    offices = opened(rows=rows, terms=household_terms(), people_card=HOUSEHOLD_CARD, mapped=True)
    assert cells_of(offices, [4, 901, 902, 903, 7777], kind="count-and-size") == [[1, 0, 3]]
    counters = counters_of(offices)
    assert (counters[1], counters[-1]) == (60, 20), "7777 is not in the map, and nobody pays for it"
    exhaust(offices, [901])
    assert cells_of(offices, [4, 5, 8]) == [[1]], "a member who is not there has drained the household"


def test_a_row_of_another_household_than_the_map_s_is_never_counted(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows(moved={8: "H99", 12: "H1"})
    write(tmp_path / "households.csv", rows[2].splitlines())
    offices = opened(rows=rows, terms=household_terms(), people_card=HOUSEHOLD_CARD, mapped=True)
    assert cells_of(offices, [8, 12, 16], kind="count-and-size") == [[1, 0, 2]]
    assert counters_of(offices)[2:5] == [20, 20, 20], "the households of the map pay"


def test_a_household_is_left_out_whole(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows()
    write(tmp_path / "households.csv", rows[2].splitlines())
    offices = opened(rows=rows, terms=household_terms(), people_card=HOUSEHOLD_CARD, mapped=True)
    for _ in range(10):
        assert cells_of(offices, [4, 5, 6, 7]) == [[1]]
    assert counters_of(offices)[1] == 400
    assert cells_of(offices, [4, 5, 6, 7]) == [[0]], "four would cost 40, and 15 are left"
    assert cells_of(offices, [4]) == [[1]], "one costs 10"
    assert cells_of(offices, [4]) == [[0]]


def test_rows_beyond_a_household_s_bound_do_not_count(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows()
    write(tmp_path / "households.csv", rows[2].splitlines())
    card = HOUSEHOLD_CARD.replace("rows: 6", "rows: 2")
    offices = opened(rows=rows, terms=household_terms(), people_card=card, mapped=True)
    found = cells_of(offices, [4, 5, 6, 7], kind="count-and-size")
    assert sum(found[0]) == 4, "who has no row that counts is absent"
    assert found[0][2] == 2


# --- ids that are addresses -------------------------------------------------------------------------------------------


def test_addresses_are_households_of_one_id(opened: Open) -> None:
    terms = terms_text(
        holder="holder: {dataset: health, id: address}",
        registry="registry: {dataset: people, id: household}",
        ids="ids: text",
        unit="unit: household",
    )
    offices = opened(terms=terms, people_card=HOUSEHOLD_CARD)
    homes = {f"H{person // 4}" for person in HELD if ill(person)}
    speaks = {f"H{person // 4}" for person in range(1, 201) if french(person)}
    has = len(homes & speaks)
    found = offices.researcher.read(offices.ask(kind="count-and-size")).answer.cells
    assert found == ((has, len(homes) - has),)
    assert set(counters_of(offices)) <= {0, 20}
    # One person of the health file has up to two rows, which may name two addresses.
    assert offices.sessions[0].budget("insured").population.epsilon_spent == 2 * Decimal("5.745177444")


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [3, 5])
def test_weights_are_cut_to_the_largest_agreed_on(opened: Open, most: int) -> None:
    properties = f"""properties:
  francophone: {{where: "french = 'yes' AND english = 'no'", weight: {{column: weight, most: {most}}}}}
  tongue:
    weight: {{column: weight, most: {most}}}
    values: {{french: {{where: "first = 'F'"}}, english: {{where: "first = 'E'"}}}}"""
    text = terms_text(properties="")
    text = "\n".join(line for line in text.splitlines() if not line.startswith(" ")) + f"\n{properties}\n"
    offices = opened(terms=text)
    drawn = [person for person in HELD if ill(person)]
    weight = {person: min(person % 5 + 1, most) for person in range(1, 201)}
    has = sum(weight[person] for person in drawn if french(person))
    rest = sum(weight[person] for person in drawn if not french(person))
    read = offices.researcher.read
    assert read(offices.ask(kind="count-and-size")).answer.cells == ((has, rest),)
    assert read(offices.ask("tongue", "histogram")).answer.cells == ((has, rest),)


# --- crosswalks -------------------------------------------------------------------------------------------------------


def test_a_crosswalk_at_the_registry_gives_ids_their_people(opened: Open, tmp_path: Path) -> None:
    """Agreed ids are texts A1…; two of them are person 4, A300 is nobody."""
    pairs = ["id,key", *(f"A{n},{n}" for n in range(1, 201)), "B4,4", "A300,300", "A5,5"]
    crosswalk = write(tmp_path / "c" / "registry.csv", pairs)
    other = write(tmp_path / "c" / "holder.csv", ["id,key", *(f"A{n},{n}" for n in HELD)])
    offices = opened(terms=terms_text(ids="ids: text"), registry_crosswalk=crosswalk, holder_crosswalk=other)
    drawn = [person for person in HELD if ill(person)]
    has = sum(map(french, drawn))
    found = offices.researcher.read(offices.ask(kind="count-and-size")).answer.cells
    assert found == ((has, len(drawn) - has),)
    assert cells_of(offices, ["A4", "B4", "A300", "A8", "4"], kind="count-and-size") == [[2, 0]]
    assert counters_of(offices)[3] == 20, "two ids of one person are one member"
    assert cells_of(offices, ["A4", "B4"], [0, 1]) in ([[1], [0]], [[0], [1]])


def test_a_record_of_the_holder_draws_one_id_whatever_its_crosswalk_says(opened: Open, tmp_path: Path) -> None:
    """Person 3 of the holder is given twenty agreed ids, and persons 6 and 9 share one."""
    pairs = [
        "id,key",
        *(f"{n},{n}" for n in HELD if n not in (6, 9)),
        "6,6",
        "6,9",
        *(f"{n},3" for n in range(100, 120)),
    ]
    offices = opened(holder_crosswalk=write(tmp_path / "c" / "holder.csv", pairs))
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="ill = 'yes'")
    assert offices.holder.draw(asked.envelope).drawn == sum(map(ill, HELD)) - 1
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="age = 3")
    assert offices.holder.draw(asked.envelope).drawn == 2, "persons 3 and 93"


# --- how ids are compared ---------------------------------------------------------------------------------------------


def test_as_integers_007_and_7_are_one(opened: Open, tmp_path: Path) -> None:
    rows = mapped_rows()
    homes = [line.replace("7,H1", "007,H1") if line == "7,H1" else line for line in rows[2].splitlines()]
    rows = (rows[0].replace("\n8,H2", "\n0008,H2"), rows[1].replace("\n8,H2", "\n+8,H2"), "\n".join(homes) + "\n")
    write(tmp_path / "households.csv", homes)
    offices = opened(rows=rows, terms=household_terms(), people_card=HOUSEHOLD_CARD, mapped=True)
    assert cells_of(offices, [7, 8], kind="count-and-size") == [[1, 1, 0]]
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="age = 8")
    assert offices.holder.draw(asked.envelope).drawn == 2, "persons 8 and 98"
    assert offices.researcher.read(
        offices.registry.count(offices.holder.draw(asked.envelope).sample).answer
    ).answer.cells == ((1,),)


def test_as_text_007_and_7_are_two(opened: Open) -> None:
    health, people, homes = people_rows()
    rows = (
        health.replace("\n8,H2", "\n008,H2"),
        people.replace("\n12,H3", "\n\u00a012 ,H3"),
        homes,
    )
    texts = [card.replace("type: integer}\n  ", "type: text}\n  ", 1) for card in (HEALTH_CARD, PEOPLE_CARD)]
    offices = opened(rows=rows, terms=terms_text(ids="ids: text"), health_card=texts[0], people_card=texts[1])
    assert cells_of(offices, ["8", "008", "12"], kind="count-and-size") == [[2, 0]], "8 and 12 are there, 008 is not"
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="age = 8")
    drawn = offices.holder.draw(asked.envelope)
    assert offices.researcher.read(offices.registry.count(drawn.sample).answer).answer.cells == ((0,),)
