"""The budget of every population, as events that add up.

`ledger` is the door; `accounting`, `holds` and `admission` decide what fits; `events`, `standing` and `book` are the
chain; `sqlite` and `postgres` keep it; `seal` authenticates it.
"""

from discreet.ledger.accounting import Balance
from discreet.ledger.config import LedgerConfig
from discreet.ledger.holds import Hold
from discreet.ledger.ledger import Ledger, create_ledger, open_ledger
from discreet.ledger.log import LogEntry, LogFilter, TermsChange
from discreet.ledger.records import BudgetState, Marker, Receipt, SpendRequest, StoredAnswer, Verification

__all__ = [
    "Balance",
    "BudgetState",
    "Hold",
    "Ledger",
    "LedgerConfig",
    "LogEntry",
    "LogFilter",
    "Marker",
    "Receipt",
    "SpendRequest",
    "StoredAnswer",
    "TermsChange",
    "Verification",
    "create_ledger",
    "open_ledger",
]
