"""Sentences and figures of the benchmark as its page and its screen show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, language, localise, say

if TYPE_CHECKING:
    from discreet_replications.thesis.neighbours import AuditFinding

__all__ = ["FINDINGS", "tell_audit", "tell_figure"]

FINDINGS: Final = (
    (
        Phrase("Right: worst-case bounds of a type are useless"),
        Phrase(
            "Noise for 2³² drowns every answer. Bounds must know something of the column, and the thesis measured how "
            "much there is to gain."
        ),
    ),
    (
        Phrase("Right: replaced rows can be near"),
        Phrase(
            "Answers from generated rows have small errors on many columns. They have no guarantee either, unless the "
            "generator was trained with one."
        ),
    ),
    (
        Phrase("Wrong: the sensitivity of these rows is no sensitivity"),
        Phrase(
            "It must hold for every neighbour. The largest value is a fact about one person, and noise of its scale "
            "tells it."
        ),
    ),
    (
        Phrase("Wrong: being large enough nearly always is not enough"),
        Phrase(
            "Three answers in four use the real maximum. That the scale is seldom too small does not hide it: the "
            "audit finds the loss from answers alone."
        ),
    ),
    (
        Phrase("Wrong: a generator's guess does not blur it"),
        Phrase(
            "The estimate is spread around the real maximum as far as the guess was off, so that a bad generator gives "
            "the maximum away, and a good one repeats it."
        ),
    ),
    (
        Phrase("Wrong: noise does not grow exponentially"),
        Phrase(
            "A straight line of slope 1 in a plot with two logarithmic axes (Figure 1) is a proportion: twice the "
            "sensitivity, twice the error."
        ),
    ),
    (
        Phrase("Wrong: a row is not a person"),
        Phrase("In diabetes a patient has up to 40 rows."),
    ),
    (
        Phrase("What its users wanted"),
        Phrase(
            "Small errors with a proof: ranges that are public anyway give that on these queries; where nobody knows a "
            "range, a part of ε finds one, which works well on large data and cannot on small."
        ),
    ),
)


def tell_figure(value: float) -> str:
    """Four figures, in powers of ten where it is very large or very small."""
    return localise(_write_figure(value).replace("-", "−"), language())


def _write_figure(value: float) -> str:
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        return f"{value:,.4f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:.3e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def tell_audit(findings: Sequence[AuditFinding]) -> list[str]:
    """What the audit shows: of each claim without a proof by itself, of the proven ones together."""
    lines = [
        say(
            "Audit of {strategy} ({neighbours}): ε is at least {least:.2f} where {claimed:g} is claimed.",
            strategy=item.strategy,
            neighbours=item.pair.words,
            least=item.result.lower_bound,
            claimed=item.result.claimed,
        )
        for item in findings
        if item.result.refuted
    ]
    proven = [item for item in findings if item.proven]
    if proven:
        names = ", ".join(dict.fromkeys(item.strategy for item in proven))
        most = max(item.result.lower_bound for item in proven)
        lines.append(
            say(
                "Audit of {names} on the same neighbours: at most {most:.3f} is shown, above the claim, which should "
                "not happen: please report it.",
                names=names,
                most=most,
            )
            if any(item.result.refuted for item in proven)
            else say(
                "Audit of {names} on the same neighbours: at most {most:.3f} is shown, within the claim.",
                names=names,
                most=most,
            )
        )
    return lines
