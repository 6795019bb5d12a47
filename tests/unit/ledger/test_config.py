"""A configuration says where everything is, and a schema's name follows from the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.guarantees.types import PureDP
from discreet.ledger import LedgerConfig, SpendRequest
from discreet.ledger.chain_stores.postgres_store import PostgresStore, schema_name


@pytest.mark.parametrize(
    "fields",
    [
        {"workspace_id": "", "store": "sqlite", "path": Path("x")},
        {"workspace_id": "w", "store": "sqlite"},
        {"workspace_id": "w", "store": "postgres"},
        {"workspace_id": "w", "store": "oracle"},
    ],
)
def test_incomplete_configurations_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"ledger|sqlite"):
        LedgerConfig(key_path=Path("key"), **fields)


def test_schemas_are_readable_and_distinct() -> None:
    names = {schema_name(workspace) for workspace in ("a-b", "a_b", "A b", "é", "x" * 300)}
    assert len(names) == 5
    for name in names:
        PostgresStore(dsn_env="X", schema=name)
    with pytest.raises(ValueError, match="schema"):
        PostgresStore(dsn_env="X", schema='x"; DROP SCHEMA y')


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 0},
        {"version": True},
        {"plan_hash": "xyz"},
        {"request_id": ""},
        {"mechanisms": ({"scale": 1},)},
    ],
)
def test_requests_validate_when_built(wrong: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "population": "cchs",
        "dataset": "survey",
        "version": 1,
        "analyst": "ada",
        "request_id": "r1",
        "plan_hash": "a" * 64,
        "mechanisms": (),
        "guarantee": PureDP(epsilon=1),
    }
    SpendRequest(**fields)
    with pytest.raises(ValueError, match=r"versions|plan|request_id|mechanisms"):
        SpendRequest(**{**fields, **wrong})
