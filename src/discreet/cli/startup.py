"""What makes a command start fast. For the command line only, whose process is ours alone.

Importing takes most of a query's time, and the collector need not search for cycles while thousands of classes are
made.
"""

from __future__ import annotations

import gc

__all__ = ["start"]

_RARELY = 200_000


def start() -> None:
    """Called first of all."""
    gc.set_threshold(_RARELY)
