"""Pictures of the trade-off: belief, noise and requests; answers with and without her; how long accounts last.

After Figures 2 and 5 to 7 of the paper on linked counts [L], with the prior made explicit and accounts beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from discreet.linkage.exhaustion import share_exhausted
from discreet.linkage.repeated_requests import attack_once_more
from discreet.linkage.tradeoff import Tradeoff
from discreet.present import Curve, CurvePanel, Drawn, MarkedPlace, draw_curves, laplace_density, tell_number

__all__ = ["draw_tradeoff", "tell_requests"]

_OTHERS: Final = (10.0, 100.0)
_COUNTS: Final = (586, 587)
_SMALL: Final = 2.0
_ATTACKED: Final = 3_000
_DECIMALS: Final = 4
_LARGEST_POWER: Final = 700.0


def draw_tradeoff(found: Tradeoff, language: str = "en") -> Iterator[Drawn]:
    """Four of them, always the same for the same figures."""
    assert found.solution.scale is not None
    assert found.solution.queries is not None
    say = partial(_say, language)
    scale, allowed = float(found.solution.scale), found.solution.queries
    yield _beliefs(say, language, found, scale, allowed)
    yield _answers(say, language, scale)
    yield _attacks(say, language, scale, allowed)
    yield _exhaustion(say, language, found)


def tell_requests(number: int, language: str) -> str:
    """So many requests, in words of either language."""
    en, fr = "request" if number == 1 else "requests", "demande" if number < 2 else "demandes"
    return f"{tell_number(number, language)} {_say(language, en, fr)}"


def _say(language: str, en: str, fr: str) -> str:
    return fr if language == "fr" else en


Say = Callable[[str, str], str]


def _number(value: float, language: str, *, toward: int = 0) -> str:
    """At most four decimals, and more only where all of them would be 0."""
    kept = next((n for n in range(_DECIMALS, 10) if round(value, n)), 0)
    decimals = next(n for n in range(kept + 1) if round(value, n) == round(value, kept))
    return tell_number(value, language, decimals=decimals, toward=toward)


def _percent(value: float, language: str) -> str:
    return _number(round(100 * value, 1), language) + ("\u00a0%" if language == "fr" else "%")


def _beliefs(say: Say, language: str, found: Tradeoff, scale: float, allowed: int) -> Drawn:
    prior, belief = float(found.solution.prior), float(found.solution.belief)
    scales = sorted({scale, *_OTHERS})
    most = max(60.0, 2.5 * allowed)
    curves = tuple(
        Curve(say(f"scale {_number(b, language)}", f"échelle {_number(b, language)}"), partial(_belief, prior, b))
        for b in scales
    )
    requests = tell_requests(allowed, language)
    mark = MarkedPlace(float(allowed), requests)
    return draw_curves(
        name="linked-belief",
        title=say(
            f"Belief {_percent(belief, language)} and scale {_number(scale, language)} allow {requests}",
            f"Conviction de {_percent(belief, language)}, échelle {_number(scale, language)} : {requests}",
        ),
        words=say(
            f"The highest belief about one person against the number of requests whose samples contain her, from a "
            f"prior of {_percent(prior, language)}, for {len(scales)} scales of noise. Each curve rises from the prior "
            f"towards certainty, the more slowly the larger the scale. At scale {_number(scale, language)} it stays "
            f"at most {_percent(belief, language)} up to {requests}.",
            f"La plus haute conviction au sujet d'une personne selon le nombre de demandes dont l'échantillon la "
            f"contient, à partir de {_percent(prior, language)}, pour {len(scales)} échelles de bruit. Chaque courbe "
            f"monte vers la certitude, d'autant plus lentement que l'échelle est grande. À l'échelle "
            f"{_number(scale, language)}, elle ne dépasse pas {_percent(belief, language)} jusqu'à {requests}.",
        ),
        across=say("requests that contain her", "demandes qui la contiennent"),
        up=say("belief", "conviction"),
        panels=[CurvePanel("", curves, 0, most, (mark,))],
        language=language,
    )


def _belief(prior: float, scale: float, requests: float) -> float:
    return 1 / (1 + (1 - prior) / prior * math.exp(-requests / scale))


def _answers(say: Say, language: str, scale: float) -> Drawn:
    labels = (say("without Madame x: 586", "sans Madame x : 586"), say("with her: 587", "avec elle : 587"))
    panels, scales = [], list(dict.fromkeys((_SMALL, scale)))
    for noise in scales:
        curves = tuple(
            Curve(label, partial(laplace_density, centre=count, scale=noise), tuple(map(float, _COUNTS)))
            for label, count in zip(labels, _COUNTS, strict=True)
        )
        title = say(f"scale {_number(noise, language)}", f"échelle {_number(noise, language)}")
        reach = max(1.0, 4 * noise)  # both peaks, however little the noise
        panels.append(CurvePanel(title, curves, 586.5 - reach, 586.5 + reach))
    told = [_number(noise, language) for noise in scales]
    both = say(" and at scale ", " et à l'échelle ").join(told)
    ratio = _ratio(scale, language)
    return draw_curves(
        name="linked-with-and-without",
        title=say("One answer, with and without Madame x", "Une réponse, avec et sans Madame x"),
        words=say(
            "Densities of the answer to a count of 586 without Madame x and of 587 with her, at scale "
            f"{both}. The larger the scale, the more they cover each other: at scale "
            f"{told[-1]} no answer is more than {ratio} times as likely under one as under the other.",
            "Densités de la réponse pour un effectif de 586 sans Madame x et de 587 avec elle, à l'échelle "
            f"{both}. Plus l'échelle est grande, plus elles se recouvrent : à l'échelle "
            f"{told[-1]}, aucune réponse n'est plus de {ratio} fois plus probable sous l'une que sous l'autre.",
        ),
        across=say("answer", "réponse"),
        up=say("density", "densité"),
        panels=panels,
        language=language,
    )


def _ratio(scale: float, language: str) -> str:
    """e^(1/scale), never rounded down; as a power where it is beyond what a float holds."""
    power = 1 / scale
    if power > _LARGEST_POWER:
        return f"e^{_number(power, language, toward=1)}"
    return _number(math.exp(power), language, toward=1)


def _attacks(say: Say, language: str, scale: float, allowed: int) -> Drawn:
    def right(limit: int | None) -> Callable[[float], float]:
        return lambda asked: attack_once_more(max(1, round(asked)), scale=scale, allowed=limit).right

    curves = (
        Curve(say("noise alone", "bruit seul"), right(None)),
        Curve(say("with accounts", "avec comptes"), right(allowed), (float(allowed),)),
    )
    ends = [attack_once_more(_ATTACKED, scale=scale, allowed=limit).right for limit in (None, allowed)]
    shown = [_percent(end, language) for end in ends]
    return draw_curves(
        name="linked-attack",
        title=say(
            f"The attack asked {_number(_ATTACKED, language)} times: {shown[0]} right, {shown[1]} with accounts",
            f"L'attaque, {_number(_ATTACKED, language)} fois : {shown[0]} de succès, {shown[1]} avec comptes",
        ),
        words=say(
            "How often attackers who know everybody else guess one person's property rightly, against how often they "
            "ask for a sample with her. Noise alone wears off: the curve rises towards certainty. With accounts it "
            f"stays where it is after {tell_requests(allowed, language)}, because she is no longer counted.",
            "À quelle fréquence des attaquants qui connaissent tous les autres devinent juste, selon le nombre de "
            "demandes d'un échantillon qui la contient. Le bruit seul s'use : la courbe monte vers la certitude. Avec "
            f"des comptes, elle n'avance plus après {tell_requests(allowed, language)}, car cette personne n'est plus "
            "comptée.",
        ),
        across=say("requests", "demandes"),
        up=say("right guesses", "réponses justes"),
        panels=[CurvePanel("", curves, 0, 1.05 * _ATTACKED)],
        language=language,
    )


def _exhaustion(say: Say, language: str, found: Tradeoff) -> Drawn:
    lives = found.exhaustion
    chance = lives.sample / lives.people
    half = lives.shares[-1][1]
    first, early, late = (tell_requests(n, language) for n in (lives.first, lives.shares[0][1], half))
    curve = Curve(
        say("left out", "écartées"),
        lambda asked: share_exhausted(round(asked), allowed=lives.allowed, chance=chance),
    )
    marks = tuple(
        MarkedPlace(float(requests), _percent(share, language)) for share, requests in lives.shares if share < 0.5
    )[:1]
    people, sample = _number(lives.people, language), _number(lives.sample, language)
    return draw_curves(
        name="linked-exhaustion",
        title=say(
            f"{sample} of {people} people a sample: 1% are left out after {early}",
            f"{sample} sur {people} par échantillon : 1\u00a0% d'écartées après {early}",
        ),
        words=say(
            "The share of people whose account has no room left, against the number of requests, where samples are "
            f"drawn at random. Nobody at first; the first person after {first}, half of them after {late}.",
            "La part des personnes dont le compte est épuisé selon le nombre de demandes, pour des échantillons tirés "
            f"au hasard. D'abord personne ; la première après {first}, la moitié après {late}.",
        ),
        across=say("requests", "demandes"),
        up=say("share of people", "part des personnes"),
        panels=[CurvePanel("", (curve,), 0, 1.5 * half, marks)],
        language=language,
    )
