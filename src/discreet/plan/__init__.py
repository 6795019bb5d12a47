"""From a question to a plan: frozen nodes of our own, checked against the cards before any row is read.

SQL text is parsed with sqlglot (`questions`), but only a `Plan` (`algebra`) reaches an engine. The `calculus` derives
from it, and from the cards alone, how far one protected unit can move each measure.
"""

from __future__ import annotations

from discreet.plan.algebra import Plan
from discreet.plan.sensitivity import Sensitivities, Sensitivity, sensitivities
from discreet.plan.statement import Statement

__all__ = ["Plan", "Sensitivities", "Sensitivity", "Statement", "sensitivities"]
