"""Workloads: how a budget is shared over many questions, and asking them all as one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, localise, say
from discreet.cli.help_screens import CommandGroup
from discreet.cli.options import (
    AnalystOption,
    OutOption,
    ReleaseFormat,
    ReleaseFormatOption,
    RequestIdOption,
    ServerOption,
    TokenFileOption,
    UnusedWorkspace,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json, show_table
from discreet.cli.showing.details import DetailsOption
from discreet.errors import QueryRefused
from discreet.guarantees import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypeIs

    from discreet.client import RemotePlan
    from discreet.release import Apportionment

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    app.command(
        "plan",
        short_help="Share a budget over many questions, and ask them",
        rich_help_panel="Analyst",
        epilog="Examples: discreet plan init tables.yaml · "
        "discreet plan -w office tables.yaml · discreet plan -w office tables.yaml --run --yes",
    )(plan)
    app.command("plan init", hidden=True, epilog="Example: discreet plan init tables.yaml")(plan_init)


def plan(
    workload: Annotated[
        Path, typer.Argument(metavar="WORKLOAD.yaml", help="Questions with targets or shares (docs/workloads.md).")
    ],
    run: Annotated[bool, typer.Option("--run", help="Ask them all, under one charge.")] = False,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The total, in place of the one in the file.")
    ] = None,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    out: OutOption = None,
    details: DetailsOption = False,
    output: ReleaseFormatOption = None,
) -> None:
    """Share a budget over many questions: the smallest budget that meets their targets, or what a total reaches."""
    from discreet.cli.open_sessions import find_session
    from discreet.cli.showing.delivery import choose_format, deliver
    from discreet.present import check_output

    session, chosen = find_session(workspace, server, token_file), choose_format(output, out)
    if run:
        check_output(out, format=chosen)
        confirm = _confirm if on_terminal() and not yes else None
        answered = session.run(workload, epsilon=epsilon, analyst=analyst, request_id=request_id, confirm=confirm)
        deliver(answered, chosen, out, language(), details=details)
        return
    planned = session.plan(workload, epsilon=epsilon, analyst=analyst)
    if chosen is ReleaseFormat.JSON:
        show_json(planned.to_dict())
    else:
        _show_plan(planned)
    if planned.shortfall is not None:
        raise QueryRefused(planned.shortfall)


def plan_init(
    file: Annotated[Path, typer.Argument(metavar="[WORKLOAD.yaml]", help="The file to write.")] = Path("workload.yaml"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write a workload for the sample survey, with every key explained in a comment."""
    from discreet.cli.showing.delivery import write_draft
    from discreet.release import draft_workload

    write_draft(file, draft_workload(file.name), overwrite=overwrite)
    typer.echo(say("wrote {file}. Read it, change it, then: discreet plan {file}", file=file))


def _confirm(planned: "Apportionment | RemotePlan") -> bool:
    from discreet.cli.showing.confirmation import confirm_at_terminal

    _show_plan(planned)
    if planned.shortfall is not None:
        return True  # refused in a moment, with its reason
    return confirm_at_terminal(say("Ask them all?"))


def _show_plan(planned: "Apportionment | RemotePlan") -> None:
    rows, left = _list_told(planned) if _is_told(planned) else _list_plan(planned)
    headings = [(say("question"), "left"), (say("epsilon"), "right"), (say("output"), "left")]
    headings += [(say("accuracy in every cell"), "left")]
    total = say("total epsilon {epsilon}", epsilon=text(planned.epsilon))
    show_table("", headings, rows, footer=[total, *left])


def _is_told(planned: "Apportionment | RemotePlan") -> "TypeIs[RemotePlan]":
    return not hasattr(planned, "parts")


def _list_plan(planned: "Apportionment") -> tuple[list[list[str]], "Sequence[str]"]:
    """Outputs, each question named once, and what the plan leaves."""
    rows = []
    for part in planned.parts:
        for number, item in enumerate(part.outputs):
            first = number == 0
            name, cost = (part.reading.task.name, localise(text(part.epsilon), language())) if first else ("", "")
            rows.append([name, cost, item.name, item.told(planned.level)])
    return rows, planned.outlook.lines()


def _list_told(planned: "RemotePlan") -> tuple[list[list[str]], "Sequence[str]"]:
    """The same of what a server tells."""
    rows, named = [], ""
    for row in planned.rows:
        first, named = row["question"] != named, row["question"]
        name, cost = (named, localise(row["epsilon"], language())) if first else ("", "")
        rows.append([name, cost, row["output"], row["accuracy"]])
    return rows, planned.lines
