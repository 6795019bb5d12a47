"""What is assumed, not published: how answers lean with age, sex, smoking and health.

Each table is only a seed. The published totals decide the levels, and these say who is likelier to give which
answer. Arrays by age follow the sixteen age groups, 12 to 14 first, 80 and older last.
"""

from __future__ import annotations

import numpy as np

from discreet.samples.raking import Floats

__all__ = [
    "BODY_MASS_BY_AGE",
    "COMMON_LAW_BY_PROVINCE",
    "DAILY_BY_AGE",
    "FORMER_BY_AGE",
    "HEALTH_BY_SMOKER",
    "HEIGHT_BY_AGE",
    "MARITAL_BY_AGE",
    "NOT_WORKING_BY_AGE",
    "OCCASIONAL_BY_AGE",
    "PROXY_BY_AGE",
    "STRESS_BY_AGE",
    "VISITS_BY_AGE",
    "WIDOWED_BY_AGE_OF_WOMEN",
    "WOMEN_BY_AGE",
    "lean",
]


def lean(score: Floats, levels: int) -> Floats:
    """Odds over ordered levels, best first: a score of 1 multiplies them by e from each level to the next."""
    steps = np.arange(levels) - (levels - 1) / 2
    odds: Floats = np.exp(score[..., None] * steps)
    return odds


# Women outlive men.
WOMEN_BY_AGE = np.array([0.96, 0.97, 1, 1.05, 1.1, 1.12, 1.1, 1.08, 1.06, 1.08, 1.1, 1.1, 1.12, 1.15, 1.25, 1.5])

# Married, common-law, widowed/divorced/separated, single, not stated.
MARITAL_BY_AGE = np.array(
    [
        [0.0, 0.0, 0.0, 1.0, 0.0023],
        [0.001, 0.002, 0.001, 0.996, 0.0023],
        [0.01, 0.04, 0.003, 0.947, 0.0023],
        [0.07, 0.15, 0.01, 0.77, 0.0023],
        [0.27, 0.24, 0.03, 0.46, 0.0023],
        [0.47, 0.22, 0.05, 0.26, 0.0023],
        [0.56, 0.19, 0.07, 0.18, 0.0023],
        [0.59, 0.16, 0.10, 0.15, 0.0023],
        [0.58, 0.14, 0.15, 0.13, 0.0023],
        [0.56, 0.12, 0.19, 0.13, 0.0023],
        [0.56, 0.10, 0.23, 0.11, 0.0023],
        [0.57, 0.08, 0.26, 0.09, 0.0023],
        [0.57, 0.06, 0.30, 0.07, 0.0023],
        [0.56, 0.04, 0.35, 0.05, 0.0023],
        [0.52, 0.02, 0.42, 0.04, 0.0023],
        [0.36, 0.01, 0.59, 0.04, 0.0023],
    ]
)
WIDOWED_BY_AGE_OF_WOMEN = np.array([1.0] * 9 + [1.1, 1.2, 1.3, 1.5, 1.8, 2.2, 2.8])
# Common law is the custom in Quebec and the territories. Provinces in code order.
COMMON_LAW_BY_PROVINCE = np.array([1, 0.9, 1, 1.2, 2.4, 0.7, 0.8, 0.8, 0.9, 0.9, 1.6, 1.9, 2.2])

DAILY_BY_AGE = np.array(
    [0.001, 0.02, 0.07, 0.12, 0.16, 0.17, 0.16, 0.15, 0.16, 0.18, 0.19, 0.17, 0.13, 0.10, 0.07, 0.04]
)
OCCASIONAL_BY_AGE = np.array(
    [0.003, 0.025, 0.08, 0.09, 0.08, 0.065, 0.055, 0.05, 0.04, 0.04, 0.035, 0.03, 0.025, 0.02, 0.015, 0.01]
)
FORMER_BY_AGE = np.array(
    [0.002, 0.015, 0.05, 0.10, 0.18, 0.23, 0.25, 0.26, 0.27, 0.32, 0.37, 0.41, 0.46, 0.48, 0.48, 0.45]
)

# Daily, occasional, former, never: added to the score of perceived health (a higher score is worse).
HEALTH_BY_SMOKER = np.array([0.45, 0.2, 0.12, 0.0])
# Who is answered for by another member of the household.
PROXY_BY_AGE = np.array([1.8, 2.0, 2.0, 1.6, 1.0, 0.7, 0.6, 0.6, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.6, 2.6])
STRESS_BY_AGE = np.array([-0.5, -0.1, 0.1, 0.2, 0.25, 0.3, 0.35, 0.35, 0.3, 0.25, 0.15, 0, -0.25, -0.4, -0.5, -0.6])
# The question on stress at work is put to workers of 15 to 75 years; everyone else skips it.
NOT_WORKING_BY_AGE = np.array([1, 0.52, 0.25, 0.16, 0.13, 0.13, 0.13, 0.13, 0.13, 0.15, 0.23, 0.40, 0.66, 0.80, 1, 1])

# Men, women: metres and kilograms per square metre.
HEIGHT_BY_AGE = np.array(
    [
        [
            1.610,
            1.735,
            1.770,
            1.775,
            1.775,
            1.775,
            1.772,
            1.770,
            1.768,
            1.765,
            1.762,
            1.758,
            1.752,
            1.745,
            1.738,
            1.725,
        ],
        [
            1.580,
            1.632,
            1.640,
            1.642,
            1.642,
            1.640,
            1.638,
            1.636,
            1.632,
            1.630,
            1.626,
            1.622,
            1.616,
            1.610,
            1.602,
            1.588,
        ],
    ]
)
BODY_MASS_BY_AGE = np.array(
    [
        [19.8, 22.0, 23.2, 24.5, 25.8, 26.6, 27.1, 27.5, 27.7, 27.9, 28.0, 28.1, 28.0, 27.7, 27.2, 26.2],
        [19.6, 21.5, 22.4, 23.4, 24.7, 25.4, 25.8, 26.2, 26.5, 26.8, 27.1, 27.3, 27.4, 27.2, 26.7, 25.3],
    ]
)

VISITS_BY_AGE = np.array([1.6, 1.7, 1.8, 2, 2.3, 2.6, 2.6, 2.6, 2.8, 3.1, 3.5, 4, 4.6, 5.3, 6.2, 7])
