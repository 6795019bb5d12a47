"""Tokens, and rows in tables: what makes somebody somebody, and that nothing else does."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from discreet.errors import ParameterInvalid, Refused, UnknownName
from discreet.ledger import replace_ledger_key
from discreet.people import LocalIdentity, RequestFacts, Role
from tests.conformance.people.people_office import OpenOffice, OpenOffices, make_workspace, opened

PASSWORD = "correct horse battery"


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_is_its_person_with_the_roles_of_the_moment(office: OpenOffice) -> None:
    token, secret = office.make_token()
    assert secret.startswith(f"{token.id}.")
    known = office.by_token(secret)
    assert known is not None
    assert (known.name, known.via) == ("ben", "token")
    assert known.roles == {Role.ANALYST}
    office.people.give_role("ben", Role.REVIEWER, who="ana")
    office.people.take_role("ben", Role.ANALYST, who="ana")
    after = office.by_token(secret)
    assert after is not None
    assert after.roles == {Role.REVIEWER}


def test_the_secret_of_a_token_is_nowhere(office: OpenOffice) -> None:
    _, secret = office.make_token()
    link = office.people.sign_in.make_link("ben", who="ana")
    session = office.let_in("ana")
    office.people.sign_in.set_password("ben", PASSWORD, who="ben")
    kept = "".join(event.body for event in office.session.ledger.log())
    for table in ("secrets", "sessions", "token_days", "counts"):
        kept += repr(office.vandalise(f"SELECT * FROM {table}"))
    kept += repr(office.people.tokens.list())
    for shown in (secret, link, session, PASSWORD):
        assert shown not in kept
        assert shown.rpartition(".")[2] not in kept


def test_what_is_almost_a_token_is_nobody(office: OpenOffice) -> None:
    token, secret = office.make_token()
    id, _, rest = secret.partition(".")
    other = office.make_token()[1].partition(".")[2]
    wrong = [
        "", ".", id, rest, f".{rest}", f"{id}.", f"{id}.{rest[:-1]}", f"{id}.{rest}x", f" {secret}", f"{secret}\n",
        f"{id}.{other}", f"{'0' * 16}.{rest}", f"{id.upper()}X.{rest}", secret.swapcase(), f"{id}.{rest}.{rest}",
        f"{id}\0.{rest}", "\0", "\ud800", "é.é", f"{token.id}%.{rest}", "'; DROP TABLE secrets; --", "x" * 10_000,
        f"{id}.{'A' * 43}", secret.replace("0", "٠"), secret.replace("1", "１"),
        f"{id}.{hashlib.sha256(rest.encode()).hexdigest()}",
    ]  # fmt: skip
    assert [text for text in wrong if text != secret and office.by_token(text) is not None] == []
    assert [text for text in wrong if office.by_session(text) is not None] == []
    assert office.by_token(secret) is not None


def test_a_bearer_is_judged_by_itself(office: OpenOffice) -> None:
    """A page that cannot send a cookie's session by itself must not succeed by adding a token that is none."""

    session = office.let_in("ana")
    facts = RequestFacts("0" * 16 + "." + "A" * 43, session, "127.0.0.1/32")
    assert LocalIdentity(office.people).authenticate(facts) is None
    assert session not in repr(facts)


def test_a_token_works_up_to_the_end_of_its_last_day(office: OpenOffice) -> None:
    token, secret = office.make_token(days=1)
    office.clock.now = office.clock.now.replace(hour=23, minute=59, second=59)
    office.clock.forward(days=1)
    assert office.clock.now.date() == token.expires
    assert office.by_token(secret) is not None
    office.clock.forward(seconds=1)
    assert office.by_token(secret) is None


@pytest.mark.parametrize("days", [0, -1, 366, 10**30, True, 1.5, "3"])
def test_a_token_is_made_for_a_year_at_most(office: OpenOffice, days: int) -> None:
    before = office.head()
    with pytest.raises(ParameterInvalid, match="a whole number from 1 to 365"):
        office.make_token(days=days)
    assert office.head() == before


def test_a_revoked_token_is_nobody_everywhere(office: OpenOffice, open_office: OpenOffices) -> None:
    token, secret = office.make_token()
    other = open_office()
    assert other.by_token(secret) is not None
    assert office.people.tokens.revoke(token.id, who="ben", person="ben").revoked
    assert other.by_token(secret) is None
    head = office.head()
    assert office.people.tokens.revoke(token.id, who="ana").revoked, "again is no news"
    assert office.head() == head


def test_of_a_revoked_token_nothing_is_kept_beside_the_ledger(office: OpenOffice) -> None:
    (token, secret), (_, other) = office.make_token(), office.make_token()
    for shown in (secret, other):
        office.by_token(shown)
    office.people.tokens.revoke(token.id, who="ben")
    for table, name in (("secrets", "name"), ("token_days", "token")):
        assert office.vandalise(f"SELECT {name} FROM {table}") == [(other.partition(".")[0],)]


