"""Studies: what privacy would cost, before anything is released. The results are for the custodian alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    group,
    show_json,
    show_note,
    show_pairs,
    show_progress,
)
from discreet.errors import PathInvalid, UsageError

if TYPE_CHECKING:
    from discreet.lab.study.execution.runner import Finished

__all__ = ["register"]

study = group(
    about="Compare central, local and shuffle models on your own tables.",
    example="discreet study init study.yaml --sample",
)

PngOption = Annotated[
    bool, typer.Option("--png", help="Figures as PNG too, beside their SVG; needs the extra png and a font.")
]
_INTERRUPTED = 130


def register(app: CommandGroup) -> None:
    app.add_typer(
        study, name="study", short_help="What privacy would cost, model by model", rich_help_panel="Laboratory"
    )


@study.command("init", epilog="Example: discreet study init study.yaml --sample")
def init(
    file: Annotated[Path, typer.Argument(metavar="[STUDY.yaml]", help="The file to write.")] = Path("study.yaml"),
    dataset: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="CARD FILE", help="Study this file, as its card describes it.", show_default=False),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Study the sample survey (the default).")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write a study that runs as it is, with every key explained in a comment."""
    from discreet.cli import write_draft
    from discreet.lab.study.study_file.template import sample_template, template_for

    if sample and dataset is not None:
        raise UsageError(say("a study has one of --sample and --dataset."))
    if dataset is None:
        text = sample_template(file.name)
    else:
        from discreet.cards import read_card

        card, data = (_from(file, path) for path in dataset)
        text = template_for(read_card(dataset[0]), data=f"{{card: {card}, file: {data}}}", file=file.name)
    write_draft(file, text, overwrite=overwrite)
    typer.echo(say("wrote {file}. Read it, change it, then: discreet study run {file} --out DIR", file=file))


@study.command("run", epilog="Example: discreet study run study.yaml --out results --jobs 2")
def run(
    file: Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="The study (docs/study.md).")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of its results; new, or its own.")],
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="How many processes; the results are the same with any number. Default: the cores."
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another study in the folder.")] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Tables only, no figures and no report.")] = False,
    png: PngOption = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Run a study, or go on with an interrupted one, and write tables, figures and a report."""
    from discreet.lab.study.execution.runner import run_study
    from discreet.lab.study.study_file.study_reader import read_study

    config = read_study(file)
    if png:
        from discreet.present import require_png

        require_png()
    try:
        with show_progress() as text:
            done = run_study(config, out, base=file.parent, jobs=jobs, overwrite=overwrite, progress=text)
    except KeyboardInterrupt:
        show_note(
            say("Interrupted. Finished tasks are kept in {folder}; run the same command again to go on.", folder=out)
        )
        raise typer.Exit(_INTERRUPTED) from None
    if no_report:
        _show(done, None, [], output)
        return
    made = _report(out, png=png)
    from discreet.lab.study.report.study_report import verdict_lines

    _show(done, made, verdict_lines(out), output)


@study.command("report", epilog="Example: discreet study report results")
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a complete study.")],
    png: PngOption = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make figures and report.html anew from the tables of a study."""
    from discreet.lab.study.execution.study_folder import is_study

    if not is_study(directory):
        raise PathInvalid(
            say(
                "'{directory}' holds no complete study. Make one with: discreet study run STUDY.yaml --out {directory}",
                directory=directory,
            ),
            path=str(directory),
        )
    made = _report(directory, png=png)
    if output is Format.JSON:
        show_json({"report": str(made)})
    else:
        typer.echo(say("wrote {file}", file=made))


def _report(folder: Path, *, png: bool) -> Path:
    from discreet.lab.study.report.study_report import write_report

    show_note(say("drawing figures and writing the report"))
    return write_report(folder, png=png)


def _show(done: "Finished", report: Path | None, verdict: list[str], output: Format) -> None:
    from discreet.lab.study.findings.tidy_tables import NOTICE

    facts = {
        "folder": str(done.folder),
        "tasks": done.tasks,
        "ran": done.ran,
        "seconds": round(done.seconds, 1),
        "results": str(done.folder / "results.parquet"),
        "tables": str(done.folder / "tables"),
        "report": None if report is None else str(report),
        "verdict": verdict,
        "notice": str(NOTICE),
    }
    if output is Format.JSON:
        show_json(facts)
        return
    files = [(say("results"), "results"), (say("tables"), "tables"), (say("report"), "report")]
    shown = [
        (say("tasks"), say("{tasks:,}, of which {ran:,} were run now", tasks=done.tasks, ran=done.ran)),
        *((name, str(facts[key])) for name, key in files if facts[key] is not None),
        (say("notice"), str(NOTICE)),
    ]
    show_pairs(say("The study is complete ({seconds:.1f} s).", seconds=done.seconds), shown)
    for line in verdict:
        typer.echo(line)


def _from(file: Path, path: Path) -> str:
    """A path as the study writes it: from the study's own folder where that is possible."""
    import json

    if not path.is_file():
        raise PathInvalid(say("'{path}' does not exist or is not a file.", path=path), path=str(path))
    real, folder = path.resolve(), file.resolve().parent
    shown = str(real.relative_to(folder)) if real.is_relative_to(folder) else str(real)
    return json.dumps(shown, ensure_ascii=False)
