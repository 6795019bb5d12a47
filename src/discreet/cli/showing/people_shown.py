"""People as the command line shows them, and what waits for a second custodian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from discreet.catalogue import say
from discreet.cli.hints import repeat
from discreet.cli.options import Format
from discreet.cli.screen import show_json, show_table

if TYPE_CHECKING:
    from discreet.people import PersonEntry, Proposal, Role

__all__ = ["show_change", "show_people", "show_person", "show_proposal"]


def show_people(entries: Sequence[PersonEntry], proposals: Sequence[Proposal]) -> None:
    """Two tables; the second only where something waits."""
    heads = [(say("name"), "left"), (say("roles"), "left"), (say("may ask about"), "left"), (say("state"), "left")]
    show_table(say("People"), heads, [_row(entry) for entry in entries])
    if not proposals:
        return
    heads = [(say("proposal"), "right"), (say("change"), "left"), (say("by"), "left"), (say("when (UTC)"), "left")]
    rows = [
        [str(found.number), _tell_change(found), found.proposer, found.made[:16].replace("T", " ")]
        for found in proposals
    ]
    typer.echo()
    show_table(say("To be confirmed by another custodian"), heads, rows)


def show_change(found: PersonEntry | Proposal, output: Format) -> None:
    """What came of a change: somebody as they are now, or a proposal."""
    from discreet.people import Proposal

    if not isinstance(found, Proposal):
        show_person(found, output)
    elif output is Format.JSON:
        show_json({"proposal": found.to_dict()})
    else:
        show_proposal(found)


def show_person(entry: PersonEntry, output: Format) -> None:
    if output is Format.JSON:
        show_json(entry.to_dict())
        return
    roles, datasets = _list_roles(entry), _list_datasets(entry)
    if entry.suspended:
        told = say(
            "'{name}' is suspended and may not come in. Roles: {roles}. May ask about: {datasets}.",
            name=entry.name,
            roles=roles,
            datasets=datasets,
        )
    else:
        told = say(
            "'{name}' may come in. Roles: {roles}. May ask about: {datasets}.",
            name=entry.name,
            roles=roles,
            datasets=datasets,
        )
    typer.echo(told)


def show_proposal(proposal: Proposal) -> None:
    told = say(
        "Proposed: {change}. Another custodian confirms it within a week: discreet person confirm {number}",
        change=_tell_change(proposal),
        number=str(proposal.number),
    )
    typer.echo(repeat(told))


def _tell_change(proposal: Proposal) -> str:
    match proposal.act.value:
        case "role-given":
            return say("'{name}' becomes a custodian", name=proposal.person)
        case "role-taken":
            return say("'{name}' is no longer a custodian", name=proposal.person)
        case "person-suspended":
            return say("the custodian '{name}' is suspended", name=proposal.person)
        case _:
            return say("the custodian '{name}' is restored", name=proposal.person)


def _row(entry: PersonEntry) -> list[str]:
    state = say("suspended") if entry.suspended else say("may come in")
    return [entry.name, _list_roles(entry), _list_datasets(entry), state]


def _list_roles(entry: PersonEntry) -> str:
    from discreet.people import Role

    return ", ".join(_tell_role(role) for role in Role if role in entry.roles) or say("none")


def _tell_role(role: Role) -> str:
    match role.value:
        case "analyst":
            return say("analyst")
        case "reviewer":
            return say("reviewer")
        case "custodian":
            return say("custodian")
        case _:
            return say("auditor")


def _list_datasets(entry: PersonEntry) -> str:
    return ", ".join(sorted(entry.datasets)) or say("nothing")
