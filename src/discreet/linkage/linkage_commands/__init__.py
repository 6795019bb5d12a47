"""The commands of linked counts: `discreet linked`. The command line finds them here and loads nothing else."""

from __future__ import annotations

from discreet.linkage.linkage_commands.linked_commands import register

__all__ = ["register"]
