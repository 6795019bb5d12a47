"""Protected tables: released, explained, drawn; and, for the custodian, beside what agencies do today."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.options import (
    AnalystOption,
    Custodian,
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
from discreet.cli.screen import on_terminal, show_banner, show_json, show_note, show_table
from discreet.errors import Refused, UsageError

if TYPE_CHECKING:
    from discreet.results import Release
    from discreet.tables.bootstrap.examining import Examination
    from discreet.tables.explaining import TableExplanation
    from discreet.tables.forming import Formed

__all__ = ["register"]

_NOT_PRIVATE = (
    "This table will not be differentially private, and a new one leaves a permanent marker on the ledger. Release it?"
)


class MethodName(StrEnum):
    """How a table is protected."""

    DP = "dp"
    BOOTSTRAP = "bootstrap"


class NoiseName(StrEnum):
    """Which noise may be used; auto takes what errs least within the budget's terms."""

    AUTO = "auto"
    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


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


def register(app: typer.Typer) -> None:
    app.command(
        "table",
        epilog="Examples: discreet table -w office survey --by province,smoking --weighted --epsilon 0.5 "
        "--out smoking.xlsx · discreet table -w office survey --by province --value height --mean --epsilon 0.3 · "
        "discreet table -w office survey --by province,smoking --epsilon 0.5 --explain · "
        "discreet table -w office survey --by province,smoking --no-missing --leave-out province=60 --epsilon 0.5",
    )(table)


