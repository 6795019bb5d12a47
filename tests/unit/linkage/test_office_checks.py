"""Checks of offices: what is whole is found whole, and each damage by its own name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discreet.catalogue import speaking
from discreet.linkage.office_pages.check_words import tell_finding
from discreet.linkage.offices.office_checks import OfficeFinding, check_office, write_off_accounts
from discreet.linkage.offices.registry_desk import AccountPool
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[ThreeOffices]:
    opened = open_offices(tmp_path, terms=terms_text(closing="closing: {share: 0.9}"))
    opened.ask()
    shutil.copy(pool_of(opened).folder / "accounts.bin", tmp_path / "older.bin")
    opened.ask(where="age < 30")
    yield opened
    opened.close()


def pool_of(offices: ThreeOffices) -> AccountPool:
    return offices.registry.pool(offices.signed.agreement.terms.property("francophone"))


def check(offices: ThreeOffices) -> list[OfficeFinding]:
    studies = (
        (offices.researcher.study, None),
        (offices.holder.study, offices.sessions[0]),
        (offices.registry.study, offices.sessions[1]),
    )
    return [found for study, session in studies for found in check_office(study, session)]


def faults(offices: ThreeOffices) -> set[tuple[str, str, str | None]]:
    found = check(offices)
    for language in ("en", "fr"):
        with speaking(language):
            assert all(all(tell_finding(item)) for item in found), "each has words"
    return {(item.what, item.asked, item.fault) for item in found if not item.sound}


def test_what_is_whole_is_found_whole(offices: ThreeOffices) -> None:
    assert faults(offices) == set()
    kinds = [item.what for item in check(offices)]
    assert kinds.count("chain") == kinds.count("notes") == 2
    assert kinds.count("accounts") == 2


def older(file: Path) -> None:
    shutil.copy(file.parents[3] / "older.bin", file)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def spoil(file: Path) -> None:
    file.write_bytes(b"spoilt")


POOL = "registry/pools/POOL/"
STUDY = "studies/STUDY/"


@pytest.mark.parametrize(
    ("file", "damage", "found"),
    [
        (POOL + "accounts.bin", Path.unlink, ("accounts", "francophone", "file")),
        (POOL + "accounts.bin", cut, ("accounts", "francophone", "file")),
        (POOL + "accounts.bin", older, ("accounts", "francophone", "older")),
        (POOL + "digest.key", Path.unlink, ("accounts", "francophone", "key")),
        (POOL + "pool.json", spoil, ("accounts", "francophone", "pool")),
        (POOL + "cells.npy", spoil, ("files", "francophone", "files")),
        (POOL + "closing.json", Path.unlink, ("files", "francophone", "files")),
        ("registry/" + STUDY + "people.npy", spoil, ("index", "", "files")),
        ("registry/" + STUDY + "link.key", spoil, ("link-key", "", "files")),
        ("registry/" + STUDY + "spent.json", spoil, ("quota", "", "files")),
        ("holder/" + STUDY + "draw.key", Path.unlink, ("draw-key", "", "files")),
        ("holder/" + STUDY + "requests/REQUEST.json", spoil, ("notes", "", "files")),
        ("researcher/" + STUDY + "requests/REQUEST.json", spoil, ("notes", "", "files")),
    ],
)
def test_each_damage_is_found(
    offices: ThreeOffices, file: str, damage: Callable[[Path], None], found: tuple[str, str, str]
) -> None:
    request = offices.researcher.study.requests()[0]
    names = {"POOL": pool_of(offices).name, "STUDY": offices.signed.agreement.short, "REQUEST": request}
    for name, text in names.items():
        file = file.replace(name, text)
    damage(offices.folder / file)
    assert found in faults(offices)


def test_a_quota_that_counts_less_than_the_ledger_is_found(offices: ThreeOffices) -> None:
    (offices.registry.study.folder / "spent.json").write_text(json.dumps(10))
    assert faults(offices) == {("quota", "", "lower")}


def test_accounts_above_what_was_asked_are_found(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the digest cannot tell, because whoever wrote it counted wrong."""
    from discreet.linkage.accounts import Accounts

    offices.ask(where="age >= 60")
    charge = Accounts.price

    def twice(accounts: Accounts, units: object, price: int, **more: object) -> object:
        return charge(accounts, units, 9 * price, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Accounts, "price", twice)
    offices.ask(where="age >= 61")
    assert faults(offices) == {("accounts", "francophone", "sums")}


def test_accounts_are_whole_after_they_were_written_off(offices: ThreeOffices) -> None:
    asked = offices.signed.agreement.terms.property("francophone")
    (pool_of(offices).folder / "accounts.bin").unlink()
    assert write_off_accounts(offices.registry, asked) is not None
    assert write_off_accounts(offices.registry, asked) is None
    assert faults(offices) == set()
    offices.ask(where="age >= 60")
    assert faults(offices) == set()
