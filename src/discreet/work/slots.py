"""When something may leave: at times fixed by the request's, so that nobody can tell how long a draw or a count took.

The slots of a request are ¼, ½, 1, 2, 4, … seconds after it was made. From 4,096 seconds on they are that far apart:
a sample that a person approved after days does not wait for as many days again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

__all__ = ["next_slot"]

_FIRST: Final = timedelta(milliseconds=250)
_WIDEST: Final = _FIRST * 2**14


def next_slot(asked: datetime, ready: datetime) -> datetime:
    """The first slot of a request made at `asked` that is not before `ready`."""
    taken = ready - asked
    if taken >= _WIDEST:
        return asked - (-taken // _WIDEST) * _WIDEST
    slot = _FIRST
    while slot < taken:
        slot *= 2
    return asked + slot
