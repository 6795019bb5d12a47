"""Public tables: added, listed and shown. They hold nothing confidential, so everything in them may be shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import numeral, say, say_count
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.options import Format, FormatOption, WorkspaceOption
from discreet.cli.screen import show_json, show_pairs, show_table
from discreet.cli.showing.coded_words import word

if TYPE_CHECKING:
    from discreet.workspace import PublicColumn, PublicTable

__all__ = ["register"]

public = group(
    about="Add and show public tables, which hold nothing confidential and can be joined to datasets.",
    example="discreet public list -w office",
)

_ROWS_SHOWN: Final = 20
_CATEGORIES_SHOWN: Final = 8


def register(app: CommandGroup) -> None:
    app.add_typer(public, name="public", short_help="Add public tables to join with", rich_help_panel="Custodian")


@public.command("add", epilog="Example: discreet public add -w office regions.csv --key region")
def public_add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, gz, Parquet, SAS, Stata or SPSS.")],
    key: Annotated[str, typer.Option(metavar="COLUMN", help="The column to join on: unique and never absent.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The table's name in questions. Default: the file's.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Add a new version of the table.")] = False,
    encoding: Annotated[str | None, typer.Option(help="Text encoding of a CSV file. Default: UTF-8.")] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of a CSV file. Default: found in the header.")
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Add a small file that holds nothing confidential: names of regions, populations, groupings."""
    from discreet.cli.open_sessions import open_session

    table = open_session(workspace).add_public_table(
        file, key=key, name=name, replace=replace, encoding=encoding, delimiter=delimiter
    )
    if output is Format.JSON:
        show_json(_summary(table))
    else:
        typer.echo(
            say_count(
                "Added public table '{name}' version {version}: {count:,} row, {columns} columns, key '{key}'.",
                "Added public table '{name}' version {version}: {count:,} rows, {columns} columns, key '{key}'.",
                len(table.rows),
                name=table.name,
                version=table.version,
                columns=len(table.columns),
                key=table.key,
            )
        )


@public.command("list", epilog="Example: discreet public list -w office")
def public_list(workspace: WorkspaceOption = None, output: FormatOption = Format.TABLE) -> None:
    """List the public tables."""
    from discreet.cli.open_sessions import open_session

    tables = open_session(workspace).public_tables()
    if output is Format.JSON:
        show_json({"public_tables": [_summary(table) for table in tables]})
        return
    headings = [(say("table"), "left"), (say("version"), "right"), (say("key"), "left")]
    headings += [(say("rows"), "right"), (say("columns"), "right")]
    rows = [[t.name, str(t.version), t.key, numeral(len(t.rows)), str(len(t.columns))] for t in tables]
    show_table(say("Public tables"), headings, rows)


@public.command("show", epilog="Example: discreet public show -w office regions")
def public_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The public table.")],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show how a public table was read: kinds of columns, ranges, categories, and its rows."""
    from discreet.cli.open_sessions import open_session

    table = open_session(workspace).public_table(name)
    if output is Format.JSON:
        columns = [_describe(column) for column in table.columns]
        show_json({**_summary(table), "columns": columns, "rows": list(_objects(table))})
        return
    show_pairs(
        say("Public table {name}", name=table.name),
        [(say("version"), str(table.version)), (say("key"), table.key), (say("rows"), numeral(len(table.rows)))],
    )
    facts = [[column.name, word(column.kind), _range(column)] for column in table.columns]
    show_table("", [(say("column"), "left"), (say("kind"), "left"), (say("values"), "left")], facts)
    sides = [(column.name, "left" if column.categories else "right") for column in table.columns]
    shown = [
        ["" if value is None else column.text(value) for column, value in zip(table.columns, row, strict=True)]
        for row in table.rows[:_ROWS_SHOWN]
    ]
    rest = len(table.rows) - len(shown)
    more = say_count("{count:,} more row: --format json", "{count:,} more rows: --format json", rest)
    show_table("", sides, shown, footer=[more] if rest else [])


def _summary(table: "PublicTable") -> dict[str, object]:
    return {
        "table": table.name,
        "version": table.version,
        "key": table.key,
        "row_count": len(table.rows),
        "column_count": len(table.columns),
    }


def _describe(column: "PublicColumn") -> dict[str, object]:
    face: dict[str, object] = {"name": column.name, "kind": str(column.kind), "absent": column.absent}
    if column.categories:
        return {**face, "categories": list(column.categories)}
    bounds = [column.text(column.low_units), column.text(column.high_units)]
    return {**face, "step": column.text(1), "range": bounds}


def _objects(table: "PublicTable") -> "list[dict[str, int | str | None]]":
    return [
        {column.name: column.value(value) for column, value in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def _range(column: "PublicColumn") -> str:
    if not column.categories:
        low, high = column.text(column.low_units), column.text(column.high_units)
        values = say("{low} to {high}", low=low, high=high)
        if column.step != 1:
            values = say("{low} to {high} in steps of {step}", low=low, high=high, step=column.text(1))
    else:
        more, values = len(column.categories) - _CATEGORIES_SHOWN, ", ".join(column.categories[:_CATEGORIES_SHOWN])
        if more > 0:
            values = say("{first} and {more:,} more", first=values, more=more)
    return say("{values}; some absent", values=values) if column.absent else values
