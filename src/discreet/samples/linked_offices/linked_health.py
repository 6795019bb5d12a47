"""What the health file says of people: diabetes, angioplasty, days in hospital. All of it is assumed.

The old have more of everything, and one brings the other. Whose first official language is French has angioplasty more
often and stays in hospital more often and longer than others of the same age, sex and diabetes: something to find.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIABETES", "MOST_DAYS", "draw_health"]

DIABETES: Final = ("none", "type 1", "type 2")
MOST_DAYS: Final = 365

# By five-year age group, 0 to 4 first, 85 and older last.
_TYPE_2: Final = np.array(
    [0, 0, 0, 0.001, 0.002, 0.005, 0.012, 0.025, 0.045, 0.07, 0.1, 0.14, 0.18, 0.22, 0.25, 0.26, 0.25, 0.22]
)
_ANGIOPLASTY: Final = np.array(
    [0, 0, 0, 0, 0, 0.0002, 0.0005, 0.0015, 0.004, 0.009, 0.016, 0.026, 0.038, 0.052, 0.065, 0.075, 0.08, 0.075]
)
_STAYS: Final = np.array(
    [0.09, 0.02, 0.02, 0.03, 0.05, 0.07, 0.08, 0.06, 0.045, 0.045, 0.05, 0.06, 0.075, 0.095, 0.125, 0.165, 0.21, 0.27]
)
_MEAN_DAYS: Final = np.array([4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 6, 7, 7.5, 8, 9, 10, 12, 14])
_TYPE_1: Final = 0.005
_ANGIOPLASTY_OF_MEN: Final = 1.5
_ANGIOPLASTY_OF_WOMEN: Final = 0.6
_ANGIOPLASTY_WITH_TYPE_2: Final = 1.8
_ANGIOPLASTY_OF_FRENCH: Final = 1.3
_STAYS_WITH_DIABETES: Final = 1.6
_STAYS_AFTER_ANGIOPLASTY: Final = 1.8
_STAYS_OF_FRENCH: Final = 1.15
_DAYS_OF_FRENCH: Final = 1.1
# Most stays are short and a few very long.
_SHAPE_OF_DAYS: Final = 0.7


def draw_health(
    rng: np.random.Generator, *, group: NDArray[np.int8], male: NDArray[np.bool_], french: NDArray[np.bool_]
) -> dict[str, NDArray[np.signedinteger]]:
    """Ranks among DIABETES, 0 or 1 for angioplasty, and days in hospital, for people by age group."""
    people = len(group)
    type_2 = rng.random(people) < _TYPE_2[group]
    diabetes = np.where(type_2, np.int8(2), (rng.random(people) < _TYPE_1).astype(np.int8))
    rate = _ANGIOPLASTY[group] * np.where(male, _ANGIOPLASTY_OF_MEN, _ANGIOPLASTY_OF_WOMEN)
    rate *= np.where(type_2, _ANGIOPLASTY_WITH_TYPE_2, 1) * np.where(french, _ANGIOPLASTY_OF_FRENCH, 1)
    angioplasty = rng.random(people) < rate
    rate = _STAYS[group] * np.where(diabetes > 0, _STAYS_WITH_DIABETES, 1)
    rate *= np.where(angioplasty, _STAYS_AFTER_ANGIOPLASTY, 1) * np.where(french, _STAYS_OF_FRENCH, 1)
    stayed = np.flatnonzero(rng.random(people) < rate)
    usual = _MEAN_DAYS[group[stayed]] * np.where(french[stayed], _DAYS_OF_FRENCH, 1)
    days = np.zeros(people, dtype=np.int16)
    days[stayed] = np.minimum(np.ceil(rng.gamma(_SHAPE_OF_DAYS, usual / _SHAPE_OF_DAYS)), MOST_DAYS)
    return {"diabetes": diabetes, "angioplasty": angioplasty.astype(np.int8), "hospital_days": days}
