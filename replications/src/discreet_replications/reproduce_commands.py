"""Reproductions: what a founding document did, beside what is right. Never a release, never charged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Numeral, numeral, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    group,
    show_json,
    show_note,
    show_progress,
    show_table,
)
from discreet_replications.thesis_command import thesis

if TYPE_CHECKING:
    from discreet_replications.farms.farms_reproduction import FarmsReproduction as BootstrapReproduction
    from discreet_replications.report.report_reproduction import ReportReproduction

__all__ = ["register"]

reproduce = group(
    about="Repeat what a founding document did, beside the right way.",
    example="discreet reproduce report --out reproduction-report --rows 20000 --runs 2",
)

_INTERRUPTED = 130
_SHOWN = "1"


def register(app: CommandGroup) -> None:
    app.add_typer(reproduce, name="reproduce", short_help="Repeat the founding documents", rich_help_panel="Laboratory")


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
        int | None,
        typer.Option(
            metavar="N", help="How many processes; the results are the same with any number. Default: the cores."
        ),
    ] = None,
    png: Annotated[
        bool, typer.Option("--png", help="Figures as PNG too, beside their SVG; needs the extra png.")
    ] = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Run the founding report's study by its own recipe and by correct mechanisms, beside its printed tables."""
    from discreet_replications.report.report_reproduction import reproduce_report

    try:
        with show_progress() as text:
            done = reproduce_report(out, theirs=theirs, rows=rows, runs=runs, jobs=jobs, png=png, progress=text)
    except KeyboardInterrupt:
        show_note(
            say("Interrupted. Finished tasks are kept in {folder}; run the same command again to go on.", folder=out)
        )
        raise typer.Exit(_INTERRUPTED) from None
    if output is Format.JSON:
        show_json(done.to_dict())
    else:
        show_report(done)


def show_report(done: "ReportReproduction") -> None:
    """The errors at one ε and what they mean, on the screen."""
    from discreet.lab.study.findings.series_names import tell_mechanism, tell_model
    from discreet_replications.report.agreement import short_label, tell_amount
    from discreet_replications.report.printed_comparison import EVERYWHERE
    from discreet_replications.wording import tell_files

    rows = [
        [
            short_label(line.query),
            tell_model(line.model),
            tell_amount(line.theirs),
            tell_amount(line.naive),
            tell_amount(line.correct),
            tell_mechanism(line.correct_mechanism),
            tell_amount(line.theory),
        ]
        for line in done.comparison.lines
        if line.group == EVERYWHERE and f"{line.epsilon:f}" == _SHOWN
    ]
    sides = ("left", "left", "right", "right", "right", "left", "right")
    heads = (
        say("statistic"),
        say("model"),
        say("the report"),
        say("its recipe here"),
        say("correct"),
        say("mechanism"),
        say("theory"),
    )
    footer = [
        "",
        *done.gain,
        *done.verdict,
        "",
        *done.faults,
        "",
        *tell_files(done.files),
        say("A study with repeatable noise: not a release."),
    ]
    title = say(
        "Mean absolute error over provinces at ε = {epsilon}; every ε and province is in comparison.csv.",
        epsilon=Numeral(_SHOWN),
    )
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=footer)


@reproduce.command("bootstrap", epilog="Example: discreet reproduce bootstrap --out reproduction-bootstrap")
def bootstrap(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The rice farms as CSV or CSV.gz, or the folder of rice_farms.csv; else the paper's own cells.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the results; new, or its own.")
    ] = Path("reproduction-bootstrap"),
    replicates: Annotated[int, typer.Option(metavar="N", help="Draws of each figure; the paper had 1000.")] = 1_000,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Repeat bootstrap differential privacy on the rice farms, with the noise it needs and what an outsider loses."""
    from discreet_replications.farms.farms_reproduction import reproduce_bootstrap

    with show_progress() as text:
        done = reproduce_bootstrap(out, data=data, replicates=replicates, progress=text)
    if output is Format.JSON:
        show_json({"files": done.files, **done.to_dict()})
    else:
        show_bootstrap(done)


def show_bootstrap(done: "BootstrapReproduction") -> None:
    """The paper's tables, what they should say and what a row loses, on the screen."""
    from discreet_replications.farms.farms_page import group_digits, tell_loss, unit_rows
    from discreet_replications.farms.farms_words import FIGURES
    from discreet_replications.farms.rice_farms import name_cell
    from discreet_replications.wording import tell_files

    found = {(line.cell, line.figure): group_digits(line.ours) + ("" if line.agrees else "*") for line in done.compared}
    show_table(
        say("Tables 1 to 4: rows, kilograms, sensitivity V, V in % of the total, accuracy gained."),
        [(say("cell"), "left"), *((str(figure), "right") for figure in FIGURES.values())],
        [[str(name_cell(cell)), *(found[cell, figure] for figure in FIGURES)] for cell in done.farms.cells],
        footer=[say("* printed otherwise"), ""],
    )
    show_table(
        say("Sensitivities; at ε = 1 also the scales of the noise."),
        [(say("what is released"), "left"), (say("printed"), "left"), (say("right"), "left"), (say("why"), "left")],
        [[line.what, line.printed, line.right, line.why] for line in done.sensitivities],
        footer=[""],
    )
    show_table(
        say(
            "The farm as unit: it has up to six rows, and the paper protects one. Losses where rows are promised ε = 1."
        ),
        [
            (say("what is released"), "left"),
            (say("row, printed"), "right"),
            (say("row, right"), "right"),
            (say("farm"), "right"),
            (say("farm loses, printed"), "right"),
            (say("farm loses, right"), "right"),
        ],
        unit_rows(done),
        footer=["", *done.units.tell(), ""],
    )
    show_table(
        say("What one row loses where ε = 1 is promised, and what samples alone show."),
        [(say("noise"), "left"), (say("which row"), "left"), (say("loss"), "right"), (say("at least"), "right")],
        [
            [str(item.trial.noise), str(item.trial.farm), tell_loss(item), numeral(item.at_least, ".2f")]
            for item in done.findings
        ],
        footer=[
            "",
            *done.verdict,
            *(["", say("Not shown without the rows (--data):"), *done.unshown] if done.unshown else []),
            "",
            *tell_files(done.files),
            say(
                "A study with repeatable noise that prints sensitivities: not a release, and not differentially "
                "private."
            ),
        ],
    )


reproduce.command("thesis", epilog="Example: discreet reproduce thesis --data downloads --runs 100")(thesis)
