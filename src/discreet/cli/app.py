"""All commands, in the order in which a newcomer meets them."""

from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from discreet.cli import (
    asking,
    caps,
    custody,
    gan,
    local,
    methods,
    planning,
    public,
    reproduce,
    sensitivity,
    study,
    tables,
)

__all__ = ["root"]

app = typer.Typer(
    name="discreet",
    help="Differential privacy for official statistics: describe a survey once, answer within a budget.",
    epilog="Start with: discreet init DIR · discreet sample survey DIR · discreet add -w DIR FILE",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def discreet(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Differential privacy for official statistics: describe a survey once, answer within a budget."""
    if version:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


custody.register(app)
public.register(app)
asking.register(app)
tables.register(app)
caps.register(app)
planning.register(app)
local.register(app)
sensitivity.register(app)
gan.register(app)
study.register(app)
reproduce.register(app)
methods.register(app)


@cache
def root() -> Any:
    """The tree of all commands, ready to be called. Building it takes longer than most commands run, so it is kept."""
    return get_command(app)
