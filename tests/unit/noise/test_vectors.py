"""Test vectors: complete, replayable, and frozen for as long as their version stands."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from discreet import noise
from discreet.noise.vectors import VERSION, make_vectors


@pytest.fixture(scope="module")
def vectors() -> list[dict[str, Any]]:
    made: Any = make_vectors()["vectors"]
    return list(made)


def test_every_sampler_has_vectors(vectors: list[dict[str, Any]]) -> None:
    names = {"respond": "randomised_response", "respond_array": "randomised_response_array"}
    samplers = {names.get(name, name) for name in noise.__all__ if name[0].islower()}
    assert {vector["mechanism"] for vector in vectors} == samplers


def test_vectors_survive_json_and_suit_other_languages(vectors: list[dict[str, Any]]) -> None:
    assert json.loads(json.dumps(vectors)) == vectors
    for vector in vectors:
        outputs = vector["output"] if isinstance(vector["output"], list) else [vector["output"]]
        assert all(abs(output) < 2**53 for output in outputs)
        assert len(vector["bytes"]) == 2 * (vector["bytes_used"] + 4)
        assert all(isinstance(value, str) for value in vector["parameters"].values())


def test_vectors_hold_ties_and_rejections(vectors: list[dict[str, Any]]) -> None:
    read = {(vector["mechanism"], vector["bytes_used"]) for vector in vectors}
    assert ("randomised_response", 24) in read
    assert ("select", 16) in read
    assert ("uniform_below", 3) in read
    assert ("discrete_laplace_many", 21) in read  # once beyond the digits
    assert any(name == "randomised_response_array" and used > 8 * 8 + 16 for name, used in read)


def test_a_change_of_bytes_needs_a_new_version() -> None:
    """The digest stands for version 2. Reading other bytes needs a new version, and docs/noise.md."""
    written = json.dumps(make_vectors(), sort_keys=True).encode()
    assert VERSION == 2
    assert hashlib.sha256(written).hexdigest() == "8eaa7cfe9d733969d41d6877d4a7efa9c1a4e25ec4e5bb265e189b7d5f9449f6"
