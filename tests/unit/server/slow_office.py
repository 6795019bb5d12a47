"""`python -m tests.unit.server.slow_office WORKSPACE MARK SLOTS SECONDS`: draws last until a file is there.

SLOTS is the option of that name, SECONDS the first slot.
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from discreet.cli import main
from discreet.engines.embedded import EmbeddedEngine
from discreet.server.connections import web_server
from discreet.work import slots


def make_slow(mark: Path) -> None:
    """An engine that reads its rows twice, and waits between for a file."""
    measure = EmbeddedEngine.measure

    def slow(self: EmbeddedEngine, plan: Any) -> Any:
        measure(self, plan)
        mark.with_suffix(".drawing").touch()
        while not mark.exists():
            time.sleep(0.02)
        return measure(self, plan)

    EmbeddedEngine.measure = slow  # type: ignore[method-assign]


if __name__ == "__main__":
    workspace, mark, slots_option, seconds = sys.argv[1:]
    make_slow(Path(mark))
    slots._FIRST = timedelta(seconds=float(seconds))  # type: ignore[misc]
    web_server._GRACE = 1  # type: ignore[misc]
    sys.argv = ["discreet", "serve", "-w", workspace, "--port", "0", slots_option]
    main()
