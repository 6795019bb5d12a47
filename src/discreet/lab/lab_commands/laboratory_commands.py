"""`discreet lab`: tables and answers that are compared, examined or let out without a proof."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import Phrase, language, say
from discreet.cli import (
    AnalystOption,
    CommandGroup,
    Custodian,
    Format,
    FormatOption,
    OutOption,
    ReleaseFormatOption,
    RequestIdOption,
    TableOutOption,
    TableOutputs,
    WorkspaceOption,
    YesOption,
    confirm_at_terminal,
    group,
    on_terminal,
    show_banner,
    show_json,
    show_note,
    takes_table,
)
from discreet.errors import CustodianOnly, Refused

if TYPE_CHECKING:
    from discreet.lab.laboratory import Laboratory
    from discreet.tables import TableRequest

__all__ = ["register"]

lab = group(
    about="Compare what agencies do today, and answer without a proof where a card permits it.",
    example="discreet lab compare -w office survey --by province --custodian",
)
_NOT_PRIVATE: Final = Phrase(
    "This table will not be differentially private, and a new one leaves a permanent marker on the ledger. Release it?"
)


class StrategyName(StrEnum):
    """How an aggregate is answered without a proof."""

    LOCAL = "local"
    GENERATED = "generated"
    REPLACE = "replace"


class Split(StrEnum):
    """How a bootstrap table shares its epsilon over cells: maximum, per cell, public membership, or pairs."""

    MAXIMUM = "i"
    EACH = "ii"
    MEMBERSHIP = "iii"
    PAIR = "pair"


class PoolName(StrEnum):
    """What a file of other individuals is."""

    SUB_POPULATION = "sub-population"
    SYNTHETIC = "synthetic"


MembershipOption = Annotated[
    bool,
    typer.Option("--membership-public", help="State that anyone may know who is in which cell (method iii)."),
]
PoolOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Other individuals from whom bootstrap neighbours are drawn.")
]
PoolKindOption = Annotated[PoolName, typer.Option(metavar="|".join(PoolName), help="What the pool is.")]


def register(app: CommandGroup) -> None:
    app.add_typer(
        lab, name="lab", short_help="Today's methods, bootstrap, unproven answers", rich_help_panel="Laboratory"
    )


@lab.command(
    "compare",
    short_help="A table beside what agencies do today, attacked; custodian only",
    epilog="Example: discreet lab compare -w office survey --by province,smoking --epsilon 0.5 --custodian",
)
@takes_table
def compare(
    request: "TableRequest",
    epsilon: Annotated[
        str, typer.Option(metavar="E", help="Compared at this epsilon, at a quarter of it and at four times it.")
    ] = "0.5",
    trials: Annotated[int, typer.Option(metavar="N", help="People on whom the attack is tried.")] = 200,
    custodian: Custodian = False,
    analyst: AnalystOption = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Set a table beside what agencies do today: errors, what is changed or hidden, and what an attack recovers.

    For the custodian: it is logged, and it leaves a marker on the ledger.
    """
    from discreet.cli import show_progress
    from discreet.guarantees import exact
    from discreet.lab.lab_commands.comparison_view import show_comparison

    if not custodian:
        raise CustodianOnly(view=Phrase("a comparison with the exact table"))
    middle = exact(epsilon, parameter="epsilon")
    with show_progress() as advance:
        done = _open(workspace).compare(
            request,
            epsilons=[middle / 4, middle, middle * 4],
            custodian=custodian,
            analyst=analyst,
            trials=trials,
            progress=advance,
        )
    show_banner()
    if output is Format.JSON:
        show_json(done.to_dict())
    else:
        show_comparison(done)


