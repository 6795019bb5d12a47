"""From the second custodian on it takes two to say who is one: at once, in other processes, and by detours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import NotAllowed, NotSignedIn, Refused, UnknownName
from discreet.people import People, PersonEntry, Proposal, Role
from tests.conformance.people.people_office import OpenOffice, OpenOffices, in_processes

PASSWORD = "correct horse battery"
CUSTODIAN = Role.CUSTODIAN
Act = Callable[[People, str], PersonEntry | Proposal]
Step = Callable[[], PersonEntry | Proposal]
ACTS: dict[str, Act] = {
    "give": lambda people, who: people.give_role("ben", CUSTODIAN, who=who),
    "take": lambda people, who: people.take_role("mia", CUSTODIAN, who=who),
    "suspend": lambda people, who: people.suspend("mia", who=who),
    "restore": lambda people, who: people.restore("old", who=who),
}


@pytest.fixture
def three(office: OpenOffice) -> OpenOffice:
    """With the custodians ana, mia and kim, and old, who was one and is suspended."""
    office.people.add("old", {CUSTODIAN}, who="ana")
    office.people.confirm(proposed(office.people.suspend("old", who="ana")), who="old")
    office.people.add("mia", {CUSTODIAN}, who="ana")
    office.people.add("kim", {CUSTODIAN}, who="ana")
    office.people.confirm(office.people.proposals()[0].number, who="mia")
    assert custodians(office) == {"ana", "mia", "kim"}
    return office


def custodians(office: OpenOffice) -> set[str]:
    return {entry.name for entry in office.people.persons() if entry.is_custodian}


def proposed(found: PersonEntry | Proposal) -> int:
    assert isinstance(found, Proposal)
    return found.number


def test_the_first_two_are_made_by_one(office: OpenOffice) -> None:
    made = office.people.give_role("ben", CUSTODIAN, who="ana")
    assert isinstance(made, PersonEntry)
    assert made.is_custodian
    assert office.people.proposals() == ()


@pytest.mark.parametrize("act", ACTS)
def test_what_one_proposes_another_confirms(three: OpenOffice, open_office: OpenOffices, act: str) -> None:
    before = custodians(three)
    number = proposed(ACTS[act](three.people, "ana"))
    assert custodians(three) == before
    assert [found.number for found in three.people.proposals()] == [number]
    for who, told in (
        ("ana", "another one confirms"),
        ("ben", "'ben' is none"),
        ("old", "'old' is none"),
        ("x", "none"),
    ):
        with pytest.raises(NotAllowed, match=told):
            three.people.confirm(number, who=who)
    other = open_office()
    changed = other.people.confirm(number, who="kim")
    assert changed.is_custodian is (act in {"give", "restore"})
    assert custodians(three) == before ^ {changed.name}
    assert three.people.proposals() == ()
    with pytest.raises(UnknownName, match=f"Proposal '{number}'"):
        three.people.confirm(number, who="kim")


@pytest.mark.parametrize("act", ACTS)
def test_nobody_else_proposes(three: OpenOffice, act: str) -> None:
    before = three.head()
    for who in ("ben", "old", "root"):
        with pytest.raises(NotAllowed, match=f"'{who}' is none"):
            ACTS[act](three.people, who)
    assert three.head() == before


def test_a_third_custodian_is_added_without_that_role(three: OpenOffice) -> None:
    added = three.people.add("zoe", {CUSTODIAN, Role.AUDITOR}, who="ana")
    assert added.roles == {Role.AUDITOR}
    [proposal] = three.people.proposals()
    assert (proposal.person, proposal.proposer) == ("zoe", "ana")
    assert three.people.confirm(proposal.number, who="mia").roles == {CUSTODIAN, Role.AUDITOR}
    before = three.head()
    with pytest.raises(NotAllowed):
        three.people.add("eve", {CUSTODIAN}, who="ben")
    assert three.head() == before


def test_the_same_is_proposed_once(three: OpenOffice) -> None:
    number = proposed(three.people.suspend("mia", who="ana"))
    before = three.head()
    with pytest.raises(Refused, match=f"proposed already, as number {number}"):
        three.people.suspend("mia", who="kim")
    assert three.head() == before


def test_a_proposal_may_be_put_away_by_any_of_them(three: OpenOffice) -> None:
    for who in ("ana", "kim"):
        number = proposed(three.people.take_role("mia", CUSTODIAN, who="ana"))
        with pytest.raises(NotAllowed):
            three.people.decline(number, who="ben")
        assert three.people.decline(number, who=who).number == number
        with pytest.raises(UnknownName):
            three.people.confirm(number, who="kim")
    with pytest.raises(UnknownName):
        three.people.decline(10**30, who="ana")


def test_a_proposal_is_open_for_a_week_and_while_its_proposer_acts(three: OpenOffice) -> None:
    late = proposed(three.people.give_role("ben", CUSTODIAN, who="ana"))
    three.clock.forward(days=7, seconds=1)
    with pytest.raises(UnknownName):
        three.people.confirm(late, who="kim")
    assert three.people.proposals() == ()
    three.clock.forward(days=-7)
    by_mia = proposed(three.people.suspend("kim", who="mia"))
    three.people.confirm(proposed(three.people.suspend("mia", who="ana")), who="kim")
    with pytest.raises(UnknownName):
        three.people.confirm(by_mia, who="ana")


def test_the_last_custodian_stays(office: OpenOffice) -> None:
    before = office.head()
    acts: tuple[Callable[[], object], ...] = (
        lambda: office.people.take_role("ana", CUSTODIAN, who="root"),
        lambda: office.people.suspend("ana", who="ana"),
    )
    for act in acts:
        with pytest.raises(Refused, match="'ana' is the only custodian"):
            act()
    assert office.head() == before


def test_two_who_leave_at_once_do_not_leave_nobody(office: OpenOffice) -> None:
    """One of two proposals was confirmed: then the other would take the last."""
    office.people.give_role("ben", CUSTODIAN, who="ana")
    first = proposed(office.people.take_role("ana", CUSTODIAN, who="ana"))
    second = proposed(office.people.suspend("ben", who="ben"))
    office.people.confirm(first, who="ben")
    with pytest.raises((NotAllowed, Refused)):
        office.people.confirm(second, who="ana")
    with pytest.raises((NotAllowed, Refused)):
        office.people.confirm(second, who="ben")
    assert custodians(office) == {"ben"}


def test_processes_that_confirm_at_once_confirm_once(three: OpenOffice, folder: Path) -> None:
    number = str(proposed(three.people.take_role("mia", CUSTODIAN, who="ana")))
    told = in_processes(folder, *[["confirm", "kim", number]] * 3)
    assert sorted(told) == ["UnknownName", "UnknownName", "mia"]
    assert three.acts().count("confirmed") == 3
    assert custodians(three) == {"ana", "kim"}


def test_processes_that_take_from_each_other_leave_one(office: OpenOffice, folder: Path) -> None:
    office.people.give_role("ben", CUSTODIAN, who="ana")
    told = in_processes(folder, ["take", "ana", "ben"], ["take", "ben", "ana"])
    assert told == ["Proposal", "Proposal"]
    calls = [["confirm", found.person, str(found.number)] for found in office.people.proposals()]
    told = in_processes(folder, *calls)
    assert len(custodians(office)) == 1, told
    assert sorted(told)[1] in {"ana", "ben"}


def test_processes_that_add_at_once_make_one_custodian_alone(office: OpenOffice, folder: Path) -> None:
    """Each finds that one acts; whoever writes second finds that two do, and can only propose."""
    in_processes(folder, *[["add", "ana", name] for name in ("mia", "kim", "zoe")])
    assert len(custodians(office)) == 2
    assert {found.person for found in office.people.proposals()} == {"mia", "kim", "zoe"} - custodians(office)


# --- coming in as the other -----------------------------------------------------------------------------------------


def test_no_custodian_holds_what_another_comes_in_with(three: OpenOffice) -> None:
    before = three.head()
    for make in (
        lambda: three.people.sign_in.make_link("mia", who="ana"),
        lambda: three.people.tokens.make("mia", days=3, who="ana"),
        lambda: three.people.sign_in.set_password("mia", PASSWORD, who="ana"),
        lambda: three.people.tokens.make("kim", days=3, who="ana"),
        lambda: three.people.sign_in.set_password("kim", PASSWORD, who="root"),
    ):
        with pytest.raises(NotAllowed, match="only they make what they come in with"):
            make()
    assert three.head() == before
    three.people.tokens.make("mia", days=3, who="mia")
    assert three.by_session(three.let_in("kim")) is not None, "who never came in has to be let in by somebody"
    with pytest.raises(NotAllowed, match="only they make what they come in with"):
        three.let_in("kim")
    three.people.sign_in.make_link("ben", who="ana")
    three.people.sign_in.set_password("ben", PASSWORD, who="ana")


@pytest.mark.parametrize(
    "act",
    [
        lambda people: people.add("new", {Role.ANALYST}, who="mia"),
        lambda people: people.suspend("ben", who="mia"),
        lambda people: people.tokens.make("ben", days=3, who="mia"),
        lambda people: people.tokens.make("mia", days=3, who="mia"),
        lambda people: people.sign_in.make_link("ben", who="mia"),
        lambda people: people.sign_in.set_password("mia", PASSWORD, who="mia"),
    ],
)
def test_whoever_acts_has_arrived_by_whatever_way(office: OpenOffice, act: Callable[[People], object]) -> None:
    """On the command line nobody uses a link; a link of another's making would be for the other."""
    office.people.add("mia", {CUSTODIAN}, who="ana")
    office.people.sign_in.make_link("mia", who="ana")
    act(office.people)
    with pytest.raises(NotAllowed, match="only they make what they come in with"):
        office.people.sign_in.make_link("mia", who="ana")