def table(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")],
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN,…", help="The keys: columns whose values the card lists, or bands.")
    ],
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The total this table may cost, as a decimal.")
    ] = None,
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="Add up this number instead of counting.")] = None,
    mean: Annotated[bool, typer.Option("--mean", help="The mean of --value instead of its total.")] = False,
    weighted: Annotated[bool, typer.Option("--weighted", help="With the survey weight of the card.")] = False,
    where: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="Only these rows, as after WHERE in SQL.")
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=E,E,…", help="Cut a number into bands, as in age=0,15,65,120. Repeatable."),
    ] = None,
    margins: Annotated[bool, typer.Option("--margins/--no-margins", help="All margins, or the cells alone.")] = True,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN,…", help="Only this margin, by the columns it keeps; 'total' for all. Repeatable."
        ),
    ] = None,
    no_missing: Annotated[
        bool,
        typer.Option("--no-missing", help="Leave out rows in which a key is missing; no margin counts them either."),
    ] = False,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=CODE", help="Leave a code of a key out; no margin counts its rows either. Repeatable."
        ),
    ] = None,
    method: Annotated[
        MethodName, typer.Option(help="dp; or bootstrap, which is not differentially private and needs an opt-in.")
    ] = MethodName.DP,
    noise: Annotated[NoiseName, typer.Option(help="Gaussian noise needs an (epsilon, delta) budget.")] = NoiseName.AUTO,
    suppress_above: Annotated[
        str | None, typer.Option(metavar="R", help="Leave out figures whose relative error is larger, such as 0.333.")
    ] = None,
    calibrate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE.COLUMN|none",
            help="Meet totals in a stored public table (repeatable), or none. Default: the card's totals.",
        ),
    ] = None,
    sampling: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column with the variance of each weight over its replicates."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every strategy, its expected error and the cost; ask nothing.")
    ] = False,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Beside what agencies do today, attacked. For the custodian; leaves a mark."),
    ] = False,
    trials: Annotated[int, typer.Option(metavar="N", help="People planted in the attack of --compare.")] = 200,
    split: Annotated[Split, typer.Option("--bootstrap-method", help="For --method bootstrap.")] = Split.MAXIMUM,
    membership_public: Annotated[
        bool,
        typer.Option("--membership-public", help="State that anyone may know who is in which cell (bootstrap iii)."),
    ] = False,
    pool: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other individuals from whom bootstrap neighbours are drawn.")
    ] = None,
    pool_kind: Annotated[PoolName, typer.Option(help="What the pool is.")] = PoolName.SUB_POPULATION,
    examine: Annotated[
        bool, typer.Option("--examine", help="What bootstrap would do to this table and leak; for the custodian.")
    ] = False,
    gamma: Annotated[
        str, typer.Option(metavar="G", help="The chance that the error bound of --examine may fail.")
    ] = "0.05",
    custodian: Custodian = False,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    level: LevelOption = "0.95",
    fresh: FreshOption = False,
    yes: YesOption = False,
    out: OutOption = None,
    heat_map: Annotated[
        Path | None, typer.Option("--heat-map", metavar="FILE.svg", help="Draw the table as a heat map.")
    ] = None,
    bars: Annotated[
        Path | None, typer.Option("--bars", metavar="FILE.svg", help="Draw the table as bars with error bars.")
    ] = None,
    workspace: WorkspaceOption = None,
    output: ReleaseFormatOption = None,
    lang: LanguageOption = Language.EN,
) -> None:
    """Release a protected table: cells and margins that add up, with an interval on every figure.

    Columns of kind category and public columns are keys as they are; integers and numbers by their bands (edges in the
    card, or --edges). On a terminal, cost and expected error are shown first and confirmed.
    """
    from discreet.cli.delivery import choose_format, deliver
    from discreet.cli.opening import open_session
    from discreet.tables.request import read_codes, read_edges, table_request

    request = table_request(
        dataset,
        by,
        value=value,
        mean=mean,
        weighted=weighted,
        where=where,
        edges=read_edges(edges or ()),
        margins=list(margin) if margin else margins,
        sampling=sampling,
        no_missing=no_missing,
        leave_out=read_codes(leave_out or ()),
    )
    session = open_session(workspace)
    if compare:
        from discreet.cli.comparison import run_comparison

        _require_screen(output, [out, heat_map, bars])
        as_json = output is ReleaseFormat.JSON
        run_comparison(
            session, request, epsilon=epsilon, trials=trials, analyst=analyst, custodian=custodian, as_json=as_json
        )
        return
    if examine:
        found = session.tables.examine(
            request,
            custodian=custodian,
            epsilon=epsilon or "1",
            gamma=gamma,
            membership_public=membership_public,
            pool=pool,
            pool_kind=pool_kind,
            analyst=analyst,
        )
        _show_examination(found, output)
        return
    of_bootstrap = {
        "--bootstrap-method": split is not Split.MAXIMUM,
        "--membership-public": membership_public,
        "--pool": pool is not None,
    }
    of_dp = {
        "--explain": explain,
        "--noise": noise is not NoiseName.AUTO,
        "--suppress-above": suppress_above is not None,
        "--calibrate": bool(calibrate),
        "--sampling": sampling is not None,
        "--fresh": fresh,
    }
    _refuse_options(method, of_dp if method is MethodName.BOOTSTRAP else of_bootstrap)
    if epsilon is None:
        raise UsageError("say what the table may cost with --epsilon E.")
    chosen = choose_format(output, out)
    if method is MethodName.BOOTSTRAP:
        formed = session.tables.form(request)
        _check_files(formed, chosen, out, heat_map, bars)
        if on_terminal() and not yes and not typer.confirm(_NOT_PRIVATE, default=False, err=True):
            raise Refused("Not asked. Nothing was released or marked.")
        released = session.tables.bootstrap(
            formed,
            epsilon=epsilon,
            method=split,
            membership_public=membership_public,
            pool=pool,
            pool_kind=pool_kind,
            analyst=analyst,
            request_id=request_id,
        )
    else:
        asked = session.tables.read(
            request,
            epsilon=epsilon,
            analyst=analyst,
            level=level,
            noise=noise,
            suppress_above=suppress_above,
            calibrate=calibrate or (),
        )
        if explain:
            _explain(session.tables.explain(asked, fresh=fresh), output)
            return
        _check_files(asked.formed, chosen, out, heat_map, bars)
        confirm = _confirm if on_terminal() and not yes else None
        released = session.tables.release(asked, request_id=request_id, fresh=fresh, confirm=confirm)
    deliver(released, chosen, out, lang)
    _draw_pictures(released, heat_map, bars, lang)


