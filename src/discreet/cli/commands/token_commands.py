"""What programs carry, and what people may ask about: `discreet token`, `discreet grant`.

A token is shown once, alone on standard output.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import say
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.opened_people import open_people
from discreet.cli.options import Format, FormatOption, WorkspaceOption
from discreet.cli.screen import show_json, show_note, show_table
from discreet.cli.showing.people_shown import show_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.people import Token

__all__ = ["register"]

_PANEL = "Service"

token = group(about="Make, list and revoke tokens for programs.", example="discreet token list -w office")
grant = group(about="Say who may ask about which dataset.", example="discreet grant list -w office")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whom it is about.")]


def register(app: CommandGroup) -> None:
    token.command("new", epilog="Example: discreet token new -w office maria --days 90")(token_new)
    token.command("list", epilog="Example: discreet token list -w office maria")(token_list)
    token.command("revoke", epilog="Example: discreet token revoke -w office 0123456789abcdef")(token_revoke)
    grant.command("add", epilog="Example: discreet grant add -w office maria survey")(grant_add)
    grant.command("remove", epilog="Example: discreet grant remove -w office maria survey")(grant_remove)
    grant.command("list", epilog="Example: discreet grant list -w office")(grant_list)
    app.add_typer(token, name="token", short_help="Make, list and revoke tokens for programs", rich_help_panel=_PANEL)
    app.add_typer(grant, name="grant", short_help="Say who may ask about which dataset", rich_help_panel=_PANEL)


def token_new(
    name: NameArgument,
    days: Annotated[int, typer.Option(metavar="N", help="For how many days it works: 1 to 365.")] = 90,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make a token, by which a program asks as this person. It is shown once, and kept nowhere."""
    with open_people(workspace) as (people, who):
        made, secret = people.tokens.make(name, days=days, who=who)
    if output is Format.JSON:
        show_json({**made.to_dict(), "token": secret})
        return
    show_note(
        say(
            "Token {id} of '{name}' works up to the end of {expires} (UTC). It is shown only now:",
            id=made.id,
            name=name,
            expires=made.expires.isoformat(),
        )
    )
    typer.echo(secret)


def token_list(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Whose. Default: everybody's.")] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List tokens: whose, until when, and the last day of use. What makes them work is kept nowhere."""
    with open_people(workspace) as (people, _):
        found = people.tokens.list(name)
    if output is Format.JSON:
        show_json({"tokens": [one.to_dict() for one in found]})
    elif not found:
        show_note(say("There are no tokens. Make one with: discreet token new NAME"))
    else:
        _show_tokens(found)


def token_revoke(
    id: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id: the part before the point.")],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """End a token at once."""
    with open_people(workspace) as (people, who):
        found = people.tokens.revoke(id.partition(".")[0], who=who)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        typer.echo(say("Token {id} of '{name}' no longer works.", id=found.id, name=found.person))


def grant_add(
    name: NameArgument,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A dataset of the workspace.")],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Let somebody ask about a dataset, in all of its versions."""
    with open_people(workspace) as (people, who):
        found = people.grant(name, dataset, who=who)
    show_person(found, output)


def grant_remove(
    name: NameArgument,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A dataset that they were granted.")],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Let somebody ask about a dataset no more. To them it is then as if it were not there."""
    with open_people(workspace) as (people, who):
        found = people.withdraw(name, dataset, who=who)
    show_person(found, output)


def grant_list(workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """List who may ask about which dataset."""
    with open_people(workspace) as (people, _):
        found = [(entry.name, dataset) for entry in people.persons() for dataset in sorted(entry.datasets)]
    if output is Format.JSON:
        show_json({"grants": [{"person": name, "dataset": dataset} for name, dataset in found]})
    elif not found:
        show_note(say("Nobody was granted anything yet. Grant with: discreet grant add NAME DATASET"))
    else:
        show_table(say("Grants"), [(say("name"), "left"), (say("dataset"), "left")], [list(row) for row in found])


def _show_tokens(found: "Sequence[Token]") -> None:
    heads = [(say("token"), "left"), (say("name"), "left"), (say("works up to"), "left")]
    heads += [(say("last used"), "left"), (say("state"), "left")]
    rows = [
        [
            one.id,
            one.person,
            one.expires.isoformat(),
            say("never") if one.last_used is None else one.last_used.isoformat(),
            _tell_state(one),
        ]
        for one in found
    ]
    show_table(say("Tokens"), heads, rows)


def _tell_state(found: "Token") -> str:
    if found.revoked:
        return say("revoked")
    return say("expired") if found.expires < datetime.now(UTC).date() else say("works")
