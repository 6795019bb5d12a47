"""What agencies do today, beside differential privacy: suppression, rounding, set-size restriction, swapping.

Comparators for custodians only. None of them is differentially private; `differencing` shows what an outsider learns
from two tables that differ by one person, `comparison` puts every method on one page.
"""

__all__ = [
    "auditing",
    "comparison",
    "controlled",
    "differencing",
    "holdings",
    "privacy",
    "restriction",
    "rounding",
    "suppression",
    "swapping",
    "trials",
]
