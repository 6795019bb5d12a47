"""Answers as files. Text that a spreadsheet could take for a formula is neutralised; numbers stay numbers."""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from discreet.data.card import Kind
from discreet.release.answers import Answer

__all__ = ["neutralise", "to_csv"]

_DANGEROUS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def neutralise(text: str) -> str:
    """A leading apostrophe before what would be read as a formula."""
    return f"'{text}" if text.startswith(_DANGEROUS) and not _NUMBER.fullmatch(text) else text


def to_csv(answer: Answer, language: str = "en") -> str:
    """Keys as codes with a label column beside each category, every noisy column with its interval.

    A release that is not differentially private says so in a column of its own, on every line.
    """
    labels = answer.labels(language)
    guarantee = answer.noisy.guarantee
    said = [] if guarantee.differentially_private else [str(guarantee)]
    header: list[str] = []
    for source, name in answer.plan.outputs:
        header.append(name)
        if source is None:
            header += [f"{name}_low", f"{name}_high"]
        elif answer.card.column(source).kind is Kind.CATEGORY:
            header.append(f"{name}_label")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([neutralise(name) for name in header] + ["guarantee"] * len(said))
    for row, interval in zip(answer.rows, answer.intervals, strict=True):
        cells: list[str] = []
        for source, name in answer.plan.outputs:
            value = "" if row[name] is None else str(row[name])
            cells.append(value if source is None else neutralise(value))
            if source is None:
                cells += [str(bound) for bound in interval[name]]
            elif name in labels:
                cells.append(neutralise(labels[name].get(value, "")))
        writer.writerow([*cells, *said])
    return out.getvalue()
