"""Whoever asks servers, and lets go of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.client.hostile import Askers


@pytest.fixture
def askers() -> Iterator[Askers]:
    """Of one test."""
    found = Askers()
    with found.opened:
        yield found
