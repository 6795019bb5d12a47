"""Links, passwords and sessions: how somebody comes in, and is out again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from discreet.errors import NotSignedIn, Refused, TooManyRequests
from discreet.people.secret_rows import SecretSort
from tests.conformance.people.people_office import OpenOffice, OpenOffices, in_processes

PASSWORD = "correct horse battery"
OTHER = "staple of another kind"


# --- links ----------------------------------------------------------------------------------------------------------


def test_a_link_lets_its_person_in_once(office: OpenOffice, open_office: OpenOffices) -> None:
    link = office.people.sign_in.make_link("ben", who="ana")
    person, session = office.people.sign_in.use_link(link)
    assert (person.name, person.via) == ("ben", "session")
    known = office.by_session(session)
    assert known is not None
    assert known.name == "ben"
    for again in (office, open_office()):
        with pytest.raises(NotSignedIn):
            again.people.sign_in.use_link(link)
    assert office.acts()[-2:] == ["link-made", "link-used"]


def test_two_who_use_a_link_at_once_are_one(office: OpenOffice, folder: Path) -> None:
    link = office.people.sign_in.make_link("ben", who="ana")
    assert sorted(in_processes(folder, *[["link", link]] * 3)) == ["NotSignedIn", "NotSignedIn", "ben"]
    assert office.acts().count("link-used") == 1


def test_threads_of_one_process_use_a_link_once(office: OpenOffice) -> None:

    link = office.people.sign_in.make_link("ben", who="ana")
    start = Barrier(8)

    def use(_: int) -> str:
        start.wait()
        try:
            return office.people.sign_in.use_link(link)[0].name
        except NotSignedIn:
            return "nobody"

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(use, range(8))) == ["ben", *["nobody"] * 7]
    assert office.acts().count("link-used") == 1


def test_a_new_link_voids_the_one_before(office: OpenOffice) -> None:
    first = office.people.sign_in.make_link("ben", who="ana")
    second = office.people.sign_in.make_link("ben", who="ana")
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(first)
    assert office.people.sign_in.use_link(second)[0].name == "ben"


def test_a_link_lasts_a_day(office: OpenOffice) -> None:
    early, late = (office.people.sign_in.make_link(name, who="ana") for name in ("ana", "ben"))
    office.clock.forward(hours=23, minutes=59)
    office.people.sign_in.use_link(early)
    office.clock.forward(minutes=1)
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(late)


def test_whoever_is_suspended_uses_no_link_and_gets_none(office: OpenOffice) -> None:
    link = office.people.sign_in.make_link("ben", who="ana")
    office.people.suspend("ben", who="ana")
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(link)
    for make in (
        lambda: office.people.sign_in.make_link("ben", who="ana"),
        office.make_token,
        lambda: office.people.sign_in.set_password("ben", PASSWORD, who="ana"),
    ):
        with pytest.raises(Refused, match="'ben' is suspended; nothing was made"):
            make()
    office.people.restore("ben", who="ana")
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(link)


@pytest.mark.parametrize("secret", ["", "\0", "x" * 10_000, "0" * 16 + "." + "A" * 43, "\ud800.\ud800"])
def test_what_is_no_link_lets_nobody_in(office: OpenOffice, secret: str) -> None:
    office.people.sign_in.make_link("ben", who="ana")
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(secret)


# --- passwords ------------------------------------------------------------------------------------------------------


def test_a_password_lets_its_person_in(office: OpenOffice, open_office: OpenOffices) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    first, second = office.enter("ben", PASSWORD), open_office(office.clock).enter("ben", PASSWORD)
    assert first != second
    known = office.by_session(first)
    assert known is not None
    assert (known.name, known.via) == ("ben", "session")


def test_all_that_does_not_sign_in_is_told_alike(office: OpenOffice) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    told = set()
    tries = [
        ("ben", OTHER), ("ben", ""), ("ana", PASSWORD), ("eve", PASSWORD), ("BEN", PASSWORD), ("b\0en", PASSWORD),
        ("\ud800", "\ud800"), ("", ""), ("ben" * 4_000, PASSWORD), ("ben", PASSWORD * 1_000), ("ben ", PASSWORD),
    ]  # fmt: skip
    for place, (name, password) in enumerate(tries):
        with pytest.raises(NotSignedIn) as refused:
            office.enter(name, password, f"192.0.2.{place}")
        told.add(refused.value.message)
    assert len(told) == 1


def test_a_new_password_ends_what_the_old_one_began(office: OpenOffice, open_office: OpenOffices) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    own, stolen = office.enter("ben", PASSWORD), office.enter("ben", PASSWORD)
    link = office.people.sign_in.make_link("ben", who="ana")
    open_office(office.clock).people.sign_in.set_password("ben", OTHER, who="ben", keep=own)
    assert office.by_session(stolen) is None
    assert office.by_session(own) is not None
    with pytest.raises(NotSignedIn):
        office.people.sign_in.use_link(link)
    with pytest.raises(NotSignedIn):
        office.enter("ben", PASSWORD, "192.0.2.2")
    office.clock.forward(seconds=61)
    office.enter("ben", OTHER)


def test_a_session_of_somebody_else_is_not_kept_with_a_new_password(office: OpenOffice) -> None:
    others, dead = office.let_in("ana"), office.let_in("ben")
    office.clock.forward(hours=12)
    office.people.sign_in.set_password("ben", PASSWORD, who="ben", keep=others)
    office.people.sign_in.set_password("ben", OTHER, who="ben", keep=dead)
    assert office.vandalise("SELECT person FROM sessions WHERE person = 'ben'") == []
    assert office.by_session(dead) is None


def test_a_letter_is_the_same_on_every_keyboard(office: OpenOffice) -> None:
    office.people.sign_in.set_password("ben", "caf\u00e9 au lait \u00e0 deux", who="ben")
    office.enter("ben", "cafe\u0301 au lait a\u0300 deux")


def test_five_wrong_passwords_in_a_minute_are_enough(office: OpenOffice) -> None:

    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    for _ in range(5):
        with pytest.raises(NotSignedIn):
            office.enter("ben", OTHER, "198.51.100.1")
    for name in ("ben", "eve"):
        with pytest.raises(TooManyRequests):
            office.enter(name, PASSWORD, "198.51.100.1")
    office.enter("ben", PASSWORD, "203.0.113.1")  # whom a stranger does not keep out
    for name in ("eve", "mia", "noa", "ida"):
        with pytest.raises(NotSignedIn):
            office.enter(name, OTHER, "2001:db8::1")
    with pytest.raises(NotSignedIn):
        office.enter("zoe", OTHER, "2001:db8::ffff")
    with pytest.raises(TooManyRequests):
        office.enter("kim", PASSWORD, "2001:db8::2")
    office.clock.forward(seconds=61)
    office.enter("ben", PASSWORD, "198.51.100.1")


def test_fifty_wrong_passwords_from_everywhere_are_enough(office: OpenOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    monkeypatch.setattr("discreet.people.sign_in.matches", lambda password, kept: False)  # fifty hashes take seconds
    for place in range(50):
        with pytest.raises(NotSignedIn):
            office.enter("ben", OTHER, f"198.51.100.{place}")
    with pytest.raises(TooManyRequests):
        office.enter("ben", PASSWORD, "203.0.113.1")
    with pytest.raises(NotSignedIn):
        office.enter("eve", PASSWORD, "203.0.113.1")
    office.clock.forward(seconds=61)
    monkeypatch.undo()
    office.enter("ben", PASSWORD, "203.0.113.1")


@pytest.mark.parametrize("name", ["ben", "ana", "eve", "\0", "\ud800", ""])
def test_for_every_name_a_row_is_looked_up(office: OpenOffice, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    looked, find = list[str](), office.people._rows.find

    def look(sort: SecretSort, name: str, act: str) -> str | None:
        looked.append(sort)
        return find(sort, name, act)

    monkeypatch.setattr(office.people._rows, "find", look)
    with pytest.raises(NotSignedIn):
        office.enter(name, OTHER)
    assert looked == ["password"]


def test_a_password_is_kept_for_the_act_that_set_it(office: OpenOffice) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    before = office.vandalise("SELECT sort, name, act, number, kept, word FROM secrets")
    office.people.sign_in.set_password("ben", OTHER, who="ben")
    assert len(office.vandalise("SELECT name FROM secrets")) == 1
    values = ", ".join(f"'{value}'" if isinstance(value, str) else str(value) for value in before[0])
    office.vandalise(f"INSERT INTO secrets VALUES ({values})")
    with pytest.raises(NotSignedIn):
        office.enter("ben", PASSWORD)
    office.enter("ben", OTHER)


# --- sessions -------------------------------------------------------------------------------------------------------


def test_a_session_lasts_twelve_hours(office: OpenOffice) -> None:
    session = office.let_in("ben")
    office.clock.forward(hours=11, minutes=59)
    assert office.by_session(session) is not None
    office.clock.forward(minutes=2)
    assert office.by_session(session) is None
    office.let_in("ana")
    assert office.vandalise("SELECT person FROM sessions") == [("ana",)], "what has ended is swept"


def test_signing_out_ends_one_session(office: OpenOffice, open_office: OpenOffices) -> None:
    first, second = office.let_in("ben"), office.let_in("ben")
    open_office().people.sign_in.end(first)
    assert office.by_session(first) is None
    assert office.by_session(second) is not None
    for odd in ("", "\0", "x" * 10_000, "\ud800"):
        office.people.sign_in.end(odd)


def test_suspension_ends_everything_at_once(office: OpenOffice, open_office: OpenOffices) -> None:
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    _, secret = office.make_token()
    session = office.enter("ben", PASSWORD)
    open_office().people.suspend("ben", who="ana")
    assert office.by_token(secret) is None
    assert office.by_session(session) is None
    with pytest.raises(NotSignedIn):
        office.enter("ben", PASSWORD)
    office.people.restore("ben", who="ana")
    assert office.by_session(session) is None, "a session that was ended stays so"
    assert office.by_token(secret) is not None
