"""Backups, older ledgers put back, other anchors and keys: what was spent is never forgotten."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BudgetExceeded, LedgerDamaged, LedgerUnavailable, Refused
from discreet.guarantees.types import ApproxDP, PureDP, Unproven
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger
from discreet.ledger.chain_stores.store import FORMAT, Transaction
from discreet.ledger.events import EventKind
from discreet.ledger.trust.recovery import (
    backup_ledger,
    migrate_ledger,
    replace_anchor,
    replace_ledger_key,
    restore_ledger,
)
from tests.conformance.ledger.conftest import DSN_ENV, Vandal, terms

MakeRequest = Callable[..., SpendRequest]
TENTH = PureDP(epsilon="0.1")


def ask(ledger: Ledger, make_request: MakeRequest, *names: str) -> None:
    for name in names:
        ledger.commit_answer(ledger.spend(make_request(name, guarantee=TENTH)), b"noisy")


def lose(config: LedgerConfig) -> None:
    """The disk with the ledger is gone."""
    if config.path is not None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{config.path}{suffix}").unlink(missing_ok=True)
        return
    import os

    import psycopg

    from discreet.ledger.chain_stores.postgres_store import schema_name

    with psycopg.connect(os.environ[DSN_ENV], autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema_name(config.workspace_id)} CASCADE".encode())


def forget_totals(anchor: Path) -> None:
    """The anchor as an earlier release would have written it."""
    anchor.write_text("".join(f"\n{' '.join(line.split()[:2])}\n" for line in anchor.read_text().split("\n") if line))


def left(ledger: Ledger) -> Decimal:
    return ledger.state("cchs").population.epsilon_remaining


def test_a_backup_is_consistent_while_the_ledger_is_in_use(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(ledger, make_request, "one", "two")
    head = ledger.head()[0]
    events = Transaction.events

    def interrupted(self: Transaction) -> Any:
        for place, event in enumerate(events(self)):
            if place == 2 and not written:
                written.append(1)
                ask(ledger, make_request, "meanwhile")
            yield event

    written: list[int] = []
    monkeypatch.setattr(Transaction, "events", interrupted)
    assert backup_ledger(config, tmp_path / "backup") == head
    assert ledger.head()[0] == head + 2
    monkeypatch.undo()
    copy = replace(config, store="sqlite", path=tmp_path / "backup", anchor_path=None)
    with open_ledger(copy) as found:
        assert found.verify().events == head
    with pytest.raises(Refused, match="there already"):
        backup_ledger(config, tmp_path / "backup")


def test_what_was_spent_since_the_backup_is_written_off(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    ask(ledger, make_request, "one")
    backup_ledger(config, tmp_path / "backup")
    ask(ledger, make_request, "two", "three", "four")
    ledger.mark("cchs", guarantee=Unproven("why"), analyst="ben", plan_hash="f" * 64, dataset="survey", version=1)
    shares = ledger.state("cchs").analysts
    ledger.close()
    lose(config)
    done = restore_ledger(config, tmp_path / "backup", who="custodian")
    assert (done.lost, done.everything) == (7, False)
    assert done.remaining["cchs"] == (Decimal("0.9"), Decimal("0.6"))
    with open_ledger(config) as again:
        state = again.state("cchs")
        assert state.population.epsilon_remaining == Decimal("0.6")
        assert state.analysts["ada"].epsilon_spent == shares["ada"].epsilon_spent
        assert not state.bounds_everything, "a marker is written off too"
        ask(again, make_request, *(f"new{number}" for number in range(6)))
        with pytest.raises(BudgetExceeded):
            again.spend(make_request("more", guarantee=TENTH))
        again.verify()
        assert [event.kind for event in again.log()].count(EventKind.RESTORED) == 1
        backup_ledger(config, tmp_path / "second")
    lose(config)
    assert restore_ledger(config, tmp_path / "second", who="custodian").lost == 0
    with open_ledger(config) as again:
        assert left(again) == 0
        assert not again.state("cchs").bounds_everything
        again.verify()


def test_a_population_and_terms_that_the_backup_does_not_know_come_back(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    backup_ledger(config, tmp_path / "backup")
    ledger.register(terms(population="farms", epsilon="2"))
    ledger.change(terms(epsilon="3"), who="custodian")
    ask(ledger, make_request, "one")
    ledger.close()
    lose(config)
    restore_ledger(config, tmp_path / "backup", who="custodian")
    with open_ledger(config) as again:
        assert again.populations() == ("cchs", "farms")
        assert left(again) == Decimal("2.9")
        again.verify()


@pytest.mark.parametrize("delta", ["0", "1e-6"], ids=["pure", "approximate"])
@pytest.mark.parametrize("how", ["old lines", "lost", "garbage"])
def test_behind_an_old_line_everything_is_written_off(
    config: LedgerConfig, make_request: MakeRequest, tmp_path: Path, delta: str, how: str
) -> None:
    with create_ledger(config) as ledger:
        ledger.register(terms(epsilon="3", delta=delta))
        ledger.give_version("cchs", "survey", above=0, who="custodian")
        for name in ("ada", "ben"):
            ledger.add_analyst(name, who="custodian")
        ask(ledger, make_request, "one")
        backup_ledger(config, tmp_path / "backup")
        ask(ledger, make_request, "two")
    assert config.anchor_path is not None
    if how == "lost":
        config.anchor_path.unlink()
    elif how == "garbage":
        config.anchor_path.write_bytes(b"\0" * 5000)
    else:
        forget_totals(config.anchor_path)
    lose(config)
    done = restore_ledger(config, tmp_path / "backup", who="custodian")
    assert done.everything
    with open_ledger(config) as again:
        assert left(again) == 0
        assert not again.state("cchs").bounds_everything, "a marker may be among what was lost"
        for cost in (PureDP(epsilon="0.001"), *([ApproxDP(epsilon="0.001", delta="1e-9")] if delta != "0" else [])):
            with pytest.raises(BudgetExceeded):
                again.spend(make_request("more", guarantee=cost))
        again.verify()
        # A custodian may still raise the budget; what was allowed before stays spent.
        again.change(terms(epsilon="4", delta="0" if delta == "0" else "3e-6"), who="custodian")
        assert left(again) == 1


def test_a_crash_while_restoring_leaves_a_ledger_that_opens(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.ledger.trust.anchor import HeldAnchor

    backup_ledger(config, tmp_path / "backup")
    ask(ledger, make_request, "one", "two")
    ledger.close()
    lose(config)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HeldAnchor, "cover", die)
        with pytest.raises(KeyboardInterrupt):
            restore_ledger(config, tmp_path / "backup", who="custodian")
    with open_ledger(config) as again:
        assert left(again) == Decimal("0.8")
        ask(again, make_request, "three")
        again.verify()


def test_a_sound_ledger_is_not_replaced_and_a_damaged_backup_is_refused(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    ask(ledger, make_request, "one")
    backup_ledger(config, tmp_path / "backup")
    with pytest.raises(Refused, match="nothing to restore"):
        restore_ledger(config, tmp_path / "backup", who="custodian")
    ledger.close()
    lose(config)
    with closing(sqlite3.connect(tmp_path / "backup", isolation_level=None)) as spoilt:
        spoilt.execute("DROP TRIGGER answers_stay")
        spoilt.execute("UPDATE answers SET answer = x'00'")
    for file in ("backup", "nowhere"):
        with pytest.raises((Refused, LedgerDamaged)):
            restore_ledger(config, tmp_path / file, who="custodian")
    with pytest.raises(LedgerUnavailable):
        open_ledger(config)


def test_a_fork_is_healed_by_restoring_either_side(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    if config.path is None:
        pytest.skip("a ledger in PostgreSQL has no copies in a folder")
    ask(ledger, make_request, "one")
    ledger.close()
    copy = tmp_path / "copy"
    shutil.copy(config.path, copy)
    with open_ledger(config) as here:
        ask(here, make_request, "two", "three")
    there = replace(config, path=copy)
    with pytest.raises(LedgerDamaged):
        open_ledger(there)
    restore_ledger(there, copy, who="custodian")
    with open_ledger(there) as healed:
        assert left(healed) == Decimal("0.7")
    with pytest.raises(LedgerDamaged):
        open_ledger(config)


def test_the_anchor_moves_and_copies_that_follow_the_old_one_are_found(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    ask(ledger, make_request, "one")
    ledger.close()
    moved = replace(config, anchor_path=tmp_path / "moved")
    behind = config
    if config.path is not None:
        behind = replace(config, path=Path(shutil.copy(config.path, tmp_path / "copy")))
    replace_anchor(config, path=tmp_path / "moved", lost=False, who="custodian")
    with open_ledger(moved) as again:
        ask(again, make_request, "two")
        again.verify()
    if config.path is not None:
        with pytest.raises(LedgerDamaged):
            open_ledger(behind)
    assert config.anchor_path is not None
    (tmp_path / "moved").unlink()
    with pytest.raises(LedgerUnavailable):
        open_ledger(moved)
    replace_anchor(moved, path=tmp_path / "moved", lost=True, who="custodian")
    with open_ledger(moved) as again:
        assert left(again) == Decimal("0.8")
        again.verify()


@pytest.mark.parametrize("lost", [False, True])
def test_the_key_is_replaced(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path, lost: bool
) -> None:
    ask(ledger, make_request, "one")
    old = config.key_path.read_text()
    if lost:
        config.key_path.unlink()
    replace_ledger_key(config, lost=lost, who="custodian")
    assert config.key_path.read_text() != old
    assert config.key_path.stat().st_mode & 0o077 == 0
    ask(ledger, make_request, "two")  # a session that was open all the time goes on
    with open_ledger(config) as again:
        again.verify()
        assert left(again) == Decimal("0.8")
    config.key_path.write_text(old)
    with pytest.raises(LedgerDamaged, match="key does not vouch"):
        open_ledger(config)


def test_a_crash_while_the_key_is_replaced_loses_nothing(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(ledger, make_request, "one")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            replace_ledger_key(config, lost=False, who="custodian")
    with open_ledger(config) as again:
        ask(again, make_request, "two")
        again.verify()
    replace_ledger_key(config, lost=False, who="custodian")
    with open_ledger(config) as again:
        again.verify()


def test_a_ledger_of_an_earlier_format_works_and_is_brought_up_to_date(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, vandal: Vandal
) -> None:
    ask(ledger, make_request, "one")
    vandal.run("UPDATE head SET format = 1", "DROP INDEX IF EXISTS answered")
    with open_ledger(config) as old:
        assert left(old) == Decimal("0.9")
        old.verify()
    assert migrate_ledger(config, who="custodian") == (1, FORMAT)
    assert migrate_ledger(config, who="custodian") == (FORMAT, FORMAT)
    with open_ledger(config) as new:
        new.verify()
        assert [event.payload for event in new.log() if event.kind is EventKind.MIGRATED] == [{"format": FORMAT}]


def test_the_first_event_keeps_earlier_releases_out(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, vandal: Vandal
) -> None:
    vandal.run("UPDATE head SET format = 1")
    ask(ledger, make_request, "one")
    assert [tuple(row) for row in vandal.query("SELECT format FROM head")] == [(FORMAT,)]


def test_less_than_was_spent_cannot_be_written_off(ledger: Ledger, make_request: MakeRequest) -> None:
    from discreet.ledger.events import GENESIS, Event
    from discreet.ledger.standing import Standing, fold

    before = Standing.from_text(json.dumps({"analysts": [], "datasets": {}, "populations": {}, "suspended": []}))
    ask(ledger, make_request, "one")
    with ledger._reading() as book:
        spent = book.standing
    told = json.loads(spent.spent)
    told["cchs"]["totals"]["epsilon"] = "0"
    payload = {"anchor": {"sequence": 9, "hash": "0" * 64}, "spent": told}
    event = Event(1, EventKind.RESTORED, "2026-01-01T00:00:00.000000+00:00", "eve", "", payload, GENESIS)
    with pytest.raises(ValueError, match="less was written off"):
        fold(spent, event)
    assert fold(before, event).populations["cchs"].totals.epsilon == 0
