"""The command line in this process, with what a process would have of its own."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.cli import main
from tests.cli.clinic import Result

__all__ = ["call_here"]


def call_here(folder: Path, words: Sequence[str], stdin: str = "", *, terminal: bool = False) -> Result:
    """What `discreet WORDS` gives in a folder; `terminal` says whether a person seems to sit there."""
    with _own_streams(folder, words, stdin, terminal) as (out, err), pytest.raises(SystemExit) as left:
        main()
    code = left.value.code
    assert code is None or isinstance(code, int), code
    return Result(code or 0, out.getvalue().decode(), err.getvalue().decode())


class _Screen(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@contextmanager
def _own_streams(
    folder: Path, words: Sequence[str], stdin: str, terminal: bool
) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Words, folder, streams, and how often memory is swept."""
    out, err, swept = io.BytesIO(), io.BytesIO(), gc.get_threshold()
    wrap = _Screen if terminal else io.TextIOWrapper
    writers = [wrap(stream, encoding="utf-8", write_through=True) for stream in (out, err)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["discreet", *words])
        patch.setattr(sys, "stdin", wrap(io.BytesIO(stdin.encode()), encoding="utf-8"))
        patch.setattr(sys, "stdout", writers[0])
        patch.setattr(sys, "stderr", writers[1])
        try:
            yield out, err
        finally:
            gc.set_threshold(*swept)
            for writer in writers:
                writer.detach()
