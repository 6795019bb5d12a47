"""Journals of what was released without a proof, beside the ledger's markers."""
