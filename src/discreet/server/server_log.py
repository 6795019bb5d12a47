"""What a server tells its operator: one line each on stderr, and never what somebody sent.

Times are left to whoever keeps the lines: when a person did something is not for a log of ours.
"""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress

from discreet.catalogue import say
from discreet.errors import legible

__all__ = ["quieten_logs", "tell_log"]


def tell_log(line: str) -> None:
    """One line on stderr, whatever is in it."""
    with suppress(OSError, ValueError):  # nobody reads them any more; what is served goes on
        sys.stderr.write(f"{legible(line)}\n")
        sys.stderr.flush()


def quieten_logs() -> None:
    """From now on libraries say no more than that something failed, and of what kind it was.

    Their messages and tracebacks may hold what somebody sent.
    """
    logging.captureWarnings(True)
    logging.root.handlers = [_OneLine(logging.WARNING)]
    threading.excepthook = lambda failed: _tell_failure("thread", failed.exc_type.__name__)
    sys.unraisablehook = lambda failed: _tell_failure("cleanup", failed.exc_type.__name__)


class _OneLine(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        failed = record.exc_info[0] if record.exc_info else None
        _tell_failure(record.name, record.levelname if failed is None else failed.__name__)


def _tell_failure(part: str, sort: str) -> None:
    tell_log(say("In '{part}' something failed: {sort}", part=part, sort=sort))
