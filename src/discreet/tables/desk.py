"""The desk where tables are asked for, with all their options; the command line and `Session.table` come through here.

Whoever can read the workspace is its custodian; what only the custodian may see says so and is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.data.workspace import Workspace
from discreet.errors import CustodianOnly, ParameterInvalid
from discreet.guarantees.numbers import ExactLike
from discreet.guarantees.parameters import checked
from discreet.ledger import Ledger
from discreet.ledger.records import check_name, name_request
from discreet.release.pipeline import OpenEngine
from discreet.results import Release
from discreet.tables.asking import AskedTable, ask_table, explain_asked_table, read_asked_table
from discreet.tables.explaining import TableExplanation
from discreet.tables.forming import Formed, form_table
from discreet.tables.request import TableRequest

if TYPE_CHECKING:
    from discreet.tables.bootstrap.examining import Examination
    from discreet.tables.bootstrap.log import LogEntry
    from discreet.tables.bootstrap.pools import Pool
    from discreet.tables.today.comparison import Comparison

__all__ = ["TableDesk"]


class TableDesk:
    """Tables of one workspace. `analyst` asks unless another is named."""

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
                raise ParameterInvalid(parameter="epsilon", rule="must say what the table may cost", came="nothing")
            request = self.read(request, epsilon=epsilon, analyst=analyst, level=level)
        return ask_table(
            request,
            self._ledger,
            open_engine=self._open_engine,
            request_id=name_request(request_id),
            fresh=fresh,
            confirm=confirm,
        )

    @checked
    def explain(
        self, request: TableRequest | AskedTable, *, epsilon: ExactLike | None = None, fresh: bool = False
    ) -> TableExplanation:
        """Every strategy with its expected error, and what asking would cost. The data are not opened."""
        if isinstance(request, TableRequest):
            request = self.read(request, epsilon="1" if epsilon is None else epsilon)
        return explain_asked_table(request, self._ledger, fresh=fresh)

    # --- not differentially private ---------------------------------------------------------------------------------

    @checked
    def bootstrap(
        self,
        request: TableRequest | Formed,
        *,
        epsilon: ExactLike,
        method: str = "i",
        membership_public: bool = False,
        pool: Path | None = None,
        pool_kind: str = "sub-population",
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Release:
        """A table with bootstrap differential privacy: opt-in in the card, and a permanent marker on the ledger."""
        from discreet.tables.bootstrap.releasing import release_bootstrap, require_opt_in

        formed = self.form(request) if isinstance(request, TableRequest) else request
        require_opt_in(formed.card)
        drawn = self._pool(formed, pool, pool_kind)
        return release_bootstrap(
            formed,
            self._open_engine,
            self._ledger,
            self._workspace,
            epsilon=epsilon,
            method=method,
            membership_public=membership_public,
            pool=drawn,
            analyst=self._asker(analyst),
            request_id=name_request(request_id),
        )

    def bootstrap_log(self) -> list[LogEntry]:
        """Every bootstrap release of the workspace, in order."""
        from discreet.tables.bootstrap.log import bootstrap_log

        return bootstrap_log(self._workspace)

    @checked
    def examine(
        self,
        request: TableRequest,
        *,
        custodian: bool,
        epsilon: ExactLike = 1,
        gamma: ExactLike = "0.05",
        membership_public: bool = False,
        pool: Path | None = None,
        pool_kind: str = "sub-population",
        analyst: str | None = None,
    ) -> Examination:
        """What bootstrap differential privacy would do to a table, and what it would leak. Logged.

        No error exceeds the bound that is shown, with probability 1 - `gamma` at least.
        """
        if not custodian:
            raise CustodianOnly(view="the examination of a table")
        from discreet.tables.bootstrap.examining import examine

        formed = self.form(request)
        return examine(
            formed,
            self._open_engine(formed.datasets),
            self._ledger,
            epsilon=epsilon,
            gamma=gamma,
            membership_public=membership_public,
            pool=self._pool(formed, pool, pool_kind),
            who=self._asker(analyst),
        )

    @checked
    def compare(
        self,
        request: TableRequest,
        *,
        epsilons: Sequence[ExactLike],
        custodian: bool,
        analyst: str | None = None,
        trials: int = 200,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Comparison:
        """The table under what agencies do today and under differential privacy, attacked. Logged, and marked."""
        if not custodian:
            raise CustodianOnly(view="a comparison with the exact table")
        from discreet.tables.comparing import compare_table

        return compare_table(
            request,
            self._workspace,
            self._ledger,
            epsilons=epsilons,
            open_engine=self._open_engine,
            analyst=self._asker(analyst),
            trials=trials,
            progress=progress,
        )

    def _asker(self, analyst: str | None) -> str:
        return self._analyst if analyst is None else check_name(analyst, parameter="analyst")

    def _pool(self, formed: Formed, file: Path | None, kind: str) -> Pool | None:
        from discreet.tables.bootstrap.observed import outline
        from discreet.tables.bootstrap.pools import PoolKind, read_pool

        kinds = [str(one) for one in PoolKind]
        if kind not in kinds:
            raise ParameterInvalid(parameter="pool kind", rule=f"must be {' or '.join(kinds)}", came=f"'{kind[:20]}'")
        if file is None:
            return None
        return read_pool(file, formed.card, outline(formed).plan, self._workspace, kind=PoolKind(kind))
