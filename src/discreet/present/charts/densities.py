"""Pictures of noise for the documentation: Laplace laws, beside the normal law, around an answer and its neighbour's.

After Figures 7.1 and 7.2 of the founding chapter [B] and Figures 5 and 6 of the paper on linked counts [L]. Densities
are those of the continuous laws, which show the idea; what is drawn for a release is discrete (docs/noise.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

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
    yield _scales(language)
    yield _laws(language)
    yield _answer(language)
    yield _neighbours(language)


def _say(language: str, en: str, fr: str) -> str:
    return fr if language == "fr" else en


def _laplace(scale: float, centre: float = 0) -> Callable[[float], float]:
    return partial(laplace_density, centre=centre, scale=scale)


def _number(value: float, language: str) -> str:
    return f"{value:g}".replace(".", "," if language == "fr" else ".")


def _scales(language: str) -> Drawn:
    say = partial(_say, language)
    curves = tuple(
        Curve(f"ε = {_number(epsilon, language)}, b = {_number(scale, language)}", _laplace(scale), (0.0,))
        for epsilon, scale in _EPSILONS
    )
    return draw_curves(
        name="laplace-scales",
        title=say("Less ε, wider noise: Laplace noise of a count", "Moins d'ε, plus de bruit : Laplace, un effectif"),
        words=say(
            "Densities of Laplace noise of scale b = 1/ε for ε of 2, 1, 0.5 and 0.25. Each is a peak at 0 that falls "
            "off on both sides; halving ε halves the peak and doubles the width.",
            "Densités du bruit de Laplace d'échelle b = 1/ε pour ε de 2, 1, 0,5 et 0,25. Chacune est un pic en 0 qui "
            "décroît des deux côtés ; la moitié d'ε donne un pic deux fois moins haut et deux fois plus large.",
        ),
        across=say("noise added to the count", "bruit ajouté à l'effectif"),
        up=say("density", "densité"),
        panels=[CurvePanel("", curves, -8, 8)],
        language=language,
    )


def _laws(language: str) -> Drawn:
    say = partial(_say, language)
    curves = (
        Curve(say("Laplace, b = √½", "Laplace, b = √½"), _laplace(math.sqrt(0.5)), (0.0,)),
        Curve(say("normal", "normale"), normal_density),
    )
    return draw_curves(
        name="laplace-normal",
        title=say("Laplace and normal noise of the same variance", "Bruits de Laplace et normal de même variance"),
        words=say(
            "Densities of the Laplace and the normal law, both with mean 0 and variance 1; on the left as they are, on "
            "the right on a logarithmic axis. The Laplace law has the higher peak and the heavier tails: on the "
            "logarithmic axis it falls in straight lines, the normal law in a parabola.",
            "Densités des lois de Laplace et normale, de moyenne 0 et de variance 1 ; à gauche telles quelles, à "
            "droite sur un axe logarithmique. La loi de Laplace a le pic le plus haut et les queues les plus lourdes : "
            "sur l'axe logarithmique elle décroît en ligne droite, la loi normale en parabole.",
        ),
        across=say("noise, in standard deviations", "bruit, en écarts types"),
        up=say("density", "densité"),
        panels=[
            CurvePanel(say("as they are", "telles quelles"), curves, -5, 5),
            CurvePanel(say("logarithmic", "logarithmique"), curves, -5, 5, decades=6),
        ],
        language=language,
    )


def _answer(language: str) -> Drawn:
    say = partial(_say, language)
    scale, count = 4.0, _COUNTS[0]
    reach = -scale * math.log(_TAIL)
    band = MarkedPlace(count - reach, say("95% of the answers", "95 % des réponses"), count + reach)
    return draw_curves(
        name="answer",
        title=say(
            "An answer is the count with noise: 586 at ε = 0.25", "Une réponse : l'effectif et du bruit, ε = 0,25"
        ),
        words=say(
            f"The density of the answers to a count of {count} with Laplace noise of scale 4: a peak at {count}; 95% "
            f"of the answers lie within {reach:.0f} of it.",
            f"La densité des réponses pour un effectif de {count} avec un bruit de Laplace d'échelle 4 : un pic en "
            f"{count} ; 95 % des réponses s'en écartent d'au plus {reach:.0f}.",
        ),
        across=say("answer", "réponse"),
        up=say("density", "densité"),
        panels=[
            CurvePanel("", (Curve("586", _laplace(scale, count), (float(count),)),), count - 20, count + 20, (band,))
        ],
        language=language,
    )


def _neighbours(language: str) -> Drawn:
    say = partial(_say, language)
    without, within = _COUNTS
    labels = (say("without her: 586", "sans elle : 586"), say("with her: 587", "avec elle : 587"))
    panels = []
    for ratio in _RATIOS:
        scale = 1 / math.log(ratio)
        curves = tuple(
            Curve(label, _laplace(scale, count), tuple(map(float, _COUNTS)))
            for label, count in zip(labels, _COUNTS, strict=True)
        )
        title = f"b = {_number(round(scale, 2), language)}, e^ε = {_number(ratio, language)}"
        mark = MarkedPlace(within + 1.5, say("an answer", "une réponse"))
        panels.append(CurvePanel(title, curves, without - 4.5, within + 7, (mark,)))
    beliefs = [f"{ratio / (1 + ratio):.1%}" for ratio in _RATIOS]
    french = [belief.replace(".", ",").replace("%", " %") for belief in beliefs]
    return draw_curves(
        name="neighbours",
        title=say("Two neighbours: little noise, and much", "Deux voisins : peu de bruit, et beaucoup"),
        words=say(
            "Densities of the answers to two neighbouring counts, 586 and 587, under little noise and under much. "
            "Beyond both peaks the one curve is e^ε times the other wherever one looks: 6 times on the left, so that "
            f"somebody who held both for equally likely comes to believe {beliefs[0]}; 1.3 times on the right, a "
            f"belief of {beliefs[1]}.",
            "Densités des réponses pour deux effectifs voisins, 586 et 587, avec peu et avec beaucoup de bruit. "
            "Au-delà des deux pics, une courbe vaut partout e^ε fois l'autre : 6 fois à gauche, si bien que qui "
            f"jugeait les deux également probables en vient à croire l'un à {french[0]} ; 1,3 fois à droite, soit "
            f"{french[1]}.",
        ),
        across=say("answer", "réponse"),
        up=say("density", "densité"),
        panels=panels,
        language=language,
    )
