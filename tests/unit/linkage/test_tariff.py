"""What a request costs: whole parts, and never less than one person can move an answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.linkage.tariff import LinkedKind, Tariff

MENU = (10, 20, 30, 50, 100, 300)


def of(**policy: object) -> Tariff:
    return Tariff.of(scales=MENU, **{"prior": "0.5", "belief": "0.8", **policy})  # type: ignore[arg-type]


def test_belief_four_to_one_is_415_parts_of_300_and_41_requests_at_scale_30() -> None:
    tariff = of()
    assert (tariff.parts, tariff.cap) == (300, 415)
    assert tariff.charge(LinkedKind.COUNT, 30) == 10
    assert [tariff.allowed(30, members=members) for members in (1, 2, 3, 4, 5)] == [41, 20, 13, 10, 8]


def test_parts_never_add_up_to_more_than_the_policy() -> None:
    tariff = of()
    assert tariff.spent(tariff.cap) <= Fraction(tariff.epsilon) < tariff.spent(tariff.cap + 1)


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        (LinkedKind.COUNT, {}, 1),
        (LinkedKind.COUNT_AND_SIZE, {}, 2),
        (LinkedKind.HISTOGRAM, {"cells": 5}, 2),
        (LinkedKind.HISTOGRAM, {"cells": 5, "exchange": False}, 1),
        (LinkedKind.HISTOGRAM, {"cells": 5, "answers": 2}, 4),
        (LinkedKind.HISTOGRAM, {"cells": 3, "answers": 3}, 3),
        (LinkedKind.HISTOGRAM, {"cells": 5, "answers": 3, "exchange": False}, 3),
    ],
)
def test_a_charge_is_what_one_member_can_move(kind: LinkedKind, more: dict[str, int], expected: int) -> None:
    assert of().charge(kind, 300, **more) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scales", "epsilon"), [((), "1"), ((0,), "1"), ((True,), "1"), ((7, 11, 13, 17, 19), "1"), ((1,), "0.5")]
)
def test_a_menu_that_does_not_fit_is_refused(scales: tuple[int, ...], epsilon: str) -> None:
    with pytest.raises(ParameterInvalid, match="scales"):
        Tariff.of(scales=scales, prior="0.5", epsilon=epsilon)


def test_a_scale_that_is_not_on_the_menu_is_refused() -> None:
    with pytest.raises(ParameterInvalid, match="scale must be one of 10, 20, 30, 50, 100, 300"):
        of().charge(LinkedKind.COUNT, 31)
    with pytest.raises(ParameterInvalid, match="answers"):
        of().charge(LinkedKind.HISTOGRAM, 30, cells=2, answers=3)
