"""What makes a command start fast. For the command line only, whose process is ours alone.

Importing takes most of a query's time. Two things halve it: the collector need not search for cycles while thousands
of classes are made, and OpenDP need not import numpy, which it does whenever numpy is installed so that it can be
given arrays. We give it lists.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

__all__ = ["leave_numpy_out_of_opendp", "start"]

_RARELY = 200_000


def start() -> None:
    """Called first of all."""
    gc.set_threshold(_RARELY)


def leave_numpy_out_of_opendp() -> None:
    """Let OpenDP believe that numpy is absent until somebody else has imported it."""
    from opendp import _lib

    original = _lib.import_optional_dependency

    def find(name: str, raise_error: bool = True) -> Any:
        if name == "numpy" and "numpy" not in sys.modules:
            if raise_error:
                raise ImportError("numpy is left out of this process")
            return None
        return original(name, raise_error)

    if "opendp.typing" not in sys.modules:
        _lib.import_optional_dependency = find
