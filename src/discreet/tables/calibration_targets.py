"""Which public totals a table is brought to: the card's, those of stored public tables, or none.

Decided from the request, the card and public tables; the figures of the table play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from discreet.cards import PublicTotals, canonical_code
from discreet.catalogue import Phrase, say, say_list
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.tables.calibration import Target, read_totals
from discreet.tables.formation import Formed, may_be_negative
from discreet.workspace import Workspace, read_public_table

__all__ = ["CARD", "NONE", "card_targets", "choose_targets"]

CARD: Final = "card"
NONE: Final = "none"


def card_targets(formed: Formed) -> tuple[Target, ...]:
    """The card's totals where they are those of the table, else none: what is taken by default."""
    return _of_card(formed) if _why_not(formed) is None else ()


def choose_targets(calibrate: Sequence[str], formed: Formed, workspace: Workspace) -> tuple[Target, ...]:
    """The targets of `--calibrate`."""
    if not calibrate:
        return card_targets(formed)
    if {CARD, NONE} & set(calibrate):
        if len(calibrate) > 1:
            raise ParameterInvalid(
                parameter="calibrate",
                rule=say("must be card, none, or public tables"),
                given=say_list(list(calibrate)),
            )
        if calibrate[0] == NONE:
            return ()
        if (why_not := _why_not(formed)) is not None:
            raise QueryRefused(str(why_not), part="calibrate")
        return _of_card(formed)
    return tuple(_of_public_table(name, formed, workspace) for name in calibrate)


def _why_not(formed: Formed) -> Phrase | None:
    """Why the card's totals are not those of this table; None where they are."""
    request = formed.request
    if not formed.card.totals:
        return Phrase("this table cannot be calibrated to the card's totals: its card declares none.")
    if not request.weighted or request.value is not None:
        return Phrase(
            "this table cannot be calibrated to the card's totals: they are totals of weights, and this is not a "
            "weighted count."
        )
    if request.of_some(formed.card):
        return Phrase(
            "this table cannot be calibrated to the card's totals: they are totals of everybody, and this table "
            "leaves some people out."
        )
    return None


def _of_card(formed: Formed) -> tuple[Target, ...]:
    """Totals by keys of the table; where no key has any, the grand total."""
    card, by = formed.card, formed.request.by
    shown = [item for item in card.totals if item.by in by]
    if not shown:
        whole = next((item for item in card.totals if item.by is None), card.totals[0])
        return (Target((), np.array(float(whole.total)), _name(formed, whole), whole.source),)
    return tuple(_by_key(item, formed) for item in shown)


def _by_key(totals: PublicTotals, formed: Formed) -> Target:
    index = formed.request.by.index(totals.by or "")
    known = {canonical_code(code): float(total) for code, total in totals.values}
    codes = [formed.headings[index].code(cell) for cell in formed.plan.keys[index].cells or ()]
    figures = [np.nan if code is None else known[canonical_code(str(code))] for code in codes]
    return Target((index,), np.array(figures), _name(formed, totals), totals.source)


def _name(formed: Formed, totals: PublicTotals) -> str:
    of = "" if totals.by is None else f".{totals.by}"
    return f"{formed.card.dataset}.totals{of}"


def _of_public_table(name: str, formed: Formed, workspace: Workspace) -> Target:
    """`TABLE.COLUMN`: a stored public table whose key is one of the table's keys, and its column of totals."""
    table, dot, column = name.partition(".")
    if not dot or not table or not column:
        raise ParameterInvalid(
            parameter="calibrate",
            rule=say("must be card, none or TABLE.COLUMN, a stored public table and its totals"),
            given=f"'{name}'",
        )
    if formed.step is None or may_be_negative(formed):
        raise QueryRefused(
            say("only counts, and totals of a value that cannot be negative, are calibrated to public totals."),
            part="calibrate",
        )
    found = read_public_table(workspace, table)
    if found.key not in formed.request.by:
        raise ParameterInvalid(
            parameter="calibrate",
            rule=say("needs a public table whose key is a column of the table"),
            given=say("'{table}', whose key is '{key}'", table=table, key=found.key),
        )
    index = formed.request.by.index(found.key)
    totals = read_totals(found, column, formed.headings[index], formed.plan.keys[index].cells or ())
    return Target((index,), totals, name)
