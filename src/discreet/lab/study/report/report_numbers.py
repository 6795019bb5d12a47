"""Numbers as the report's tables write them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from discreet.catalogue import language, localise

__all__ = ["NONE", "tell_amount"]

NONE: Final = "–"


def tell_amount(value: float) -> str:
    """An error or an amount: whole from 100 on, three figures below; a dash where there is none."""
    if not math.isfinite(value):
        return NONE
    # A small number in full: 1e-05 is not for everyone.
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{Decimal(f'{value:.3g}'):f}"
    return localise(text, language()).replace("-", "−")
