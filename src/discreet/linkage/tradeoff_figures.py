"""Pictures of the trade-off: belief, noise and requests; answers with and without her; how long accounts last.

After Figures 2 and 5 to 7 of the paper on linked counts [L], with the prior made explicit and accounts beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from discreet.catalogue import language, say, say_count, speaking
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
    scale, allowed = float(found.solution.scale), found.solution.queries
    pictures: tuple[Callable[[], Drawn], ...] = (
        lambda: _beliefs(found, scale, allowed),
        lambda: _answers(scale),
        lambda: _attacks(scale, allowed),
        lambda: _exhaustion(found),
    )
    for draw in pictures:
        with speaking(language):
            drawn = draw()
        yield drawn


def tell_requests(number: int) -> str:
    """So many requests, in words."""
    return say_count("{count:,} request", "{count:,} requests", number)


def _number(value: float, *, toward: int = 0) -> str:
    """At most four decimals, and more only where all of them would be 0."""
    kept = next((n for n in range(_DECIMALS, 10) if round(value, n)), 0)
    decimals = next(n for n in range(kept + 1) if round(value, n) == round(value, kept))
    return tell_number(value, language(), decimals=decimals, toward=toward)


def _percent(value: float) -> str:
    return say("{percentage}%", percentage=_number(round(100 * value, 1)))


def _beliefs(found: Tradeoff, scale: float, allowed: int) -> Drawn:
    prior, belief = float(found.solution.prior), float(found.solution.belief)
    scales = sorted({scale, *_OTHERS})
    most = max(60.0, 2.5 * allowed)
    curves = tuple(Curve(say("scale {scale}", scale=_number(b)), partial(_belief, prior, b)) for b in scales)
    requests = tell_requests(allowed)
    mark = MarkedPlace(float(allowed), requests)
    return draw_curves(
        name="linked-belief",
        title=say(
            "Belief {belief} and scale {scale} allow {requests}",
            belief=_percent(belief),
            scale=_number(scale),
            requests=requests,
        ),
        words=say(
            "The highest belief about one person against the number of requests whose samples contain her, "
            "from a prior of {prior}, for {scales} scales of noise. Each curve rises from the prior towards "
            "certainty, the more slowly the larger the scale. At scale {scale} it stays at most {belief} "
            "up to {requests}.",
            prior=_percent(prior),
            scales=len(scales),
            scale=_number(scale),
            belief=_percent(belief),
            requests=requests,
        ),
        across=say("requests that contain her"),
        up=say("belief"),
        panels=[CurvePanel("", curves, 0, most, (mark,))],
        language=language(),
    )


def _belief(prior: float, scale: float, requests: float) -> float:
    return 1 / (1 + (1 - prior) / prior * math.exp(-requests / scale))


def _answers(scale: float) -> Drawn:
    labels = (say("without Madame x: 586"), say("with her: 587"))
    panels, scales = [], list(dict.fromkeys((_SMALL, scale)))
    for noise in scales:
        curves = tuple(
            Curve(label, partial(laplace_density, centre=count, scale=noise), tuple(map(float, _COUNTS)))
            for label, count in zip(labels, _COUNTS, strict=True)
        )
        title = say("scale {scale}", scale=_number(noise))
        reach = max(1.0, 4 * noise)  # both peaks, however little the noise
        panels.append(CurvePanel(title, curves, 586.5 - reach, 586.5 + reach))
    first, *others = told = [_number(noise) for noise in scales]
    last = told[-1]
    both = say("{first} and at scale {last}", first=first, last=last) if others else first
    ratio = _ratio(scale)
    return draw_curves(
        name="linked-with-and-without",
        title=say("One answer, with and without Madame x"),
        words=say(
            "Densities of the answer to a count of 586 without Madame x and of 587 with her, at scale "
            "{both}. The larger the scale, the more they cover each other: at scale {last} no answer is more "
            "than {ratio} times as likely under one as under the other.",
            both=both,
            last=last,
            ratio=ratio,
        ),
        across=say("answer"),
        up=say("density"),
        panels=panels,
        language=language(),
    )


def _ratio(scale: float) -> str:
    """e^(1/scale), never rounded down; as a power where it is beyond what a float holds."""
    power = 1 / scale
    if power > _LARGEST_POWER:
        return f"e^{_number(power, toward=1)}"
    return _number(math.exp(power), toward=1)


def _attacks(scale: float, allowed: int) -> Drawn:
    def right(limit: int | None) -> Callable[[float], float]:
        return lambda asked: attack_once_more(max(1, round(asked)), scale=scale, allowed=limit).right

    curves = (
        Curve(say("noise alone"), right(None)),
        Curve(say("with accounts"), right(allowed), (float(allowed),)),
    )
    ends = [attack_once_more(_ATTACKED, scale=scale, allowed=limit).right for limit in (None, allowed)]
    bare, held = (_percent(end) for end in ends)
    return draw_curves(
        name="linked-attack",
        title=say(
            "The attack asked {times:,} times: {bare} right, {held} with accounts",
            times=_ATTACKED,
            bare=bare,
            held=held,
        ),
        words=say(
            "How often attackers who know everybody else guess one person's property rightly, against how "
            "often they ask for a sample with her. Noise alone wears off: the curve rises towards certainty. "
            "With accounts it stays where it is after {allowed}, because she is no longer counted.",
            allowed=tell_requests(allowed),
        ),
        across=say("requests"),
        up=say("right guesses"),
        panels=[CurvePanel("", curves, 0, 1.05 * _ATTACKED)],
        language=language(),
    )


def _exhaustion(found: Tradeoff) -> Drawn:
    lives = found.exhaustion
    chance = lives.sample / lives.people
    half = lives.shares[-1][1]
    first, early, late = (tell_requests(n) for n in (lives.first, lives.shares[0][1], half))
    curve = Curve(
        say("left out"),
        lambda asked: share_exhausted(round(asked), allowed=lives.allowed, chance=chance),
    )
    marks = tuple(MarkedPlace(float(requests), _percent(share)) for share, requests in lives.shares if share < 0.5)[:1]
    people, sample = _number(lives.people), _number(lives.sample)
    return draw_curves(
        name="linked-exhaustion",
        title=say(
            "{sample} of {people} people per sample: 1% are left out after {early}",
            sample=sample,
            people=people,
            early=early,
        ),
        words=say(
            "The share of people whose account has no room left, against the number of requests, where "
            "samples are drawn at random. Nobody at first; the first person after {first}, half of them "
            "after {late}.",
            first=first,
            late=late,
        ),
        across=say("requests"),
        up=say("share of people"),
        panels=[CurvePanel("", (curve,), 0, 1.5 * half, marks)],
        language=language(),
    )
