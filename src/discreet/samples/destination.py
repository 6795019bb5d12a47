"""Where a sample is written: checks before anything is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discreet.catalogue import say
from discreet.errors import PathInvalid, UsageError
from discreet.files import make_folder
from discreet.paths import AnyPath, as_path

__all__ = ["FEWEST", "MOST", "check_request", "check_seed", "claim"]

FEWEST: Final = 1_000
MOST: Final = 10_000_000
_SEEDS: Final = 2**63


def check_request(*, rows: int, seed: int, called: str = "rows", default: int = 113_290) -> None:
    """UsageError unless the size, which its caller calls so, and the seed are within what can be drawn."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not FEWEST <= rows <= MOST:
        raise UsageError(
            say(
                "{called} must be a whole number from {fewest:,} to {most:,}; received {rows}. The default is "
                "{default:,}.",
                called=called,
                fewest=FEWEST,
                most=MOST,
                rows=rows,
                default=default,
            ),
            parameter=called,
            given=str(rows),
        )
    check_seed(seed)


def check_seed(seed: int) -> None:
    """UsageError unless the seed is one that a sample can be drawn from."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        raise UsageError(
            say("seed must be a whole number from 0 to {seeds}; received {seed}.", seeds=_SEEDS - 1, seed=seed),
            parameter="seed",
            given=str(seed),
        )


def claim(directory: AnyPath, names: tuple[str, ...], *, overwrite: bool) -> tuple[Path, ...]:
    """The paths of the files, in a directory that exists from now on. PathInvalid if one is taken."""
    directory = as_path(directory, "directory")
    make_folder(directory)
    paths = tuple(directory / name for name in names)
    for path in paths:
        if path.exists() and not overwrite:
            raise PathInvalid(
                say(
                    "{path} exists, and a sample replaces no file unless asked to. Name another folder, or add "
                    "--overwrite (in Python: overwrite=True).",
                    path=path,
                ),
                file=str(path),
            )
    return paths
