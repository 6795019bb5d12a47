"""Accounts that were lost: each loss is found, and what stands in their place is nowhere lower than the truth."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.errors import Refused
from discreet.ledger import WRITE_OFF, backup_ledger, restore_ledger
from discreet.linkage import LinkedKind
from discreet.linkage.offices.account_book import AccountBook, AccountFault, WrittenOff
from discreet.linkage.offices.registry_desk import AccountPool, RegistryDesk
from discreet.session import ledger_config
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

# So that noise alone does not close so small a study.
OPEN = {"closing": "closing: {share: 0.9}"}
ASKED = ("ill = 'yes'", "age < 30", "age >= 60")


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[ThreeOffices]:
    opened = open_offices(tmp_path, terms=terms_text(**OPEN))
    yield opened
    opened.close()


def pool_of(offices: ThreeOffices) -> AccountPool:
    return offices.registry.pool(offices.signed.agreement.terms.property("francophone"))


def counters_of(offices: ThreeOffices) -> NDArray[np.uint16]:
    with offices.registry.hold(pool_of(offices)) as book:
        counters: NDArray[np.uint16] = book.accounts.counters
        return counters


def write_off(offices: ThreeOffices, *, members: int | None = None) -> WrittenOff | None:
    pool, desk = pool_of(offices), offices.registry
    return AccountBook.write_off(
        pool.folder,
        desk.session.ledger,
        population=pool.population,
        reservation=pool.reservation,
        units=pool.units,
        members=pool.members if members is None else members,
        cap=pool.cap,
        who="custodian",
    )


def fault_of(offices: ThreeOffices) -> str:
    with pytest.raises(Refused, match="not the ones that the ledger speaks of") as refused:
        counters_of(offices)
    return str(refused.value.fields["fault"])


def delete_counters(folder: Path) -> None:
    (folder / "accounts.bin").unlink()


def put_older_back(folder: Path) -> None:
    shutil.copy(folder / "older.bin", folder / "accounts.bin")


def cut(at: int) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / "accounts.bin"
        file.write_bytes(file.read_bytes()[:at])

    damage.__name__ = f"cut at {at}"
    return damage


def empty_counters(folder: Path) -> None:
    """The right header, and nothing charged."""
    file = folder / "accounts.bin"
    head, _, data = file.read_bytes().partition(b"\n")
    file.write_bytes(head + b"\n" + bytes(len(data)))


def claim_the_newest(folder: Path) -> None:
    """The older counters under the newest header."""
    head = (folder / "accounts.bin").read_bytes().partition(b"\n")[0]
    file = folder / "accounts.bin"
    file.write_bytes(head + b"\n" + (folder / "older.bin").read_bytes().partition(b"\n")[2])


def claim_a_write_off(folder: Path) -> None:
    head, _, data = (folder / "accounts.bin").read_bytes().partition(b"\n")
    header = {**json.loads(head), "written_off": json.loads(head)["event"]}
    (folder / "accounts.bin").write_bytes(json.dumps(header).encode() + b"\n" + bytes(len(data)))


def delete_key(folder: Path) -> None:
    (folder / "digest.key").unlink()


def other_key(folder: Path) -> None:
    (folder / "digest.key").write_text("00" * 32 + "\n")


def delete_both(folder: Path) -> None:
    delete_counters(folder)
    delete_key(folder)


@pytest.mark.parametrize(
    ("lose", "fault", "kept"),
    [
        (delete_counters, AccountFault.FILE, False),
        (put_older_back, AccountFault.OLDER, True),
        (cut(0), AccountFault.FILE, False),
        (cut(20), AccountFault.FILE, False),
        (cut(-1), AccountFault.FILE, False),
        (cut(-2), AccountFault.FILE, False),
        (empty_counters, AccountFault.OTHER, False),
        (claim_the_newest, AccountFault.OTHER, False),
        (claim_a_write_off, AccountFault.OTHER, False),
        (delete_key, AccountFault.KEY, False),
        (other_key, AccountFault.OTHER, False),
        (delete_both, AccountFault.KEY, False),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_each_loss_is_found_and_written_off(
    offices: ThreeOffices, lose: Callable[[Path], None], fault: AccountFault, kept: bool
) -> None:
    """`kept`: what the older file knows is not charged twice."""
    folder = pool_of(offices).folder
    for number, where in enumerate(ASKED):
        offices.ask(where=where)
        if number == 0:
            shutil.copy(folder / "accounts.bin", folder / "older.bin")
    truth = counters_of(offices)
    assert truth.max() == 20
    lose(folder)
    assert fault_of(offices) == fault
    done = write_off(offices)
    assert done is not None
    mended = counters_of(offices)
    assert (mended >= truth).all()
    assert done.fullest == mended.max() == 30
    assert not done.all
    assert mended.min() == (20 if kept else 30)
    assert done.uses == (2 if kept else 3)
    # The service goes on, and what follows is named by the ledger as ever.
    offices.ask(where="age >= 50")
    assert (counters_of(offices) >= mended).all()
    offices.sessions[1].verify()
    newest = offices.sessions[1].ledger.list_uses(pool_of(offices).reservation)[-2]
    assert (newest.question, newest.charge, newest.answer) == (WRITE_OFF, 30, None)


def test_sound_accounts_are_not_written_off(offices: ThreeOffices) -> None:
    offices.ask()
    before = counters_of(offices)
    assert write_off(offices) is None
    assert (counters_of(offices) == before).all()
    assert len(offices.sessions[1].ledger.list_uses(pool_of(offices).reservation)) == 1


def test_accounts_lost_before_the_first_use_are_empty_again(offices: ThreeOffices) -> None:
    delete_counters(pool_of(offices).folder)
    done = write_off(offices)
    assert done is not None
    assert (done.uses, done.fullest) == (0, 0)
    offices.ask()
    assert counters_of(offices).max() == 10


def test_counters_that_nothing_was_charged_to_are_found(offices: ThreeOffices) -> None:
    file = pool_of(offices).folder / "accounts.bin"
    head, _, data = file.read_bytes().partition(b"\n")
    file.write_bytes(head + b"\n" + b"\1" * len(data))
    assert fault_of(offices) == AccountFault.OTHER


def test_losses_one_after_the_other_never_lower_an_account(offices: ThreeOffices) -> None:
    """Also where the second leaves less to begin with than the first."""
    folder = pool_of(offices).folder
    offices.ask()
    shutil.copy(folder / "accounts.bin", folder / "older.bin")
    offices.ask(where="age < 30")
    truth = counters_of(offices)
    delete_key(folder)
    first = write_off(offices)
    assert first is not None
    assert first.fullest == 20
    put_older_back(folder)  # from before it was written off
    assert fault_of(offices) == AccountFault.OLDER
    second = write_off(offices)
    assert second is not None
    assert second.fullest == 20
    assert (counters_of(offices) >= truth).all()
    offices.ask(where="age >= 60")
    truth = np.maximum(truth, counters_of(offices))
    delete_counters(folder)
    third = write_off(offices)
    assert third is not None
    assert (third.uses, third.fullest) == (1, 30)
    assert (counters_of(offices) >= truth).all()


def test_a_write_off_that_was_cut_short_is_made_again(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch) -> None:
    offices.ask()
    truth = counters_of(offices)
    delete_counters(pool_of(offices).folder)
    with monkeypatch.context() as patch:
        patch.setattr("discreet.linkage.offices.account_book._write_counters", _die)
        with pytest.raises(KeyboardInterrupt):
            write_off(offices)
    assert fault_of(offices) == AccountFault.FILE
    assert write_off(offices) is not None
    assert (counters_of(offices) >= truth).all()


def _die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def leave_pending(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch, where: str) -> bytes:
    """A sample that was charged and not answered: its journal stays."""
    request = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=where)
    sample = offices.holder.draw(request.envelope).sample
    with monkeypatch.context() as patch:
        patch.setattr("discreet.linkage.offices.registry_desk.discrete_laplace_array", _die)
        with pytest.raises(KeyboardInterrupt):
            offices.registry.count(sample)
    return sample


def test_an_older_file_is_brought_up_to_date_by_journals_that_are_all_there(
    offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pool_of(offices).folder
    offices.ask()
    shutil.copy(folder / "accounts.bin", folder / "older.bin")
    for where in ASKED[1:]:
        leave_pending(offices, monkeypatch, where)
    truth = counters_of(offices)
    put_older_back(folder)
    assert (counters_of(offices) == truth).all()


def test_a_journal_hides_no_loss_of_the_uses_before_it(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older file lacks an answered use; the journal after it must not make it look new."""
    folder = pool_of(offices).folder
    offices.ask()
    shutil.copy(folder / "accounts.bin", folder / "older.bin")
    offices.ask(where="age < 30")
    sample = leave_pending(offices, monkeypatch, "age >= 60")
    truth = counters_of(offices)
    put_older_back(folder)
    before = (folder / "accounts.bin").read_bytes()
    assert fault_of(offices) == AccountFault.OLDER
    assert (folder / "accounts.bin").read_bytes() == before
    done = write_off(offices)
    assert done is not None
    assert done.uses == 2
    assert (counters_of(offices) >= truth).all()
    # Whoever was charged is counted still.
    assert not offices.registry.count(sample).replayed
    assert (counters_of(offices) >= truth).all()


