"""Commands that need no data: beliefs, test vectors, and a look at the machine."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Format, FormatOption, UnusedWorkspace, WorkspaceOption
from discreet.cli.screen import show_json, show_pairs, show_table

__all__ = ["register"]

noise = typer.Typer(help="Exact noise: test vectors.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.command("belief", epilog="Example: discreet belief --scale 30 --belief 0.8")(belief)
    app.add_typer(noise, name="noise")
    app.command("doctor", epilog="Example: discreet doctor -w office")(doctor)


def belief(
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="Total epsilon, instead of a belief.")] = None,
    belief: Annotated[
        str | None, typer.Option(metavar="P", help="The most that an observer may come to believe, below 1.")
    ] = None,
    prior: Annotated[str, typer.Option(metavar="P", help="What the observer believed before.")] = "0.5",
    scale: Annotated[str | None, typer.Option(metavar="B", help="Laplace scale of each answer.")] = None,
    queries: Annotated[int | None, typer.Option(metavar="N", help="How many answers are given.")] = None,
    sensitivity: Annotated[str, typer.Option(metavar="D", help="How far one unit moves one answer.")] = "1",
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Translate between epsilon, odds and belief; give two of belief (or epsilon), scale, queries for the third."""
    from discreet.guarantees.belief import solve

    found = solve(
        prior=prior, sensitivity=sensitivity, belief=belief, epsilon=epsilon, scale=scale, queries=queries
    ).to_dict()
    if output is Format.JSON:
        show_json(found)
    else:
        show_pairs(
            "Belief",
            [(name.replace("_", " "), str(value)) for name, value in found.items() if value is not None],
        )


@noise.command("vectors", epilog="Example: discreet noise vectors --out vectors.json")
def noise_vectors(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write here instead of to standard output.")] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write JSON test vectors of every sampler: parameters, input bytes, output, bytes used."""
    import json

    from discreet.noise.vectors import make_vectors

    text = json.dumps(make_vectors(), indent=1) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def doctor(workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """Say what is installed, writable and reachable."""
    from discreet.cli.examination import examine

    findings = examine(workspace)
    if output is Format.JSON:
        show_json({"findings": [finding.to_dict() for finding in findings]})
    else:
        headings = [("", "left"), ("what", "left"), ("found", "left"), ("next step", "left")]
        marks = {True: "ok", False: "NO", None: "-"}
        rows = [[marks[finding.good], finding.what, finding.found, finding.advice] for finding in findings]
        show_table("Doctor", headings, rows)
    if any(finding.good is False for finding in findings):
        raise typer.Exit(1)
