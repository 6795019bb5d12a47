"""Who may ask a server, and as whom: `discreet person`.

Whoever has the workspace folder is its custodian here; a server asks the roles of who is signed in. A link is shown
once, alone on standard output; a password is never an option, where other programs would see it.
"""

import sys
from typing import Annotated

import typer

from discreet.catalogue import language, say
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.opened_people import open_people
from discreet.cli.options import Format, FormatOption, WorkspaceOption
from discreet.cli.screen import show_json, show_note
from discreet.cli.showing.people_shown import show_change, show_people, show_person, show_proposal
from discreet.errors import UsageError

__all__ = ["register"]

_LONGEST_LINE = 4_096

person = group(
    about="Add people, give and take their roles, let them sign in.",
    example="discreet person add -w office maria --role analyst",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whom it is about.")]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="analyst, reviewer, custodian or auditor.")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Its number in the list of people.")]


def register(app: CommandGroup) -> None:
    example = "Example: discreet person "
    person.command("add", epilog=example + "add -w office maria --role analyst --role reviewer")(person_add)
    person.command("list", epilog=example + "list -w office")(person_list)
    person.command("give", epilog=example + "give -w office maria reviewer")(person_give)
    person.command("take", epilog=example + "take -w office maria reviewer")(person_take)
    person.command("suspend", epilog=example + "suspend -w office maria")(person_suspend)
    person.command("restore", epilog=example + "restore -w office maria")(person_restore)
    person.command("confirm", epilog=example + "confirm -w office 17")(person_confirm)
    person.command("decline", epilog=example + "decline -w office 17")(person_decline)
    person.command("link", epilog=example + "link -w office maria --at https://privacy.example.org")(person_link)
    person.command("password", epilog=example + "password -w office maria")(person_password)
    app.add_typer(
        person,
        name="person",
        short_help="Add people, give and take their roles, let them in",
        rich_help_panel="Service",
    )


def person_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and . _ @ -, given once for good.")],
    role: Annotated[
        list[str],
        typer.Option("--role", metavar="ROLE", help="analyst, reviewer, custodian or auditor; may be repeated."),
    ],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Add somebody. They sign in with a link (discreet person link NAME), and may ask about what they are granted.

    While two custodians act, a third is proposed by one of them and confirmed by another.
    """
    from discreet.people import read_role

    roles = {read_role(word) for word in role}
    with open_people(workspace) as (people, who):
        added = people.add(name, roles, who=who)
        waiting = [proposal for proposal in people.proposals() if proposal.person == name]
    show_person(added, output)
    if output is Format.TABLE:
        for proposal in waiting:
            show_proposal(proposal)


def person_list(workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """List everybody, and what waits for a second custodian."""
    with open_people(workspace) as (people, _):
        entries, proposals = people.persons(), people.proposals()
    if output is Format.JSON:
        show_json({"people": [one.to_dict() for one in entries], "proposals": [one.to_dict() for one in proposals]})
    elif not entries:
        show_note(say("Nobody is known here yet. Add the first with: discreet person add NAME --role custodian"))
    else:
        show_people(entries, proposals)


def person_give(
    name: NameArgument, role: RoleArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE
) -> None:
    """Give somebody a role. Whoever becomes a custodian signs in anew: what they carried before is void."""
    from discreet.people import read_role

    given = read_role(role)
    with open_people(workspace) as (people, who):
        found = people.give_role(name, given, who=who)
    show_change(found, output)


def person_take(
    name: NameArgument, role: RoleArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE
) -> None:
    """Take a role from somebody. The last custodian stays one."""
    from discreet.people import read_role

    taken = read_role(role)
    with open_people(workspace) as (people, who):
        found = people.take_role(name, taken, who=who)
    show_change(found, output)


def person_suspend(name: NameArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """Let somebody in no more, by token, session or password, until they are restored."""
    with open_people(workspace) as (people, who):
        found = people.suspend(name, who=who)
    show_change(found, output)


def person_restore(name: NameArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """Let somebody in again who was suspended. They sign in anew; a custodian needs a new link for that."""
    with open_people(workspace) as (people, who):
        found = people.restore(name, who=who)
    show_change(found, output)


def person_confirm(
    number: NumberArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE
) -> None:
    """Carry out what another custodian has proposed."""
    with open_people(workspace) as (people, who):
        found = people.confirm(number, who=who)
    show_change(found, output)


def person_decline(
    number: NumberArgument, workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE
) -> None:
    """Put away what a custodian has proposed."""
    with open_people(workspace) as (people, who):
        found = people.decline(number, who=who)
    if output is Format.JSON:
        show_json({"proposal": found.to_dict()})
    else:
        typer.echo(say("Proposal {number} is put away; nothing was changed.", number=str(found.number)))


def person_link(
    name: NameArgument,
    at: Annotated[str | None, typer.Option(metavar="URL", help="Where the server is, for a link to open.")] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make a link that signs somebody in once, within a day. Earlier links of theirs are void."""
    page = "" if at is None else _page(at)
    with open_people(workspace) as (people, who):
        link = page + people.sign_in.make_link(name, who=who)
    if output is Format.JSON:
        show_json({"person": name, "link": link})
        return
    show_note(
        say("This signs '{name}' in once, within a day. It is shown only now, and works for whoever has it:", name=name)
    )
    typer.echo(link)


def person_password(name: NameArgument, workspace: WorkspaceOption = None) -> None:
    """Set somebody's password: typed twice at a terminal, else one line of standard input. Their sessions end."""
    with open_people(workspace) as (people, who):
        people.person(name)
        people.sign_in.set_password(name, _read_password(), who=who)
    show_note(say("The password of '{name}' is set, and whoever was signed in as them no longer is.", name=name))


def _page(server: str) -> str:
    """The page that signs in. What comes after the # never leaves the browser, so no server writes it to a log."""
    base = server.rstrip("/")
    if not base.startswith(("https://", "http://")) or not base.isprintable() or set(base) & set("#? "):
        raise UsageError(say("--at takes the address of the server, such as https://privacy.example.org"))
    return f"{base}/{language()}/welcome#"


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(_LONGEST_LINE).rstrip("\r\n")
    from getpass import getpass

    typed = getpass(say("Password:") + " ", stream=sys.stderr)
    if getpass(say("The same again:") + " ", stream=sys.stderr) != typed:
        raise UsageError(say("the two passwords differ; nothing was changed."))
    return typed
