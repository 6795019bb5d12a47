"""From a question to a plan: frozen nodes of our own, checked against the card before any row is read.

SQL text is parsed with sqlglot, but only `CountPlan` reaches an engine. A plan knows its keys, its predicate in stored
integers, and its sensitivity for the card's neighbour relation.
"""

from __future__ import annotations

from discreet.plan.counting import plan_question
from discreet.plan.nodes import CountPlan
from discreet.plan.sensitivity import Sensitivity, count_sensitivity

__all__ = ["CountPlan", "Sensitivity", "count_sensitivity", "plan_question"]
