"""What models keep in English is said in the reader's language, and English comes back as it was kept."""

from __future__ import annotations

import pytest

from discreet.catalogue import speaking
from discreet.guarantees import ZCDP, Neighbours, Unit, Unproven
from discreet.lab.generator.training_settings import UNPROTECTED
from discreet.lab.lab_commands.promise_words import say_kept_guarantee, say_neighbours, say_unit


@pytest.mark.parametrize(
    ("kept", "french"),
    [
        (str(ZCDP(rho="0.5")), "zCDP, rho = 0,5"),
        (str(ZCDP(rho="0.5", delta="1e-6")), "zCDP, rho = 0,5, delta = 0,000001"),
        (str(Unproven(UNPROTECTED.en)), "sans confidentialité différentielle\u00a0: lignes d’un générateur"),
        ("kept in other words", "kept in other words"),
    ],
)
def test_a_kept_guarantee_is_said(kept: str, french: str) -> None:
    assert say_kept_guarantee(kept) == kept
    with speaking("fr"):
        assert say_kept_guarantee(kept).startswith(french)


@pytest.mark.parametrize(("rows", "french"), [(1, "id (au plus 1 ligne par unité)"), (3, "id (au plus 3 lignes")])
def test_a_unit_is_said(rows: int, french: str) -> None:
    unit = str(Unit("id", rows))
    assert say_unit(unit) == unit
    with speaking("fr"):
        assert say_unit(unit).startswith(french)


def test_neighbours_are_said() -> None:
    assert say_neighbours(Neighbours.ADD_REMOVE) == "add-remove"
    assert say_neighbours("") == ""
    with speaking("fr"):
        assert say_neighbours("replace-one") == "remplacement"
