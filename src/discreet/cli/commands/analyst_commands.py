"""The analyst's commands: what there is, what may be asked, what is left."""

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.catalogue import Numeral, language, localise, numeral, say, say_count
from discreet.cli.help_screens import CommandGroup
from discreet.cli.hints import repeat
from discreet.cli.options import (
    AnalystOption,
    Custodian,
    Format,
    FormatOption,
    FreshOption,
    LevelOption,
    OutOption,
    ReleaseFormat,
    ReleaseFormatOption,
    RequestIdOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json, show_note, show_pairs, show_table
from discreet.cli.showing.coded_words import word
from discreet.cli.showing.details import DetailsOption
from discreet.guarantees import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.ledger import BudgetState, Hold, TermsChange
    from discreet.release import Explanation, Releases
    from discreet.workspace import Workspace

__all__ = ["confirm_cost", "register"]


def register(app: CommandGroup) -> None:
    app.command(
        "datasets",
        short_help="List the datasets of a workspace",
        rich_help_panel="Analyst",
        epilog="Example: discreet datasets -w office",
    )(datasets)
    app.command(
        "show",
        short_help="Columns, labels, bounds and budget of a dataset",
        rich_help_panel="Analyst",
        epilog="Example: discreet show -w office survey --lang fr",
    )(show)
    app.command(
        "query",
        short_help="Answer a question in SQL within the budget",
        rich_help_panel="Analyst",
        epilog='Example: discreet query -w office "SELECT province, COUNT(*) FROM survey GROUP BY province" '
        "--epsilon 0.5 --out people.xlsx",
    )(query)
    app.command(
        "budget",
        short_help="What was spent, what is held, what remains",
        rich_help_panel="Analyst",
        epilog="Example: discreet budget -w office --format json",
    )(budget)


def datasets(
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List the datasets of the workspace."""
    from discreet.cli.open_sessions import open_session

    found = [
        {
            "dataset": dataset.name,
            "title": dataset.card.title.text(language()),
            "version": dataset.version,
            "population": dataset.card.population,
            "unit": dataset.card.unit.column,
            "columns": len(dataset.card.columns),
        }
        for dataset in open_session(workspace).datasets()
    ]
    if output is Format.JSON:
        show_json({"datasets": found})
    elif not found:
        typer.echo(repeat(say("No datasets yet. Add one with: discreet add FILE")))
    else:
        headings = [(say("dataset"), "left"), (say("title"), "left"), (say("version"), "right")]
        headings += [(say("population"), "left"), (say("unit"), "left"), (say("columns"), "right")]
        show_table(say("Datasets"), headings, [[str(fact) for fact in row.values()] for row in found])


def show(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show the public face of a dataset: columns, labels, bounds, unit, budget; never a value from the rows."""
    from discreet.cli.open_sessions import open_session

    session = open_session(workspace)
    if custodian:
        from discreet.cli.commands.custodian_commands import show_report

        show_report(session, dataset, output)
        return
    face: dict[str, Any] = session.describe(dataset, language())
    if output is Format.JSON:
        show_json(face)
        return
    state = session.budget(face["population"])
    weight = face["weight"]
    facts = [
        (say("dataset"), say("{dataset}, version {version}", dataset=face["dataset"], version=face["version"])),
        (say("population"), face["population"]),
        (say("unit"), _unit(face["unit"])),
        (say("neighbours"), word(face["neighbours"])),
        (say("size"), word(face["size"])),
        (say("budget"), state.terms.budget.tell()),
        (say("remaining"), say("epsilon {epsilon}", epsilon=text(state.population.epsilon_remaining))),
    ]
    if weight is not None:
        facts.append((say("weight"), _weight(weight)))
    facts += [(say("totals"), _totals(totals)) for totals in face.get("totals", ())]
    if face["suspended"]:
        facts.append((say("suspended"), say("yes, until the custodian has looked")))
    facts += [(say("warning"), warning) for warning in state.warnings()]
    show_pairs(face["title"], facts)
    headings = [
        (say("column"), "left"),
        (say("kind"), "left"),
        (say("label"), "left"),
        (say("values"), "left"),
        (say("public"), "left"),
    ]
    rows = [
        [
            column["name"],
            word(column["kind"]),
            column["label"],
            say("{values}; complete", values=_values(column)) if column.get("complete") else _values(column),
            say("yes") if column["public"] else "",
        ]
        for column in face["columns"]
    ]
    show_table("", headings, rows)


def _unit(unit: dict[str, Any]) -> str:
    return say_count(
        "{column}, at most {count} row counts",
        "{column}, at most {count} rows count",
        unit["rows"],
        column=unit["column"],
    )


def _weight(weight: dict[str, Any]) -> str:
    facts = {"column": weight["column"], "cap": _number(weight["cap"])}
    if weight["by"]:
        return say("{column}, capped by {by} (at most {cap})", by=weight["by"], **facts)
    return say("{column}, capped (at most {cap})", **facts)


def _totals(totals: dict[str, Any]) -> str:
    facts = {"total": _number(totals["total"]), "source": totals["source"]}
    if totals["by"]:
        return say("{total} by {by}: {source}", by=totals["by"], **facts)
    return say("{total}: {source}", **facts)


def _number(written: str, form: str = ",f") -> str:
    """A number of a card as people read it; a date stays as it is written."""
    try:
        return numeral(Decimal(written), form)
    except ArithmeticError:
        return written


def _values(column: dict[str, Any]) -> str:
    if "categories" in column:
        shown = [code if code == label else f"{code} {label}" for code, label in column["categories"].items()]
        if len(shown) <= 16:
            return say("; ").join(shown)
        return say("{first}; … {count} codes", first=say("; ").join(shown[:6]), count=len(shown))
    if "bounds" in column:
        low, high = map(_number, column["bounds"])
        between = say("{low} to {high}", low=low, high=high)
        if column.get("step") not in (None, "1"):
            between = say("{low} to {high} in steps of {step}", low=low, high=high, step=_number(column["step"]))
        if column.get("missing"):
            codes = say("; ").join(_number(code, "f") for code in column["missing"])
            return say("{between}; missing: {codes}", between=between, codes=codes)
        return between
    if column.get("bounds_private"):
        return say("bounds private: each question pays to find them")
    return say("open") if column["kind"] == "text" else ""


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="SELECT [keys,] aggregates FROM … [WHERE …] [GROUP BY …]")],
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The total this statement may cost, as a decimal.")
    ] = None,
    delta: Annotated[
        str, typer.Option(metavar="D", help="Needed, and charged, only for keys that the card does not list.")
    ] = "0",
    within: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=WIDTH", help="Instead of --epsilon: the smallest epsilon that reaches this half-width."
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show plan, sensitivities, noise, cost and expected error; ask nothing."),
    ] = False,
    assume: Annotated[
        str | None,
        typer.Option(metavar="n=COUNT", help="Assume this count per cell where an expected error needs it."),
    ] = None,
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
    """Answer a question in SQL within the budget: noisy values with an interval on each.

    On a terminal, cost and expected error are shown first and confirmed; scripts and pipes are never asked.
    """
    from discreet.cli.open_sessions import open_session
    from discreet.cli.showing.delivery import choose_format, deliver
    from discreet.present import check_output

    session, chosen = open_session(workspace), choose_format(output, out)
    if not explain:
        check_output(out, format=chosen)
    if explain:
        phrase = session.explain(
            sql,
            epsilon=epsilon,
            delta=delta,
            within=within,
            assume=assume,
            analyst=analyst,
            level=level,
            fresh=fresh,
        )
        if chosen is ReleaseFormat.JSON:
            show_json(phrase.to_dict())
        else:
            typer.echo(phrase.to_text())
        return
    answer = session.query(
        sql,
        epsilon=epsilon,
        delta=delta,
        within=within,
        assume=assume,
        analyst=analyst,
        request_id=request_id,
        level=level,
        fresh=fresh,
        confirm=confirm_cost if on_terminal() and not yes else None,
        check=lambda headings: check_output(out, format=chosen, headings=headings),
    )
    deliver(answer, chosen, out, language(), details=details)


