"""What a writer of the store can change unnoticed: nothing that the chain, the key or the anchor covers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.guarantees.types import Unproven
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger
from discreet.ledger.events import sha256_hex
from discreet.ledger.trust.seal import Seal

Request = Callable[..., SpendRequest]


@pytest.fixture
def spent(ledger: Ledger, make_request: Request) -> Ledger:
    for number in range(5):
        receipt = ledger.spend(make_request(f"r{number}"))
        ledger.commit_answer(receipt, f"answer {number}".encode())
    return ledger


def charges(vandal: Any) -> list[tuple[int, str]]:
    return vandal.query("SELECT sequence, body FROM events WHERE kind = 'charge' ORDER BY sequence")  # type: ignore[no-any-return]


def damage(ledger: Ledger, *, sequence: int | None = None, anchor: str | None = None) -> LedgerDamaged:
    with pytest.raises(LedgerDamaged) as caught:
        ledger.verify(anchor=anchor)
    if sequence is not None:
        assert caught.value.fields["sequence"] == sequence
    return caught.value


def test_an_untouched_ledger_verifies(spent: Ledger, vandal: Any) -> None:
    vandal.run()
    verification = spent.verify(anchor=spent.head()[1])
    assert (verification.charges, verification.answers) == (5, 5)
    assert verification.anchors == (verification.events,)


@pytest.mark.parametrize(
    "statement", ["UPDATE events SET population = 'x'", "DELETE FROM events", "DELETE FROM answers"]
)
def test_the_store_itself_forbids_edits(spent: Ledger, config: LedgerConfig, vandal: Any, statement: str) -> None:
    import sqlite3

    import psycopg

    with pytest.raises((sqlite3.Error, psycopg.Error)):
        vandal.query(statement)
    spent.verify()


def test_an_edited_event_is_found(spent: Ledger, vandal: Any) -> None:
    sequence, body = charges(vandal)[2]
    vandal.run(f"UPDATE events SET body = '{body.replace('0.1', '0.0')}' WHERE sequence = {sequence}")
    damage(spent, sequence=sequence)


def test_an_edited_event_with_a_new_hash_is_found(spent: Ledger, vandal: Any) -> None:
    sequence, body = charges(vandal)[2]
    fields = json.loads(body)
    fields["who"] = "eve"
    forged = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    digest = sha256_hex(forged.encode())
    vandal.run(f"UPDATE events SET body = '{forged}', hash = '{digest}' WHERE sequence = {sequence}")
    damage(spent, sequence=sequence + 1)


def test_an_edited_column_is_found(spent: Ledger, vandal: Any) -> None:
    sequence, _ = charges(vandal)[1]
    vandal.run(f"UPDATE events SET request_id = 'another' WHERE sequence = {sequence}")
    damage(spent, sequence=sequence)


def test_a_removed_event_is_found(spent: Ledger, vandal: Any) -> None:
    sequence, _ = charges(vandal)[1]
    vandal.run(f"DELETE FROM events WHERE sequence = {sequence}")
    damage(spent, sequence=sequence)


def test_a_cut_tail_is_found_at_once(spent: Ledger, vandal: Any, make_request: Request, config: LedgerConfig) -> None:
    last, _ = spent.head()
    vandal.run(f"DELETE FROM events WHERE sequence = {last}")
    damage(spent, sequence=last)
    with pytest.raises(LedgerDamaged):
        spent.spend(make_request("new"))
    with pytest.raises(LedgerDamaged):
        open_ledger(config)


def test_a_forged_standing_is_found_at_once(
    spent: Ledger, vandal: Any, make_request: Request, config: LedgerConfig
) -> None:
    ((standing,),) = vandal.query("SELECT standing FROM head")
    forged = standing.replace('"epsilon":"500000000"', '"epsilon":"0"')
    assert forged != standing
    vandal.run(f"UPDATE head SET standing = '{forged}'")
    with pytest.raises(LedgerDamaged, match="the key does not vouch for its head"):
        spent.spend(make_request("new"))
    with pytest.raises(LedgerDamaged):
        open_ledger(config)


def test_a_standing_that_the_events_do_not_add_up_to_is_found_even_under_the_key(
    spent: Ledger, vandal: Any, config: LedgerConfig
) -> None:
    ((sequence, digest, standing),) = vandal.query("SELECT sequence, hash, standing FROM head")
    forged = standing.replace('"epsilon":"500000000"', '"epsilon":"0"')
    assert forged != standing
    seal = Seal(path=config.key_path, workspace_id=config.workspace_id)
    mac = seal.sign(sequence=sequence, hash=digest, standing=forged)
    vandal.run(f"UPDATE head SET standing = '{forged}', mac = '{mac}'")
    assert "not what its events add up to" in damage(spent).message


def test_a_removed_marker_is_found_at_once(spent: Ledger, vandal: Any) -> None:
    where = {"analyst": "ada", "plan_hash": "c" * 64, "dataset": "survey", "version": 1}
    number = spent.mark("cchs", guarantee=Unproven("no proof"), **where)  # type: ignore[arg-type]
    spent.add_analyst("eve", who="custodian")
    vandal.run(f"DELETE FROM events WHERE sequence = {number}")
    with pytest.raises(LedgerDamaged, match="a marker is missing"):
        spent.state("cchs")


def test_an_edited_or_removed_answer_is_found(spent: Ledger, vandal: Any, make_request: Request) -> None:
    first, _ = charges(vandal)[0]
    second, _ = charges(vandal)[1]
    vandal.run(f"UPDATE answers SET sha256 = '{'0' * 64}' WHERE sequence = {first}")
    with pytest.raises(LedgerDamaged):
        spent.spend(make_request("r0"))
    damage(spent, sequence=first)
    vandal.run(f"UPDATE answers SET sha256 = '{sha256_hex(b'answer 0')}' WHERE sequence = {first}")
    spent.verify()
    vandal.run(f"DELETE FROM answers WHERE sequence = {second}")
    damage(spent, sequence=second)


def test_what_a_newer_version_wrote_is_no_damage_and_answers_nothing(
    spent: Ledger, vandal: Any, config: LedgerConfig, make_request: Request
) -> None:
    """A part of the standing that is not known would be lost with the next event."""
    ((sequence, digest, standing),) = vandal.query("SELECT sequence, hash, standing FROM head")
    seal = Seal(path=config.key_path, workspace_id=config.workspace_id)
    for later in (
        standing.replace('"markers":0', '"loans":{},"markers":0'),
        standing.replace('"suspended":', '"seasons":[],"suspended":'),
    ):
        assert later != standing
        mac = seal.sign(sequence=sequence, hash=digest, standing=later)
        vandal.run(f"UPDATE head SET standing = '{later}', mac = '{mac}'")
        for attempt in (lambda: spent.spend(make_request("new")), lambda: open_ledger(config), spent.verify):
            with pytest.raises(LedgerUnavailable, match="written by a newer version"):
                attempt()
    mac = seal.sign(sequence=sequence, hash=digest, standing=standing)
    vandal.run(f"UPDATE head SET standing = '{standing}', mac = '{mac}'")
    number, body = charges(vandal)[1]
    later = body.replace('"kind":"charge"', '"kind":"loan"')
    vandal.run(f"UPDATE events SET body = '{later}', hash = '{sha256_hex(later.encode())}' WHERE sequence = {number}")
    with pytest.raises(LedgerUnavailable, match=f"its event {number} is of a kind that this version does not know"):
        spent.verify()


def roll_back(vandal: Any, head: tuple[object, ...]) -> None:
    """Put the store back to an earlier, authentic state."""
    sequence, digest, standing, mac = head
    vandal.run(
        f"DELETE FROM answers WHERE sequence > {sequence}",
        f"UPDATE head SET sequence = {sequence}, hash = '{digest}', standing = '{standing}', mac = '{mac}'",
        f"DELETE FROM events WHERE sequence > {sequence}",
    )


def test_an_old_copy_is_found_by_the_anchor(
    spent: Ledger, vandal: Any, config: LedgerConfig, make_request: Request
) -> None:
    (head,) = vandal.query("SELECT sequence, hash, standing, mac FROM head")
    spent.spend(make_request("last"))
    noted = spent.head()[1]
    roll_back(vandal, head)
    with pytest.raises(LedgerDamaged, match="older than what this process has seen"):
        spent.spend(make_request("new"))
    with pytest.raises(LedgerDamaged, match="its anchor speaks of a head that is not in its chain"):
        open_ledger(config)
    # Without the file an old copy is authentic: only a head noted down elsewhere tells.
    with open_ledger(replace(config, anchor_path=None)) as unanchored:
        unanchored.verify()
        assert "the head that was noted down is not in its chain" in damage(unanchored, anchor=noted).message


def test_the_newest_head_counts_wherever_earlier_releases_wrote_its_line(
    spent: Ledger, vandal: Any, config: LedgerConfig, make_request: Request
) -> None:
    """Their processes that charged one after the other may have written their lines the other way round."""
    assert config.anchor_path is not None
    (head,) = vandal.query("SELECT sequence, hash, standing, mac FROM head")
    spent.spend(make_request("last"))
    heads = [" ".join(line.split()[:2]) for line in config.anchor_path.read_text().split("\n")]
    config.anchor_path.write_text("\n".join(reversed(heads)))
    open_ledger(config).close()
    roll_back(vandal, head)
    with pytest.raises(LedgerDamaged, match="its anchor speaks of a head that is not in its chain"):
        open_ledger(config)


def test_an_older_anchor_is_fine_and_a_torn_line_is_passed_over(
    spent: Ledger, config: LedgerConfig, make_request: Request
) -> None:
    assert config.anchor_path is not None
    lines = config.anchor_path.read_text()
    spent.spend(make_request("last"))
    config.anchor_path.write_text(lines + "\n99 abc")
    with open_ledger(config) as again:
        again.verify()
        again.spend(make_request("later"))
        assert again.verify().anchors == (again.head()[0],)


@pytest.mark.parametrize("content", ["", "not an anchor\n", None])
def test_a_lost_anchor_fails_closed(spent: Ledger, config: LedgerConfig, content: str | None) -> None:
    assert config.anchor_path is not None
    config.anchor_path.unlink()
    if content is not None:
        config.anchor_path.write_text(content)
    with pytest.raises((LedgerDamaged, LedgerUnavailable)):
        open_ledger(config)


def test_another_key_is_found(spent: Ledger, config: LedgerConfig) -> None:
    config.key_path.write_text(secrets.token_hex(32))
    with pytest.raises(LedgerDamaged, match="the key does not vouch for its head"):
        open_ledger(config)
    config.key_path.write_text("short")
    with pytest.raises(LedgerUnavailable, match="not 64 hexadecimal digits"):
        open_ledger(config)
    config.key_path.unlink()
    with pytest.raises(LedgerUnavailable, match="The ledger's key"):
        open_ledger(config)


def test_a_key_that_others_may_read_is_refused(spent: Ledger, config: LedgerConfig) -> None:
    assert config.key_path.stat().st_mode & 0o777 == 0o600
    config.key_path.chmod(0o644)
    with pytest.raises(LedgerUnavailable, match="chmod 600"):
        open_ledger(config)


def test_another_workspaces_head_is_found(spent: Ledger, config: LedgerConfig) -> None:
    schema = None
    if config.store == "postgres":
        from discreet.ledger.chain_stores.postgres_store import schema_name

        schema = schema_name(config.workspace_id)
    with pytest.raises(LedgerDamaged, match="the key does not vouch"):
        open_ledger(replace(config, workspace_id="another", schema=schema))


def test_a_ledger_is_never_made_twice(spent: Ledger, config: LedgerConfig) -> None:
    assert config.anchor_path is not None
    with pytest.raises(LedgerUnavailable, match="already speaks of a ledger"):
        create_ledger(config)
    with pytest.raises(LedgerUnavailable, match="it is never replaced"):
        create_ledger(replace(config, anchor_path=config.anchor_path.with_name("other")))
    assert spent.verify().charges == 5


def test_a_missing_ledger_stays_missing(
    config: LedgerConfig, spent: Ledger, vandal: Any, make_request: Request
) -> None:
    if config.path is not None:
        config.path.unlink()
    else:
        vandal.run("DROP TABLE answers CASCADE", "DROP TABLE head CASCADE", "DROP TABLE events CASCADE")
    for attempt in (lambda: spent.spend(make_request("new")), lambda: open_ledger(config)):
        with pytest.raises(LedgerUnavailable, match="A budget is never made anew"):
            attempt()
    assert config.path is None or not config.path.exists()


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_an_old_file_put_back_is_found(spent: Ledger, config: LedgerConfig, make_request: Request) -> None:
    assert config.path is not None
    spent.close()
    copy = config.path.read_bytes()
    spent.spend(make_request("last"))
    config.path.with_name("old").write_bytes(copy)
    config.path.with_name("old").replace(config.path)
    for leftover in ("-wal", "-shm"):
        Path(f"{config.path}{leftover}").unlink(missing_ok=True)
    with pytest.raises(LedgerDamaged, match="older than what this process has seen"):
        spent.spend(make_request("new"))
    with pytest.raises(LedgerDamaged, match="its anchor speaks"):
        open_ledger(config)


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
@pytest.mark.parametrize("content", [b"", b"not a database, however long it may be" * 100])
def test_a_file_that_is_no_ledger_is_refused(config: LedgerConfig, spent: Ledger, content: bytes) -> None:
    assert config.path is not None
    spent.close()
    config.path.write_bytes(content)
    with pytest.raises(LedgerDamaged):
        open_ledger(config)
    assert config.path.read_bytes() == content


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_ledger_is_made_where_files_cannot_be_linked(config: LedgerConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("discreet.ledger.chain_stores.sqlite_store.os.link", refuse)
    with create_ledger(config) as made:
        made.verify()
    assert config.anchor_path is not None
    config.anchor_path.unlink()
    with pytest.raises(LedgerUnavailable, match="it is never replaced"):
        create_ledger(config)
    with open_ledger(replace(config, anchor_path=None)) as made:
        made.verify()
