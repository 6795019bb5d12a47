"""Where a sample is written: checks before anything is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discreet.errors import PathInvalid, UsageError
from discreet.files import make_folder
from discreet.paths import AnyPath, as_path

__all__ = ["FEWEST", "MOST", "check_request", "check_seed", "claim"]

FEWEST: Final = 1_000
MOST: Final = 10_000_000
_SEEDS: Final = 2**63


def check_request(*, rows: int, seed: int) -> None:
    """UsageError unless the size and the seed are within what the sample can be drawn for."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not FEWEST <= rows <= MOST:
        raise UsageError(
            f"rows must be a whole number from {FEWEST:,} to {MOST:,}; received {rows}. The default is 113,290.",
            parameter="rows",
            given=str(rows),
        )
    check_seed(seed)


def check_seed(seed: int) -> None:
    """UsageError unless the seed is one that a sample can be drawn from."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        raise UsageError(
            f"seed must be a whole number from 0 to {_SEEDS - 1}; received {seed}.",
            parameter="seed",
            given=str(seed),
        )


def claim(directory: AnyPath, names: tuple[str, str], *, overwrite: bool) -> tuple[Path, Path]:
    """The paths of the two files, in a directory that exists from now on. PathInvalid if one is taken."""
    directory = as_path(directory, "directory")
    make_folder(directory)
    paths = directory / names[0], directory / names[1]
    for path in paths:
        if path.exists() and not overwrite:
            raise PathInvalid(
                f"{path} exists, and a sample replaces no file unless asked to. Name another folder, or add "
                "--overwrite (in Python: overwrite=True).",
                file=str(path),
            )
    return paths
