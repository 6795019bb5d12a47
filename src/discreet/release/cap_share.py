"""The share of weight that caps cut, as a statement like any other: planned, priced, charged and drawn in the one way.

Guarantee: that of the statement; its sensitivity follows from the caps and the limit (plan.calculus).
Requires:  the weight is listed in the card a second time, within public bounds and without its cap.
Proof:     docs/proofs/calibration.md

A row's weight above its cap c, at most up to limit·c, is written as weight · excess, excess a number between 0 and
limit − 1: where there is any, the capped weight is c itself. So what one row adds is bounded by its own cap.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import ExactLike, exact, text

__all__ = ["LIMIT", "cap_share_sql", "tell_cap_share"]

LIMIT: Final = "3"

_MOST: Final = 1000


def cap_share_sql(card: Card, *, limit: ExactLike = LIMIT) -> str:
    """The statement whose answer is the share cut and the weight cut, by the column of the caps, else of the totals."""
    times = _limit(limit)
    if card.weight is None:
        raise QueryRefused(
            say("'{dataset}' has no weight: its card declares none.", dataset=card.dataset), part="dataset"
        )
    full = card.full_weight
    if full is None:
        weight = card.column(card.weight.column)
        low, high = weight.bounds or (Decimal(0), card.weight.largest)
        raise QueryRefused(
            say(
                "the weight of '{dataset}' is kept with its cap alone. List it again in the card, under columns: "
                "`full_{name}: {{kind: number, source: {source}, bounds: [{low}, {high}], step: {step}}}` with "
                "an upper bound above the caps, and add the file with --replace.",
                dataset=card.dataset,
                name=weight.name,
                source=weight.source,
                low=str(text(low)),  # to be typed into the card
                high=str(text(high)),
                step=str(text(weight.step or Decimal(1))),
            ),
            part="dataset",
        )

    def excess(cap: Decimal) -> str:
        return f'GREATEST(LEAST("{full.name}", {text(times * cap)}) - {text(cap)}, 0) / {text(cap)}'

    rule = card.weight
    each = " ".join(f"WHEN \"{rule.by}\" = '{_quoted(code)}' THEN {excess(cap)}" for code, cap in rule.caps)
    over = excess(rule.largest) if rule.by is None else f"CASE {each} ELSE {excess(rule.largest)} END"
    cut, kept = f'SUM("{rule.column}" * {over})', f'SUM("{rule.column}")'
    shown = f"{cut} / ({cut} + {kept}) AS share_cut, {cut} AS weight_cut"
    if (by := card.cut_by) is None:
        return f'SELECT {shown} FROM "{card.dataset}"'
    return f'SELECT "{by}", {shown} FROM "{card.dataset}" GROUP BY 1 HAVING "{by}" IS NOT NULL'


def tell_cap_share(limit: ExactLike = LIMIT) -> str:
    """What the figures mean, for people and machines."""
    return say(
        "share_cut: weight above the cap ÷ all weight; a weight above {limit} times its cap counts as that, so the "
        "true share may be larger; noise may take it below 0",
        limit=text(_limit(limit)),
    )


def _limit(given: ExactLike) -> Decimal:
    times = exact(given, parameter="limit")
    if not 1 < times <= _MOST:
        raise QueryRefused(
            say(
                "the limit is how many times its cap a weight may count for: above 1, at most {most:,}; received "
                "{times}.",
                most=_MOST,
                times=text(times),
            ),
            part="limit",
        )
    return times


def _quoted(code: str) -> str:
    return code.replace("'", "''")
