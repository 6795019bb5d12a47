"""Pages: what people open in a browser. Escaped HTML, one file with its own style, drawings without scripts.

Nothing here knows what is shown; rooms that have something to show build their pages from these parts.
"""

__all__: list[str] = []
