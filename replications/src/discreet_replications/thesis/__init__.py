"""The benchmark of the thesis on local sensitivity: its 26 queries, the data as it read them and as they are, cards.

What it printed, whether that comes out again, and what honest public ranges promise before anything is drawn.
"""

__all__: list[str] = []
