"""The sample of consumer units: ce.csv and its card, ce.yaml, for the worked example of docs/tutorial-ce.md.

A textbook chapter on differential privacy works on 994 consumer units of the Consumer Expenditure Survey (CE), of which
51 are rural, with a mean income of 67,593 dollars. In the data file published with the book the mean expenditure of
a quarter is 9,421.97. These figures hold here for every seed; all else is assumed. What later versions add is drawn
from a stream of its own, so that a seed keeps the columns it had.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.files import write_whole
from discreet.paths import AnyPath
from discreet.present import csv_columns
from discreet.samples.destination import check_seed, claim

if TYPE_CHECKING:
    import numpy as np

    from discreet.samples.sample_people import Columns

    Whole = np.ndarray[tuple[int], np.dtype[np.int64]]

__all__ = ["RURAL", "TOTAL_EXPENDITURE", "TOTAL_INCOME", "UNITS", "write_ce"]

UNITS: Final = 994
RURAL: Final = 51
# A mean of 67,593.21: what the chapter's two printed answers give away together.
TOTAL_INCOME: Final = 67_187_651
TOTAL_EXPENDITURE: Final = 9_365_440

_URBAN_CODE: Final = 1
_RURAL_CODE: Final = 2
# Northeast, Midwest, South, West.
_REGION_SHARES: Final = (0.18, 0.21, 0.38, 0.23)
_SIZE_SHARES: Final = (0.29, 0.33, 0.15, 0.13, 0.06, 0.025, 0.01, 0.005)
_INCOME_BY_SIZE: Final = (0.6, 1.05, 1.15, 1.3, 1.25, 1.2, 1.1, 1.1)
_MEDIAN_INCOME: Final = 53_000
_INCOME_SPREAD: Final = 0.8
_RURAL_INCOME: Final = 0.85
_WITHOUT_INCOME: Final = 0.02
_HIGHEST_DRAWN: Final = 600_000

# White, Black, Native American, Asian, Pacific Islander, multi-race: about the shares of the survey, and by which power
# of the income each share grows.
_RACE_SHARES: Final = (0.82, 0.11, 0.007, 0.04, 0.006, 0.017)
_RACE_BY_INCOME: Final = (0.0, -0.4, -0.7, 0.2, -0.4, -0.4)
# Who earns twice as much spends 1.34 times as much; what is spent without an income is as with 8,000.
_ELASTICITY: Final = 0.42
_LEAST_MEANS: Final = 8_000
_EXPENDITURE_SPREAD: Final = 0.72
_HIGHEST_OVER_MEAN: Final = 8


def write_ce(directory: AnyPath, *, seed: int = 1, overwrite: bool = False) -> tuple[Path, Path]:
    """Write the 994 consumer units drawn from `seed` into the directory; return the paths of data and card.

    The same seed and library versions give the same bytes. PathInvalid when a file of that name exists, unless
    `overwrite`.
    """
    check_seed(seed)
    data, card = claim(directory, ("ce.csv", "ce.yaml"), overwrite=overwrite)

    from discreet.samples.sample_cards import ce_card

    columns = _draw_units(seed)
    lines = csv_columns(columns, [[values.tolist() for values in columns.values()]])
    write_whole(data, lines, durable=False)
    write_whole(card, ce_card(seed=seed), durable=False)
    return data, card


def _draw_units(seed: int) -> Columns:
    import numpy as np

    rng = np.random.default_rng([seed, 3])
    urban_rural = np.full(UNITS, _URBAN_CODE)
    urban_rural[rng.choice(UNITS, size=RURAL, replace=False)] = _RURAL_CODE
    region = 1 + rng.choice(len(_REGION_SHARES), size=UNITS, p=_REGION_SHARES)
    family_size = 1 + rng.choice(len(_SIZE_SHARES), size=UNITS, p=_SIZE_SHARES)
    usual = _MEDIAN_INCOME * np.array(_INCOME_BY_SIZE)[family_size - 1]
    usual = np.where(urban_rural == _RURAL_CODE, _RURAL_INCOME * usual, usual)
    drawn = np.minimum(usual * np.exp(_INCOME_SPREAD * rng.standard_normal(UNITS)), _HIGHEST_DRAWN)
    drawn[rng.random(UNITS) < _WITHOUT_INCOME] = 0
    income = _scale_to_total(drawn, TOTAL_INCOME)
    return {
        "unit_id": np.arange(1, UNITS + 1),
        "urban_rural": urban_rural,
        "region": region,
        "family_size": family_size,
        "income": income,
        **_draw_later(seed, income),
    }


def _draw_later(seed: int, income: Whole) -> Columns:
    """Race of the reference person and expenditure of the last quarter, both by the income."""
    import numpy as np

    rng = np.random.default_rng([seed, 4])
    means = np.maximum(income, _LEAST_MEANS) / _MEDIAN_INCOME
    weights = np.array(_RACE_SHARES) * means[:, None] ** np.array(_RACE_BY_INCOME)
    reached = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    race = 1 + (rng.random(UNITS)[:, None] > reached[:, :-1]).sum(axis=1)
    spent = means**_ELASTICITY * np.exp(_EXPENDITURE_SPREAD * rng.standard_normal(UNITS))
    spent = np.minimum(spent, _HIGHEST_OVER_MEAN * spent.mean())
    return {"race": race, "expenditure": _scale_to_total(spent, TOTAL_EXPENDITURE)}


def _scale_to_total(drawn: np.ndarray[tuple[int], np.dtype[np.float64]], total: int) -> Whole:
    """Whole dollars in proportion to what was drawn, with the total exact: the largest remainders are rounded up."""
    import numpy as np

    exact = drawn * (total / drawn.sum())
    dollars: Whole = np.floor(exact).astype(np.int64)
    short = total - int(dollars.sum())
    dollars[np.argsort(dollars - exact, kind="stable")[:short]] += 1
    return dollars
