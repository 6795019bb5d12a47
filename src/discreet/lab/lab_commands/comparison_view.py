"""Today's methods and differential privacy side by side, on the custodian's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.catalogue import numeral, say
from discreet.cli import show_table

if TYPE_CHECKING:
    from discreet.lab.today.methods_comparison import MethodsComparison

__all__ = ["show_comparison"]


def show_comparison(done: MethodsComparison) -> None:
    """One line for each method: its errors, what it changes and hides, and what an attack finds."""

    def amount(number: float | None) -> str:
        return "–" if number is None else numeral(number, ",.1f")

    def share(number: float | None) -> str:
        return "–" if number is None else numeral(number, ".0%")

    rows = [
        [
            line.title,
            amount(line.mean_error),
            amount(line.largest_error),
            share(line.changed),
            share(line.suppressed),
            "–" if line.attack is None else say("{sure} of {trials}", sure=line.attack.sure, trials=line.attack.trials),
            "–" if line.attack is None else share(line.attack.rate),
            "–" if line.attack is None or line.attack.ceiling is None else numeral(line.attack.ceiling, ".1%"),
        ]
        for line in done.lines
    ]
    heads = (
        say("method"),
        say("mean error"),
        say("largest"),
        say("changed"),
        say("hidden"),
        say("recovered"),
        say("guessed right"),
        say("ceiling"),
    )
    sides = ("left", *("right",) * 7)
    title = say("{title}: what agencies do today, and differential privacy", title=done.title)
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=["", *done.sentences()])
