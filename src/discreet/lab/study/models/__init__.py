"""The models that a study compares: central, local, shuffled, and the founding report's own recipe.

Each answers the same queries from the same rows, says what error to expect, and draws from seeded streams only.
"""

__all__: list[str] = []
