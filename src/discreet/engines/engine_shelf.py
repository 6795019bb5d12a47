"""Engines that stay open, because opening one takes longer than most questions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from discreet.engines.engine_choice import engine_for
from discreet.workspace import Dataset

if TYPE_CHECKING:
    from discreet.engines.engine import Engine

__all__ = ["EngineShelf"]

_MOST: Final = 8

_Versions = frozenset[tuple[str, int]]


class EngineShelf:
    """One engine for each set of versions, however many threads ask for it at once.

    Beyond `most`, the one that was not asked for the longest is let go of: it goes on for those who use it, and closes
    when the last of them is done.
    """

    def __init__(self, *, salt: str, most: int = _MOST) -> None:
        self._salt = salt
        self._most = most
        self._engines: OrderedDict[_Versions, Engine] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._engines)

    def open(self, datasets: Mapping[str, Dataset]) -> Engine:
        """The engine for these versions. It belongs to the shelf: nobody else closes it."""
        versions = frozenset((name, dataset.version) for name, dataset in datasets.items())
        with self._lock:
            if versions not in self._engines:
                self._engines[versions] = engine_for(datasets, salt=self._salt)
            self._engines.move_to_end(versions)
            if len(self._engines) > self._most:
                self._engines.popitem(last=False)
            return self._engines[versions]

    def close(self) -> None:
        """Close every engine, also where one cannot be; nobody may be using one."""
        with self._lock, ExitStack() as every:
            for engine in self._engines.values():
                every.callback(engine.close)
            self._engines.clear()
