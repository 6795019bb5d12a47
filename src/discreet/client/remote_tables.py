"""Where tables are asked for on a server with all their options, and explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from discreet.catalogue import say
from discreet.client.asked_words import word_table
from discreet.client.exchanges import Call
from discreet.client.remote_explanation import RemoteExplanation
from discreet.client.server_desk import ServerDesk
from discreet.errors import ParameterInvalid, Refused
from discreet.guarantees import as_given, checked, name_request
from discreet.results import Release

__all__ = ["RemoteTable", "RemoteTableDesk"]

_LEAST: Final = frozenset({"dataset", "by", "epsilon"})


@dataclass(frozen=True, slots=True)
class RemoteTable:
    """A table as its words say it: what `table` takes, and how its noise is chosen. The server forms and checks it."""

    words: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.words, Mapping) or not self.words.keys() >= _LEAST:
            raise ParameterInvalid(parameter="words", rule=say("must be those of a table"), given=as_given(self.words))


class RemoteTableDesk:
    """Tables of one server."""

    def __init__(self, desk: ServerDesk) -> None:
        self._desk = desk

    @checked
    def release(
        self,
        table: RemoteTable,
        *,
        request_id: str | None = None,
        fresh: bool = False,
        confirm: Callable[[RemoteExplanation], bool] | None = None,
    ) -> Release:
        """A differentially private table. `confirm` sees cost and expected error first and may say no."""
        body, named = word_table(table.words, fresh=fresh), name_request(request_id)
        if confirm is not None and not confirm(self.explain(table, fresh=fresh)):
            raise Refused(say("Not asked. Nothing was released or charged."))
        return self._desk.spend(("tables",), body, request_id=named)

    @checked
    def explain(self, table: RemoteTable, *, fresh: bool = False) -> RemoteExplanation:
        """Every strategy with its expected error, and what asking would cost. The data are not opened."""
        return self._desk.find(
            Call("POST", ("tables", "plan"), body=word_table(table.words, fresh=fresh)), RemoteExplanation.read
        )
