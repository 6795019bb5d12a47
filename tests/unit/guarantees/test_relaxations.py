"""The classification of relaxations covers every guarantee, in code and on its page."""

from __future__ import annotations

from typing import get_args

import pytest

from discreet.guarantees.relaxations import RELAXATIONS, Relaxation
from discreet.guarantees.types import Guarantee
from tests.places import DOCS

PAGE = DOCS / "relaxations.md"
WRITTEN = {Relaxation.NONE: "nothing", Relaxation.UNPROVEN: "outside"}


@pytest.mark.parametrize("kind", get_args(Guarantee))
def test_every_guarantee_has_its_place_and_its_line(kind: type[Guarantee]) -> None:
    found = RELAXATIONS[kind]
    weaker = WRITTEN.get(found.kind, str(found.kind))
    assert f"| `{kind.__name__}` | {weaker} |" in PAGE.read_text(encoding="utf-8")
    assert found.words.endswith(".")
    # What restricts the scope to the rows, or proves nothing, is never called differentially private.
    assert kind.differentially_private == (found.kind in {Relaxation.NONE, Relaxation.BOUND})


def test_none_weakens_the_distribution() -> None:
    assert Relaxation.DISTRIBUTION not in {found.kind for found in RELAXATIONS.values()}
