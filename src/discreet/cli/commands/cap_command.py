"""The command that releases what caps cut from the weights."""

from typing import Annotated

import typer

from discreet.catalogue import language
from discreet.cli.help_screens import CommandGroup
from discreet.cli.options import (
    AnalystOption,
    FreshOption,
    LevelOption,
    OutOption,
    ReleaseFormat,
    ReleaseFormatOption,
    RequestIdOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json
from discreet.cli.showing.details import DetailsOption

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    app.command(
        "caps",
        short_help="Release the share of weight that caps cut",
        rich_help_panel="Analyst",
        epilog="Example: discreet caps -w office survey --epsilon 0.5",
    )(caps)


def caps(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A dataset whose card has a weight with a cap.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="The total this may cost, as a decimal.")],
    limit: Annotated[
        str,
        typer.Option(
            metavar="TIMES", help="Weights above this multiple of their cap are cut to that multiple: a public bound."
        ),
    ] = "3",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show plan, sensitivities, noise and cost; ask nothing.")
    ] = False,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    level: LevelOption = "0.95",
    fresh: FreshOption = False,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    out: OutOption = None,
    details: DetailsOption = False,
    output: ReleaseFormatOption = None,
) -> None:
    """Release, within the budget, the share of weight that the card's caps cut: a bias that no interval shows.

    For each category of the column that decides the cap. `discreet show DATASET --custodian` shows the custodian the
    exact shares.
    """
    from discreet.cli.commands.analyst_commands import confirm_cost
    from discreet.cli.open_sessions import open_session
    from discreet.cli.showing.delivery import choose_format, deliver
    from discreet.present import check_output
    from discreet.release import cap_share_sql, tell_cap_share

    session, chosen = open_session(workspace), choose_format(output, out)
    if not explain:
        check_output(out, format=chosen)
    sql = cap_share_sql(session.workspace.dataset(dataset).card, limit=limit)
    if explain:
        text = session.explain(sql, epsilon=epsilon, analyst=analyst, level=level, fresh=fresh)
        if chosen is ReleaseFormat.JSON:
            show_json(text.to_dict())
        else:
            typer.echo(text.to_text())
        return
    answer = session.query(
        sql,
        epsilon=epsilon,
        analyst=analyst,
        request_id=request_id,
        level=level,
        fresh=fresh,
        confirm=confirm_cost if on_terminal() and not yes else None,
        check=lambda headings: check_output(out, format=chosen, headings=headings),
    )
    deliver(answer, chosen, out, language(), meaning=tell_cap_share(limit), details=details)
