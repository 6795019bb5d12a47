"""The commands of the service: `discreet serve` and `discreet work`. The command line finds them here."""

from __future__ import annotations

from discreet.server.server_commands.service_commands import register

__all__ = ["register"]
