"""Sentences and figures of the benchmark as its page and its screen show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discreet_replications.thesis.neighbours import AuditFinding

__all__ = ["FINDINGS", "tell_audit", "tell_figure"]

FINDINGS: Final = (
    ("Right: worst-case bounds of a type are useless", "Noise for 2³² drowns every answer. Bounds must know something "
     "of the column, and the thesis measured how much there is to gain."),
    ("Right: replaced rows can be near", "Answers from generated rows have small errors on many columns. They have no "
     "guarantee either, unless the generator was trained with one."),
    ("Wrong: the sensitivity of these rows is no sensitivity", "It must hold for every neighbour. The largest value is "
     "a fact about one person, and noise of its scale tells it."),
    ("Wrong: being large enough nearly always is not enough", "Three answers in four use the real maximum. That the "
     "scale is seldom too small does not hide it: the audit finds the loss from answers alone."),
    ("Wrong: a generator's guess does not blur it", "The estimate is spread around the real maximum as far as the "
     "guess was off, so that a bad generator gives the maximum away, and a good one repeats it."),
    ("Wrong: noise does not grow exponentially", "A straight line of slope 1 in a plot with two logarithmic axes "
     "(Figure 1) is a proportion: twice the sensitivity, twice the error."),
    ("Wrong: a row is not a person", "In diabetes a patient has up to 40 rows."),
    ("What its users wanted", "Small errors with a proof: ranges that are public anyway give that on these queries; "
     "where nobody knows a range, a part of ε finds one, which works well on large data and cannot on small."),
)  # fmt: skip


def tell_figure(value: float) -> str:
    """Four figures, in powers of ten where it is very large or very small."""
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        return f"{value:,.4f}".replace("-", "−") if abs(value) < 100 else f"{value:,.1f}".replace("-", "−")
    return f"{value:.3e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")


def tell_audit(findings: Sequence[AuditFinding]) -> list[str]:
    """What the audit shows: of each claim without a proof by itself, of the proven ones together."""
    lines = [
        f"Audit of {item.strategy} ({item.pair.words}): ε is at least {item.result.lower_bound:.2f} where "
        f"{item.result.claimed:g} is claimed."
        for item in findings
        if item.result.refuted
    ]
    proven = [item for item in findings if item.proven]
    if proven:
        kept = not any(item.result.refuted for item in proven)
        names = ", ".join(dict.fromkeys(item.strategy for item in proven))
        most = max(item.result.lower_bound for item in proven)
        lines.append(
            f"Audit of {names} on the same neighbours: at most {most:.3f} is shown, "
            + ("within the claim." if kept else "above the claim, which should not happen: please report it.")
        )
    return lines
