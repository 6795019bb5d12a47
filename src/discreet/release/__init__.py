"""The only door out: charge, noise, stored answer, and what a reader is told about it.

`ask` takes a statement through price, ledger, engine and mechanisms; an `Answer` cannot be built without a guarantee.
"""

from __future__ import annotations

from discreet.release.answers import Answer
from discreet.release.asking import Question, ask

__all__ = ["Answer", "Question", "ask"]
