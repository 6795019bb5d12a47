"""Pictures of noise for the documentation: Laplace laws, beside the normal law, around an answer and its neighbour's.

After Figures 7.1 and 7.2 of the founding chapter [B] and Figures 5 and 6 of the paper on linked counts [L]. Densities
are those of the continuous laws, which show the idea; what is drawn for a release is discrete (docs/noise.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from discreet.catalogue import numeral, say, speaking
from discreet.present.charts.curves import Curve, CurvePanel, MarkedPlace, draw_curves
from discreet.present.pages.html_page import Drawn

__all__ = ["draw_densities", "laplace_density", "normal_density"]

_EPSILONS: Final = ((2, 0.5), (1, 1.0), (0.5, 2.0), (0.25, 4.0))  # ε and the scale of a count at it
_COUNTS: Final = (586, 587)
_RATIOS: Final = (6.0, 1.3)
_TAIL: Final = 0.05


def laplace_density(at: float, *, centre: float = 0, scale: float) -> float:
    return math.exp(-abs(at - centre) / scale) / (2 * scale)


def normal_density(at: float, *, deviation: float = 1) -> float:
    return math.exp(-((at / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))


def draw_densities(language: str = "en") -> Iterator[Drawn]:
    """All four, always the same for a language."""
    for draw in (_scales, _laws, _answer, _neighbours):
        with speaking(language):
            drawn = draw(language)
        yield drawn


def _laplace(scale: float, centre: float = 0) -> Callable[[float], float]:
    return partial(laplace_density, centre=centre, scale=scale)


def _scales(language: str) -> Drawn:
    curves = tuple(
        Curve(f"ε = {numeral(epsilon, 'g')}, b = {numeral(scale, 'g')}", _laplace(scale), (0.0,))
        for epsilon, scale in _EPSILONS
    )
    return draw_curves(
        name="laplace-scales",
        title=say("Less ε, wider noise: Laplace noise of a count"),
        words=say(
            "Densities of Laplace noise of scale b = 1/ε for ε of 2, 1, 0.5 and 0.25. Each is a peak at 0 that falls "
            "off on both sides; halving ε halves the peak and doubles the width.",
        ),
        across=say("noise added to the count"),
        up=say("density"),
        panels=[CurvePanel("", curves, -8, 8)],
        language=language,
    )


def _laws(language: str) -> Drawn:
    curves = (
        Curve(say("Laplace, b = √½"), _laplace(math.sqrt(0.5)), (0.0,)),
        Curve(say("normal"), normal_density),
    )
    return draw_curves(
        name="laplace-normal",
        title=say("Laplace and normal noise of the same variance"),
        words=say(
            "Densities of the Laplace and the normal law, both with mean 0 and variance 1; on the left as they are, on "
            "the right on a logarithmic axis. The Laplace law has the higher peak and the heavier tails: on the "
            "logarithmic axis it falls in straight lines, the normal law in a parabola.",
        ),
        across=say("noise, in standard deviations"),
        up=say("density"),
        panels=[
            CurvePanel(say("as they are"), curves, -5, 5),
            CurvePanel(say("logarithmic"), curves, -5, 5, decades=6),
        ],
        language=language,
    )


def _answer(language: str) -> Drawn:
    scale, count = 4.0, _COUNTS[0]
    reach = -scale * math.log(_TAIL)
    band = MarkedPlace(count - reach, say("95% of the answers"), count + reach)
    return draw_curves(
        name="answer",
        title=say("An answer is the count with noise: 586 at ε = 0.25"),
        words=say(
            "The density of the answers to a count of {count} with Laplace noise of scale 4: a peak at {count}; 95% "
            "of the answers lie within {reach:.0f} of it.",
            count=count,
            reach=reach,
        ),
        across=say("answer"),
        up=say("density"),
        panels=[
            CurvePanel("", (Curve("586", _laplace(scale, count), (float(count),)),), count - 20, count + 20, (band,))
        ],
        language=language,
    )


def _neighbours(language: str) -> Drawn:
    without, within = _COUNTS
    labels = (say("without her: 586"), say("with her: 587"))
    panels = []
    for ratio in _RATIOS:
        scale = 1 / math.log(ratio)
        curves = tuple(
            Curve(label, _laplace(scale, count), tuple(map(float, _COUNTS)))
            for label, count in zip(labels, _COUNTS, strict=True)
        )
        title = f"b = {numeral(round(scale, 2), 'g')}, e^ε = {numeral(ratio, 'g')}"
        mark = MarkedPlace(within + 1.5, say("an answer"))
        panels.append(CurvePanel(title, curves, without - 4.5, within + 7, (mark,)))
    little, much = (ratio / (1 + ratio) for ratio in _RATIOS)
    return draw_curves(
        name="neighbours",
        title=say("Two neighbours: little noise, and much"),
        words=say(
            "Densities of the answers to two neighbouring counts, 586 and 587, under little noise and under much. "
            "Beyond both peaks the one curve is e^ε times the other wherever one looks: 6 times on the left, so that "
            "somebody who held both for equally likely comes to believe {little:.1%}; 1.3 times on the right, a "
            "belief of {much:.1%}.",
            little=little,
            much=much,
        ),
        across=say("answer"),
        up=say("density"),
        panels=panels,
        language=language,
    )
