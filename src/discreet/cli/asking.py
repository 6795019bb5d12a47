"""The analyst's commands: what there is, what may be asked, what is left."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.hints import repeat
from discreet.cli.log import EXAMPLES, ledger_log
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
    QueryStrategy,
    ReleaseFormat,
    ReleaseFormatOption,
    RequestIdOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.recovery import register as register_recovery
from discreet.cli.screen import on_terminal, show_json, show_note, show_pairs, show_table
from discreet.errors import Refused, UsageError
from discreet.guarantees.numbers import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.data.workspace import Workspace
    from discreet.ledger import BudgetState, Hold, TermsChange
    from discreet.release.explanation import Explanation
    from discreet.results import Release
    from discreet.session import Session
    from discreet.tables.bootstrap.log import Releases

__all__ = ["confirm_cost", "register"]

ledger = typer.Typer(help="Read, check, copy and restore the ledger.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.command("datasets", epilog="Example: discreet datasets -w office")(datasets)
    app.command("show", epilog="Example: discreet show -w office survey --lang fr")(show)
    app.command(
        "query",
        epilog='Example: discreet query -w office "SELECT province, COUNT(*) FROM survey GROUP BY province" '
        "--epsilon 0.5 --out people.xlsx",
    )(query)
    app.command("budget", epilog="Example: discreet budget -w office --format json")(budget)
    ledger.command("log", epilog=EXAMPLES)(ledger_log)
    register_recovery(ledger)
    app.add_typer(ledger, name="ledger")


def datasets(
    workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE, lang: LanguageOption = Language.EN
) -> None:
    """List the datasets of the workspace."""
    from discreet.cli.opening import open_session

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
    from discreet.cli.opening import open_session

    session = open_session(workspace)
    if custodian:
        from discreet.cli.custody import show_report

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
    strategy: Annotated[
        QueryStrategy,
        typer.Option(
            help="How much noise one aggregate gets: what the card proves, or, where it permits them, answers that are "
            "not differentially private."
        ),
    ] = QueryStrategy.PUBLIC,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The trained generator for --strategy generated or replace."),
    ] = None,
    sample_size: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many rows --strategy generated looks at; 100,000 unless told."),
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
    from discreet.cli.opening import open_session
    from discreet.present.files import check_output

    session, chosen = open_session(workspace), choose_format(output, out)
    if not explain:
        check_output(out, format=chosen)
    if strategy is not QueryStrategy.PUBLIC:
        _refuse_unproven_options(delta=delta, within=within, explain=explain, assume=assume, fresh=fresh)
        answer = _ask_unproven(
            session,
            sql,
            strategy=strategy.value,
            epsilon=epsilon,
            model=model,
            sample_size=sample_size,
            analyst=analyst,
            request_id=request_id,
            ask_first=on_terminal() and not yes,
        )
        deliver(answer, chosen, out, lang)
        return
    if model is not None or sample_size is not None:
        raise UsageError("--model and --sample-size belong to --strategy generated; replace takes --model too.")
    if explain:
        told = session.explain(
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
            show_json(told.to_dict())
        else:
            typer.echo(told.to_text())
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


def _refuse_unproven_options(*, delta: str, within: str | None, explain: bool, assume: str | None, fresh: bool) -> None:
    """Nothing is planned, priced or drawn again where there is no guarantee to plan with."""
    given = {
        "--delta": delta != "0",
        "--within": within is not None,
        "--explain": explain,
        "--assume": assume is not None,
        "--fresh": fresh,
    }
    named = [option for option, present in given.items() if present]
    if named:
        raise UsageError(f"only --strategy public takes {', '.join(named)}: the other strategies prove nothing.")


def _ask_unproven(
    session: "Session",
    sql: str,
    *,
    strategy: str,
    epsilon: str | None,
    model: str | None,
    sample_size: int | None,
    analyst: str | None,
    request_id: str | None,
    ask_first: bool,
) -> "Release":
    """An answer that is not differentially private; on a terminal it is confirmed first."""
    if ask_first:
        show_note(
            f"Strategy {strategy} is not differentially private. Its answer leaves a permanent marker: from then on "
            "the budget no longer bounds everything that was disclosed."
        )
        if not typer.confirm("Ask?", default=False, err=True):
            raise Refused("Not asked. Nothing was released, charged or marked.")
    return session.ask_unproven(
        sql,
        strategy=strategy,
        epsilon=epsilon,
        model=model,
        sample_size=sample_size,
        analyst=analyst,
        request_id=request_id,
    )


def confirm_cost(told: "Explanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    show_note("\n".join(told.summary()))
    return typer.confirm("Ask?", default=False, err=True)


def budget(
    population: Annotated[
        str | None, typer.Option(metavar="NAME", help="One population. Default: all of the workspace.")
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show what was spent, what is held and what remains, for each population and analyst, and how budgets changed."""
    from discreet.cli.opening import open_session
    from discreet.tables.bootstrap.log import list_releases

    session = open_session(workspace)
    names = [population] if population is not None else session.populations()
    states = [session.budget(name) for name in names]
    logged = {name: list_releases(session.workspace, population=name) for name in names}
    history = {name: session.ledger.history(name) for name in names}
    if output is Format.JSON:
        told = [
            {
                **state.to_dict(),
                "bootstrap": logged[name].to_dict(),
                "history": [change.to_dict() for change in history[name]],
            }
            for name, state in zip(names, states, strict=True)
        ]
        show_json({"populations": told})
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
    from discreet.ledger.accounting import cost_of

    until = "" if hold.expires is None else f", to be used until {hold.expires[:16].replace('T', ' ')} UTC"
    cost = cost_of(hold.guarantee)
    return f"event {hold.sequence}: {cost} held for request {hold.request_id} of analyst {hold.analyst}{until}"


def _word_change(change: "TermsChange") -> str:
    told = ", ".join(f"{name.replace('_', ' ')} {old} → {new}" for name, (old, new) in change.changed().items())
    return f"event {change.sequence}, {change.when[:10]}: {told}, by {change.who}"


def _unproven(state: "BudgetState", marker: int, workspace: "Workspace") -> str:
    from discreet.release.unprovenanswers import describe_marker

    found = describe_marker(workspace, population=state.terms.population, marker=marker)
    return found or "an unproven release"


@ledger.command("verify", epilog="Example: discreet ledger verify -w office --anchor HASH")
def ledger_verify(
    anchor: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="A head noted earlier; the ledger must still contain it."),
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Walk the whole ledger: chain, totals, head, answers and anchor must hold."""
    from discreet.cli.opening import open_session

    found = open_session(workspace).verify(anchor=anchor)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        facts = {**found.to_dict(), "anchors": ", ".join(f"event {number}" for number in found.anchors)}
        show_pairs("The ledger holds.", [(name, str(value)) for name, value in facts.items()])
