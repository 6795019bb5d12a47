"""Help screens: commands by who uses them, an example first, and options that many commands share in one paragraph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from inspect import cleandoc
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from discreet.catalogue import ENGLISH, LANGUAGES, Phrase, is_built, language, say, translate
from discreet.errors import UsageError

__all__ = ["AUDIENCES", "SHARED", "CommandGroup", "group", "list_help", "walk_commands"]

SHARED: Final = "shared"
AUDIENCES: Final = ("Start", "Custodian", "Service", "Analyst", "Collection", "Laboratory", "Everyone")
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


_WORDS: Final = ("help", "short_help", "rich_help_panel")


def list_help(command: Any, name: str = "discreet") -> Iterator[tuple[str, str]]:
    """Every text of the help screens, and the command it belongs to."""
    for owner, place in _owners(command, name):
        for text in (getattr(owner, word, None) for word in _WORDS):
            if text and text != SHARED:
                yield cleandoc(text), place
        if (metavar := getattr(owner, "metavar", None)) and "|" not in metavar:
            yield metavar, place


def _say_screen(command: Any) -> None:
    """Put what one help screen shows into the language of this moment: the command, its options, its commands."""
    if language() == ENGLISH:
        return
    for owner in (command, *command.params, *getattr(command, "commands", {}).values()):
        for word in _WORDS:
            if (text := getattr(owner, word, None)) and text != SHARED:
                setattr(owner, word, say_text(cleandoc(text)))
        if (metavar := getattr(owner, "metavar", None)) and "|" not in metavar:
            owner.metavar = say_text(metavar)
    if command.epilog:
        command.epilog = command.epilog.replace("Example: ", say("Example: ")).replace("Examples: ", say("Examples: "))


def say_text(text: str) -> str:
    """A text of a help screen, which has no facts: its braces are its own."""
    return translate(text, language())


def _owners(command: Any, name: str) -> Iterator[tuple[Any, str]]:
    yield command, name
    for option in command.params:
        yield option, name
    for word, child in getattr(command, "commands", {}).items():
        yield from _owners(child, f"{name} {word}".strip())


def _is_shared(option: Any) -> bool:
    return getattr(option, "rich_help_panel", None) == SHARED


def _write_shared(options: Iterable[Any], formatter: Any) -> None:
    """One paragraph: what is the same in every command need not be read in each."""
    lines = []
    for option in options:
        names = "/".join(sorted(option.opts, key=len))
        value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
        lines.append(say("{option}: {meaning}", option=f"{names}{value}", meaning=option.help))
    if lines:
        with formatter.section(_head(say("Shared options"))):
            formatter.write_text(say("; ").join(lines) + ".")


def _head(title: str) -> str:
    """What a colon is put behind: in French, a space that does not break stands before it."""
    return title if language() == ENGLISH else f"{title}\u00a0"


def _language_option() -> TyperOption:
    """Every command has it. The words were looked through for it before they were parsed, so it is only checked."""
    return TyperOption(
        param_decls=["--lang"],
        metavar="|".join(LANGUAGES),
        envvar="DISCREET_LANG",
        callback=_check_language,
        expose_value=False,
        is_eager=True,
        help="the language, or $DISCREET_LANG",
        rich_help_panel=SHARED,
    )


def _check_language(_context: Any, _option: Any, given: str | None) -> None:
    if given and given not in LANGUAGES:
        raise UsageError(
            say(
                "language '{given}' is not available; the languages are {known}.",
                given=given,
                known=", ".join(LANGUAGES),
            )
        )
    if not is_built(language()):
        raise UsageError(
            f"the catalogue of language '{language()}' was not built. Install the package with 'pip install .', or run "
            "'make setup'."
        )


class _SpokenHelp:
    """What Typer writes around our texts, said in the language of this moment."""

    def format_usage(self: Any, ctx: Any, formatter: Any) -> None:
        _say_screen(self)
        pieces = " ".join(self.collect_usage_pieces(ctx)).replace("[OPTIONS]", say("[OPTIONS]"))
        pieces = pieces.replace("COMMAND [ARGS]...", say("COMMAND [ARGS]..."))
        formatter.write_usage(ctx.command_path, pieces, prefix=say("Usage: "))

    def get_help(self: Any, ctx: Any) -> str:
        if (option := self.get_help_option(ctx)) is not None:
            option.help = say("Show this message and exit.")
        text: str = super().get_help(ctx)  # type: ignore[misc]
        return say_frame(text)


def say_frame(text: str) -> str:
    """Headings of sections and what stands behind options, in the language of this moment."""
    if language() == ENGLISH:
        return text
    for heading, said in _HEADINGS.items():
        text = text.replace(f"\n{heading}\n", f"\n{said}\n")
    for behind, said in _BEHIND.items():
        text = re.sub(behind, str(said), text)
    return text


_HEADINGS: Final = {
    "Arguments:": Phrase("Arguments:"),
    "Options:": Phrase("Options:"),
    "Commands:": Phrase("Commands:"),
}
_BEHIND: Final = {
    r"(?<=\[)default:(?=\s)": Phrase("default:"),
    r"(?<=[\[ ])required(?=\])": Phrase("required"),
}


class _HelpCommand(_SpokenHelp, TyperCommand):
    def __init__(self, *given: Any, params: list[Any] | None = None, **facts: Any) -> None:
        super().__init__(*given, params=[*(params or []), _language_option()], **facts)

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


class _HelpGroup(_SpokenHelp, TyperGroup):
    def __init__(self, *, params: list[Any] | None = None, **facts: Any) -> None:
        super().__init__(params=[*(params or []), _language_option()], **facts)

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
        sections = {say("Commands"): list(shown)}
        if ctx.parent is None:
            sections = {translate(audience, language()): [] for audience in AUDIENCES}
            for name in sorted(shown, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
                sections.setdefault(getattr(shown[name], "rich_help_panel", None) or say("Others"), []).append(name)
        for title, names in ((title, names) for title, names in sections.items() if names):
            lines = [(name.ljust(width), shown[name].get_short_help_str(formatter.width - width - 6)) for name in names]
            with formatter.section(_head(title)):
                formatter.write_dl(lines)
