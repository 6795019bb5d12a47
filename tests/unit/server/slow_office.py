"""`python -m tests.unit.server.slow_office WORKSPACE MARK`: an office whose draws last until a file is there."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from discreet.cli import main
from discreet.engines.embedded import EmbeddedEngine
from discreet.server.connections import web_server


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
    workspace, mark = sys.argv[1:]
    make_slow(Path(mark))
    web_server._GRACE = 1  # type: ignore[misc]
    sys.argv = ["discreet", "serve", "-w", workspace, "--port", "0", "--no-slots"]
    main()