def confirm_cost(phrase: "Explanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    from discreet.cli.showing.confirmation import confirm_at_terminal

    show_note("\n".join(phrase.summary()))
    return confirm_at_terminal(say("Ask?"))


def budget(
    population: Annotated[
        str | None, typer.Option(metavar="NAME", help="One population. Default: all of the workspace.")
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show what was spent, what is held and what remains, for each population and analyst, and how budgets changed."""
    from discreet.cli.open_sessions import open_session
    from discreet.release import list_releases

    session = open_session(workspace)
    names = [population] if population is not None else session.populations()
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
        _show_budget(state, history[name], logged[name], session.workspace)


def _show_budget(
    state: "BudgetState", history: "Sequence[TermsChange]", logged: "Releases", workspace: "Workspace"
) -> None:
    holders = [
        (say("population"), state.population),
        *((say("analyst {name}", name=name), share) for name, share in state.analysts.items()),
    ]
    rows = [
        [
            name,
            str(share.charges),
            *(_amount(amount) for amount in (share.epsilon_cap, share.epsilon_spent, share.epsilon_remaining)),
            numeral(dict(share.questions_left)["0.1"]),
            *(() if share.rho_spent is None else (_amount(share.rho_spent), _amount(share.rho_cap or share.rho_spent))),
        ]
        for name, share in holders
    ]
    headings = [("", "left"), (say("charges"), "right"), (say("epsilon budget"), "right")]
    headings += [(say("epsilon spent"), "right"), (say("epsilon remaining"), "right")]
    headings += [(say("questions at 0.1"), "right")]
    if not state.terms.budget.pure:
        headings += [(say("rho spent"), "right"), (say("rho cap"), "right")]
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
    footer.append(
        say(
            "epsilon remaining: the most that a single question may cost; questions at 0.1: how many at epsilon "
            "0.1 each fit instead"
        )
    )
    title = say(
        "Population {population}: {budget}; neighbours {neighbours}",
        population=state.terms.population,
        budget=state.terms.budget.tell(),
        neighbours=word(state.terms.neighbours),
    )
    show_table(title, headings, rows, footer=[*state.warnings(), *footer])


def _amount(amount: "Decimal") -> str:
    return localise(text(amount), language())


def _word_hold(hold: "Hold") -> str:
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
