"""Writes docs/reference.md from the code: commands, options, card keys, mechanisms, errors.

A test compares the page with what this module writes, so that nothing is undocumented and nothing documented is gone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any

from discreet.cards import key_table
from discreet.cli.file_schemas import FileKind, load_schema

__all__ = ["reference"]


def reference() -> str:
    """The whole page."""
    parts = [
        "# Reference\n\nWritten from the code by `make docs`; a test keeps it complete.",
        "## Commands\n\n" + "\n\n".join(_commands()),
        "## Environment\n\n" + _environment(),
        "## Exit codes\n\n0 ok · 1 refused · 2 usage · 3 charged but not answered",
        "## Card keys\n\nThe card is explained in [The dataset card](card.md); the keys of every other file that "
        "people write are in [Files that people write](files.md). `*` stands for a name you choose.\n\n"
        + key_table(load_schema(FileKind.CARD)),
        "## Mechanisms\n\n" + _mechanisms(),
        "## Errors\n\n" + _errors(),
    ]
    return "\n\n".join(parts) + "\n"


def _commands() -> Iterator[str]:
    from discreet.cli.app import root
    from discreet.cli.help_screens import walk_commands

    for name, command in walk_commands(root()):
        yield _describe(command, f"discreet {name}")


def _describe(command: Any, path: str) -> str:
    lines = [f"### `{path}`", "", (command.help or "").strip(), ""]
    lines += ["| argument or option | meaning | default |", "| --- | --- | --- |"]
    for parameter in command.params:
        lines.append(_parameter(parameter))
    if command.epilog:
        lines += ["", _examples(command.epilog)]
    return "\n".join(lines)


def _examples(epilog: str) -> str:
    """Each command as code, what is said of it in brackets behind it."""
    label, _, commands = epilog.partition(": ")
    split = (re.fullmatch(r"(.*?)( \([^()]*\))?", command) for command in re.split(r" · |  \|  ", commands))
    return f"{label}: " + " · ".join(f"`{found[1]}`{found[2] or ''}" for found in split if found)


def _parameter(parameter: Any) -> str:
    name = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        name = f"`{parameter.metavar or parameter.name.upper()}`"
    meaning = str(getattr(parameter, "help", "") or "")
    default = parameter.default
    if isinstance(default, Enum):
        meaning += f" ({', '.join(choice.value for choice in type(default))})"
    shown = "required" if parameter.required else _default(default)
    return f"| {name} | {meaning.replace('|', '·')} | {shown} |"


def _default(default: object) -> str:
    if default is None or default is False or callable(default) or "UNSET" in repr(default):
        return ""
    return f"`{getattr(default, 'value', default)}`"


ENVIRONMENT = {
    "DISCREET_WORKSPACE": "The workspace folder when -w is not given.",
    "DISCREET_ANALYST": "Who asks, when --analyst is not given.",
    "DISCREET_LANG": "Language of labels, en or fr.",
    "DISCREET_SERVER": "The server that is asked in place of a workspace when --server is not given.",
    "DISCREET_TOKEN": "The token for that server when --token-file is not given.",
    "DISCREET_OFFICE": "This office's folder for linked counts when --office is not given.",
    "DISCREET_KEYS": "Folder for ledger keys and anchors of new workspaces.",
    "DISCREET_ROOTS": "Folders from which files may be added, separated as in PATH. Unset: anywhere.",
    "DISCREET_MEMORY": "Memory of an open engine on files of the workspace, such as 4GB. Unset: half of the machine's.",
    "DISCREET_SPILL": "Disk for what does not fit into it, such as 200GB; 0 writes nothing. Unset: 100GB.",
    "DISCREET_DEBUG": "1 shows the traceback of an unforeseen fault. It may contain values: custodians only.",
}


def _environment() -> str:
    lines = ["| variable | meaning |", "| --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT.items()])


def _mechanisms() -> str:
    from importlib import import_module

    from discreet.mechanisms import MECHANISMS

    blocks = []
    for name, index in MECHANISMS.items():
        module = import_module(index.split(":")[0])
        blocks.append(f"### `{name}`\n\n```text\n{(module.__doc__ or '').strip()}\n```")
    return "\n\n".join(blocks)


def _errors() -> str:
    from discreet import errors

    lines = ["| error | exit | meaning |", "| --- | --- | --- |"]
    for name in errors.__all__:
        found = getattr(errors, name)
        if isinstance(found, type) and issubclass(found, errors.DiscreetError):
            meaning = (found.__doc__ or "").strip().split("\n")[0]
            lines.append(f"| `{name}` | {found.exit_code} | {meaning} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
