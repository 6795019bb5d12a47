"""The nouns as machines see them, and roles as they are written."""

from __future__ import annotations

from datetime import date

import pytest

from discreet.errors import ParameterInvalid
from discreet.people import PersonEntry, Proposal, RequestFacts, Role, Token, read_role
from discreet.people.persons import PersonAct


def test_what_machines_see() -> None:
    entry = PersonEntry("ana", frozenset({Role.AUDITOR, Role.ANALYST}), frozenset({"b", "a"}))
    assert entry.to_dict() == {
        "name": "ana",
        "roles": ["analyst", "auditor"],
        "datasets": ["a", "b"],
        "suspended": False,
    }
    token = Token("t", "ana", date(2026, 3, 1), last_used=date(2026, 2, 1))
    assert token.to_dict() == {
        "id": "t",
        "person": "ana",
        "expires": "2026-03-01",
        "last_used": "2026-02-01",
        "revoked": False,
    }
    proposal = Proposal(7, PersonAct.ROLE_GIVEN, "ben", "ana", "2026-03-01T00:00:00+00:00")
    assert proposal.to_dict()["act"] == "role-given"


def test_a_suspended_custodian_does_not_act() -> None:
    roles = frozenset({Role.CUSTODIAN})
    assert PersonEntry("ana", roles).is_custodian
    assert not PersonEntry("ana", roles, suspended=True).is_custodian


@pytest.mark.parametrize("role", Role)
def test_a_role_is_read_by_its_name(role: Role) -> None:
    assert read_role(role.value) is role


@pytest.mark.parametrize("word", ["", "Custodian", "custodian ", "root", "ＡＮＡＬＹＳＴ"])
def test_any_other_word_is_refused(word: str) -> None:
    with pytest.raises(ParameterInvalid, match="role must be one of analyst, reviewer, custodian or auditor"):
        read_role(word)


def test_what_a_request_carries_is_not_shown() -> None:
    shown = repr(RequestFacts("the bearer", "the session", "192.0.2.7/32"))
    assert "the bearer" not in shown
    assert "the session" not in shown
