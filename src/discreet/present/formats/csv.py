"""A release as CSV: the columns of the list, some thousand lines at a time."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.present.long_list import list_columns
from discreet.present.pages.csv_text import csv_columns
from discreet.results import Release, parts_of

__all__ = ["csv_parts"]


def csv_parts(release: Release, language: str = "en") -> Iterator[str]:
    """The file in parts. Keys as codes with a label column beside each category, figures with their intervals."""
    columns = list_columns(release, language)
    parts = zip(*(parts_of(column.values) for column in columns), strict=True)
    return csv_columns([column.name for column in columns], parts)
