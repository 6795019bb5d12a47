"""How much an aggregate can move, by every strategy the field has tried, and what using that number costs.

One file for each strategy, with its proof note or the word Unproven: public (the card), private bounds, smooth,
elastic, local, generated, replacement, global type. `subject` says what is asked about and holds the exact values.
"""

from __future__ import annotations

from discreet.lab.strategies.subject import (
    AggregateKind,
    HeldValues,
    SensitivityStrategy,
    StrategyAnswer,
    Subject,
    hold,
    subject_of,
)

__all__ = ["AggregateKind", "HeldValues", "SensitivityStrategy", "StrategyAnswer", "Subject", "hold", "subject_of"]