def test_others_learn_nothing_of_a_token(office: OpenOffice) -> None:
    token, _ = office.make_token("ana")

    def told(id: str) -> str:
        with pytest.raises(UnknownName) as refused:
            office.people.tokens.revoke(id, who="ben", person="ben")
        assert refused.value.fields["nearest"] is None
        return refused.value.message.replace(id, "ID")

    assert told(token.id) == told("0" * 16) == "Token 'ID' is not in your tokens."
    assert not office.people.tokens.list("ana")[0].revoked


def test_the_last_use_is_a_day(office: OpenOffice, open_office: OpenOffices) -> None:
    _, secret = office.make_token()
    assert office.people.tokens.list("ben")[0].last_used is None
    office.by_token(secret)
    first = office.clock.now.date()
    assert office.people.tokens.list("ben")[0].last_used == first
    assert [day for _, day in office.vandalise("SELECT * FROM token_days")] == [first.isoformat()]
    office.clock.forward(days=1)
    open_office(office.clock).by_token(secret)
    assert office.people.tokens.list("ben")[0].last_used == office.clock.now.date()


def test_a_token_that_was_not_used_by_its_owner_has_no_day(office: OpenOffice) -> None:
    token, _ = office.make_token()
    office.by_token(f"{token.id}.{'A' * 43}")
    assert office.people.tokens.list("ben")[0].last_used is None


def test_nobody_makes_tokens_without_end(office: OpenOffice) -> None:
    for _ in range(50):
        office.make_token()
    with pytest.raises(Refused, match="has 50 tokens that work"):
        office.make_token()
    office.make_token("ana")


# --- rows that were not written by an office ------------------------------------------------------------------------


def test_a_row_makes_nobody_anybody(office: OpenOffice) -> None:
    token, secret = office.make_token("ana")
    mine = "A" * 43
    digest = hashlib.sha256(mine.encode()).hexdigest()
    assert len(office.vandalise("SELECT kept FROM secrets WHERE sort = 'token'")) == 1
    office.vandalise(f"UPDATE secrets SET kept = '{digest}'")
    assert office.by_token(f"{token.id}.{mine}") is None
    assert office.by_token(secret) is None
    since = office.people.catch_up().since["ana"]
    words = [digest, "", "0" * 64, office.session.ledger.attest("session", digest, "ben", since, 2_000_000_000)]
    for word in words:
        office.vandalise(
            "DELETE FROM sessions", f"INSERT INTO sessions VALUES ('{digest}', 'ana', '{since}', 2000000000, '{word}')"
        )
        assert office.by_session(mine) is None, word
    word = office.session.ledger.attest("session", digest, "ana", since, 2_000_000_000)
    office.vandalise(
        "DELETE FROM sessions", f"INSERT INTO sessions VALUES ('{digest}', 'ana', '{since}', 2000000000, '{word}')"
    )
    assert office.by_session(mine) is not None, "the key's word is what was missing"


def test_a_row_of_one_person_is_not_anothers(office: OpenOffice) -> None:
    """Whoever can write the tables has a token of their own, and would be somebody else by it."""
    theirs, _ = office.make_token("ana")
    own, secret = office.make_token("ben")
    columns = "kept, word"
    [(kept, word)] = office.vandalise(f"SELECT {columns} FROM secrets WHERE name = '{own.id}'")
    office.vandalise(f"UPDATE secrets SET kept = '{kept}', word = '{word}' WHERE name = '{theirs.id}'")
    rest = secret.partition(".")[2]
    assert office.by_token(f"{theirs.id}.{rest}") is None
    session = office.let_in("ben")
    office.vandalise("UPDATE sessions SET person = 'ana'")
    assert office.by_session(session) is None


def test_a_session_cannot_be_made_longer(office: OpenOffice) -> None:
    session = office.let_in("ben")
    office.vandalise("UPDATE sessions SET expires = expires + 1000000")
    assert office.by_session(session) is None


def test_secrets_of_another_office_are_nothing_here(office: OpenOffice, tmp_path: Path) -> None:
    with opened(make_workspace(tmp_path / "other", None)) as other:
        other.people.add("ana", {Role.CUSTODIAN}, who="ana")
        token, secret = other.make_token("ana")
        assert office.by_token(secret) is None
        [row] = other.vandalise("SELECT sort, name, act, number, kept, word FROM secrets")
    values = ", ".join(f"'{value}'" if isinstance(value, str) else str(value) for value in row)
    office.vandalise(f"INSERT INTO secrets VALUES ({values})")
    assert office.by_token(secret) is None
    assert token.id not in {one.id for one in office.people.tokens.list()}


def test_with_another_key_everybody_comes_in_anew(office: OpenOffice, open_office: OpenOffices) -> None:
    _, secret = office.make_token()
    session = office.let_in("ana")
    replace_ledger_key(office.config, lost=False, who="ana")
    assert office.by_token(secret) is None
    assert office.by_session(session) is None
    assert office.by_token(office.make_token()[1]) is not None
    assert open_office().by_session(office.let_in("ana")) is not None
