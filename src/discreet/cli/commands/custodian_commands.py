"""The custodian's commands: workspaces, cards, datasets, analysts, populations, samples."""

import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Numeral, language, localise, numeral, say, say_count
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.hints import remember, repeat
from discreet.cli.options import Custodian, Format, FormatOption, UnusedWorkspace, WorkspaceOption
from discreet.cli.screen import show_banner, show_json, show_note, show_pairs, show_table
from discreet.cli.showing.coded_words import word
from discreet.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from discreet.session import Session
    from discreet.workspace import Dataset, NewPopulation, RowSource, WeightReport

__all__ = ["register", "show_report"]

card = group(about="Draft and check dataset cards.", example="discreet card check data/survey.yaml")
analyst = group(about="Register and list analysts.", example="discreet analyst add -w office maria")
population = group(
    about="Change the terms of a population.",
    example="discreet population change -w office --card data/survey.yaml --custodian",
)
sample = group(about="Write synthetic data to try things on.", example="discreet sample survey data --rows 20000")


def register(app: CommandGroup) -> None:
    app.command(
        "init",
        short_help="Make a workspace with its ledger",
        rich_help_panel="Start",
        epilog="Example: discreet init office",
    )(init)
    app.add_typer(sample, name="sample", short_help="Write synthetic data to try things on", rich_help_panel="Start")
    app.command(
        "add",
        short_help="Add a data file or folder, or a table that stays in its engine",
        rich_help_panel="Custodian",
        epilog="Example: discreet add -w office data/survey.parquet --card data/survey.yaml",
    )(add)
    app.command(
        "refresh",
        short_help="Bring in what has changed in a table of another engine",
        rich_help_panel="Custodian",
        epilog="Example: discreet refresh -w office visits",
    )(refresh)
    app.add_typer(card, name="card", short_help="Draft and check dataset cards", rich_help_panel="Custodian")
    app.add_typer(analyst, name="analyst", short_help="Register and list analysts", rich_help_panel="Custodian")
    app.add_typer(
        population, name="population", short_help="Change the terms of a population", rich_help_panel="Custodian"
    )
    app.command(
        "resume",
        short_help="Lift the suspension of a dataset",
        rich_help_panel="Custodian",
        epilog="Example: discreet resume -w office survey --custodian",
    )(resume)


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must be new or empty.")],
    ledger_dsn_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Keep the ledger in PostgreSQL; the environment variable holds the connection string.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the ledger's key is kept, outside the workspace. Default: a file under $DISCREET_KEYS, "
            "else under the user's state folder.",
        ),
    ] = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the ledger's head is noted at each charge, best on another disk. Default: beside the key.",
        ),
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Make a workspace: a folder for datasets, with a ledger that cannot be overspent."""
    from discreet.session import Session, default_analyst

    with Session.create(directory, ledger_dsn_env=ledger_dsn_env, key=key, anchor=anchor) as session:
        made = session.workspace
    remember(None if directory.resolve() == Path.cwd() else directory)
    place = f"PostgreSQL, ${ledger_dsn_env}" if ledger_dsn_env else say("SQLite, in the workspace")
    kept = say("{key} (keep a copy elsewhere; without it the ledger cannot be trusted)", key=made.key)
    show_pairs(
        say("Workspace {folder} is ready.", folder=directory),
        [
            (say("analyst"), say("{analyst} (add others with: discreet analyst add NAME)", analyst=default_analyst())),
            (say("ledger"), place),
            (say("key"), kept),
            (say("anchor"), str(made.anchor)),
        ],
    )


def add(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV, gz, Parquet, SAS, Stata, SPSS, or a folder of Parquet files.",
            show_default=False,
        ),
    ] = None,
    card: Annotated[
        Path | None, typer.Option(metavar="CARD.yaml", help="The card. Default: the YAML beside the file.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Add a new version under the same budget.")] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Confirm that a new population holds other people, without asking."),
    ] = False,
    encoding: Annotated[str | None, typer.Option(help="Text encoding of a CSV file. Default: UTF-8.")] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of a CSV file. Default: found in the header.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="postgres|spark", help="Leave the rows in a table of this engine.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="[SCHEMA.]TABLE", help="With --engine: the table or view that holds the rows.")
    ] = None,
    dsn_env: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="With postgres: the environment variable of the connection string."),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With spark: sc://HOST:PORT (Spark Connect) or a master."),
    ] = None,
    materialise: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEMA|PATH",
            help="With --engine: let it prepare the rows once, into this schema or folder of Discreet's own. "
            "Questions are then as quick as plain ones.",
        ),
    ] = None,
    changed_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --materialise: a column that grows with every change, so that a refresh prepares only those.",
        ),
    ] = None,
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add a data file to the workspace, or a table that stays in its engine, as its card describes it."""
    from discreet.cli.open_sessions import open_session

    places = {
        "table": table,
        "dsn_env": dsn_env,
        "remote": remote,
        "materialise": materialise,
        "changed_by": changed_by,
    }
    source = _named_table(file, card, engine=engine, places=places)
    session = open_session(workspace)
    confirm = _confirmation(yes=yes)
    if source is not None and card is not None:
        with _stages(source.engine) as tell:
            dataset = session.add_table(source, card=card, replace=replace, confirm=confirm, progress=tell)
        _tell_added(dataset)
        _tell_place(dataset)
        return
    if file is None:
        raise UsageError(say("name a data file, or a table with --engine and --table."))
    with _progress(file) as advance:
        dataset = session.add(
            file,
            card=card,
            replace=replace,
            confirm=confirm,
            encoding=encoding,
            delimiter=delimiter,
            progress=advance,
        )
    _tell_added(dataset)
    if custodian:
        show_report(session, dataset.name, Format.TABLE)
    else:
        typer.echo(
            repeat(say("What was coerced on the way in: discreet show {dataset} --custodian", dataset=dataset.name))
        )