def test_a_household_is_charged_for_all_its_members(tmp_path: Path) -> None:
    people = "unit: {column: household, rows: 8}"
    from tests.unit.linkage.three_offices import PEOPLE_CARD

    offices = open_offices(
        tmp_path,
        terms=terms_text(unit=f"unit: {{map: {tmp_path / 'households.csv'}, members: 4}}", **OPEN),
        people_card=PEOPLE_CARD.replace("unit: {column: person, rows: 1}", people),
        mapped=True,
    )
    with_all = offices.ask(where="age < 90", scale=100)
    assert with_all
    truth = counters_of(offices)
    assert truth.max() == 12
    delete_counters(pool_of(offices).folder)
    done = write_off(offices)
    assert done is not None
    assert done.fullest == 12
    assert (counters_of(offices) >= truth).all()
    offices.close()


def test_accounts_saturate(offices: ThreeOffices) -> None:
    for scale in (10, 10):
        offices.ask("tongue", "histogram", scale=scale)
        offices.ask("tongue", "histogram", scale=scale, where=f"age < {scale}")
    for number in range(8):
        offices.ask(kind="count-and-size", scale=10, where=f"age < {number + 40}")
    truth, pool = counters_of(offices), pool_of(offices)
    assert truth.max() <= pool.cap
    delete_key(pool.folder)
    done = write_off(offices)
    assert done is not None
    assert done.fullest == pool.cap
    assert (counters_of(offices) >= truth).all()


