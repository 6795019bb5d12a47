"""The register folds acts, one after the other, into who may come in; what it does not understand stops it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from discreet.errors import RecordsUnavailable, UnknownName
from discreet.people import Role
from discreet.people.register import Act, Register, password_of

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = (START + timedelta(days=1)).isoformat()
ADDED = {"act": "person-added", "person": "ana", "roles": "custodian"}
BEN = {"act": "person-added", "person": "ben", "roles": "analyst"}


def fold(*payloads: Mapping[str, Any], who: str = "ana", register: Register | None = None) -> Register:
    """The register after acts of these payloads, an hour apart."""
    register = register or Register()
    for payload in payloads:
        number = register.sequence + 1
        when = (START + timedelta(hours=number)).isoformat(timespec="microseconds")
        register = register.after(Act(number, f"hash {number}", when, who, payload))
    return register


def about(act: str, person: str = "ben", **facts: object) -> dict[str, object]:
    return {"act": act, "person": person, **facts}


def test_nobody_is_there_at_first() -> None:
    assert (Register().persons, Register().custodians, Register().active("ana")) == ({}, frozenset(), None)


def test_roles_and_grants_add_up_and_go() -> None:
    register = fold(
        ADDED, BEN, about("role-given", role="reviewer"), about("grant-given", dataset="a"),
        about("grant-given", dataset="b"), about("role-taken", role="analyst"), about("grant-withdrawn", dataset="a"),
    )  # fmt: skip
    ben = register.find("ben")
    assert ben.roles == {Role.REVIEWER}
    assert ben.datasets == {"b"}
    assert register.custodians == {"ana"}
    assert (register.sequence, register.hash) == (7, "hash 7")


def test_the_suspended_are_known_but_not_active() -> None:
    register = fold(ADDED, BEN, about("person-suspended"))
    assert register.find("ben").suspended
    assert register.active("ben") is None
    assert fold(about("person-restored"), register=register).active("ben") is not None


def test_whoever_is_not_known_is_not_found() -> None:
    with pytest.raises(UnknownName, match=r"Person 'bem' is not in this office\. Did you mean 'ben'"):
        fold(ADDED, BEN).find("bem")


def test_what_ends_sessions_is_remembered_by_its_hash() -> None:
    register = fold(ADDED, BEN)
    assert register.since == {"ana": "hash 1", "ben": "hash 2"}
    assert fold(about("person-suspended"), register=register).since["ben"] == "hash 3"
    assert fold(about("password-set"), register=register).since["ben"] == "hash 3"
    assert fold(about("role-given", role="reviewer"), register=register).since["ben"] == "hash 2"


def test_a_link_is_the_only_one_of_its_person() -> None:
    register = fold(ADDED, BEN, about("link-made", "ana", link="a", expires=LATER))
    for link in "bc":
        register = fold(about("link-made", link=link, expires=LATER), register=register)
    assert set(register.links) == {"a", "c"}
    assert (register.made["c"], "b" in register.made) == ("hash 5", False)
    assert register.links["c"].maker == "ana"
    used = fold(about("link-used", link="c"), who="ben", register=register)
    assert set(used.links) == {"a"}
    assert used.arrived == {"ana", "ben"}
    assert "c" not in used.made
    for end in ("person-suspended", "password-set"):
        assert set(fold(about(end), register=register).links) == {"a"}


def test_what_others_make_for_somebody_is_no_arrival() -> None:
    token = about("token-made", token="t", expires="2026-03-09")
    before = fold(ADDED, BEN, who="root")
    assert before.arrived == set(), "who is not known arrives nowhere"
    for payload in (token, about("password-set"), about("link-made", link="l", expires=LATER)):
        assert fold(payload, who="ana", register=before).arrived == {"ana"}
        assert fold(payload, who="ben", register=before).arrived == {"ben"}


def test_whoever_was_made_a_custodian_arrives_by_the_next_act() -> None:
    register = fold(about("password-set"), who="ben", register=fold(ADDED, BEN))
    register = fold(about("role-given", role="custodian"), register=register)
    assert register.arrived == {"ana"}
    assert fold(about("role-given", "ana", role="auditor"), who="ben", register=register).arrived == {"ana", "ben"}


@pytest.mark.parametrize("end", [about("person-suspended"), about("role-taken", role="custodian")])
def test_what_somebody_began_ends_with_their_role(end: Mapping[str, Any]) -> None:
    register = fold(ADDED, BEN, about("role-given", role="custodian"), about("person-added", "eve", roles=""))
    register = fold(about("link-made", "eve", link="l", expires=LATER), who="ben", register=register)
    register = fold(about("proposed", "eve", change="role-given"), who="ben", register=register)
    register = fold(
        about("proposed", change="role-taken"), about("link-made", "ana", link="a", expires=LATER), register=register
    )
    assert set(fold(about("role-given", role="auditor"), register=register).links) == {"l", "a"}
    ended = fold(end, register=register)
    assert set(ended.links) == {"a"}
    assert "l" not in ended.made
    assert set(ended.proposals) == {7}


def test_of_revoked_tokens_the_newest_fifty_are_listed() -> None:
    register = fold(ADDED, BEN, about("token-made", "ana", token="hers", expires="2026-03-09"))
    register = fold(about("token-revoked", "ana", token="hers"), register=register)
    register = fold(about("token-made", token="works", expires="2026-03-09"), register=register)
    for number in range(53):
        name = f"t{number}"
        register = fold(about("token-made", token=name, expires="2026-04-09"), register=register)
        register = fold(about("token-revoked", token=name), register=register)
    register = fold(about("token-made", token="new", expires="2026-04-09"), register=register)
    assert set(register.tokens) == {"hers", "works", "new", *(f"t{number}" for number in range(3, 53))}
    assert register.tokens.keys() == register.made.keys()


def test_tokens_that_expired_long_ago_are_no_longer_listed() -> None:
    register = fold(
        ADDED, BEN, about("token-made", token="old", expires="2026-01-29"),
        about("token-made", token="kept", expires="2026-02-01"),
        about("token-made", "ana", token="hers", expires="2020-01-01"),
        about("token-made", token="new", expires="2026-03-09"),
    )  # fmt: skip
    assert set(register.tokens) == {"kept", "hers", "new"}
    assert set(register.made) == {"kept", "hers", "new"}
    assert fold(about("token-revoked", token="old"), register=register).tokens == register.tokens
    assert fold(about("token-revoked", token="kept"), register=register).tokens["kept"].revoked


@pytest.mark.parametrize("how", ["given", "confirmed", "restored"])
def test_whoever_becomes_a_custodian_begins_anew(how: str) -> None:
    register = fold(
        ADDED, BEN, about("token-made", token="t", expires="2026-03-09"),
        about("token-made", "ana", token="hers", expires="2026-03-09"), about("password-set"),
        about("password-set", "ana"),
    )  # fmt: skip
    register = fold(about("link-made", link="l", expires=LATER), about("link-used", link="l"), register=register)
    if how == "given":
        register = fold(about("role-given", role="custodian"), register=register)
    elif how == "confirmed":
        register = fold(about("proposed", change="role-given"), register=register)
        assert not register.tokens["t"].revoked
        register = fold(about("confirmed", proposal=9), who="kim", register=register)
    else:
        register = fold(about("person-suspended"), about("role-given", role="custodian"), register=register)
        assert not register.tokens["t"].revoked
        register = fold(about("person-restored"), register=register)
    assert register.custodians == {"ana", "ben"}
    assert (register.tokens["t"].revoked, register.tokens["hers"].revoked) == (True, False)
    assert (password_of("ben") in register.made, password_of("ana") in register.made) == (False, True)
    assert register.arrived == {"ana"}
    assert not register.links
    assert register.since["ben"] == f"hash {register.sequence}"


def test_a_proposal_changes_nothing_until_it_is_confirmed() -> None:
    register = fold(ADDED, BEN, about("proposed", change="role-given"))
    assert register.custodians == {"ana"}
    [proposal] = register.proposals.values()
    assert (proposal.number, proposal.person, proposal.proposer) == (3, "ben", "ana")
    assert fold(about("confirmed", proposal=3), register=register).custodians == {"ana", "ben"}
    declined = fold(about("declined", proposal=3), register=register)
    assert declined.custodians == {"ana"}
    assert not declined.proposals


def test_a_proposal_is_open_for_seven_days() -> None:
    register = fold(ADDED, BEN, about("proposed", change="role-given"))
    made = START + timedelta(hours=3)
    [proposal] = register.proposals.values()
    assert register.is_open(proposal, made + timedelta(days=7) - timedelta(seconds=1))
    assert not register.is_open(proposal, made + timedelta(days=7))
    by_nobody = fold(about("proposed", change="role-given"), who="ben", register=register)
    assert not by_nobody.is_open(by_nobody.proposals[4], made)


@pytest.mark.parametrize(
    "payload",
    [
        {"act": "person-promoted", "person": "ben"},
        {"act": "person-added", "person": "ben", "roles": "analyst"},
        {"act": "person-added", "person": "eve", "roles": "boss"},
        {"act": "person-added", "person": "eve"},
        {"act": "person-added", "person": "eve", "roles": 7},
        about("role-given", role="boss"),
        about("role-given"),
        about("role-given", "eve", role="analyst"),
        about("person-suspended", role="analyst"),
        about("grant-given", "eve", dataset="a"),
        about("grant-given"),
        about("token-made", token="t", expires="tomorrow"),
        about("token-made", "eve", token="t", expires="2026-03-09"),
        about("link-made", link="l", expires=LATER[:4]),
        about("link-used", link="l"),
        about("password-set", "eve"),
        about("proposed", change="grant-given"),
        about("proposed", "eve", change="role-given"),
        about("confirmed", proposal=1),
        about("confirmed", proposal=[]),
        {"act": "person-suspended"},
        {"person": "ben"},
    ],
)
def test_what_is_not_understood_stops_the_register(payload: Mapping[str, Any]) -> None:
    with pytest.raises(RecordsUnavailable, match="event 3 of the ledger is an act that this version does not know"):
        fold(payload, register=fold(ADDED, BEN))


def test_a_proposal_about_one_is_not_confirmed_for_another() -> None:
    register = fold(ADDED, BEN, about("proposed", change="role-given"))
    with pytest.raises(RecordsUnavailable):
        fold(about("confirmed", "ana", proposal=3), register=register)
