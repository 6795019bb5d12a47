"""`discreet ledger log`: the ledger's events, one a line."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Phrase, say
from discreet.cli.options import Custodian, Format, FormatOption, WorkspaceOption
from discreet.cli.screen import show_banner, show_note
from discreet.errors import UsageError
from discreet.present import screen_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.ledger import EventKind, LogEntry

__all__ = ["EXAMPLES", "ledger_log"]

EXAMPLES = (
    "Example: discreet ledger log -w office --analyst maria --since 2026-11-01 · "
    "discreet ledger log -w office --kind charge --kind replay --limit 20 · "
    "discreet ledger log -w office --format json | jq -r .cost_text"
)
_HEADINGS = (
    Phrase("event"),
    Phrase("when (UTC)"),
    Phrase("who"),
    Phrase("kind"),
    Phrase("cost"),
    Phrase("population"),
    Phrase("dataset"),
    Phrase("request"),
    Phrase("what"),
)
_WIDTHS = (6, 19, 10, 10, 12, 12, 12, 12)


def ledger_log(
    analyst: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only what was charged, given, held or marked for this analyst."),
    ] = None,
    population: Annotated[str | None, typer.Option(metavar="NAME", help="Only events of this population.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="Only events of this dataset.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", metavar="KIND", help="Only events of this kind, such as charge; may be given several times."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From this day or time on; UTC unless it names its zone.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Up to the end of this day, or to this time.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the newest N.")] = None,
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show who did what, when, and what it cost; the newest event last.

    With --format json, one JSON object a line. With --custodian also why datasets were suspended.
    """
    from discreet.cli.open_sessions import open_session
    from discreet.ledger import LogFilter, describe_event, read_moment
    from discreet.session import default_analyst

    wanted = LogFilter(
        analyst=analyst,
        population=population,
        dataset=dataset,
        kinds=frozenset(_kind(name) for name in kind or ()),
        since=read_moment(since, parameter="since"),
        until=read_moment(until, parameter="until", end=True),
        limit=limit,
    )
    ledger = open_session(workspace).ledger
    events = ledger.log(wanted)
    if custodian:
        ledger.record_view("the log with reasons of suspensions", who=default_analyst())
        show_banner()
    if output is Format.TABLE:
        _show([str(heading) for heading in _HEADINGS])
    event = None
    for event in events:
        entry = describe_event(event, reasons=custodian)
        if output is Format.JSON:
            sys.stdout.write(json.dumps(entry.to_dict(), ensure_ascii=False) + "\n")
        else:
            _show(_cells(entry))
    if event is None:
        show_note(say("No event is of this sort."))


def _kind(name: str) -> "EventKind":
    from discreet.errors import nearest
    from discreet.ledger import EventKind

    try:
        return EventKind(name)
    except ValueError:
        guess = nearest(name, list(EventKind))
        kinds = ", ".join(EventKind)
        if guess:
            raise UsageError(
                say(
                    "--kind {name!a} is not a kind of event. Did you mean '{guess}'? Kinds: {kinds}.",
                    name=name[:40],
                    guess=guess,
                    kinds=kinds,
                )
            ) from None
        raise UsageError(
            say("--kind {name!a} is not a kind of event. Kinds: {kinds}.", name=name[:40], kinds=kinds)
        ) from None


def _cells(entry: "LogEntry") -> "Sequence[str]":
    dataset = "" if entry.dataset is None else entry.dataset
    if entry.version is not None:
        dataset += f" v{entry.version}"
    names = (entry.cost_text, entry.population, dataset, entry.request_id or "", entry.what)
    return (str(entry.sequence), entry.when[:19].replace("T", " "), entry.who, entry.kind, *names)


def _show(cells: "Sequence[str]") -> None:
    """A line whose columns are at least so wide: what has not been read yet cannot widen them."""
    widths = [max(width, screen_width(str(head))) for head, width in zip(_HEADINGS[:-1], _WIDTHS, strict=True)]
    padded = [cell + " " * (width - screen_width(cell)) for cell, width in zip(cells, [*widths, 0], strict=True)]
    sys.stdout.write("  ".join(padded).rstrip() + "\n")
