"""`discreet table --compare`: today's methods and differential privacy side by side, on the custodian's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.progress import show_progress
from discreet.cli.screen import show_banner, show_json, show_table
from discreet.errors import CustodianOnly
from discreet.guarantees.numbers import exact

if TYPE_CHECKING:
    from discreet.session import Session
    from discreet.tables.request import TableRequest
    from discreet.tables.today.comparison import Comparison

__all__ = ["run_comparison"]


def run_comparison(
    session: Session,
    request: TableRequest,
    *,
    epsilon: str | None,
    trials: int,
    analyst: str | None,
    custodian: bool,
    as_json: bool,
) -> None:
    """At epsilon, 0.5 unless given, at a fourth of it and at four times as much."""
    if not custodian:
        raise CustodianOnly(view="a comparison with the exact table")
    middle = exact("0.5" if epsilon is None else epsilon, parameter="epsilon")
    with show_progress() as told:
        done = session.tables.compare(
            request,
            epsilons=[middle / 4, middle, middle * 4],
            custodian=custodian,
            analyst=analyst,
            trials=trials,
            progress=told,
        )
    show_banner()
    if as_json:
        show_json(done.to_dict())
    else:
        _show(done)


def _show(done: Comparison) -> None:
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
