"""The desk where tables are asked for, with all their options; the command line and `Session.table` come through here.

Whoever can read the workspace is its custodian; what only the custodian may see says so and is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, checked
from discreet.ledger import Ledger, check_name, name_request
from discreet.release import OpenEngine
from discreet.results import Release
from discreet.tables.asked_table import AskedTable, ask_table, explain_asked_table, read_asked_table
from discreet.tables.formation import Formed, form_table
from discreet.tables.request import TableRequest
from discreet.tables.table_explanation import TableExplanation
from discreet.workspace import Workspace

__all__ = ["TableDesk"]


class TableDesk:
    """Tables of one workspace. `analyst` asks unless another is named, and acts either way."""

    def __init__(self, workspace: Workspace, ledger: Ledger, open_engine: OpenEngine, analyst: str) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._open_engine = open_engine
        self._analyst = analyst

    @checked
    def form(self, request: TableRequest) -> Formed:
        """The plan of a table and its shape. Nothing is charged and no row looked at."""
        return form_table(request, self._workspace)

    @checked
    def read(
        self,
        request: TableRequest,
        *,
        epsilon: ExactLike,
        analyst: str | None = None,
        level: ExactLike = "0.95",
        noise: str = "auto",
        suppress_above: ExactLike | None = None,
        calibrate: Sequence[str] = (),
    ) -> AskedTable:
        """The request with everything that decides its price, checked. Nothing is charged and no row looked at."""
        return read_asked_table(
            request,
            self._workspace,
            self._ledger,
            analyst=self._asker(analyst),
            epsilon=epsilon,
            level=level,
            noise=noise,
            suppress_above=suppress_above,
            calibrate=calibrate,
        )

    @checked
    def release(
        self,
        request: TableRequest | AskedTable,
        *,
        epsilon: ExactLike | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        level: ExactLike = "0.95",
        fresh: bool = False,
        confirm: Callable[[TableExplanation], bool] | None = None,
    ) -> Release:
        """A differentially private table. `confirm` sees cost and expected error first and may say no."""
        if isinstance(request, TableRequest):
            if epsilon is None:
                raise ParameterInvalid(
                    parameter="epsilon", rule=say("must say what the table may cost"), given=say("nothing")
                )
            request = self.read(request, epsilon=epsilon, analyst=analyst, level=level)
        return ask_table(
            request,
            self._ledger,
            open_engine=self._open_engine,
            request_id=name_request(request_id),
            fresh=fresh,
            confirm=confirm,
            who=self._analyst,
        )

    @checked
    def explain(
        self, request: TableRequest | AskedTable, *, epsilon: ExactLike | None = None, fresh: bool = False
    ) -> TableExplanation:
        """Every strategy with its expected error, and what asking would cost. The data are not opened."""
        if isinstance(request, TableRequest):
            request = self.read(request, epsilon="1" if epsilon is None else epsilon)
        return explain_asked_table(request, self._ledger, fresh=fresh)

    def _asker(self, analyst: str | None) -> str:
        return self._analyst if analyst is None else check_name(analyst, parameter="analyst")
