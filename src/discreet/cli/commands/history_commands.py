"""What was asked before, and its answers: `discreet history` and `discreet answers get`. Nothing is charged."""

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, say
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.options import (
    AnalystOption,
    Format,
    FormatOption,
    OutOption,
    ReleaseFormatOption,
    ServerOption,
    TokenFileOption,
    WorkspaceOption,
)
from discreet.cli.screen import show_json, show_note, show_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.client import RemoteQuestion
    from discreet.ledger import PastQuestion

__all__ = ["register"]

_LONGEST_WORDS = 60
_PANEL = "Analyst"

answers = group(
    about="Give again what was answered before.", example="discreet answers get 17 -w office --out people.xlsx"
)


def register(app: CommandGroup) -> None:
    app.command(
        "history",
        short_help="What was asked, when, and what it cost",
        epilog="Example: discreet history -w office --mine --limit 20",
        rich_help_panel=_PANEL,
    )(history)
    answers.command("get", epilog="Example: discreet answers get 17 -w office --out people.xlsx")(answers_get)
    app.add_typer(answers, name="answers", short_help="Give again what was answered before", rich_help_panel=_PANEL)


def history(
    mine: Annotated[bool, typer.Option("--mine", help="Only your own questions.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many.")] = 50,
    analyst: AnalystOption = None,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show what was asked, when, and what it cost.

    The newest comes first. Each number gives its answer again, for nothing.

    A server shows your own questions alone.
    """
    from discreet.cli.open_sessions import find_session, is_remote

    session = find_session(workspace, server, token_file)
    own = is_remote(session) or mine
    asker = session.who if mine and analyst is None else analyst
    found = session.history(analyst=asker, limit=limit)
    if output is Format.JSON:
        show_json([item.to_dict() for item in found])
    elif not found:
        show_note(say("Nothing was asked yet."))
    else:
        _show(found, named=not own and asker is None)


def answers_get(
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Its number in the history.")],
    analyst: AnalystOption = None,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    out: OutOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Give an answer again, bit for bit, in any format."""
    from discreet.cli.open_sessions import find_session
    from discreet.cli.showing.delivery import choose_format, deliver
    from discreet.present import check_output

    session, chosen = find_session(workspace, server, token_file), choose_format(output, out)
    check_output(out, format=chosen)
    deliver(session.recall(number, analyst=analyst), chosen, out, language())


def _show(found: "Sequence[PastQuestion | RemoteQuestion]", *, named: bool) -> None:
    columns = [
        (say("answer"), "right"),
        (say("when (UTC)"), "left"),
        *([(say("analyst"), "left")] if named else []),
        (say("dataset"), "left"),
        (say("cost"), "left"),
        (say("question"), "left"),
    ]
    rows = [
        [
            str(item.number),
            item.when[:16].replace("T", " "),
            *([item.analyst] if named else []),
            f"{item.dataset} v{item.version}",
            item.cost_text or say("nothing"),
            _tell_words(item.words) if item.answered else say("(charged, not answered)"),
        ]
        for item in found
    ]
    show_table(say("Questions, the newest first"), columns, rows)


def _tell_words(words: "Mapping[str, object] | None") -> str:
    match words:
        case {"kind": "query", "sql": str(sql)}:
            said = " ".join(sql.split())
        case {"kind": "table", "dataset": str(dataset), "by": list(by)}:
            said = say("table of {dataset} by {keys}", dataset=dataset, keys=", ".join(map(str, by)))
        case {"kind": "workload", "questions": list(questions)}:
            said = say("workload: {names}", names=", ".join(str(item["name"]) for item in questions))
        case _:
            return say("(not kept by the version that asked)")
    from discreet.errors import legible

    shown = legible(said)
    return shown if len(shown) <= _LONGEST_WORDS else f"{shown[: _LONGEST_WORDS - 1]}…"
