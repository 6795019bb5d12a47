"""The stores of the conformance suite, for tests that kill their clients."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_FILE = Path(__file__).parents[1] / "conformance" / "ledger" / "conftest.py"
_spec = importlib.util.spec_from_file_location("ledger_stores", _FILE)
assert _spec is not None
assert _spec.loader is not None
_stores = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_stores)

config = _stores.config
ledger = _stores.ledger
make_terms = _stores.make_terms
postgres_dsn = _stores.postgres_dsn
