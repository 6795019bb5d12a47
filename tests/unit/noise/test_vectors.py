"""Test vectors: complete, replayable, and frozen for as long as their version stands."""

from __future__ import annotations

import hashlib
import inspect
import json
from typing import Any

import pytest

from discreet import noise
from discreet.noise.vectors import VERSION, make_vectors

NAMES = {"respond_array": "randomised_response"}
# They read the bytes of `discrete_laplace_many`, or a part of them, and give arrays (docs/noise.md).
PARTS = {"discrete_laplace_array", "geometric_array", "toss_array"}


@pytest.fixture(scope="module")
def vectors() -> list[dict[str, Any]]:
    made: Any = make_vectors()["vectors"]
    return list(made)


def test_every_sampler_has_vectors(vectors: list[dict[str, Any]]) -> None:
    drawing = {name for name in noise.__all__ if name[0].islower() and takes_entropy(name)}
    named = {NAMES.get(name, name) for name in drawing - PARTS}
    assert {vector["mechanism"] for vector in vectors} == named


def takes_entropy(name: str) -> bool:
    return "entropy" in inspect.signature(getattr(noise, name)).parameters


def test_vectors_survive_json_and_suit_other_languages(vectors: list[dict[str, Any]]) -> None:
    assert json.loads(json.dumps(vectors)) == vectors
    for vector in vectors:
        outputs = vector["output"] if isinstance(vector["output"], list) else [vector["output"]]
        assert all(abs(output) < 2**53 for output in outputs)
        assert len(vector["bytes"]) == 2 * (vector["bytes_used"] + 4)
        assert all(isinstance(value, str) for value in vector["parameters"].values())


def test_vectors_hold_ties_and_rejections(vectors: list[dict[str, Any]]) -> None:
    read = {(vector["mechanism"], vector["bytes_used"]) for vector in vectors}
    assert ("randomised_response", 11) in read
    assert {used for name, used in read if name == "discrete_gaussian_array"} >= {16, 32, 48, 56, 168}
    assert ("select", 16) in read
    assert ("uniform_below", 3) in read
    assert ("discrete_laplace_many", 21) in read  # once beyond the digits


def test_a_change_of_bytes_needs_a_new_version() -> None:
    """The digest stands for version 3. Reading other bytes needs a new version, and docs/noise.md."""
    written = json.dumps(make_vectors(), sort_keys=True).encode()
    assert VERSION == 3
    assert hashlib.sha256(written).hexdigest() == "cd681191a628a8df9422e59ffeff831339eeb77c4e9cd43141a6a864e4a62d6a"
