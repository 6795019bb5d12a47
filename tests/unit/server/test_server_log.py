"""What an operator reads: one line for each thing, nothing that somebody sent, and nothing that steers a terminal."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest

from discreet.server import tell_log
from discreet.server.server_log import quieten_logs

SENT = "ada@example.org\r\nfake line\x1b[2J\u202e"


@pytest.fixture
def _quiet() -> Iterator[None]:
    """Loggers and hooks of this process, put back afterwards."""
    handlers, hooks = logging.root.handlers, (threading.excepthook, sys.unraisablehook)
    quieten_logs()
    try:
        yield
    finally:
        logging.captureWarnings(False)
        logging.root.handlers = handlers
        threading.excepthook, sys.unraisablehook = hooks


@pytest.mark.parametrize(
    "said",
    [
        "a\r\nb", "a\nb", "a\rb", "a\x1b[31mb", "a\x00b", "a\x07b", "a\x9b31mb", "a\u202eb", "a\u2066b", "a\u200bb",
        "a\u2028b", "a\u2029b", "a\x85b", "a\ud800b", "a\x0bb", "a\x7fb", "\ufeffa",
    ],
)  # fmt: skip
def test_a_line_is_one_line_that_steers_nothing(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    tell_log(said)
    told = capsys.readouterr().err
    assert told.endswith("\n")
    assert told[:-1].isprintable()
    assert "\\" in told


def test_a_long_line_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    tell_log("word " * 10_000)
    assert len(capsys.readouterr().err) < 5_000


def test_a_log_that_nobody_reads_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken())
    tell_log("one line")


@pytest.mark.usefixtures("_quiet")
def test_libraries_tell_what_failed_and_not_with_what(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("uvicorn.some\nlibrary")
    logger.error("failed with %s", SENT)
    try:
        raise ValueError(SENT)
    except ValueError:
        logger.exception("%s", SENT)
    logger.info("never said")
    assert capsys.readouterr().err == (
        "In 'uvicorn.some\\nlibrary' something failed: ERROR\n"
        "In 'uvicorn.some\\nlibrary' something failed: ValueError\n"
    )


@pytest.mark.usefixtures("_quiet")
def test_so_do_threads_warnings_and_what_fails_when_it_is_cleared_away(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError(SENT)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(SENT, stacklevel=1)

    class Cleared:
        def __del__(self) -> None:
            raise KeyError(SENT)

    Cleared()
    told = capsys.readouterr().err
    assert told.splitlines() == [
        "In 'thread' something failed: ValueError",
        "In 'py.warnings' something failed: WARNING",
        "In 'cleanup' something failed: KeyError",
    ]
