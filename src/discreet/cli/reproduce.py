"""Reproductions: what a founding document did, beside what is right. Never a release, never charged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.options import Format, FormatOption, UnusedWorkspace
from discreet.cli.progress import show_progress
from discreet.cli.screen import show_json, show_note, show_table

if TYPE_CHECKING:
    from discreet.study.reproduction import Reproduction

__all__ = ["register"]

reproduce = typer.Typer(
    help="Repeat what a founding document did, beside the right way.", no_args_is_help=True, rich_markup_mode=None
)

_INTERRUPTED = 130
_SHOWN = "1"


def register(app: typer.Typer) -> None:
    app.add_typer(reproduce, name="reproduce")


@reproduce.callback()
def about() -> None:
    """Repeat what a founding document did, beside the right way."""


@reproduce.command("report", epilog="Example: discreet reproduce report --out reproduction-report")
def report(
    theirs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The report's result tables, tidy CSV or CSV.gz; else those it prints."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the results; new, or its own.")
    ] = Path("reproduction-report"),
    runs: Annotated[int, typer.Option(metavar="N", help="Runs at each ε; the report had five.")] = 5,
    rows: Annotated[int, typer.Option(metavar="N", help="Respondents of the sample survey.")] = 113_290,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; the results are the same for any. Default: the cores.")
    ] = None,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Run the founding report's study by its own recipe and by correct mechanisms, beside its printed tables."""
    from discreet.study.reproduction import reproduce_report

    try:
        with show_progress() as told:
            done = reproduce_report(out, theirs=theirs, rows=rows, runs=runs, jobs=jobs, progress=told)
    except KeyboardInterrupt:
        show_note(f"Interrupted. Finished tasks are kept in {out}; run the same command again to go on.")
        raise typer.Exit(_INTERRUPTED) from None
    if output is Format.JSON:
        show_json(done.to_dict())
    else:
        _show(done)


def _show(done: "Reproduction") -> None:
    from discreet.study.agreement import short_label, tell_amount
    from discreet.study.comparison import EVERYWHERE

    rows = [
        [
            short_label(line.query),
            line.model,
            tell_amount(line.theirs),
            tell_amount(line.naive),
            tell_amount(line.correct),
            line.correct_mechanism,
            tell_amount(line.theory),
        ]
        for line in done.comparison.lines
        if line.group == EVERYWHERE and f"{line.epsilon:f}" == _SHOWN
    ]
    sides = ("left", "left", "right", "right", "right", "left", "right")
    heads = ("statistic", "model", "the report", "its recipe here", "correct", "mechanism", "theory")
    footer = [
        "",
        *done.gain,
        *done.verdict,
        "",
        *done.faults,
        "",
        *(f"{name}: {file}" for name, file in done.files.items()),
        "A study with repeatable noise: not a release.",
    ]
    title = f"Mean absolute error over provinces at ε = {_SHOWN}; every ε and province is in comparison.csv."
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=footer)
