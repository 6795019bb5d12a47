"""The analyst's commands: what there is, what may be asked, what is left."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.help_screens import CommandGroup
from discreet.cli.hints import repeat
from discreet.cli.options import (
    AnalystOption,
    Custodian,
    Format,
    FormatOption,
    FreshOption,
    Language,
    LanguageOption,
    LevelOption,
    OutOption,
    ReleaseFormat,
    ReleaseFormatOption,
    RequestIdOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json, show_note, show_pairs, show_table
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
    workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE, lang: LanguageOption = Language.EN
) -> None:
    """List the datasets of the workspace."""
    from discreet.cli.open_sessions import open_session

    found = [
        {
            "dataset": dataset.name,
            "title": dataset.card.title.text(lang),
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
        typer.echo(repeat("No datasets yet. Add one with: discreet add FILE"))
    else:
        headings = [("dataset", "left"), ("title", "left"), ("version", "right"), ("population", "left")]
        headings += [("unit", "left"), ("columns", "right")]
        show_table("Datasets", headings, [[str(row[name]) for name, _ in headings] for row in found])


def show(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
    lang: LanguageOption = Language.EN,
) -> None:
    """Show the public face of a dataset: columns, labels, bounds, unit, budget; never a value from the rows."""
    from discreet.cli.open_sessions import open_session

    session = open_session(workspace)
    if custodian:
        from discreet.cli.commands.custodian_commands import show_report

        show_report(session, dataset, output)
        return
    face: dict[str, Any] = session.describe(dataset, lang)
    if output is Format.JSON:
        show_json(face)
        return
    state = session.budget(face["population"])
    weight = face["weight"]
    facts = [
        ("dataset", f"{face['dataset']}, version {face['version']}"),
        ("population", face["population"]),
        ("unit", f"{face['unit']['column']}, at most {face['unit']['rows']} row(s) count"),
        ("neighbours", face["neighbours"]),
        ("size", face["size"]),
        ("budget", f"{state.terms.budget}"),
        ("remaining", f"epsilon {text(state.population.epsilon_remaining)}"),
    ]
    if weight is not None:
        by = f" by {weight['by']}" if weight["by"] else ""
        facts.append(("weight", f"{weight['column']}, capped{by} (at most {weight['cap']})"))
    for totals in face.get("totals", ()):
        by = f" by {totals['by']}" if totals["by"] else ""
        facts.append(("totals", f"{totals['total']}{by}: {totals['source']}"))
    if face["suspended"]:
        facts.append(("suspended", "yes, until the custodian has looked"))
    facts += [("warning", warning) for warning in state.warnings()]
    show_pairs(face["title"], facts)
    headings = [
        ("column", "left"),
        ("kind", "left"),
        ("label", "left"),
        ("values", "left"),
        ("public", "left"),
    ]
    rows = [
        [
            column["name"],
            column["kind"],
            column["label"],
            _values(column) + ("; complete" if column.get("complete") else ""),
            "yes" if column["public"] else "",
        ]
        for column in face["columns"]
    ]
    show_table("", headings, rows)


def _values(column: dict[str, Any]) -> str:
    if "categories" in column:
        shown = [code if code == label else f"{code} {label}" for code, label in column["categories"].items()]
        return "; ".join(shown) if len(shown) <= 16 else "; ".join(shown[:6]) + f"; … {len(shown)} codes"
    if "bounds" in column:
        low, high = column["bounds"]
        step = f" in steps of {column['step']}" if column.get("step") not in (None, "1") else ""
        missing = f"; missing: {', '.join(column['missing'])}" if column.get("missing") else ""
        return f"{low} to {high}{step}{missing}"
    if column.get("bounds_private"):
        return "bounds private: each question pays to find them"
    return "open" if column["kind"] == "text" else ""


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
        typer.Option(metavar="NAME=WIDTH", help="Instead of --epsilon: the least that reaches this half-width."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show plan, sensitivities, noise, cost and expected error; ask nothing."),
    ] = False,
    assume: Annotated[
        str | None,
        typer.Option(metavar="n=COUNT", help="Take this count per cell for granted where an expected error needs it."),
    ] = None,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    level: LevelOption = "0.95",
    fresh: FreshOption = False,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    out: OutOption = None,
    output: ReleaseFormatOption = None,
    lang: LanguageOption = Language.EN,
) -> None:
    """Answer a question in SQL within the budget: noisy values with an interval on each.

    On a terminal, cost and expected error are shown first and confirmed; scripts and pipes are never asked.
    """
    from discreet.cli.delivery import choose_format, deliver
    from discreet.cli.open_sessions import open_session
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
    deliver(answer, chosen, out, lang)


def confirm_cost(phrase: "Explanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    show_note("\n".join(phrase.summary()))
    return typer.confirm("Ask?", default=False, err=True)


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
        typer.echo(repeat("No population yet. A budget begins with the first dataset: discreet add FILE"))
    for name, state in zip(names, states, strict=True) if output is Format.TABLE else ():
        _show_budget(state, history[name], logged[name], session.workspace)


def _show_budget(
    state: "BudgetState", history: "Sequence[TermsChange]", logged: "Releases", workspace: "Workspace"
) -> None:
    holders = [
        ("population", state.population),
        *((f"analyst {n}", share) for n, share in state.analysts.items()),
    ]
    rows = [
        [
            name,
            str(share.charges),
            *(text(amount) for amount in (share.epsilon_cap, share.epsilon_spent, share.epsilon_remaining)),
            f"{dict(share.questions_left)['0.1']:,}",
            *(() if share.rho_spent is None else (text(share.rho_spent), text(share.rho_cap or share.rho_spent))),
        ]
        for name, share in holders
    ]
    headings = [("", "left"), ("charges", "right")]
    headings += [(f"epsilon {word}", "right") for word in ("budget", "spent", "remaining")]
    headings += [("questions at 0.1", "right")]
    if not state.terms.budget.pure:
        headings += [("rho spent", "right"), ("rho cap", "right")]
    footer = [
        f"event {marker.sequence}, {marker.when[:10]}: "
        f"{logged.describe(marker.sequence) or _unproven(state, marker.sequence, workspace)} of "
        f"{marker.dataset} to {marker.analyst}"
        for marker in state.markers
    ]
    footer += logged.sentences()
    footer += [_word_hold(hold) for hold in state.holds]
    footer += [_word_change(change) for change in history[1:]]
    footer.append("epsilon remaining is the largest single question; instead of it, so many at epsilon 0.1 each fit")
    title = f"Population {state.terms.population}: {state.terms.budget}; neighbours {state.terms.neighbours}"
    show_table(title, headings, rows, footer=[*state.warnings(), *footer])


def _word_hold(hold: "Hold") -> str:
    from discreet.ledger import cost_of

    until = "" if hold.expires is None else f", to be used until {hold.expires[:16].replace('T', ' ')} UTC"
    cost = cost_of(hold.guarantee)
    return f"event {hold.sequence}: {cost} held for request {hold.request_id} of analyst {hold.analyst}{until}"


def _word_change(change: "TermsChange") -> str:
    phrase = ", ".join(f"{name.replace('_', ' ')} {old} → {new}" for name, (old, new) in change.changed().items())
    return f"event {change.sequence}, {change.when[:10]}: {phrase}, by {change.who}"


def _unproven(state: "BudgetState", marker: int, workspace: "Workspace") -> str:
    from discreet.release import describe_marker

    found = describe_marker(workspace, population=state.terms.population, marker=marker)
    return found or "an unproven release"
