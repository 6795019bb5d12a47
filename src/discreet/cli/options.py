"""Options that several commands share, said once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.help_screens import SHARED
from discreet.cli.hints import NEEDS_WORKSPACE, remember, remember_server

__all__ = [
    "AnalystOption",
    "Custodian",
    "Format",
    "FormatOption",
    "FreshOption",
    "LevelOption",
    "OutOption",
    "ReleaseFormat",
    "ReleaseFormatOption",
    "RequestIdOption",
    "ServerOption",
    "TokenFileOption",
    "UnusedWorkspace",
    "WorkspaceOption",
    "YesOption",
]


class Format(StrEnum):
    """Tables for people, JSON for machines."""

    TABLE = "table"
    JSON = "json"


class ReleaseFormat(StrEnum):
    """Formats in which a release leaves."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    SDMX_CSV = "sdmx-csv"
    HTML = "html"
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write to this file; its name says the format.")
]
ReleaseFormatOption = Annotated[
    ReleaseFormat | None,
    typer.Option(
        "--format",
        metavar="|".join(ReleaseFormat),
        help="by default a table, or what --out names",
        rich_help_panel=SHARED,
    ),
]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="DIR",
        help=f"{NEEDS_WORKSPACE}, or $DISCREET_WORKSPACE",
        show_default=False,
        callback=remember,
        rich_help_panel=SHARED,
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="a server to ask in place of a workspace, or $DISCREET_SERVER",
        callback=remember_server,
        rich_help_panel=SHARED,
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="where the token for the server is, or $DISCREET_TOKEN",
        show_default=False,
        rich_help_panel=SHARED,
    ),
]
UnusedWorkspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-w", metavar="DIR", help="not needed here", callback=remember, hidden=True),
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", metavar="|".join(Format), help="for people or for machines", rich_help_panel=SHARED),
]
AnalystOption = Annotated[
    str | None,
    typer.Option(
        "--analyst",
        metavar="NAME",
        help="who asks, or $DISCREET_ANALYST",
        rich_help_panel=SHARED,
    ),
]
RequestIdOption = Annotated[
    str | None,
    typer.Option(
        "--request-id",
        metavar="ID",
        help="asking again under one id costs nothing more",
        rich_help_panel=SHARED,
    ),
]
LevelOption = Annotated[str, typer.Option("--level", metavar="P", help="coverage of intervals", rich_help_panel=SHARED)]
FreshOption = Annotated[
    bool,
    typer.Option("--fresh", help="spend anew, even for what is stored", rich_help_panel=SHARED),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="no confirmation on a terminal", rich_help_panel=SHARED)]
Custodian = Annotated[
    bool,
    typer.Option("--custodian", help="Act as the custodian: shows what depends on the rows, and is logged."),
]
