"""Next steps that can be typed as they stand: a command in a hint repeats the `-w` or the `--server` that was given.

Rooms below know no command line and name commands plainly; what was given is put in where their words are shown.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import ENGLISH, speaking
from discreet.errors import legible

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NEEDS_WORKSPACE", "remember", "remember_server", "repeat", "repeat_in"]

NEEDS_WORKSPACE: Final = "the workspace folder"

_GIVEN: Final[list[Path]] = []
_SERVER: Final[list[str]] = []
_COMMAND: Final = re.compile(r"\bdiscreet ((?:[a-z]+ )?[a-z]+)\b(?! (?:-w|--workspace|--server)\b)")


def remember(given: Path | None) -> Path | None:
    """Called with the option -w of the command that runs, or None; what an earlier one was given is forgotten."""
    _GIVEN[:] = [] if given is None else [given]
    return given


def remember_server(given: str | None) -> str | None:
    """The same of the option --server; None too when the command has ended."""
    _SERVER[:] = filter(None, [given])
    return given


def repeat(text: str) -> str:
    """The text, each command in it that takes the workspace or server that was given with it; else as it was."""
    if not (_GIVEN or _SERVER) or "discreet " not in text:
        return text
    name, value = ("-w", str(_GIVEN[0])) if _GIVEN else ("--server", _SERVER[0])
    option, commands = f" {name} {legible(shlex.quote(value))}", _list_commands(of_servers=not _GIVEN)

    def put_in(found: re.Match[str]) -> str:
        first, _, rest = found[1].partition(" ")
        if found[1] in commands:
            return f"discreet {found[1]}{option}"
        return f"discreet {first}{option}{rest and f' {rest}'}" if first in commands else found[0]

    return _COMMAND.sub(put_in, text)


def repeat_in(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same in every text of some facts, and of facts within them."""
    return {
        name: repeat(fact) if isinstance(fact, str) else repeat_in(fact) if isinstance(fact, dict) else fact
        for name, fact in facts.items()
    }


@cache
def _list_commands(*, of_servers: bool) -> frozenset[str]:
    """Commands that need a workspace, or that may ask a server, as they are typed."""
    from discreet.cli.app import root
    from discreet.cli.help_screens import walk_commands

    def takes(command: Any) -> bool:
        if of_servers:
            return any(option.name == "server" for option in command.params)
        options = [getattr(option, "help", None) or "" for option in command.params if option.name == "workspace"]
        return any(text.startswith(NEEDS_WORKSPACE) for text in options)

    with speaking(ENGLISH):
        return frozenset(name for name, command in walk_commands(root()) if takes(command))
