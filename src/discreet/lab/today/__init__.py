"""What agencies do today, beside differential privacy: restricting, partitioning, rounding, swapping, perturbing.

Comparators for custodians only. None of them is differentially private; `differencing` shows what an outsider learns
from two tables that differ by one person, `comparison` puts every method on one page.
"""

__all__ = [
    "auditing",
    "comparison",
    "controlled",
    "differencing",
    "holdings",
    "logaudit",
    "overlap",
    "partitioning",
    "perturbation",
    "privacy",
    "restriction",
    "rounding",
    "suppression",
    "swapping",
    "trials",
]
