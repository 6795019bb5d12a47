"""Dataset cards, the workspace folder, and the way of a file into it.

A card says what a dataset is; a source streams a file; `prepare` makes of both the exact integers that every
engine sums. Everything is imported where it is used, because a question needs the card and not the readers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.card import (
        Card,
        Category,
        Column,
        Kind,
        Labels,
        Size,
        WeightRule,
        parse_card,
        read_card,
    )
    from discreet.data.cardkeys import CARD_KEYS, Key, walk_keys
    from discreet.data.draft import draft_card
    from discreet.data.ingest import add_file
    from discreet.data.paths import allowed_roots, resolve_inside
    from discreet.data.publictables import PublicColumn, PublicTable
    from discreet.data.report import ColumnReport, Report, WeightReport, read_report
    from discreet.data.sources import Limits
    from discreet.data.workspace import (
        Dataset,
        LedgerSettings,
        Workspace,
        WorkspaceSettings,
        find_workspace,
    )

__all__ = [
    "CARD_KEYS",
    "Card",
    "Category",
    "Column",
    "ColumnReport",
    "Dataset",
    "Key",
    "Kind",
    "Labels",
    "LedgerSettings",
    "Limits",
    "PublicColumn",
    "PublicTable",
    "Report",
    "Size",
    "WeightReport",
    "WeightRule",
    "Workspace",
    "WorkspaceSettings",
    "add_file",
    "allowed_roots",
    "draft_card",
    "find_workspace",
    "parse_card",
    "read_card",
    "read_report",
    "resolve_inside",
    "walk_keys",
]

_HOMES = {
    "card": "Card Category Column Kind Labels Size WeightRule parse_card read_card",
    "cardkeys": "CARD_KEYS Key walk_keys",
    "draft": "draft_card",
    "ingest": "add_file",
    "paths": "allowed_roots resolve_inside",
    "publictables": "PublicColumn PublicTable",
    "report": "ColumnReport Report WeightReport read_report",
    "sources": "Limits",
    "workspace": "Dataset LedgerSettings Workspace WorkspaceSettings find_workspace",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(f"discreet.data.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'discreet.data' has no attribute '{name}'")