def _refuse_options(method: MethodName, given: dict[str, bool]) -> None:
    """An option that another method would heed is refused, not passed over."""
    for option, asked in given.items():
        if asked:
            more = " --examine --custodian shows what it would do." if method is MethodName.BOOTSTRAP else ""
            raise UsageError(f"{option} does not go with --method {method}.{more} Nothing was released or charged.")


def _check_files(
    formed: "Formed", chosen: ReleaseFormat, out: Path | None, heat_map: Path | None, bars: Path | None
) -> None:
    """What would stop a file from being written is said before anything is charged."""
    from discreet.present.figures.pictures import check_picture
    from discreet.present.files import check_output

    layout = formed.layout()
    figures = sum(layout.count(margin) for margin in layout.margins)
    check_output(out, format=chosen, sizes=layout.sizes, figures=figures, headings=formed.headings)
    pictures = [path for path in (heat_map, bars) if path is not None]
    for path in pictures:
        check_picture(path)
    files = [path.resolve() for path in (*pictures, *([] if out is None else [out]))]
    if len(set(files)) < len(files):
        raise UsageError("--out, --heat-map and --bars must name different files.")


def _draw_pictures(released: "Release", heat_map: Path | None, bars: Path | None, lang: str) -> None:
    if heat_map is None and bars is None:
        return
    from discreet.present.figures.pictures import draw_bars, draw_heat_map, write_picture

    for draw, path in ((draw_heat_map, heat_map), (draw_bars, bars)):
        if path is not None:
            write_picture(draw(released, lang), path)
            show_note(f"wrote {path}")


def _confirm(told: "TableExplanation") -> bool:
    """Cost and expected error on a terminal, before anything is spent."""
    show_note(told.to_text())
    return typer.confirm("Ask?", default=False, err=True)


def _explain(told: "TableExplanation", output: ReleaseFormat | None) -> None:
    if output is ReleaseFormat.JSON:
        show_json(told.to_dict())
    else:
        typer.echo(told.to_text())


# --- for the custodian ----------------------------------------------------------------------------------------------


def _require_screen(output: ReleaseFormat | None, files: list[Path | None]) -> None:
    """What only a custodian may see is shown, as a table or as JSON; no file of it is written."""
    if output not in (None, ReleaseFormat.TABLE, ReleaseFormat.JSON) or any(file is not None for file in files):
        raise UsageError("a comparison is shown with --format table or json; it is not written to a file.")


def _show_examination(found: "Examination", output: ReleaseFormat | None) -> None:
    show_banner()
    if output is ReleaseFormat.JSON:
        show_json(found.to_dict())
        return
    names = {
        place: " / ".join("–" if code is None else str(code) for code in cell.codes)
        for place, cell in enumerate(found.cells)
    }
    rows = [
        [
            names[place],
            f"{cell.summary.n:,}",
            f"{cell.summary.spread:,}",
            f"{cell.summary.reach:,}",
            f"{cell.printed:,}",
            f"{cell.corrected:,}",
            "–" if cell.gain is None else f"{cell.gain:,.3f}",
        ]
        for place, cell in enumerate(found.cells)
    ]
    heads = (" / ".join(found.names), "rows", "V", "M", "sensitivity, as printed", "as it is", "gain")
    whole = found.table
    footer = [
        f"whole table: sensitivity {whole.printed:,} as printed, {whole.corrected:,} as it is, {whole.public:,} by "
        "public bounds",
        f"with probability at least {1 - whole.gamma} no figure of (i) is off by more than {whole.error_bound:,} "
        f"(gamma-accuracy {whole.gamma_accuracy:.3g}, one over it)",
        *found.advice.table,
        *(f"{names[place]}: {cell.advice}" for place, cell in enumerate(found.cells) if cell.advice),
        *(f"{leak.kind}: {leak.words}" for leak in found.leaks),
        "",
        "Checklist (what speaks for a bootstrap release, what against, what only you can decide):",
        *(item.line() for item in found.checklist),
        "",
        f"All in whole steps of {found.step}. Not for release: every number here is confidential.",
    ]
    sides = ("left", *("right",) * 6)
    title = f"Bootstrap: {found.statistic}{f'; the data and {found.pool} individuals together' if found.pool else ''}"
    show_table(title, list(zip(heads, sides, strict=True)), rows, footer=footer)
