"""Where a workspace's tables are: where its ledger is."""

from __future__ import annotations

from discreet.stores.table_store import Store, Tables
from discreet.workspace import Workspace

__all__ = ["open_store"]


def open_store(workspace: Workspace, tables: Tables) -> Store:
    """The tables of one room, not yet opened. Drivers load only when they are needed."""
    if workspace.ledger.dsn_env is not None:
        from discreet.stores.postgres_office import PostgresOffice

        return PostgresOffice(dsn_env=workspace.ledger.dsn_env, workspace_id=workspace.id, tables=tables)
    from discreet.stores.sqlite_office import SqliteOffice

    return SqliteOffice(workspace.path / "office.sqlite", tables)
