"""The stores of the conformance suite, for tests that kill their clients."""

from __future__ import annotations

from tests.conformance.ledger.conftest import config, ledger, make_terms

__all__ = ["config", "ledger", "make_terms"]
