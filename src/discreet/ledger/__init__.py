"""The budget of every population, as events that add up.

`workspace_ledger` has the `Ledger`; `accounting`, `holds` and `admission` decide what fits; `events`, `standing` and
`book` are the chain, `chain_stores` keep it in SQLite or PostgreSQL, and `trust` authenticates, backs up and restores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.ledger.accounting import (
        RHO_UNIT,
        Balance,
        caps,
        cost_of,
        promise_of,
        require_priceable,
        rho_cap,
        weigh,
    )
    from discreet.ledger.chain_stores.store import ProcessConnection
    from discreet.ledger.event_log import LogEntry, LogFilter, TermsChange, describe_event, read_moment
    from discreet.ledger.events import EventKind, canonical_json, now, sha256_hex
    from discreet.ledger.holds import Hold, Reservation
    from discreet.ledger.ledger_config import LedgerConfig
    from discreet.ledger.past_questions import PastQuestion
    from discreet.ledger.people_log import ChainMark
    from discreet.ledger.records import (
        BudgetState,
        Receipt,
        SpendRequest,
        StoredAnswer,
        Verification,
        check_name,
        name_request,
    )
    from discreet.ledger.reservations import WRITE_OFF, LinkedUse, stale_accounts
    from discreet.ledger.standing import PopulationStanding
    from discreet.ledger.stored_reasons import (
        FAILED_AFTER_CHARGE,
        FAILED_DURING_BOOTSTRAP,
        FAILED_DURING_UNPROVEN,
        tell_stored,
        word_from_rows,
    )
    from discreet.ledger.trust.anchor import Anchor
    from discreet.ledger.trust.recovery import (
        backup_ledger,
        migrate_ledger,
        replace_anchor,
        replace_ledger_key,
        restore_ledger,
    )
    from discreet.ledger.trust.seal import Seal
    from discreet.ledger.workspace_ledger import Ledger, create_ledger, open_ledger
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "FAILED_AFTER_CHARGE",
    "FAILED_DURING_BOOTSTRAP",
    "FAILED_DURING_UNPROVEN",
    "RHO_UNIT",
    "WRITE_OFF",
    "Anchor",
    "Balance",
    "BudgetState",
    "ChainMark",
    "EventKind",
    "Hold",
    "Ledger",
    "LedgerConfig",
    "LinkedUse",
    "LogEntry",
    "LogFilter",
    "PastQuestion",
    "PopulationStanding",
    "ProcessConnection",
    "Receipt",
    "Reservation",
    "Seal",
    "SpendRequest",
    "StoredAnswer",
    "TermsChange",
    "Verification",
    "backup_ledger",
    "canonical_json",
    "caps",
    "check_name",
    "cost_of",
    "create_ledger",
    "describe_event",
    "migrate_ledger",
    "name_request",
    "now",
    "open_ledger",
    "promise_of",
    "read_moment",
    "replace_anchor",
    "replace_ledger_key",
    "require_priceable",
    "restore_ledger",
    "rho_cap",
    "sha256_hex",
    "stale_accounts",
    "tell_stored",
    "weigh",
    "word_from_rows",
]
