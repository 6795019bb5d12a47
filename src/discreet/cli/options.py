"""Options that several commands share, said once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.hints import NEEDS_WORKSPACE, remember

__all__ = [
    "AnalystOption",
    "Custodian",
    "Format",
    "FormatOption",
    "FreshOption",
    "Language",
    "LanguageOption",
    "LevelOption",
    "OutOption",
    "QueryStrategy",
    "ReleaseFormat",
    "ReleaseFormatOption",
    "RequestIdOption",
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


class QueryStrategy(StrEnum):
    """How an aggregate is protected: by what the card proves, or without a proof."""

    PUBLIC = "public"
    LOCAL = "local"
    GENERATED = "generated"
    REPLACE = "replace"


class Language(StrEnum):
    """Language of labels and titles."""

    EN = "en"
    FR = "fr"


OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write here; its name tells the format.")]

ReleaseFormatOption = Annotated[
    ReleaseFormat | None,
    typer.Option("--format", help="Default: by the name of --out, else a table for people."),
]

WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="DIR",
        help=f"{NEEDS_WORKSPACE} Default: $DISCREET_WORKSPACE, else the current folder.",
        show_default=False,
        callback=remember,
    ),
]
UnusedWorkspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="Accepted by every command; this one needs no workspace.",
        callback=remember,
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="A table for people or JSON for machines.")]
LanguageOption = Annotated[
    Language, typer.Option("--lang", envvar="DISCREET_LANG", show_envvar=False, help="Language of labels.")
]
AnalystOption = Annotated[
    str | None,
    typer.Option("--analyst", metavar="NAME", help="Who asks. Default: $DISCREET_ANALYST, else the system's user."),
]
RequestIdOption = Annotated[
    str | None,
    typer.Option(
        "--request-id", metavar="ID", help="Asking again under one id returns the same answer and costs nothing more."
    ),
]
LevelOption = Annotated[str, typer.Option("--level", help="Coverage of the intervals.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Spend anew even when a stored answer is as accurate.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation on a terminal.")]
Custodian = Annotated[
    bool,
    typer.Option("--custodian", help="Act as the custodian: shows what depends on the rows, and is logged."),
]
