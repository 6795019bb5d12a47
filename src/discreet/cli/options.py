"""Options that several commands share, said once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.hints import NEEDS_WORKSPACE, remember

__all__ = [
    "AnalystOption",
    "AnswerFormat",
    "Custodian",
    "Format",
    "FormatOption",
    "FreshOption",
    "Language",
    "LanguageOption",
    "LevelOption",
    "QueryStrategy",
    "RequestIdOption",
    "UnusedWorkspace",
    "WorkspaceOption",
    "YesOption",
]


class Format(StrEnum):
    """Tables for people, JSON for machines."""

    TABLE = "table"
    JSON = "json"


class AnswerFormat(StrEnum):
    """Formats in which an answer leaves."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


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
