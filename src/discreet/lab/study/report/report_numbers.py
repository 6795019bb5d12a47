"""Numbers as the report's tables write them."""

from __future__ import annotations

import math
from typing import Final

from discreet.lab.study.report.study_figures import tell_number

__all__ = ["NONE", "tell_amount"]

NONE: Final = "–"


def tell_amount(value: float) -> str:
    """An error or an amount: whole from 100 on, three figures below; a dash where there is none."""
    if not math.isfinite(value):
        return NONE
    return f"{value:,.0f}" if value >= 100 else tell_number(float(f"{value:.3g}"))
