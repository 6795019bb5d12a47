"""Help screens: commands by who uses them, an example first, and options that many commands share in one paragraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["AUDIENCES", "SHARED", "CommandGroup", "group", "walk_commands"]

SHARED: Final = "shared"
AUDIENCES: Final = ("Start", "Custodian", "Analyst", "Collection", "Laboratory", "Everyone")
"""Who uses commands, in the order of `discreet --help`. A command names its audience as its `rich_help_panel`."""

_FIRST: Final = [
    "init",
    "sample",
    "doctor",
    "add",
    "card",
    "public",
    "analyst",
    "population",
    "resume",
    "ledger",
    "datasets",
    "show",
    "query",
    "table",
]
"""Commands that come before the others of their audience; the rest come as they were registered."""


class CommandGroup(typer.Typer):
    """Commands whose help is shown in our way."""

    def command(  # type: ignore[override]
        self, name: str | None = None, **facts: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """As Typer's, with help screens of our own."""
        return super().command(name, **{"cls": _HelpCommand, **facts})


def group(*, about: str, example: str) -> CommandGroup:
    """A group of commands. `example` works on the sample, and begins its help."""
    return CommandGroup(
        cls=_HelpGroup,
        help=about,
        epilog=f"Example: {example}",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def walk_commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it."""
    if not hasattr(command, "commands"):
        yield name, command
    for word, child in getattr(command, "commands", {}).items():
        yield from walk_commands(child, f"{name} {word}".strip())


def _is_shared(option: Any) -> bool:
    return getattr(option, "rich_help_panel", None) == SHARED


def _write_shared(options: Iterable[Any], formatter: Any) -> None:
    """One paragraph: what is the same in every command need not be read in each."""
    lines = []
    for option in options:
        names = "/".join(sorted(option.opts, key=len))
        value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
        lines.append(f"{names}{value}: {option.help}")
    if lines:
        with formatter.section("Shared options"):
            formatter.write_text("; ".join(lines) + ".")


class _HelpCommand(TyperCommand):
    def format_options(self, ctx: Any, formatter: Any) -> None:
        shared: list[Any] = [option for option in self.params if _is_shared(option)]
        for option in shared:
            option.hidden = True
        try:
            super().format_options(ctx, formatter)
        finally:
            for option in shared:
                option.hidden = False
        _write_shared(shared, formatter)


class _HelpGroup(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A command may have two words, of which the first is a command too: `table`, and `table explain`."""
        if (words := " ".join(args[:2])) in self.commands:
            return words, self.commands[words], args[2:]
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)
        self.format_epilog(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """By audience where commands name one, else as one list."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        width = max(map(len, shown))
        sections = {"Commands": list(shown)}
        if ctx.parent is None:
            sections = {audience: [] for audience in AUDIENCES}
            for name in sorted(shown, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
                sections.setdefault(getattr(shown[name], "rich_help_panel", None) or "Others", []).append(name)
        for title, names in ((title, names) for title, names in sections.items() if names):
            lines = [(name.ljust(width), shown[name].get_short_help_str(formatter.width - width - 6)) for name in names]
            with formatter.section(title):
                formatter.write_dl(lines)
