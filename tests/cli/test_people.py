"""People on the command line: added, let in, granted, suspended; secrets alone on standard output, and never twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discreet.session import open as open_session
from tests.cli.clinic import Run
from tests.cli.in_process import call_here

PASSWORD = "correct horse battery"
PAIR = re.compile(r"[0-9a-f]{16}\.[A-Za-z0-9_-]{43}\n", re.ASCII)


@pytest.fixture
def office(clinic: Path, run: Run) -> Path:
    """A clinic where ana, who has the folder, is the custodian and maria an analyst."""
    run("person", "add", "-w", "w", "ana", "--role", "custodian")
    run("person", "add", "-w", "w", "maria", "--role", "analyst")
    return clinic


def test_somebody_is_added_and_let_in(office: Path, run: Run) -> None:
    from discreet.people import People

    link = run("person", "link", "-w", "w", "maria")
    assert PAIR.fullmatch(link.out)
    assert link.err.startswith("This signs 'maria' in once, within a day.")
    assert link.out.strip() not in link.err
    with open_session(office) as session:
        people = People(session.workspace, session.ledger)
        assert people.sign_in.use_link(link.out.strip())[0].name == "maria"
        people.close()


def test_a_link_opens_the_page_of_the_server(office: Path, run: Run) -> None:
    for language in ("en", "fr"):
        words = ("--at", "https://privacy.example.org/", "--lang", language)
        made = run("person", "link", "-w", "w", "maria", *words)
        page, _, secret = made.out.partition("#")
        assert page == f"https://privacy.example.org/{language}/welcome"
        assert PAIR.fullmatch(secret)
    before = run("ledger", "log", "-w", "w").out
    for odd in (
        "javascript:alert(1)",
        "privacy.example.org",
        "https://a b",
        "https://a#b",
        "https://a?b=c",
        "https://a\nb",
    ):
        assert "takes the address" in run("person", "link", "-w", "w", "maria", "--at", odd, code=2).err
    assert run("ledger", "log", "-w", "w").out == before


def test_a_token_is_alone_on_standard_output(office: Path, run: Run) -> None:
    made = run("token", "new", "-w", "w", "maria", "--days", "3")
    assert PAIR.fullmatch(made.out)
    id, _, secret = made.out.strip().partition(".")
    assert id in made.err
    assert secret not in made.err
    told = run("token", "new", "-w", "w", "maria", "--format", "json")
    assert told.err == ""
    assert told.json()["token"].startswith(told.json()["id"] + ".")
    shown = run("token", "list", "-w", "w").out + run("token", "list", "-w", "w", "maria", "--format", "json").out
    shown += run("ledger", "log", "-w", "w", "--format", "json").out
    assert id in shown
    assert secret not in shown
    assert told.json()["token"].partition(".")[2] not in shown


def test_a_token_is_revoked_by_its_id_or_by_itself(office: Path, run: Run) -> None:
    for whole in (False, True):
        made = run("token", "new", "-w", "w", "maria").out.strip()
        done = run("token", "revoke", "-w", "w", made if whole else made.partition(".")[0])
        assert "no longer works" in done.out
        assert made.partition(".")[2] not in done.out + done.err
    assert [one["revoked"] for one in run("token", "list", "-w", "w", "--format", "json").json()["tokens"]] == [
        True
    ] * 2
    refused = run("token", "revoke", "-w", "w", "0" * 16, code=1)
    assert refused.err == f"UnknownName: Token '{'0' * 16}' is not in this office.\n"
    assert (
        "days must be a whole number from 1 to 365"
        in run("token", "new", "-w", "w", "maria", "--days", "400", code=2).err
    )


def test_what_is_granted_is_listed(office: Path, run: Run) -> None:
    assert "Nobody was granted anything yet" in run("grant", "list", "-w", "w").err
    assert "May ask about: clinic." in run("grant", "add", "-w", "w", "maria", "clinic").out
    assert run("grant", "list", "-w", "w", "--format", "json").json() == {
        "grants": [{"person": "maria", "dataset": "clinic"}]
    }
    assert "Did you mean 'clinic'?" in run("grant", "add", "-w", "w", "maria", "clinics", code=1).err
    assert "May ask about: nothing." in run("grant", "remove", "-w", "w", "maria", "clinic").out
    assert "nothing was changed" in run("grant", "remove", "-w", "w", "maria", "clinic", code=1).err


def test_a_password_is_read_from_standard_input(office: Path, run: Run) -> None:
    from discreet.people import People

    done = run("person", "password", "-w", "w", "maria", stdin=f"{PASSWORD}\r\n")
    assert done.out == ""
    assert PASSWORD not in done.err
    with open_session(office) as session:
        people = People(session.workspace, session.ledger)
        assert people.sign_in.with_password("maria", PASSWORD, address="::1")[0].name == "maria"
        people.close()
    for short in ("", "swordfish\n"):
        refused = run("person", "password", "-w", "w", "maria", code=2, stdin=short)
        assert "must have 12 to 200 characters" in refused.err
        assert "swordfish" not in refused.err


def test_a_password_is_typed_twice_at_a_terminal(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter([PASSWORD, PASSWORD, PASSWORD, PASSWORD + "!"])
    monkeypatch.setattr("getpass.getpass", lambda prompt, stream: next(typed))
    words = ["person", "password", "-w", "w", "maria"]
    assert call_here(office.parent, words, terminal=True).code == 0
    differs = call_here(office.parent, words, terminal=True)
    assert (differs.code, differs.err) == (2, "UsageError: the two passwords differ; nothing was changed.\n")


def test_roles_come_and_go_and_the_last_custodian_stays(office: Path, run: Run) -> None:
    assert "Roles: analyst, reviewer." in run("person", "give", "-w", "w", "maria", "reviewer").out
    assert "Roles: reviewer." in run("person", "take", "-w", "w", "maria", "analyst").out
    assert "is suspended and may not come in" in run("person", "suspend", "-w", "w", "maria").out
    assert "'maria' may come in" in run("person", "restore", "-w", "w", "maria").out
    assert "'ana' is the only custodian" in run("person", "suspend", "-w", "w", "ana", code=1).err
    assert "role must be one of" in run("person", "give", "-w", "w", "maria", "boss", code=2).err
    assert "role must be one of" in run("person", "add", "-w", "w", "eve", "--role", "boss", code=2).err
    assert "is known here already" in run("person", "add", "-w", "w", "maria", "--role", "analyst", code=1).err
    assert "Did you mean 'maria'?" in run("person", "suspend", "-w", "w", "marias", code=1).err


def test_from_the_second_custodian_on_it_takes_two(office: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("person", "give", "-w", "w", "maria", "custodian")
    told = run("person", "add", "-w", "w", "kim", "--role", "custodian").out
    number = re.findall(r"discreet person confirm -w w (\d+)", told)
    assert len(number) == 1
    assert "another one confirms" in run("person", "confirm", "-w", "w", *number, code=1).err
    listed = run("person", "list", "-w", "w", "--format", "json").json()
    assert [proposal["number"] for proposal in listed["proposals"]] == [int(number[0])]
    monkeypatch.setenv("DISCREET_ANALYST", "maria")
    assert "Roles: custodian." in run("person", "confirm", "-w", "w", *number).out
    again = run("person", "take", "-w", "w", "kim", "custodian", "--format", "json").json()["proposal"]
    assert "is put away" in run("person", "decline", "-w", "w", str(again["number"])).out
    monkeypatch.setenv("DISCREET_ANALYST", "root")
    assert "'root' is none" in run("person", "take", "-w", "w", "kim", "custodian", code=1).err


def test_every_act_names_who_did_it(office: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_ANALYST", "zoe")
    run("person", "give", "-w", "w", "maria", "reviewer")
    run("person", "link", "-w", "w", "maria")
    log = run("ledger", "log", "-w", "w", "--format", "json").out.splitlines()
    assert [json.loads(entry)["who"] for entry in log][-2:] == ["zoe", "zoe"]
