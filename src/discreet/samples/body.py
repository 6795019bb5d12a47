"""Height and body weight as people report them: in whole inches and pounds, and not by everyone.

The PUMF holds heights as inches of 0.0254 m to three decimals, and weights as pounds of 0.45 kg; both are cut
at the published extremes. Who does not state a height or a weight carries the code 9.999 or 999.99.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from discreet.samples.published_figures import Measure, PublishedFigures
from discreet.samples.published_totals import Ranks, cross, provincial_measure
from discreet.samples.raking import Floats, Integers, draw
from discreet.samples.tendencies import BODY_MASS_BY_AGE, HEIGHT_BY_AGE, PROXY_BY_AGE

__all__ = ["draw_body", "draw_stated"]

_INCH: Final = 0.0254
_POUND: Final = 0.45
_SPREAD_OF_HEIGHT: Final = np.array([0.090, 0.075] + [0.070] * 14)
_SPREAD_OF_BODY_MASS: Final = np.array([0.175, 0.20])
# Most people round their weight to five pounds.
_ROUNDED: Final = 0.62
# People of large cities are a little lighter and shorter than others: per unit of the logarithm of crowding.
_MASS_BY_CROWDING: Final = -0.6
_HEIGHT_BY_CROWDING: Final = -0.004


def draw_stated(rng: np.random.Generator, figures: PublishedFigures, ranks: Ranks) -> dict[str, Integers]:
    """For height and body weight: 0 for who stated it, 1 for who did not."""
    both = np.array([0.93, 0.025, 0.007, 0.04])  # both stated, only height, only weight, neither
    women = np.array([[1, 1, 1, 1], [1, 1.5, 1, 1]])
    seed = np.broadcast_to(both * women, (13, 16, 2, 4)).copy()
    seed[..., 1:] *= PROXY_BY_AGE[None, :, None, None]
    groups = cross(ranks, ("province", "age_group", "sex"), (13, 16, 2))
    columns = {"height": np.array([0, 0, 1, 1]), "body_weight": np.array([0, 1, 0, 1])}
    margins = [
        provincial_measure(figures, figures.measures[name], ranks, groups=416, columns=silent)
        for name, silent in columns.items()
    ]
    drawn = draw(rng, groups, seed.reshape(-1, 4), margins)
    return {name: silent.astype(np.int8)[drawn] for name, silent in columns.items()}


def draw_body(
    rng: np.random.Generator, figures: PublishedFigures, ranks: Ranks, stated: dict[str, Integers]
) -> tuple[Floats, Floats]:
    """Heights and weights by age and sex; poor health adds to the body mass, daily smoking takes from it."""
    people = len(ranks["sex"])
    sex, age = ranks["sex"], ranks["age_group"]
    crowding = _crowding(figures)[ranks["health_region"]]
    tall = HEIGHT_BY_AGE[sex, age] + _HEIGHT_BY_CROWDING * crowding
    tall += _SPREAD_OF_HEIGHT[age] * rng.standard_normal(people)
    unwell = np.minimum(ranks["perceived_health"], 4)
    mass = BODY_MASS_BY_AGE[sex, age] + _MASS_BY_CROWDING * crowding
    mass += 0.9 * (unwell - 1.5) - 0.8 * (ranks["smoker"] == 0)
    mass *= np.exp(_SPREAD_OF_BODY_MASS[sex] * rng.standard_normal(people))
    heavy = mass * tall**2
    steps = np.where(rng.random(people) < _ROUNDED, 5 * _POUND, _POUND)
    return (
        _report(tall, figures.measures["height"], stated["height"], steps=_INCH, decimals=3),
        _report(heavy, figures.measures["body_weight"], stated["body_weight"], steps=steps, decimals=2),
    )


def _crowding(figures: PublishedFigures) -> Floats:
    """By health region the logarithm of its mean weight over the survey's: large in large cities."""
    regions = figures.variables["health_region"]
    means = np.array(regions.weighted) / np.array(regions.counts)
    crowding: Floats = np.log(np.maximum(means / figures.measures["weight"].mean, 0.4))
    return crowding


def _report(values: Floats, measure: Measure, silent: Integers, *, steps: Floats | float, decimals: int) -> Floats:
    """The values in reported steps, cut at the published extremes, with the published mean and deviation.

    Cutting and rounding move both a little, so the values are shifted and stretched a few times over.
    """
    if measure.not_stated is None:
        raise ValueError(f"{measure.name} is stated by everyone")
    given = silent == 0
    reported = values
    for _ in range(6):
        spread = measure.deviation / reported[given].std()
        centre = reported[given].mean()
        values = (values - centre) * spread + measure.mean
        reported = np.clip(np.rint(values / steps) * steps, measure.minimum, measure.maximum)
    outermost = np.where(given, values, measure.mean)
    reported[outermost.argmin()], reported[outermost.argmax()] = measure.minimum, measure.maximum
    return np.where(given, np.round(reported, decimals), measure.not_stated)
