"""Help screens: commands by who uses them, an example first, and options that many commands share in one paragraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["AUDIENCES", "SHARED", "CommandGroup", "group", "walk_commands"]

SHARED: Final = "shared"
AUDIENCES: Final = {
    "Start": "init sample doctor",
    "Custodian": "add card public analyst population resume ledger",
    "Analyst": "datasets show query table plan budget caps",
    "Collection": "local",
    "Laboratory": "study sensitivity lab gan reproduce",
    "Everyone": "belief noise schema",
}
"""Who uses which command, in the order of `discreet --help`."""


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
            order = " ".join(AUDIENCES.values()).split()
            sections = {
                audience: sorted(
                    (name for name, command in shown.items() if getattr(command, "rich_help_panel", "") == audience),
                    key=order.index,
                )
                for audience in AUDIENCES
            }
        for title, names in sections.items():
            lines = [(name.ljust(width), shown[name].get_short_help_str(formatter.width - width - 6)) for name in names]
            with formatter.section(title):
                formatter.write_dl(lines)
