"""The shape of a table in words: options that every command over a table shares, said once."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from discreet.catalogue import say
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.tables import TableRequest

__all__ = ["takes_table"]

_MISSING: Final = "missing"


def _shape(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")],
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN,…", help="The keys: columns whose values the card lists, or bands.")
    ],
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="Add up this number instead of counting.")] = None,
    mean: Annotated[bool, typer.Option("--mean", help="The mean of --value instead of its total.")] = False,
    weighted: Annotated[bool, typer.Option("--weighted", help="With the survey weight of the card.")] = False,
    where: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="Only these rows, as after WHERE in SQL.")
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=E,E,…", help="Cut a number into bands, as in age=0,15,65,120. Repeatable."),
    ] = None,
    margins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="all|none|COLUMN,…",
            help="Margins by the columns they keep, 'total' for the grand total. Repeatable. Default: all.",
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="missing|COLUMN=CODE",
            help="Leave out rows in which a key is missing, or a code of a key: no margin counts them. Repeatable.",
        ),
    ] = None,
) -> "TableRequest":
    from discreet.tables import read_codes, read_edges, table_request

    codes = [word for word in leave_out or () if word != _MISSING]
    return table_request(
        dataset,
        by,
        value=value,
        mean=mean,
        weighted=weighted,
        where=where,
        edges=read_edges(edges or ()),
        margins=_margins(margins or ["all"]),
        no_missing=_MISSING in (leave_out or ()),
        leave_out=read_codes(codes),
    )


def _margins(words: Sequence[str]) -> bool | list[str]:
    if words in (["all"], ["none"]):
        return words == ["all"]
    if {"all", "none"} & set(words):
        raise UsageError(say("--margins takes all or none by itself, or margins by the columns they keep."))
    return list(words)


def takes_table(command: Callable[..., None]) -> Callable[..., None]:
    """A command over a table: called with the options above, it calls `command` with a `TableRequest` first."""
    shape, own = inspect.signature(_shape), inspect.signature(command)
    rest = list(own.parameters.values())[1:]

    @wraps(command)
    def run(**given: Any) -> None:
        words = {name: given.pop(name) for name in shape.parameters}
        command(_shape(**words), **given)

    both = [*shape.parameters.values(), *rest]
    both.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in both]
    run.__signature__ = inspect.Signature(named, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in named}
    return run
