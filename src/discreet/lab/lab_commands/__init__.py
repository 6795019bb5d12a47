"""The commands of the laboratory: `discreet study|sensitivity|lab|gan`. The command line finds them here."""

from __future__ import annotations

from discreet.cli import CommandGroup
from discreet.lab.lab_commands import generator_commands, laboratory_commands, sensitivity_command, study_commands

__all__ = ["register"]


def register(app: CommandGroup) -> None:
    """Put all of them among the commands of `discreet`."""
    for commands in (study_commands, sensitivity_command, laboratory_commands, generator_commands):
        commands.register(app)
