"""`discreet sensitivity`: every strategy on one query, in one table."""

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import numeral, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    WorkspaceOption,
    show_banner,
    show_json,
    show_progress,
    show_table,
)
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from discreet.lab.strategies.contest import Contest, ContestLine

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    app.command(
        "sensitivity",
        short_help="Every strategy for the noise of one query",
        rich_help_panel="Laboratory",
        epilog='Examples: discreet sensitivity "SELECT AVG(height) FROM survey" --epsilon 0.5  |  discreet sensitivity '
        '"SELECT MEDIAN(height) FROM survey" --epsilon 1 --custodian --runs 200',
    )(sensitivity)


def sensitivity(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One aggregate without groups: SELECT AVG(x) FROM …")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="The epsilon that each strategy would answer at.")],
    delta: Annotated[str, typer.Option(metavar="D", help="The delta of smooth and elastic, which both need.")] = "1e-6",
    custodian: Annotated[
        bool,
        typer.Option("--custodian", help="Draw every strategy on the rows: sensitivity, realised error, time. Logged."),
    ] = False,
    runs: Annotated[int, typer.Option(metavar="N", help="How often each strategy is drawn, with --custodian.")] = 100,
    strategies: Annotated[
        str | None, typer.Option(metavar="A,B", help="These strategies only, as in public,private-bounds.")
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="The generator of `generated` and `replace` (discreet gan list).")
    ] = "default",
    sample_size: Annotated[
        int, typer.Option(metavar="ROWS", help="How many rows `generated` looks at for its sensitivity.")
    ] = 100_000,
    assume: Annotated[
        str | None,
        typer.Option(metavar="n=COUNT", help="Assume this count where an expected error needs it."),
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Compare every strategy for the sensitivity of one query: guarantee, expected error, and what it costs to know.

    Without --custodian no row is looked at and nothing depends on the data. Nothing is released or charged either way.
    """
    from discreet.cli import open_session
    from discreet.lab.strategies.strategy_comparison import compare_query
    from discreet.session import default_analyst

    names = None if strategies is None else [part.strip() for part in strategies.split(",") if part.strip()]
    if names == []:
        raise ParameterInvalid(parameter="strategies", rule=say("must name at least one strategy"), given=say("none"))
    session = open_session(workspace)
    with show_progress() as text:
        done = compare_query(
            sql,
            session.workspace,
            session.ledger,
            epsilon=epsilon,
            delta=delta,
            custodian=custodian,
            runs=runs,
            strategies=names,
            model=model,
            sample_size=sample_size,
            assume=assume,
            who=default_analyst(),
            progress=text,
        )
    if custodian:
        show_banner()
    if output is Format.JSON:
        show_json(done.to_dict())
    else:
        _show(done)


def _show(done: "Contest") -> None:
    from discreet.lab.lab_commands.promise_words import say_neighbours, say_unit

    title = say("{sql}, epsilon {epsilon}", sql=done.sql, epsilon=done.epsilon)
    protected = say(
        "protects {unit}; neighbours: {neighbours}",
        unit=say_unit(done.unit),
        neighbours=say_neighbours(done.neighbours),
    )
    footer = [protected, *done.notes]
    heads = [(say("strategy"), "left"), (say("guarantee"), "left"), (say("expected error"), "right")]
    if done.truth is None:
        rows = [[line.strategy, _promise(line), _amount(line.expected)] for line in done.lines]
    else:
        drawn = (say("sensitivity"), say("mean error"), say("median"), say("relative"), "ms")
        heads += [(head, "right") for head in drawn]
        rows = [[line.strategy, _promise(line), _amount(line.expected), *_realised(line)] for line in done.lines]
        footer = [say("exact answer {answer}, for the custodian's eyes", answer=_amount(done.truth)), *footer]
    remarks = [say("{name}: {words}", name=line.strategy, words=line.told) for line in done.lines if line.told]
    show_table(title, heads, rows, footer=["", *remarks, *([""] if remarks else []), *footer])


def _promise(line: "ContestLine") -> str:
    from discreet.guarantees import ApproxDP

    if line.guarantee is None:
        return say("does not apply")
    if not line.guarantee.differentially_private:
        return say("none: not DP")
    if isinstance(line.guarantee, ApproxDP):
        return say("DP but for delta {delta:.0e}", delta=line.guarantee.delta)
    return say("pure DP")


def _realised(line: "ContestLine") -> list[str]:
    from discreet.lab.strategies.contest import SeriesSpread

    if line.trials is None:
        return ["–"] * 5
    trials = line.trials
    error, used = SeriesSpread.of(trials.errors), trials.known_sensitivities
    relative = trials.relative_errors
    return [
        _amount(SeriesSpread.of(used).mean if used else None),
        _amount(error.mean),
        _amount(error.median),
        _amount(SeriesSpread.of(relative).mean if relative else None),
        numeral(SeriesSpread.of(trials.seconds).median * 1000, ",.1f"),
    ]


def _amount(number: float | None) -> str:
    if number is None:
        return "–"
    if number and not 1e-4 <= abs(number) < 1e9:
        return numeral(number, ".3g")
    return numeral(number, ",.4g" if abs(number) < 1e4 else ",.0f")