def test_nobody_confirms_their_own_proposal_as_a_custodian_of_the_command_line(office: OpenOffice) -> None:
    """root1 has the folder and never signed in; carl would let himself in as root1."""
    people = office.people
    people.confirm(_made_alone(people, "root1"), who="root1")
    people.add("carl", {CUSTODIAN}, who="root1")
    office.let_in("carl", who="root1")
    number = proposed(people.give_role("ben", CUSTODIAN, who="carl"))
    with pytest.raises(NotAllowed, match="'root1' is a custodian"):
        people.sign_in.make_link("root1", who="carl")
    with pytest.raises(NotAllowed, match="another one confirms"):
        people.confirm(number, who="carl")
    assert custodians(office) == {"root1", "carl"}


def _made_alone(people: People, name: str) -> int:
    """Somebody takes the place of the only custodian; the number of what they have to confirm."""
    people.add(name, {CUSTODIAN}, who="ana")
    return proposed(people.take_role("ana", CUSTODIAN, who="ana"))


def test_what_somebody_began_ends_with_their_role(three: OpenOffice) -> None:
    """A link for the day after, and a proposal that would be open again once they are back."""
    people = three.people
    people.add("eve", {Role.ANALYST}, who="ana")
    ways: tuple[tuple[Step, Step], ...] = (
        (lambda: people.suspend("mia", who="ana"), lambda: people.restore("mia", who="ana")),
        (
            lambda: people.take_role("mia", CUSTODIAN, who="ana"),
            lambda: people.give_role("mia", CUSTODIAN, who="ana"),
        ),
    )
    for end, back in ways:
        own, others = (people.sign_in.make_link(name, who=who) for name, who in (("ben", "mia"), ("eve", "kim")))
        number = proposed(people.give_role("ben", CUSTODIAN, who="mia"))
        people.confirm(proposed(end()), who="kim")
        with pytest.raises(NotSignedIn):
            people.sign_in.use_link(own)
        assert people.sign_in.use_link(others)[0].name == "eve"
        people.confirm(proposed(back()), who="kim")
        with pytest.raises(NotSignedIn):
            people.sign_in.use_link(own)
        assert people.proposals() == ()
        with pytest.raises(UnknownName):
            people.confirm(number, who="kim")


