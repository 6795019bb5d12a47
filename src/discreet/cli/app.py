"""All commands, in the order in which a newcomer meets them. Wings that are installed bring theirs."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from discreet.cli.commands import (
    analyst_commands,
    cap_command,
    custodian_commands,
    knowledge_commands,
    ledger_commands,
    public_commands,
    schema_command,
    table_commands,
    workload_command,
)
from discreet.cli.help_screens import CommandGroup, group
from discreet.errors import Refused

__all__ = ["root"]

_CORE: Final = (
    custodian_commands,
    public_commands,
    ledger_commands,
    analyst_commands,
    table_commands,
    workload_command,
    cap_command,
    knowledge_commands,
    schema_command,
)
_WINGS: Final = ("discreet.collect.collect_commands", "discreet.lab.lab_commands")
_REPLICATIONS: Final = "discreet_replications"


@cache
def root() -> Any:
    """The tree of all commands, ready to be called. Building it takes longer than most commands run, so it is kept."""
    app = group(
        about="Differential privacy for official statistics: describe a survey once, answer within a budget.",
        example="discreet init office · discreet sample survey data · discreet add -w office data/survey.parquet",
    )
    app.info.name = "discreet"
    app.callback(invoke_without_command=True)(_discreet)
    for commands in _CORE:
        commands.register(app)
    for wing in _WINGS:
        import_module(wing).register(app)
    _add_replications(app)
    return get_command(app)


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
        "the replications are a package of their own and not installed. From a checkout of Discreet, install them "
        "with: pip install . ./replications"
    )
