"""The JSON Schema of every kind of file that people write."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.catalogue import language
from discreet.cli.file_schemas import FileKind, load_schema
from discreet.cli.help_screens import CommandGroup
from discreet.cli.options import UnusedWorkspace

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    app.command(
        "schema",
        short_help="JSON Schemas, by which editors complete files",
        rich_help_panel="Everyone",
        epilog="Example: discreet schema card --out card.json",
    )(schema)


def schema(
    kind: Annotated[FileKind, typer.Argument(metavar="KIND", help="card, workload, manifest, study or agreement.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Write the JSON Schema of a file that people write, by which editors complete, explain and check it."""
    import json

    from discreet.cards import make_json_schema
    from discreet.files import replace_file

    text = json.dumps(make_json_schema(load_schema(kind), language()), indent=1, ensure_ascii=False) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        replace_file(out, text)
