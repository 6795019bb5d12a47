"""All commands, in the order in which a newcomer meets them. Wings and replications that are installed bring theirs."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from discreet.catalogue import language, say
from discreet.cli.commands import (
    analyst_commands,
    cap_command,
    custodian_commands,
    history_commands,
    knowledge_commands,
    ledger_commands,
    people_commands,
    public_commands,
    schema_command,
    table_commands,
    token_commands,
    workload_command,
)
from discreet.cli.help_screens import CommandGroup, group
from discreet.errors import Refused

__all__ = ["find_program", "root"]

_CORE: Final = (
    custodian_commands,
    public_commands,
    ledger_commands,
    analyst_commands,
    history_commands,
    table_commands,
    workload_command,
    cap_command,
    knowledge_commands,
    schema_command,
    people_commands,
    token_commands,
)
_REPLICATIONS: Final = "discreet_replications"


def find_program(words: Sequence[str]) -> Any:
    """The commands that these words may mean: those of the core where they name one, else all of them."""
    app = _start()
    named = {command.name for command in app.registered_commands} | {part.name for part in app.registered_groups}
    return _core(language()) if words and words[0] in named else root()


def root() -> Any:
    """The tree of all commands, ready to be called. Help screens are said once, so each language has its own."""
    return _whole(language())


@cache
def _whole(_language: str) -> Any:
    """Building it takes longer than most commands run, so it is kept."""
    app = _start()
    for wing in _wings():
        import_module(wing).register(app)
    _add_replications(app)
    return get_command(app)


@cache
def _core(_language: str) -> Any:
    return get_command(_start())


def _start() -> CommandGroup:
    app = group(
        about="Differential privacy for official statistics: answers within a budget.",
        example="discreet init office · discreet sample survey data · discreet add -w office data/survey.parquet",
    )
    app.info.name = "discreet"
    app.callback(invoke_without_command=True)(_discreet)
    for commands in _CORE:
        commands.register(app)
    return app


def _wings() -> Iterator[str]:
    """Rooms that bring commands of their own have a room for them within, `lab/lab_commands`. None is named here."""
    house = Path(__file__).parents[1]
    for room in sorted(house.iterdir()):
        if (room / f"{room.name}_commands" / "__init__.py").is_file():
            yield f"discreet.{room.name}.{room.name}_commands"


def _discreet(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


def _add_replications(app: CommandGroup) -> None:
    """`discreet reproduce` where the package of replications is installed; else a command that says how."""
    if find_spec(_REPLICATIONS) is not None:
        import_module(f"{_REPLICATIONS}.reproduce_commands").register(app)
        return
    app.command(
        "reproduce",
        short_help="Repeat the founding documents (to be installed)",
        rich_help_panel="Laboratory",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_reproduce)


def _reproduce() -> None:
    """Repeat what a founding document did, beside the right way: a package of its own, not installed here.

    From a checkout of Discreet, install it with: pip install . ./replications
    """
    raise Refused(
        say(
            "the replications are a package of their own and not installed. From a checkout of Discreet, "
            "install them with: pip install . ./replications"
        )
    )
