"""Protected tables: margins that add up, an interval on every figure, and what agencies do today beside it.

A table is a plan like any other; this room chooses which margins are measured, estimates every cell and margin from
them, and publishes the result. Bootstrap differential privacy and today's methods live here too, labelled as they are.
"""

__all__: list[str] = []
