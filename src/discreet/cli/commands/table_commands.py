"""`discreet table`: protected tables released, explained and drawn."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import language, say
from discreet.cli.help_screens import CommandGroup
from discreet.cli.options import (
    AnalystOption,
    Format,
    FormatOption,
    FreshOption,
    LevelOption,
    ReleaseFormatOption,
    RequestIdOption,
    ServerOption,
    TokenFileOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json, show_note
from discreet.cli.showing.details import DetailsOption
from discreet.cli.showing.table_outputs import TableOutOption, TableOutputs
from discreet.cli.table_options import takes_table

if TYPE_CHECKING:
    from discreet.client import RemoteExplanation
    from discreet.tables import TableExplanation, TableRequest

__all__ = ["register"]

EXAMPLE: Final = "discreet table -w office survey --by province,smoking --weighted --epsilon 0.5 --out smoking.xlsx"


class NoiseName(StrEnum):
    """Which noise may be used; auto takes what errs least within the budget's terms."""

    AUTO = "auto"
    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


EpsilonOption = Annotated[str, typer.Option(metavar="E", help="The total this table may cost, as a decimal.")]
NoiseOption = Annotated[
    NoiseName,
    typer.Option(metavar="|".join(NoiseName), help="Gaussian noise needs an (epsilon, delta) budget."),
]
SuppressOption = Annotated[
    str | None, typer.Option(metavar="R", help="Leave out figures whose relative error is larger, such as 0.333.")
]
CalibrateOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE.COLUMN|none",
        help="Meet totals in a stored public table (repeatable), or none. Default: the card's totals.",
    ),
]
SamplingOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A column with the variance of each weight over its replicates."),
]


def register(app: CommandGroup) -> None:
    app.command(
        "table",
        short_help="Release a table with margins that add up",
        rich_help_panel="Analyst",
        epilog=f"Examples: {EXAMPLE} · discreet table explain -w office survey --by province --epsilon 0.3 · "
        "discreet table -w office survey --by province --value height --mean --epsilon 0.3",
    )(table)
    app.command(
        "table explain",
        hidden=True,
        epilog="Example: discreet table explain -w office survey --by province,smoking --epsilon 0.5",
    )(table_explain)


@takes_table
def table(
    request: "TableRequest",
    epsilon: EpsilonOption,
    noise: NoiseOption = NoiseName.AUTO,
    suppress_above: SuppressOption = None,
    calibrate: CalibrateOption = None,
    sampling: SamplingOption = None,
    out: TableOutOption = None,
    details: DetailsOption = False,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    level: LevelOption = "0.95",
    fresh: FreshOption = False,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Release a protected table: cells and margins that add up, with an interval on every figure.

    Columns of kind category and public columns are keys as they are; integers and numbers by their bands (edges in the
    card, or --edges). On a terminal, cost and expected error are shown first and confirmed; `discreet table explain`
    shows them, with the same options, and asks nothing.
    """
    from discreet.cli.open_sessions import find_session, is_remote

    session, outputs = find_session(workspace, server, token_file), TableOutputs(out or (), output)
    words = _word(request, sampling, epsilon, level, noise, suppress_above, calibrate)
    confirm = _confirm if on_terminal() and not yes else None
    if is_remote(session):
        outputs.check(None)
        released = session.tables.release(
            session.read_table(words, analyst=analyst), request_id=request_id, fresh=fresh, confirm=confirm
        )
    else:
        asked = session.read_table(words, analyst=analyst)
        outputs.check(asked.formed)
        released = session.tables.release(asked, request_id=request_id, fresh=fresh, confirm=confirm)
    outputs.write(released, language(), details=details)


@takes_table
def table_explain(
    request: "TableRequest",
    epsilon: EpsilonOption,
    noise: NoiseOption = NoiseName.AUTO,
    suppress_above: SuppressOption = None,
    calibrate: CalibrateOption = None,
    sampling: SamplingOption = None,
    analyst: AnalystOption = None,
    level: LevelOption = "0.95",
    fresh: FreshOption = False,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show every strategy for a table, its expected error and what it would cost. No row is looked at."""
    from discreet.cli.open_sessions import find_session, is_remote

    session = find_session(workspace, server, token_file)
    words = _word(request, sampling, epsilon, level, noise, suppress_above, calibrate)
    explained: RemoteExplanation | TableExplanation
    if is_remote(session):
        explained = session.tables.explain(session.read_table(words, analyst=analyst), fresh=fresh)
    else:
        explained = session.tables.explain(session.read_table(words, analyst=analyst), fresh=fresh)
    if output is Format.JSON:
        show_json(explained.to_dict())
    else:
        typer.echo(explained.to_text())


def _word(
    request: "TableRequest",
    sampling: str | None,
    epsilon: str,
    level: str,
    noise: NoiseName,
    suppress_above: str | None,
    calibrate: list[str] | None,
) -> dict[str, object]:
    """The table as a session reads it, here or on a server."""
    return {
        **replace(request, sampling=sampling).words,
        "epsilon": epsilon,
        "level": level,
        "noise": str(noise),
        "suppress_above": suppress_above,
        "calibrate": calibrate or [],
    }


def _confirm(explained: "TableExplanation | RemoteExplanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    from discreet.cli.showing.confirmation import confirm_at_terminal

    show_note(explained.to_text())
    return confirm_at_terminal(say("Ask?"))