@lab.command(
    "examine",
    short_help="What bootstrap would do to a table and leak; custodian only",
    epilog="Example: discreet lab examine -w office survey --by province --custodian",
)
@takes_table
def examine(
    request: "TableRequest",
    epsilon: Annotated[str, typer.Option(metavar="E", help="The nominal epsilon of the release.")] = "1",
    gamma: Annotated[str, typer.Option(metavar="G", help="The chance that the error bound may fail.")] = "0.05",
    membership_public: MembershipOption = False,
    pool: PoolOption = None,
    pool_kind: PoolKindOption = PoolName.SUB_POPULATION,
    custodian: Custodian = False,
    analyst: AnalystOption = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show what bootstrap differential privacy would do to a table, and what it would leak. Logged."""
    from discreet.lab.lab_commands.examination_view import show_examination

    found = _open(workspace).examine(
        request,
        custodian=custodian,
        epsilon=epsilon,
        gamma=gamma,
        membership_public=membership_public,
        pool=pool,
        pool_kind=pool_kind,
        analyst=analyst,
    )
    show_banner()
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        show_examination(found)


@lab.command(
    "bootstrap",
    short_help="A table with bootstrap privacy: not differentially private",
    epilog="Example: discreet lab bootstrap -w office survey --by province --epsilon 1",
)
@takes_table
def bootstrap(
    request: "TableRequest",
    epsilon: Annotated[str, typer.Option(metavar="E", help="The nominal epsilon; nothing is charged.")],
    method: Annotated[
        Split, typer.Option(metavar="|".join(Split), help="How epsilon is shared over the cells.")
    ] = Split.MAXIMUM,
    membership_public: MembershipOption = False,
    pool: PoolOption = None,
    pool_kind: PoolKindOption = PoolName.SUB_POPULATION,
    out: TableOutOption = None,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Release a table with bootstrap privacy, where the card permits it. It is not differentially private.

    It leaves a permanent marker: from then on the budget no longer bounds everything that was disclosed.
    """
    from discreet.cli import open_session
    from discreet.lab.laboratory import Laboratory

    session, outputs = open_session(workspace), TableOutputs(out or (), output)
    formed = session.tables.form(request)
    outputs.check(formed)
    if on_terminal() and not yes and not confirm_at_terminal(str(_NOT_PRIVATE)):
        raise Refused(say("Not asked. Nothing was released or marked."))
    released = Laboratory(session).bootstrap(
        formed,
        epsilon=epsilon,
        method=method,
        membership_public=membership_public,
        pool=pool,
        pool_kind=pool_kind,
        analyst=analyst,
        request_id=request_id,
    )
    outputs.write(released, language())


@lab.command(
    "ask",
    short_help="One aggregate without a proof: not differentially private",
    epilog='Example: discreet lab ask -w office "SELECT AVG(height) FROM survey" --strategy local --epsilon 1',
)
def ask(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One aggregate without groups: SELECT AVG(x) FROM …")],
    strategy: Annotated[StrategyName, typer.Option(metavar="|".join(StrategyName), help="Where the noise comes from.")],
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="The nominal epsilon; nothing is charged.")] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The trained generator of `generated` and `replace`.")
    ] = None,
    sample_size: Annotated[
        int | None, typer.Option(metavar="N", help="How many rows `generated` looks at; 100,000 by default.")
    ] = None,
    out: OutOption = None,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Answer one aggregate by a strategy without a proof, where the card permits it.

    It leaves a permanent marker: from then on the budget no longer bounds everything that was disclosed.
    """
    from discreet.cli import choose_format, deliver
    from discreet.present import check_output

    laboratory, chosen = _open(workspace), choose_format(output, out)
    check_output(out, format=chosen)
    if on_terminal() and not yes:
        show_note(
            say(
                "Strategy {strategy} is not differentially private. Its answer leaves a permanent marker: from then on "
                "the budget no longer bounds everything that was disclosed.",
                strategy=strategy,
            )
        )
        if not confirm_at_terminal(say("Ask?")):
            raise Refused(say("Not asked. Nothing was released, charged or marked."))
    answer = laboratory.ask_unproven(
        sql,
        strategy=strategy.value,
        epsilon=epsilon,
        model=model,
        sample_size=sample_size,
        analyst=analyst,
        request_id=request_id,
    )
    deliver(answer, chosen, out, language())


def _open(workspace: Path | None) -> "Laboratory":
    from discreet.cli import open_session
    from discreet.lab.laboratory import Laboratory

    return Laboratory(open_session(workspace))
