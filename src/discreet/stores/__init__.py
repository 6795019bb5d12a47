"""Tables that an office keeps beside its ledger: people, sign-ins, jobs. In SQLite, or in PostgreSQL where shared.

Whoever keeps something declares its tables (`Tables`) and asks for a `Store`. What must not be lost is on the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.stores.store_choice import open_store
    from discreet.stores.table_store import Rows, Run, Store, Tables
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = ["Rows", "Run", "Store", "Tables", "open_store"]