def _tell_added(dataset: "Dataset") -> None:
    typer.echo(
        say(
            "Added '{dataset}' version {version} to population '{population}'.",
            dataset=dataset.name,
            version=dataset.version,
            population=dataset.card.population,
        )
    )


def refresh(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A dataset whose rows are in PostgreSQL or Spark.")],
    whole: Annotated[
        bool, typer.Option("--whole", help="Prepare every row again, also where a column tells what has changed.")
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Make the next version of a table as it is now, under the same card and budget.

    Until it is ready, and if it fails, the version before answers.
    """
    from discreet.cli.open_sessions import open_session

    with _stages(dataset) as tell:
        made = open_session(workspace).refresh(dataset, whole=whole, progress=tell)
    typer.echo(
        say(
            "'{dataset}' is now version {version}. Future answers are about its rows as they are today.",
            dataset=made.name,
            version=made.version,
        )
    )
    _tell_place(made)


def _tell_place(dataset: "Dataset") -> None:
    source = dataset.source
    again = repeat(f"discreet refresh {dataset.name}")
    if source.stored is not None:
        typer.echo(
            say(
                "Its prepared rows are in {engine}, in {table}. After a change: {command}",
                engine=source.engine,
                table=source.stored.name,
                command=again,
            )
        )
    else:
        typer.echo(say("Its rows stay in {place}. After they change: {command}", place=source.where, command=again))


def _named_table(
    file: Path | None,
    card: Path | None,
    *,
    engine: str | None,
    places: "Mapping[str, str | None]",
) -> "RowSource | None":
    """The table meant by the options, or None when a file is meant."""
    from discreet.workspace import RowSource

    if engine is None:
        if any(place is not None for place in places.values()):
            raise UsageError(
                say(
                    "--table, --dsn-env, --remote, --materialise and --changed-by go with --engine postgres or "
                    "--engine spark."
                )
            )
        return None
    if file is not None or card is None:
        raise UsageError(say("--engine takes --table and --card, and no file."))
    return RowSource(
        engine,
        table=places["table"],
        dsn_env=places["dsn_env"],
        remote=places["remote"],
        materialise=places["materialise"],
        changed_by=places["changed_by"],
    )


def _confirmation(*, yes: bool) -> "Callable[[NewPopulation], bool]":
    """How a new population is confirmed: by --yes, at the terminal, or by being the first that anybody knows of."""

    def confirm(new: "NewPopulation") -> bool:
        from discreet.cli.showing.confirmation import confirm_at_terminal

        if yes:
            return True
        if sys.stdin.isatty() and sys.stderr.isatty():
            return confirm_at_terminal(new.question)
        if new.alone():
            show_note(
                say(
                    "New population '{population}', the first of this workspace: {budget}.",
                    population=new.terms.population,
                    budget=new.terms.budget.tell(),
                )
            )
        return new.alone()

    return confirm


def resume(
    dataset: Annotated[str, typer.Argument(help="The suspended dataset.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Lift the suspension of a dataset, once the custodian has looked at what failed."""
    from discreet.cli.open_sessions import open_session

    open_session(workspace).resume(dataset, custodian=custodian)
    typer.echo(say("'{dataset}' answers again.", dataset=dataset))


@card.command("init", epilog="Example: discreet card init survey.csv")
def card_init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The data file to describe.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="CARD.yaml", help="Where to write. Default: beside the file, where add looks."),
    ] = None,
    from_rows: Annotated[
        bool,
        typer.Option(
            "--from-rows",
            help="Read bounds and categories from the rows. Releases that use them are labelled unproven.",
        ),
    ] = False,
    encoding: Annotated[str | None, typer.Option(help="Text encoding of a CSV file. Default: UTF-8.")] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of a CSV file. Default: found in the header.")
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Draft a card; what only a person may decide is marked DECIDE.

    The draft is written beside the data file, never over another file, and also to a pipe or redirection.
    """
    from discreet.cards import draft_card
    from discreet.errors import PathInvalid
    from discreet.files import write_whole
    from discreet.paths import tell_reason
    from discreet.session import card_name

    card = out or file.with_name(card_name(file))
    if out is not None and out.exists():
        raise PathInvalid(say("{out} exists already and is left as it is. Choose another name for --out.", out=out))
    text = draft_card(file, from_rows=from_rows, encoding=encoding, delimiter=delimiter)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    try:
        write_whole(card, text, fresh=True)
    except FileExistsError:
        show_note(say("{card} exists already and is left as it is.", card=card))
    except OSError as error:
        if out is not None:
            raise PathInvalid(say("{out} cannot be written: {reason}.", out=out, reason=tell_reason(error))) from None
    else:
        show_note(say("Wrote {card}. Replace every DECIDE, then run: discreet card check {card}", card=card))


@card.command("check", epilog="Example: discreet card check survey.yaml")
def card_check(
    file: Annotated[Path, typer.Argument(metavar="CARD.yaml", help="The card to check.")],
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Check a card; every problem is named with its line."""
    from discreet.cards import read_card

    checked = read_card(file)
    if output is Format.JSON:
        show_json({"card": file.name, "dataset": checked.dataset, "columns": len(checked.columns), "problems": []})
    else:
        typer.echo(
            say(
                "{file}: ok. Dataset '{dataset}', {columns} columns, {budget}.",
                file=file,
                dataset=checked.dataset,
                columns=len(checked.columns),
                budget=checked.budget.tell(),
            )
        )


