"""Acts on people: what they may do and ask about, and that the chain is the truth about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import NotSignedIn, ParameterInvalid, RecordsUnavailable, Refused, UnknownName
from discreet.people import Bucket, PersonEntry, Proposal, Role
from discreet.session import open as open_session
from tests.cli.clinic import CARD, ROWS
from tests.conformance.people.people_office import OpenOffice, OpenOffices, opened

CUSTODIAN = Role.CUSTODIAN
PASSWORD = "correct horse battery"
OTHER = "staple of another kind"


# --- grants and names -----------------------------------------------------------------------------------------------


def test_a_grant_is_there_at_once_and_gone_at_once(office: OpenOffice, tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    office.session.add(tmp_path / "clinic.csv", confirm=lambda _: True)
    _, secret = office.make_token()

    def granted() -> frozenset[str]:
        known = office.by_token(secret)
        assert known is not None
        return known.datasets

    assert granted() == set()
    assert office.people.grant("ben", "clinic", who="ana").datasets == {"clinic"}
    assert granted() == {"clinic"}
    head = office.head()
    with pytest.raises(Refused, match="'ben' may ask about 'clinic' already"):
        office.people.grant("ben", "clinic", who="ana")
    with pytest.raises(UnknownName, match="Person 'eve'"):
        office.people.grant("eve", "clinic", who="ana")
    for odd in ("clinics", "../w", "", "\0", "clinic/.."):
        with pytest.raises(UnknownName, match="Dataset"):
            office.people.grant("ben", odd, who="ana")
    assert office.head() == head
    assert office.people.withdraw("ben", "clinic", who="ana").datasets == set()
    assert granted() == set()
    with pytest.raises(Refused, match="'ben' may not ask about 'clinic'; nothing was changed"):
        office.people.withdraw("ben", "clinic", who="ana")


@pytest.mark.parametrize("name", ["", "b en", "bén", "b\0n", "١٢", "x" * 64, "-ben", "ben\n", "\ud800", "<b>", "a/b"])
def test_a_name_is_what_a_ledger_takes_for_one(office: OpenOffice, name: str) -> None:
    before = office.head()
    with pytest.raises(ParameterInvalid):
        office.people.add(name, {Role.ANALYST}, who="ana")
    assert office.head() == before


def test_a_name_is_given_once(office: OpenOffice) -> None:
    office.people.suspend("ben", who="ana")
    before = office.head()
    for name in ("ben", "Ben", "BEN"):
        with pytest.raises(Refused, match="'ben' is known here already"):
            office.people.add(name, {Role.ANALYST}, who="ana")
    assert office.head() == before


@pytest.mark.parametrize("name", ["discreet", "custodian", "Discreet", "CUSTODIAN"])
def test_nobody_has_a_name_that_the_ledger_itself_writes(office: OpenOffice, name: str) -> None:
    before = office.head()
    with pytest.raises(Refused, match=f"'{name}' is no person's name"):
        office.people.add(name, {Role.ANALYST}, who="ana")
    assert office.head() == before


def test_whoever_asked_on_the_command_line_is_the_same_analyst(office: OpenOffice) -> None:
    office.session.ledger.add_analyst("mia", who="ana")
    assert office.people.add("mia", {Role.ANALYST}, who="ana").roles == {Role.ANALYST}
    assert office.session.ledger.analysts() == ("ana", "ben", "mia")


def test_whoever_becomes_an_analyst_is_one_on_the_ledger(office: OpenOffice) -> None:
    office.people.add("mia", {Role.REVIEWER}, who="ana")
    assert office.session.ledger.analysts() == ("ana", "ben")
    office.people.give_role("mia", Role.ANALYST, who="ana")
    assert office.session.ledger.analysts() == ("ana", "ben", "mia")


def test_what_changes_nothing_leaves_no_event(office: OpenOffice) -> None:
    people, before = office.people, office.head()
    changes: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: people.give_role("ben", Role.ANALYST, who="ana"), "has the role 'analyst' already"),
        (lambda: people.take_role("ben", Role.AUDITOR, who="ana"), "does not have the role 'auditor'"),
        (lambda: people.restore("ben", who="ana"), "'ben' is not suspended"),
    )
    for change, told in changes:
        with pytest.raises(Refused, match=f"{told}; nothing was changed"):
            change()
    assert office.head() == before
    people.suspend("ben", who="ana")
    with pytest.raises(Refused, match="'ben' is suspended already; nothing was changed"):
        people.suspend("ben", who="ana")


# --- the chain is the truth -----------------------------------------------------------------------------------------


def test_after_an_older_ledger_was_put_back_later_secrets_are_nothing(
    office: OpenOffice, open_office: OpenOffices, tmp_path: Path
) -> None:
    _, early = office.make_token("ana")
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    office.back_up(tmp_path / "backup")
    office.people.add("eve", {Role.REVIEWER}, who="ana")
    later = [office.make_token(name)[1] for name in ("eve", "ben")]
    office.people.sign_in.set_password("ben", OTHER, who="ben")
    sessions = [office.let_in("eve"), office.enter("ben", OTHER)]
    link = office.people.sign_in.make_link("eve", who="ana")
    office.put_back(tmp_path / "backup")
    again = open_office(office.clock)
    again.clock.forward(seconds=61)
    assert [entry.name for entry in again.people.persons()] == ["ana", "ben"]
    again.people.add("eve", {Role.CUSTODIAN}, who="ana")
    assert [again.by_token(secret) for secret in later] == [None, None]
    assert [again.by_session(secret) for secret in sessions] == [None, None]
    with pytest.raises(NotSignedIn):
        again.people.sign_in.use_link(link)
    for password in (OTHER, PASSWORD):
        with pytest.raises(NotSignedIn):
            again.enter("ben", password)
    assert again.by_token(early) is not None


def test_what_was_ended_is_not_revived_by_an_older_ledger(
    office: OpenOffice, open_office: OpenOffices, tmp_path: Path
) -> None:
    token, secret = office.make_token()
    session = office.let_in("ben")
    link = office.people.sign_in.make_link("ana", who="ana")
    office.back_up(tmp_path / "backup")
    office.people.tokens.revoke(token.id, who="ben")
    office.people.suspend("ben", who="ana")
    office.people.sign_in.use_link(link)
    office.put_back(tmp_path / "backup")
    again = open_office(office.clock)
    assert not again.people.person("ben").suspended, "which a custodian has to do again"
    assert again.by_token(secret) is None
    assert again.by_session(session) is None
    with pytest.raises(NotSignedIn):
        again.people.sign_in.use_link(link)


ENDS: dict[str, Callable[[OpenOffice, str], object]] = {
    "another link": lambda office, _: office.people.sign_in.make_link("ben", who="mia"),
    "its use": lambda office, link: office.people.sign_in.use_link(link),
    "a password": lambda office, _: office.people.sign_in.set_password("ben", PASSWORD, who="ben"),
    "suspension": lambda office, _: office.people.suspend("ben", who="ana"),
    "a custodian's role": lambda office, _: confirmed(office, office.people.give_role("ben", CUSTODIAN, who="ana")),
    "suspension of its maker": lambda office, _: confirmed(office, office.people.suspend("mia", who="ana")),
    "the maker's role": lambda office, _: confirmed(office, office.people.take_role("mia", CUSTODIAN, who="ana")),
}


def confirmed(office: OpenOffice, found: PersonEntry | Proposal, *, who: str = "kim") -> PersonEntry:
    assert isinstance(found, Proposal)
    return office.people.confirm(found.number, who=who)


@pytest.mark.parametrize("end", ENDS)
def test_a_link_that_is_void_is_not_revived_by_an_older_ledger(
    office: OpenOffice, open_office: OpenOffices, tmp_path: Path, end: str
) -> None:
    for name in ("mia", "kim"):
        office.people.add(name, {CUSTODIAN}, who="ana")
    confirmed(office, office.people.proposals()[0], who="mia")
    link = office.people.sign_in.make_link("ben", who="mia")
    others = office.people.sign_in.make_link("ana", who="ana")
    office.back_up(tmp_path / "backup")
    ENDS[end](office, link)
    names = [name for (name,) in office.vandalise("SELECT name FROM secrets WHERE sort = 'link'")]
    assert link.partition(".")[0] not in names
    office.put_back(tmp_path / "backup")
    again = open_office(office.clock)
    assert link.partition(".")[0] in again.people.catch_up().links
    with pytest.raises(NotSignedIn):
        again.people.sign_in.use_link(link)
    assert again.people.sign_in.use_link(others)[0].name == "ana"


def test_a_link_that_another_process_made_just_now_is_left(office: OpenOffice, open_office: OpenOffices) -> None:
    before = office.people.catch_up()
    link = open_office(office.clock).people.sign_in.make_link("ben", who="ana")
    office.people._rows.forget_links(before)
    assert office.people.sign_in.use_link(link)[0].name == "ben"


def test_a_process_notices_that_its_chain_is_another(office: OpenOffice, folder: Path, tmp_path: Path) -> None:
    """It went on while an older ledger was put back and grew past what it had seen."""
    office.back_up(tmp_path / "backup")
    office.people.add("eve", {Role.ANALYST}, who="ana")
    assert [entry.name for entry in office.people.persons()] == ["ana", "ben", "eve"]
    seen = office.head()
    office.put_back(tmp_path / "backup")
    with opened(folder) as other:
        while other.head() <= seen:
            other.people.add(f"new{other.head()}", {Role.REVIEWER}, who="ana")
        names = [entry.name for entry in other.people.persons()]
    with open_session(folder) as fresh:
        office.people._book._ledger = fresh.ledger  # the file of the ledger was replaced under its connection
        assert [entry.name for entry in office.people.persons()] == names
    assert "eve" not in names


def test_an_act_that_is_not_understood_stops_everybody(office: OpenOffice) -> None:
    _, secret = office.make_token()
    office.session.ledger.record_people(
        "person-promoted", "ben", who="ana", after=office.session.ledger.read_people().mark
    )
    with pytest.raises(RecordsUnavailable, match="an act that this version does not know"):
        office.by_token(secret)


def test_looking_again_reads_nothing_anew(office: OpenOffice) -> None:
    before = office.people.catch_up()
    assert office.people.catch_up() is before
    office.session.ledger.record_view("something", who="ana")
    assert office.people.catch_up() is before


def test_limits_and_people_need_no_ledger_write(office: OpenOffice) -> None:
    _, secret = office.make_token()
    before = office.head()
    office.by_token(secret)
    office.people.limits.take(Bucket("ben", 5, 60))
    office.people.sign_in.end("nothing")
    assert office.head() == before
