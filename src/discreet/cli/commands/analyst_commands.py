"""The analyst's commands: what there is, what may be asked, what is left."""

from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.catalogue import language, numeral, say, say_count
from discreet.cli.commands import budget_command
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
    ServerOption,
    TokenFileOption,
    WorkspaceOption,
    YesOption,
)
from discreet.cli.screen import on_terminal, show_json, show_note, show_pairs, show_table
from discreet.cli.showing.coded_words import word
from discreet.cli.showing.details import DetailsOption
from discreet.errors import UsageError
from discreet.guarantees import text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.client import RemoteBudget, RemoteDataset, RemoteExplanation
    from discreet.ledger import BudgetState
    from discreet.release import Explanation
    from discreet.results import Heading
    from discreet.workspace import Dataset

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
    budget_command.register(app)


def datasets(
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """List the datasets of the workspace, or those that a server grants."""
    from discreet.cli.open_sessions import find_session, is_remote

    session = find_session(workspace, server, token_file)
    found = _list_datasets(session.datasets())
    if output is Format.JSON:
        show_json({"datasets": found})
    elif not found and is_remote(session):
        typer.echo(say("No dataset was granted to you yet. Ask the custodian for one."))
    elif not found:
        typer.echo(repeat(say("No datasets yet. Add one with: discreet add FILE")))
    else:
        headings = [(say("dataset"), "left"), (say("title"), "left"), (say("version"), "right")]
        headings += [(say("population"), "left"), (say("unit"), "left"), (say("columns"), "right")]
        show_table(say("Datasets"), headings, [[str(fact) for fact in row.values()] for row in found])


def _list_datasets(found: "Sequence[Dataset | RemoteDataset]") -> list[dict[str, object]]:
    return [
        {
            "dataset": dataset.name,
            "title": dataset.title,
            "version": dataset.version,
            "population": dataset.population,
            "unit": dataset.unit,
            "columns": dataset.columns,
        }
        for dataset in found
    ]


def show(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show the public face of a dataset: columns, labels, bounds, unit, budget; never a value from the rows."""
    from discreet.cli.open_sessions import find_session, is_remote

    session = find_session(workspace, server, token_file)
    if custodian:
        from discreet.cli.commands.custodian_commands import show_report

        if is_remote(session):
            raise UsageError(say("--custodian is for whoever has the workspace itself; a server does not show rows."))
        show_report(session, dataset, output)
        return
    face: dict[str, Any] = session.describe(dataset, language())
    if output is Format.JSON:
        show_json(face)
    else:
        _show_face(face, session.budget(face["population"]))


def _show_face(face: dict[str, Any], state: "BudgetState | RemoteBudget") -> None:
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
    server: ServerOption = None,
    token_file: TokenFileOption = None,
    out: OutOption = None,
    details: DetailsOption = False,
    output: ReleaseFormatOption = None,
) -> None:
    """Answer a question in SQL within the budget: noisy values with an interval on each.

    On a terminal, cost and expected error are shown first and confirmed; scripts and pipes are never asked.
    """
    from discreet.cli.open_sessions import find_session, is_remote
    from discreet.cli.showing.delivery import choose_format, deliver
    from discreet.present import check_output

    session, chosen = find_session(workspace, server, token_file), choose_format(output, out)
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
    ask = session.query if is_remote(session) else partial(session.query, check=_check_keys(out, chosen))
    answer = ask(
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
    )
    deliver(answer, chosen, out, language(), details=details)


def _check_keys(out: Path | None, format: str) -> "Callable[[Sequence[Heading]], None]":
    """What cannot be written of the keys that will be shown is refused before the charge. A server shows them later."""
    from discreet.present import check_output

    return lambda headings: check_output(out, format=format, headings=headings)


def confirm_cost(phrase: "Explanation | RemoteExplanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    from discreet.cli.showing.confirmation import confirm_at_terminal

    show_note("\n".join(phrase.summary()))
    return confirm_at_terminal(say("Ask?"))
