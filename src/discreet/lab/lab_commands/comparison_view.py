"""Today's methods and differential privacy side by side, on the custodian's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli import show_table

if TYPE_CHECKING:
    from discreet.lab.today.methods_comparison import MethodsComparison

__all__ = ["show_comparison"]


def show_comparison(done: MethodsComparison) -> None:
    """One line for each method: its errors, what it changes and hides, and what an attack finds."""

    def amount(number: float | None) -> str:
        return "–" if number is None else f"{number:,.1f}"

    def share(number: float | None) -> str:
        return "–" if number is None else f"{number:.0%}"

    rows = [
        [
            line.title,
            amount(line.mean_error),
            amount(line.largest_error),
            share(line.changed),
            share(line.suppressed),
            "–" if line.attack is None else f"{line.attack.sure} of {line.attack.trials}",
            "–" if line.attack is None else share(line.attack.rate),
            "–" if line.attack is None or line.attack.ceiling is None else f"{line.attack.ceiling:.1%}",
        ]
        for line in done.lines
    ]
    heads = ("method", "mean error", "largest", "changed", "hidden", "recovered", "named", "ceiling")
    sides = ("left", *("right",) * 7)
    title = f"{done.title}: what agencies do today, and differential privacy"
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=["", *done.sentences()])
