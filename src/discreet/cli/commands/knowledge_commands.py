"""Commands that need no data: beliefs, test vectors, and a look at the machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Numeral, language, localise, say
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.options import Format, FormatOption, UnusedWorkspace, WorkspaceOption
from discreet.cli.screen import show_json, show_pairs, show_table
from discreet.cli.showing.coded_words import word

if TYPE_CHECKING:
    from discreet.cli.doctor import Check

__all__ = ["register"]

noise = group(about="Exact noise: test vectors and pictures.", example="discreet noise vectors --out vectors.json")


def register(app: CommandGroup) -> None:
    app.command(
        "belief",
        short_help="What epsilon means for one person",
        rich_help_panel="Everyone",
        epilog="Example: discreet belief --scale 30 --belief 0.8",
    )(belief)
    app.add_typer(noise, name="noise", short_help="Test vectors and pictures of noise", rich_help_panel="Everyone")
    app.command(
        "doctor",
        short_help="What is installed, reachable, suspended, nearly spent",
        rich_help_panel="Start",
        epilog="Example: discreet doctor -w office --format json --strict",
    )(doctor)


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
    from discreet.guarantees import solve

    found = solve(
        prior=prior, sensitivity=sensitivity, belief=belief, epsilon=epsilon, scale=scale, queries=queries
    ).to_dict()
    if output is Format.JSON:
        show_json(found)
    else:
        facts = [(word(name), _fact(fact)) for name, fact in found.items() if fact is not None]
        show_pairs(say("Belief"), facts)


def _fact(fact: str | int) -> str:
    return localise(fact, language()) if isinstance(fact, Numeral) else word(str(fact))


@noise.command("vectors", epilog="Example: discreet noise vectors --out vectors.json")
def noise_vectors(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write JSON test vectors of every sampler: parameters, input bytes, output, bytes used."""
    import json

    from discreet.files import replace_file
    from discreet.noise import make_vectors

    text = json.dumps(make_vectors(), indent=1) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        replace_file(out, text)


@noise.command("pictures", epilog="Example: discreet noise pictures docs/pictures")
def noise_pictures(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to; created if it does not exist.")
    ],
    workspace: UnusedWorkspace = None,
) -> None:
    """Draw densities of noise as SVG: four Laplace scales, Laplace and normal, an answer, two neighbours."""
    from discreet.files import make_folder
    from discreet.present import draw_densities, write_picture

    make_folder(directory)
    for drawn in draw_densities(language()):
        write_picture(drawn, directory / f"{drawn.name}.svg")
        typer.echo(directory / f"{drawn.name}.svg")


def doctor(
    verify: Annotated[bool, typer.Option("--verify", help="Walk the whole ledger too.")] = False,
    budget_left: Annotated[
        str,
        typer.Option(metavar="PERCENT", help="Warn when no more than this share of a population's epsilon remains."),
    ] = "10",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 for warnings too.")] = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Say what is installed, writable, reachable, suspended or nearly spent; exit with code 1 when something failed."""
    from discreet.cli.doctor import CheckStatus, examine, worst
    from discreet.guarantees import exact

    share = exact(budget_left, parameter="budget-left", zero=True, largest=100)
    checks = examine(workspace, verify=verify, budget_left=share / 100)
    status = worst(checks)
    if output is Format.JSON:
        show_json({"status": status, "checks": [check.to_dict() for check in checks]})
    else:
        headings = [("", "left"), (say("what"), "left"), (say("found"), "left"), (say("next step"), "left")]
        marks = {
            CheckStatus.OK: say("ok"),
            CheckStatus.ABSENT: "-",
            CheckStatus.WARNING: say("WARN"),
            CheckStatus.FAILED: say("FAIL"),
        }
        rows = [[marks[check.status], _name_check(check), check.message, check.advice] for check in checks]
        show_table(say("Doctor"), headings, rows)
    if status is CheckStatus.FAILED or (strict and status is CheckStatus.WARNING):
        raise typer.Exit(1)


def _name_check(check: "Check") -> str:
    """What was looked at; names of packages, datasets and populations are their own."""
    subject = word(check.subject) if check.code in {"disk", "writable"} else check.subject
    return say("{sort} {subject}", sort=word(check.code), subject=subject) if subject else word(check.code)
