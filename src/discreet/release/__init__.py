"""The only door out: charge, noise, stored answer, and what a reader is told about it.

An `Ask` goes in, `pipeline` takes it through ledger, engine and mechanisms; what leaves carries its guarantee.
"""

from __future__ import annotations

from discreet.release.answers import Answer
from discreet.release.ask import Ask
from discreet.release.asking import ask

__all__ = ["Answer", "Ask", "ask"]
