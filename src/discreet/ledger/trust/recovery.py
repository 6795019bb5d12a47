"""What a custodian does when something was lost: copies of a ledger, older ones put back, other keys and anchors.

A backup is a ledger file of its own, whichever store it was made from. An older ledger is accepted only with what was
spent since written off: the anchor knows how much, and where it does not, nothing is left.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from discreet.catalogue import say
from discreet.errors import LedgerDamaged, LedgerUnavailable, Refused
from discreet.files import check_path
from discreet.guarantees import text
from discreet.ledger.book import Book
from discreet.ledger.chain_stores.sqlite_store import SqliteStore, set_aside
from discreet.ledger.chain_stores.store import FORMAT, damaged
from discreet.ledger.events import EventKind
from discreet.ledger.ledger_config import LedgerConfig, choose_store
from discreet.ledger.standing import Standing
from discreet.ledger.trust.anchor import Anchor, AnchorLine, HeldAnchor
from discreet.ledger.trust.seal import Seal, next_key
from discreet.ledger.trust.verification import verify_chain
from discreet.ledger.workspace_ledger import Ledger, open_ledger
from discreet.paths import AnyPath, as_path

__all__ = ["Restoration", "backup_ledger", "migrate_ledger", "replace_anchor", "replace_ledger_key", "restore_ledger"]


@dataclass(frozen=True, slots=True)
class Restoration:
    """What became of a ledger that was put back.

    `lost` counts the events that it lacks, None where nobody knows. `remaining` has the epsilon that each population
    could still spend: as the backup knew it, and now.
    """

    events: int
    lost: int | None
    everything: bool
    remaining: Mapping[str, tuple[Decimal, Decimal]]

    def to_dict(self) -> dict[str, object]:
        left = {
            name: {"epsilon_in_backup": text(before), "epsilon_now": text(now)}
            for name, (before, now) in self.remaining.items()
        }
        return {"events": self.events, "lost": self.lost, "wrote_off_everything": self.everything, "populations": left}


def backup_ledger(config: LedgerConfig, file: AnyPath) -> int:
    """Write the ledger as it stands at one moment into a file that must not be there; how many events it has."""
    file = as_path(file, "backup")
    if file.exists():
        raise Refused(say("'{file}' is there already; a backup never replaces a file. Choose another name.", file=file))
    check_path(file)
    with closing(choose_store(config)) as store, store.reading() as transaction:
        verify_chain(transaction, Seal(path=config.key_path, workspace_id=config.workspace_id))
        SqliteStore(file).copy_from(transaction)
        return transaction.head().sequence


def restore_ledger(config: LedgerConfig, file: AnyPath, *, who: str) -> Restoration:
    """Put a backup in the place of a ledger that is lost or damaged, with all that was spent since written off.

    Refused where the ledger in place holds, and where the backup does not verify under the key. Without its anchor
    nobody knows what was spent: then all of every budget is written off, and a new anchor is begun.
    """
    file = as_path(file, "backup")
    if not file.is_file():
        raise Refused(say("'{file}' is not a file. Name a backup that 'discreet ledger backup' made.", file=file))
    seal = Seal(path=config.key_path, workspace_id=config.workspace_id)
    _refuse_sound(config)
    anchor = None if config.anchor_path is None else Anchor(config.anchor_path)
    with _staging(config) as folder, closing(SqliteStore(folder / "ledger")) as staged:
        with closing(SqliteStore(file)) as source, source.reading() as transaction:
            verify_chain(transaction, seal)
            staged.copy_from(transaction)
        if anchor is None or _lost(anchor):
            return _put_back(config, staged, seal, None, anchor, who)
        with anchor.hold() as held:
            return _put_back(config, staged, seal, held, anchor, who)


def _lost(anchor: Anchor) -> bool:
    """Whether an anchor is gone, or holds no head any more; such a file is kept under another name."""
    if not anchor.path.exists():
        return True
    try:
        anchor.newest()
    except LedgerDamaged:
        set_aside(anchor.path)
        return True
    return False


@contextmanager
def _staging(config: LedgerConfig) -> Iterator[Path]:
    """A folder on the same disk as the ledger, so that a file can be put in place in one step."""
    with tempfile.TemporaryDirectory(
        prefix=".restore-", dir=None if config.path is None else config.path.parent
    ) as made:
        yield Path(made)


def _put_back(
    config: LedgerConfig, staged: SqliteStore, seal: Seal, held: HeldAnchor | None, anchor: Anchor | None, who: str
) -> Restoration:
    newest = None if held is None else held.newest
    with staged.writing() as transaction:
        book = Book(transaction, seal)
        before, events = book.standing, book.head.sequence
        event = None if newest is None else transaction.event(newest.sequence)
        complete = event is not None and newest is not None and event.hash == newest.hash
        spent = before.spent if complete else _known_spent(newest, seal)
        phrase = None if newest is None else {"sequence": newest.sequence, "hash": newest.hash}
        payload = {"anchor": phrase, "spent": None if spent is None else json.loads(spent)}
        book.append(EventKind.RESTORED, who=who, payload=payload)
    with closing(choose_store(config)) as store:
        store.install(staged)
    head, after = book.head, book.standing
    line = AnchorLine.sealed(seal, sequence=head.sequence, hash=head.hash, spent=after.spent)
    if held is not None:
        held.cover(line)
    elif anchor is not None:
        anchor.create(line)
    lost = 0 if complete else None if newest is None else max(0, newest.sequence - events)
    return Restoration(events=events, lost=lost, everything=spent is None, remaining=_remaining(before, after))


def _known_spent(newest: AnchorLine | None, seal: Seal) -> str | None:
    """What the anchor says was spent, where it says it and the key vouches for it."""
    if newest is None or newest.spent is None:
        return None
    if not newest.holds(seal):
        raise damaged(say("the key does not vouch for what its anchor says"), sequence=newest.sequence)
    return newest.spent


def _remaining(before: Standing, after: Standing) -> dict[str, tuple[Decimal, Decimal]]:
    return {
        name: (
            before.populations[name].balance().epsilon_remaining if name in before.populations else Decimal(0),
            now.balance().epsilon_remaining,
        )
        for name, now in sorted(after.populations.items())
    }


def _refuse_sound(config: LedgerConfig) -> None:
    try:
        with open_ledger(config) as there:
            there.verify()
    except (LedgerDamaged, LedgerUnavailable):
        return
    raise Refused(
        say(
            "The ledger in place is intact and has every event that its anchor knows of: there is nothing to "
            "restore. Nothing was changed."
        )
    )


def replace_anchor(config: LedgerConfig, *, path: AnyPath, lost: bool, who: str) -> None:
    """Begin a new anchor in `path`, as an event.

    The one before it gets the new head too, so that a copy which still follows it is found. Where it cannot be read,
    `lost` says that the custodian vouches for the ledger in place as the newest there is.
    """
    fresh = Anchor(path)
    if not lost:
        with open_ledger(config) as ledger:
            ledger.verify()
            ledger.begin_anchor(fresh, lost=False, who=who)
        return
    with open_ledger(replace(config, anchor_path=None)) as ledger:
        ledger.verify()
        if fresh.path == config.anchor_path and fresh.path.exists():
            set_aside(fresh.path)
        ledger.begin_anchor(fresh, lost=True, who=who)


def replace_ledger_key(config: LedgerConfig, *, lost: bool, who: str) -> None:
    """Put a new key in the place of the one there is, as an event, and sign the head and the anchor with it.

    Without the old key (`lost`) the chain vouches for itself, and the anchor for its end.
    """
    if not lost:
        with open_ledger(config) as ledger:  # which settles a key that a crash left half in place
            ledger.verify()
            with next_key(config.key_path, workspace_id=config.workspace_id) as seal:
                ledger.renew_key(seal, lost=False, who=who)
        return
    with next_key(config.key_path, workspace_id=config.workspace_id) as seal, _trusting(config, seal) as ledger:
        ledger.verify()
        ledger.renew_key(seal, lost=True, who=who)


def _trusting(config: LedgerConfig, seal: Seal) -> Ledger:
    anchor = None if config.anchor_path is None else Anchor(config.anchor_path)
    return Ledger(choose_store(config), seal.trusting(), anchor)


def migrate_ledger(config: LedgerConfig, *, who: str) -> tuple[int, int]:
    """Bring a ledger of an earlier release to this one's format: from which, to which."""
    with open_ledger(config) as ledger:
        ledger.verify()
        return ledger.migrate(who=who), FORMAT
