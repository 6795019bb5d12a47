"""The workspace folder: prepared datasets in versions, public tables, and the way of a file into it.

`Workspace` and `Dataset` say what is there; `add_file` and its like store a version, whole or not at all; `RowSource`
says where rows are that stay in their engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.workspace.folder import (
        Dataset,
        GiveVersion,
        LedgerSettings,
        PrivateFolder,
        Workspace,
        WorkspaceSettings,
        count_on,
        find_workspace,
    )
    from discreet.workspace.ingest import add_file, add_rows, check_presence
    from discreet.workspace.ingest_report import Report, WeightReport, read_report
    from discreet.workspace.populations import NewPopulation, find_elsewhere, note_populations
    from discreet.workspace.preparation import ORDER_COLUMN, prepare
    from discreet.workspace.preparation_sql import Form
    from discreet.workspace.public_tables import (
        PublicColumn,
        PublicTable,
        add_public_file,
        add_public_rows,
        list_public_tables,
        read_public_table,
    )
    from discreet.workspace.row_source import RowSource, StoredRows
    from discreet.workspace.table_journal import TableJournal
    from discreet.workspace.workspace_view import WorkspaceView
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "ORDER_COLUMN",
    "Dataset",
    "Form",
    "GiveVersion",
    "LedgerSettings",
    "NewPopulation",
    "PrivateFolder",
    "PublicColumn",
    "PublicTable",
    "Report",
    "RowSource",
    "StoredRows",
    "TableJournal",
    "WeightReport",
    "Workspace",
    "WorkspaceSettings",
    "WorkspaceView",
    "add_file",
    "add_public_file",
    "add_public_rows",
    "add_rows",
    "check_presence",
    "count_on",
    "find_elsewhere",
    "find_workspace",
    "list_public_tables",
    "note_populations",
    "prepare",
    "read_public_table",
    "read_report",
]
