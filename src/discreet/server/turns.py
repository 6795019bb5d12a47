"""Whose turn it is: little of one person's is worked on at a time, in threads that nobody else waits for.

Planning and drawing take long. Whoever asks much waits for themselves, and waiting holds no thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

__all__ = ["AT_ONCE", "Turns"]

AT_ONCE: Final = 4
"""Of one person, in one process."""

_THREADS: Final = 16

Done = TypeVar("Done")


class Turns:
    """The turns of one process. `take` is called in its event loop."""

    def __init__(self) -> None:
        self._own: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))
        self._threads = CapacityLimiter(_THREADS)
        self._lock = threading.Lock()
        self._busy = 0

    @property
    def busy(self) -> bool:
        """Whether anything is being done, also where nobody waits for it any more."""
        return self._busy > 0

    async def take(self, person: str, work: Callable[[], Done]) -> Done:
        """Do it in a thread when it is this person's turn."""

        def counted() -> Done:
            with self._lock:
                self._busy += 1
            try:
                return work()
            finally:
                with self._lock:
                    self._busy -= 1

        async with self._own[person]:
            return await to_thread.run_sync(counted, limiter=self._threads)
