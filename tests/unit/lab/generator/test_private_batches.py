"""How private training goes through its rows: a unit is in one batch, and never cut in two. Needs no torch."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.guarantees.types import Neighbours
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.protected import private_training as private
from discreet.lab.generator.protected.private_plan import PrivateSettings, plan_for

SEX = Shape("sex", "category", categories=("f", "m"))


def contributions(rows_of_units: list[int], *, batches: int = 1) -> private._Contributions:
    units = np.repeat(np.arange(len(rows_of_units)), rows_of_units)
    rows = GeneratorRows((SEX,), {"sex": np.zeros(len(units))})
    made = plan_for((SEX,), PrivateSettings(epochs=2, batches=batches), neighbours=Neighbours.ADD_REMOVE, rho="1")
    return private._Contributions(rows, units, made)


def test_each_unit_is_in_one_batch_with_all_its_rows() -> None:
    """100 units fall into one of four batches alone with a chance below 1e-58."""
    data = contributions([3] * 100, batches=4)
    seen = [set(data._units[chosen].tolist()) for chosen in data._rows_of]
    assert sorted(np.concatenate(data._rows_of).tolist()) == list(range(300))
    assert sum(map(len, seen)) == 100
    assert max(map(len, seen)) < 100


@pytest.mark.parametrize("most", [1, 4, 6, 100])
def test_a_unit_is_never_cut_in_two(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Each part of a unit would be clipped for itself, and both together would move the sum by more than the bound."""
    monkeypatch.setattr(private, "_HELD", most * 10)
    sizes = [1, 2, 9, 3, 3, 1]
    data = contributions(sizes)
    pieces = list(data._pieces(data._rows_of[0], 10))
    assert np.concatenate(pieces).tolist() == list(range(sum(sizes)))
    whose = [set(data._units[piece].tolist()) for piece in pieces]
    assert sum(map(len, whose)) == len(sizes)
    assert all(len(piece) <= most or len(units) == 1 for piece, units in zip(pieces, whose, strict=True))
