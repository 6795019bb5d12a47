"""`discreet budget`: what was spent on each population, what is held and what remains."""

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Numeral, language, localise, numeral, say
from discreet.cli.help_screens import CommandGroup
from discreet.cli.hints import repeat
from discreet.cli.options import Format, FormatOption, ServerOption, TokenFileOption, WorkspaceOption
from discreet.cli.screen import show_json, show_table
from discreet.cli.showing.coded_words import word
from discreet.guarantees import text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from discreet.client import RemoteBudget, RemoteHold
    from discreet.ledger import BudgetState, Hold, TermsChange
    from discreet.release import Releases
    from discreet.session import Session
    from discreet.workspace import Workspace

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    app.command(
        "budget",
        short_help="What was spent, what is held, what remains",
        rich_help_panel="Analyst",
        epilog="Example: discreet budget -w office --format json",
    )(budget)


def budget(
    population: Annotated[
        str | None, typer.Option(metavar="NAME", help="One population. Default: all of the workspace.")
    ] = None,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show what was spent, what is held and what remains, for each population and analyst, and how budgets changed.

    A server tells of the shares of analysts your own, and nothing of how budgets changed.
    """
    from discreet.cli.open_sessions import find_session, is_remote

    session = find_session(workspace, server, token_file)
    names = [population] if population is not None else session.populations()
    if is_remote(session):
        _show_told([session.budget(name) for name in names], output)
    else:
        _show_kept(session, names, output)


def _show_told(states: "Sequence[RemoteBudget]", output: Format) -> None:
    if output is Format.JSON:
        show_json({"populations": [state.to_dict() for state in states]})
    elif not states:
        typer.echo(say("No dataset was granted to you yet. Ask the custodian for one."))
    for state in states if output is Format.TABLE else ():
        markers = [
            say(
                "event {event}, {date}: {release} of {dataset}",
                event=str(marker.sequence),
                date=marker.when[:10],
                release=say("an unproven release"),
                dataset=marker.dataset,
            )
            for marker in state.markers
        ]
        _show_budget(state, [*markers, *map(_word_hold, state.holds)])


def _show_kept(session: "Session", names: "Sequence[str]", output: Format) -> None:
    from discreet.release import list_releases

    states = [session.budget(name) for name in names]
    logged = {name: list_releases(session.workspace, population=name) for name in names}
    history = {name: session.ledger.history(name) for name in names}
    if output is Format.JSON:
        lines = [
            {
                **state.to_dict(),
                "bootstrap": logged[name].to_dict(),
                "history": [change.to_dict() for change in history[name]],
            }
            for name, state in zip(names, states, strict=True)
        ]
        show_json({"populations": lines})
    elif not states:
        typer.echo(repeat(say("No population yet. A budget begins with the first dataset: discreet add FILE")))
    for name, state in zip(names, states, strict=True) if output is Format.TABLE else ():
        _show_budget(state, _tell_events(state, history[name], logged[name], session.workspace))


def _tell_events(
    state: "BudgetState", history: "Sequence[TermsChange]", logged: "Releases", workspace: "Workspace"
) -> list[str]:
    footer = [
        say(
            "event {event}, {date}: {release} of {dataset} to {analyst}",
            event=str(marker.sequence),
            date=marker.when[:10],
            release=logged.describe(marker.sequence) or _unproven(state, marker.sequence, workspace),
            dataset=marker.dataset,
            analyst=marker.analyst,
        )
        for marker in state.markers
    ]
    footer += logged.sentences()
    footer += [_word_hold(hold) for hold in state.holds]
    footer += [_word_change(change) for change in history[1:]]
    return footer


def _show_budget(state: "BudgetState | RemoteBudget", events: "Sequence[str]") -> None:
    holders = [
        (say("population"), state.population),
        *((say("analyst {name}", name=name), share) for name, share in state.analysts.items()),
    ]
    rows = [
        [
            name,
            str(share.charges),
            *(_amount(amount) for amount in (share.epsilon_cap, share.epsilon_spent, share.epsilon_remaining)),
            numeral(dict(share.questions_left).get("0.1", 0)),
            *(() if share.rho_spent is None else (_amount(share.rho_spent), _amount(share.rho_cap or share.rho_spent))),
        ]
        for name, share in holders
    ]
    headings = [("", "left"), (say("charges"), "right"), (say("epsilon budget"), "right")]
    headings += [(say("epsilon spent"), "right"), (say("epsilon remaining"), "right")]
    headings += [(say("questions at 0.1"), "right")]
    if not state.terms.budget.pure:
        headings += [(say("rho spent"), "right"), (say("rho cap"), "right")]
    meaning = say(
        "epsilon remaining: the most that a single question may cost; questions at 0.1: how many at epsilon "
        "0.1 each fit instead"
    )
    title = say(
        "Population {population}: {budget}; neighbours {neighbours}",
        population=state.terms.population,
        budget=state.terms.budget.tell(),
        neighbours=word(state.terms.neighbours),
    )
    show_table(title, headings, rows, footer=[*state.warnings(), *events, meaning])


def _amount(amount: "Decimal") -> str:
    return localise(text(amount), language())


def _word_hold(hold: "Hold | RemoteHold") -> str:
    from discreet.ledger import cost_of

    facts = {
        "event": str(hold.sequence),
        "cost": cost_of(hold.guarantee),
        "request": hold.request_id,
        "analyst": hold.analyst,
    }
    if hold.expires is None:
        return say("event {event}: {cost} held for request {request} of analyst {analyst}", **facts)
    return say(
        "event {event}: {cost} held for request {request} of analyst {analyst}, to be used until {moment} UTC",
        moment=hold.expires[:16].replace("T", " "),
        **facts,
    )


def _word_change(change: "TermsChange") -> str:
    changed = ", ".join(
        f"{word(name)} {_term(name, old)} → {_term(name, new)}" for name, (old, new) in change.changed().items()
    )
    return say(
        "event {event}, {date}: {changed}, by {who}",
        event=str(change.sequence),
        date=change.when[:10],
        changed=changed,
        who=change.who,
    )


def _term(name: str, value: str | None) -> str:
    if isinstance(value, Numeral):
        return localise(value, language())
    return word(str(value)) if name == "neighbours" else str(value)


def _unproven(state: "BudgetState", marker: int, workspace: "Workspace") -> str:
    from discreet.release import describe_marker

    found = describe_marker(workspace, population=state.terms.population, marker=marker)
    return found or say("an unproven release")