@analyst.command("add", epilog="Example: discreet analyst add -w office maria")
def analyst_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits and . _ @ -")],
    workspace: WorkspaceOption = None,
) -> None:
    """Register an analyst; only registered analysts are answered."""
    from discreet.cli.open_sessions import open_session

    open_session(workspace).add_analyst(name)
    typer.echo(say("Analyst '{name}' is registered.", name=name))


@analyst.command("list", epilog="Example: discreet analyst list -w office")
def analyst_list(workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """List the registered analysts."""
    from discreet.cli.open_sessions import open_session

    names = open_session(workspace).ledger.analysts()
    if output is Format.JSON:
        show_json({"analysts": list(names)})
    else:
        show_table(say("Analysts"), [(say("name"), "left")], [[name] for name in names])


@population.command("change", epilog="Example: discreet population change -w office --card survey.yaml --custodian")
def population_change(
    card: Annotated[Path, typer.Option(metavar="CARD.yaml", help="The card whose terms are to hold from now on.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Let a card's budget, neighbours and unit replace those of its population: an event on the ledger."""
    from discreet.cli.open_sessions import open_session

    terms = open_session(workspace).change_population(card, custodian=custodian)
    typer.echo(
        say(
            "Population '{population}' now has: {budget}; {neighbours}; {unit}.",
            population=terms.population,
            budget=terms.budget.tell(),
            neighbours=word(terms.neighbours),
            unit=terms.unit_column,
        )
    )


@sample.command("survey", epilog="Example: discreet sample survey data --rows 20000 --seed 7")
def sample_survey(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write into.")],
    rows: Annotated[int, typer.Option(help="Respondents.")] = 113_290,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier sample.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write a synthetic Canadian health survey (survey.parquet, survey.yaml) after published counts."""
    from discreet.samples import write_survey

    for path in write_survey(directory, rows=rows, seed=seed, overwrite=overwrite):
        typer.echo(say("wrote {file}", file=path))


@sample.command("visits", epilog="Example: discreet sample visits data")
def sample_visits(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write into.")],
    rows: Annotated[int, typer.Option(help="Respondents of the survey whose visits these are.")] = 113_290,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier sample.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write visits (1 to 40 rows per person, day and cost) of the same people: visits.parquet, visits.yaml."""
    from discreet.samples import write_visits

    for path in write_visits(directory, people=rows, seed=seed, overwrite=overwrite):
        typer.echo(say("wrote {file}", file=path))


@sample.command("ce", epilog="Example: discreet sample ce data")
def sample_ce(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write into.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier sample.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write 994 synthetic consumer units, 51 of them rural, after a textbook's example: ce.csv, ce.yaml."""
    from discreet.samples import write_ce

    for path in write_ce(directory, seed=seed, overwrite=overwrite):
        typer.echo(say("wrote {file}", file=path))


@sample.command("linked", epilog="Example: discreet sample linked data --people 20000 --seed 7")
def sample_linked(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write into.")],
    people: Annotated[int, typer.Option(help="Residents, from 1,000 to 10,000,000.")] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier sample.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write what two offices hold about one population: health and languages, with cards and tables of keys."""
    from discreet.samples import write_linked

    for path in write_linked(directory, people=people, seed=seed, overwrite=overwrite):
        typer.echo(say("wrote {file}", file=path))


def show_report(session: "Session", dataset: str, output: Format) -> None:
    """The custodian's view of what ingest did; of a table that stays in its engine, of rows that break its card."""
    found = session.workspace.dataset(dataset)
    if found.source.engine != "duckdb" and any(column.complete for column in found.card.columns):
        _show_incomplete(session, dataset, output)
        return
    report = session.report(dataset, custodian=True)
    show_banner()
    if output is Format.JSON:
        show_json(asdict(report))
        return
    facts = [
        (say("rows read"), numeral(report.rows)),
        (say("rows without an id, dropped"), numeral(report.rows_without_id)),
        (say("units"), numeral(report.units)),
        (say("most rows of one unit"), numeral(report.most_rows)),
        (say("rows beyond the unit's bound"), say("{rows:,} (kept, never counted)", rows=report.rows_beyond)),
    ]
    if report.weight is not None:
        cut = say(
            "{share:.2%} of {weight}, in {rows:,} rows",
            share=report.weight.share_cut,
            weight=Numeral(report.weight.before),
            rows=report.weight.rows_cut,
        )
        facts.append((say("weight cut by the cap"), cut))
    facts += _told_incomplete(report.incomplete)
    if report.unused:
        facts.append((say("columns of the file not in the card"), ", ".join(report.unused)))
    show_pairs(say("Ingest of {dataset}", dataset=dataset), facts)
    counts = ("blank", "missing", "unparsable", "not_listed", "clamped_low", "clamped_high", "null")
    rows = [[column.name, *(numeral(getattr(column, name)) for name in counts)] for column in report.columns]
    show_table("", [(say("column"), "left"), *((word(name), "right") for name in counts)], rows)
    if report.weight is not None and report.weight.groups:
        _show_cut(session, dataset, report.weight)


def _show_cut(session: "Session", dataset: str, weight: "WeightReport") -> None:
    """How much of each category's weight the cap cuts: a bias of every weighted figure that no interval shows."""
    from discreet.results import NOTHING

    card = session.workspace.dataset(dataset).card
    assert card.weight is not None
    by = card.column(card.cut_by or "")
    labels = {category.code: category.label.text(language()) for category in by.categories}
    rows = [
        [
            NOTHING.text(language()) if item.code is None else labels[item.code],
            numeral(card.weight.cap_for(item.code)),
            localise(item.before, language()),
            numeral(item.share_cut, ".2%"),
            numeral(item.rows_cut),
        ]
        for item in weight.groups
    ]
    heads = [(by.name, "left"), (say("cap"), "right"), (say("weight"), "right")]
    heads += [(say("share cut"), "right"), (say("rows cut"), "right")]
    more = (
        say("To release these shares with noise: discreet caps {dataset} --epsilon E", dataset=dataset)
        if card.full_weight is not None
        else say("To release them with noise, list the weight again in the card (docs/card.md) and add the file anew.")
    )
    show_table(say("Weight cut by the cap"), heads, rows, footer=[more])


def _show_incomplete(session: "Session", dataset: str, output: Format) -> None:
    counts = session.incomplete(dataset, custodian=True)
    show_banner()
    if output is Format.JSON:
        show_json({"incomplete": counts})
    else:
        show_pairs(say("Rows of {dataset} that break its card", dataset=dataset), _told_incomplete(counts))


def _told_incomplete(counts: "Mapping[str, int]") -> list[tuple[str, str]]:
    return [
        (
            say("rows without {column}", column=name),
            say("{rows:,} (complete by the card: such keys leave them out)", rows=count),
        )
        for name, count in counts.items()
    ]


@contextmanager
def _stages(where: str) -> "Iterator[Callable[[str], None]]":
    """The stage that another engine is at and how long it has taken, on a terminal only; not before the first."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)

    def tell(stage: str) -> None:
        bar.start()
        bar.update(task, description=f"{stage} ({where})")

    try:
        yield tell
    finally:
        bar.stop()


@contextmanager
def _progress(file: Path) -> "Iterator[Callable[[int], None]]":
    """A progress bar over the rows read so far, on a terminal only; not before the first: it would hide a question."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.fields[read]}"))
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task(say("Reading {file}", file=file.name), total=None, read="")

    def tell(rows: int) -> None:
        bar.start()
        bar.update(task, completed=rows, read=say_count("{count:,} row", "{count:,} rows", rows))

    try:
        yield tell
    finally:
        bar.stop()
