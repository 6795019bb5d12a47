"""The command `discreet`: words in, tables or JSON out, and nothing decided here that Python could not do too.

Each command is a thin function that calls the session; heavy modules are imported inside the functions. Wings use the
same options, screens and help (`group`, `show_table`, …).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.cli.help_screens import CommandGroup, group
    from discreet.cli.hints import repeat
    from discreet.cli.open_sessions import open_session
    from discreet.cli.options import (
        AnalystOption,
        Custodian,
        Format,
        FormatOption,
        LevelOption,
        OutOption,
        ReleaseFormatOption,
        RequestIdOption,
        UnusedWorkspace,
        WorkspaceOption,
        YesOption,
    )
    from discreet.cli.program import main
    from discreet.cli.progress import SECONDS_APART, reach_tenth, show_progress
    from discreet.cli.screen import on_terminal, show_banner, show_json, show_note, show_pairs, show_table
    from discreet.cli.showing.confirmation import confirm_at_terminal
    from discreet.cli.showing.delivery import choose_format, deliver, write_draft
    from discreet.cli.showing.table_outputs import TableOutOption, TableOutputs
    from discreet.cli.table_options import takes_table
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "SECONDS_APART",
    "AnalystOption",
    "CommandGroup",
    "Custodian",
    "Format",
    "FormatOption",
    "LevelOption",
    "OutOption",
    "ReleaseFormatOption",
    "RequestIdOption",
    "TableOutOption",
    "TableOutputs",
    "UnusedWorkspace",
    "WorkspaceOption",
    "YesOption",
    "choose_format",
    "confirm_at_terminal",
    "deliver",
    "group",
    "main",
    "on_terminal",
    "open_session",
    "reach_tenth",
    "repeat",
    "show_banner",
    "show_json",
    "show_note",
    "show_pairs",
    "show_progress",
    "show_table",
    "takes_table",
    "write_draft",
]