def test_an_older_ledger_uses_up_every_account(offices: ThreeOffices, tmp_path: Path) -> None:
    """Uses that a restored ledger does not know may have been answered, whatever the accounts say."""
    pool = pool_of(offices)
    offices.ask()
    session = offices.sessions[1]
    config, study = ledger_config(session.workspace), offices.registry.study
    backup_ledger(config, tmp_path / "backup.sqlite")
    shutil.copytree(pool.folder, tmp_path / "pool")
    offices.ask(where="age < 30")
    # Ledger and accounts of the same night are put back together.
    session.close()
    assert config.path is not None
    config.path.unlink()
    restore_ledger(config, tmp_path / "backup.sqlite", who="custodian")
    shutil.rmtree(pool.folder)
    shutil.copytree(tmp_path / "pool", pool.folder)
    with study.open_session() as opened:
        offices.registry = RegistryDesk(study, opened)
        assert fault_of(offices) == AccountFault.LEDGER
        done = write_off(offices)
        assert done is not None
        assert done.all
        assert (counters_of(offices) == pool.cap).all()
        # Nor does a later loss give anything back.
        delete_counters(pool.folder)
        again = write_off(offices)
        assert again is not None
        assert again.fullest == pool.cap
        assert (counters_of(offices) == pool.cap).all()
    offices.sessions[0].close()


def test_a_restored_ledger_that_lost_nothing_leaves_accounts_as_they_are(offices: ThreeOffices, tmp_path: Path) -> None:
    offices.ask()
    truth, session, study = counters_of(offices), offices.sessions[1], offices.registry.study
    config = ledger_config(session.workspace)
    backup_ledger(config, tmp_path / "backup.sqlite")
    session.close()
    assert config.path is not None
    config.path.unlink()
    restore_ledger(config, tmp_path / "backup.sqlite", who="custodian")
    with study.open_session() as opened:
        offices.registry = RegistryDesk(study, opened)
        assert (counters_of(offices) == truth).all()


def test_closed_accounts_are_left_alone(offices: ThreeOffices) -> None:
    pool = pool_of(offices)
    offices.sessions[1].ledger.close_reservation(pool.population, pool.reservation, reason="", who="custodian")
    delete_counters(pool.folder)
    with pytest.raises(Refused, match="are closed"):
        write_off(offices)