def test_whoever_becomes_a_custodian_comes_in_anew(three: OpenOffice) -> None:
    """What ana made for ben when he was none would let her act as the second of two."""
    _, secret = three.people.tokens.make("ben", days=3, who="ana")
    three.people.sign_in.set_password("ben", PASSWORD, who="ana")
    session, link = three.let_in("ben"), three.people.sign_in.make_link("ben", who="ana")
    three.people.confirm(proposed(three.people.give_role("ben", CUSTODIAN, who="ana")), who="kim")
    assert three.by_token(secret) is None
    assert three.by_session(session) is None
    with pytest.raises(NotSignedIn):
        three.people.sign_in.use_link(link)
    with pytest.raises(NotSignedIn):
        three.enter("ben", PASSWORD)
    assert three.by_session(three.let_in("ben")) is not None
    with pytest.raises(NotAllowed):
        three.let_in("ben")


def test_a_custodian_who_lost_everything_is_let_in_by_two(three: OpenOffice) -> None:
    three.people.confirm(proposed(three.people.suspend("mia", who="ana")), who="kim")
    three.people.confirm(proposed(three.people.restore("mia", who="kim")), who="ana")
    assert three.by_session(three.let_in("mia")) is not None


def test_a_role_that_was_taken_is_gone_while_signed_in(three: OpenOffice) -> None:
    session = three.let_in("mia", who="mia")
    three.people.confirm(proposed(three.people.take_role("mia", CUSTODIAN, who="ana")), who="kim")
    known = three.by_session(session)
    assert known is not None
    assert known.roles == set()
    with pytest.raises(NotAllowed):
        three.people.give_role("ben", CUSTODIAN, who="mia")
