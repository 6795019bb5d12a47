"""Which store a workspace's ledger is in, and where its key and anchor are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from discreet.ledger.chain_stores.store import ChainStore
from discreet.paths import as_path

__all__ = ["LedgerConfig", "choose_store"]


@dataclass(frozen=True, slots=True)
class LedgerConfig:
    """`path` is for SQLite; `dsn_env` (the name of an environment variable) and `schema` are for PostgreSQL.

    The key belongs outside the workspace, and the anchor, where there is one, on something the workspace's
    writers cannot rewrite.
    """

    workspace_id: str
    store: Literal["sqlite", "postgres"]
    key_path: Path
    path: Path | None = None
    dsn_env: str | None = None
    schema: str | None = None
    anchor_path: Path | None = None

    def __post_init__(self) -> None:
        for name in ("key_path", "path", "anchor_path"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_path(given, name))  # text is taken too, and read as a path
        if not self.workspace_id:
            raise ValueError("a ledger names its workspace")
        needs = {"sqlite": self.path, "postgres": self.dsn_env}
        if self.store not in needs:
            raise ValueError("a ledger is in sqlite or postgres")
        if needs[self.store] is None:
            raise ValueError("sqlite needs a path, postgres the name of an environment variable")


def choose_store(config: LedgerConfig) -> ChainStore:
    """The store, not yet opened. Drivers load only when they are needed."""
    if config.store == "sqlite":
        from discreet.ledger.chain_stores.sqlite_store import SqliteStore

        assert config.path is not None
        return SqliteStore(config.path)
    from discreet.ledger.chain_stores.postgres_store import PostgresStore, schema_name

    assert config.dsn_env is not None
    return PostgresStore(dsn_env=config.dsn_env, schema=config.schema or schema_name(config.workspace_id))
