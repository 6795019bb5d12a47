"""The commands of collection: `discreet local`. The command line finds them here and loads nothing else."""

from __future__ import annotations

from discreet.collect.collect_commands.local_commands import register

__all__ = ["register"]
