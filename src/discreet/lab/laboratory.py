"""The laboratory of one workspace: what is compared, examined or answered without a proof. Never a private release.

    from discreet.lab import Laboratory
    with discreet.open("office") as office:
        Laboratory(office).compare(request, epsilons=["0.5"], custodian=True)

What is let out by `bootstrap` and `ask_unproven` needs an opt-in in the card and leaves a marker on the ledger. What
depends on exact figures is for the custodian, and logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from discreet.catalogue import Phrase, say, say_list
from discreet.errors import CustodianOnly, ParameterInvalid
from discreet.guarantees import ExactLike, as_given, checked
from discreet.ledger import check_name, name_request
from discreet.paths import AnyPath, as_path
from discreet.session import Session, default_analyst
from discreet.tables import Formed, TableRequest

if TYPE_CHECKING:
    from discreet.lab.bootstrap.bootstrap_examination import Examination
    from discreet.lab.bootstrap.pools import Pool
    from discreet.lab.today.methods_comparison import MethodsComparison
    from discreet.release import BootstrapEntry
    from discreet.results import Release

__all__ = ["Laboratory"]


class Laboratory:
    """Experiments on the workspace of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # --- answers without a proof --------------------------------------------------------------------------------------

    @checked
    def ask_unproven(
        self,
        sql: str,
        *,
        strategy: str,
        epsilon: ExactLike | None = None,
        model: str | None = None,
        sample_size: int | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Release:
        """One aggregate by `local`, `generated` or `replace`, where the card permits it: not differentially private."""
        from discreet.lab.strategies.unproven_question import ask_unproven

        return ask_unproven(
            sql,
            self._session.workspace,
            self._session.ledger,
            strategy=strategy,
            epsilon=epsilon,
            model=model,
            sample_size=sample_size,
            analyst=_asker(analyst),
            request_id=request_id,
            open_engine=self._session.open_engine,
        )

    @checked
    def bootstrap(
        self,
        request: TableRequest | Formed,
        *,
        epsilon: ExactLike,
        method: str = "i",
        membership_public: bool = False,
        pool: AnyPath | None = None,
        pool_kind: str = "sub-population",
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Release:
        """A table with bootstrap differential privacy: opt-in in the card, and a permanent marker on the ledger."""
        from discreet.lab.bootstrap.bootstrap_release import release_bootstrap, require_opt_in

        formed = self._session.tables.form(request) if isinstance(request, TableRequest) else request
        require_opt_in(formed.card)
        drawn = self._pool(formed, pool, pool_kind)
        return release_bootstrap(
            formed,
            self._session.open_engine,
            self._session.ledger,
            self._session.workspace,
            epsilon=epsilon,
            method=method,
            membership_public=membership_public,
            pool=drawn,
            analyst=_asker(analyst),
            request_id=name_request(request_id),
        )

    def bootstrap_log(self) -> list[BootstrapEntry]:
        """Every bootstrap release of the workspace, in order."""
        from discreet.release import bootstrap_log

        return bootstrap_log(self._session.workspace)

    # --- for the custodian --------------------------------------------------------------------------------------------

    @checked
    def examine(
        self,
        request: TableRequest,
        *,
        custodian: bool,
        epsilon: ExactLike = 1,
        gamma: ExactLike = "0.05",
        membership_public: bool = False,
        pool: AnyPath | None = None,
        pool_kind: str = "sub-population",
        analyst: str | None = None,
    ) -> Examination:
        """What bootstrap differential privacy would do to a table, and what it would leak. Logged.

        No error exceeds the bound that is shown, with probability 1 - `gamma` at least.
        """
        if not custodian:
            raise CustodianOnly(view=Phrase("the examination of a table"))
        from discreet.lab.bootstrap.bootstrap_examination import examine

        formed = self._session.tables.form(request)
        return examine(
            formed,
            self._session.open_engine(formed.datasets),
            self._session.ledger,
            epsilon=epsilon,
            gamma=gamma,
            membership_public=membership_public,
            pool=self._pool(formed, pool, pool_kind),
            who=_asker(analyst),
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
    ) -> MethodsComparison:
        """The table under what agencies do today and under differential privacy, attacked. Logged, and marked."""
        if not custodian:
            raise CustodianOnly(view=Phrase("a comparison with the exact table"))
        if isinstance(epsilons, str) or not isinstance(epsilons, Sequence):
            raise ParameterInvalid(parameter="epsilons", rule=say("must be a list"), given=as_given(epsilons))
        from discreet.lab.today.table_comparison import compare_table

        return compare_table(
            request,
            self._session.workspace,
            self._session.ledger,
            epsilons=epsilons,
            open_engine=self._session.open_engine,
            analyst=_asker(analyst),
            trials=trials,
            progress=progress,
        )

    def _pool(self, formed: Formed, file: AnyPath | None, kind: str) -> Pool | None:
        from discreet.lab.bootstrap.observed_cells import outline
        from discreet.lab.bootstrap.pools import PoolKind, read_pool

        kinds = [str(known) for known in PoolKind]
        if kind not in kinds:
            raise ParameterInvalid(
                parameter=Phrase("pool kind"),
                rule=say("must be {kinds}", kinds=say_list(kinds, either=True)),
                given=f"'{kind[:20]}'",
            )
        if file is None:
            return None
        plan = outline(formed).plan
        return read_pool(as_path(file, "pool"), formed.card, plan, self._session.workspace, kind=PoolKind(kind))


def _asker(analyst: str | None) -> str:
    return check_name(default_analyst() if analyst is None else analyst, parameter="analyst")
