"""Replicate weights from a file: one line for each token, one column for each replicate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.reporting.answers import mark_of_token, open_table
from discreet.collect.reporting.reports import AcceptedReports
from discreet.collect.reporting.signing import SignedManifest
from discreet.errors import FileRefused, UsageError

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["read_replicates"]

_MOST: Final = 5_000
_LARGEST: Final = 2.0**40


def read_replicates(file: Path, signed: SignedManifest, collected: AcceptedReports) -> NDArray[int64]:
    """Replicates × respondents, in steps of the weight; every respondent of the collection must have theirs."""
    manifest = signed.manifest
    if manifest.token is None or manifest.weight is None:
        raise UsageError(
            say(
                "replicate weights belong to respondents with tokens and weights; the manifest needs "
                "`respondent: {{token: ...}}` and `weight`."
            )
        )
    source = open_table(file)
    columns = [name for name in source.names if name != manifest.token]
    if manifest.token not in source.names or not 2 <= len(columns) <= _MOST:
        raise FileRefused(
            say(
                "'{name}' must have the column '{token}' and from 2 to {most:,} columns of weights.",
                name=file.name,
                token=manifest.token,
                most=_MOST,
            ),
            file=file.name,
        )
    marks: dict[str, int] = {}
    parts: list[NDArray[float64]] = []
    for batch in source.batches([manifest.token, *columns]):
        for token in batch.column(0).to_pylist():
            marks[mark_of_token(signed.digest, token.strip())] = len(marks)
        parts.append(np.array([_numbers(column.to_pylist(), file) for column in batch.columns[1:]]))
    table = np.concatenate(parts, axis=1) if parts else np.zeros((len(columns), 0))
    absent = sum(mark not in marks for mark in collected.marks)
    if absent or len(marks) != table.shape[1]:
        raise FileRefused(
            say(
                "'{name}' needs one line for every respondent of the collection: {absent:,} have none, {repeated:,} "
                "lines repeat a token.",
                name=file.name,
                absent=absent,
                repeated=table.shape[1] - len(marks),
            ),
            file=file.name,
        )
    rows = [marks[mark] for mark in collected.marks]
    return np.rint(table[:, rows] / float(manifest.weight.step)).astype(np.int64)


def _numbers(texts: list[str], file: Path) -> NDArray[float64]:
    try:
        result = np.array([float(text) for text in texts])
    except ValueError:
        result = np.array([np.nan])
    if not np.all((result >= 0) & (result <= _LARGEST)):
        raise FileRefused(
            say("'{name}' holds a replicate weight that is not a number from 0.", name=file.name), file=file.name
        )
    return result
