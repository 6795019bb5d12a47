"""The release of a table by bootstrap: the marker first, then noise, then the log, and only then the table leaves.

Guarantee: BootstrapDP, epsilon over neighbours drawn from the observed rows. Not differentially private.
Requires:  `allow: [bootstrap]` in the card; units of one row; for (iii), public cell membership.
Proof:     docs/proofs/bootstrap.md
Refs:      [P] Sections 4 and 5, with sensitivities that hold when a row changes its cell.

Nothing is charged to the budget; the marker on the ledger says for good that epsilon no longer bounds everything. What
can be refused is refused from plan, card and ledger; what fails after the marker is told in one fixed sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from discreet.cards import Card
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees import BootstrapDP, ExactLike, exact, text
from discreet.lab.bootstrap.bootstrap_sensitivity import ScaleMethod, TableKind, public_scale, released_scales
from discreet.lab.bootstrap.observed_cells import Observed, Outline, observe, outline
from discreet.lab.bootstrap.pools import Pool
from discreet.lab.bootstrap.published_table import dress
from discreet.ledger import Ledger
from discreet.mechanisms import DiscreteLaplace
from discreet.release import (
    BootstrapEntry,
    BootstrapLog,
    Mark,
    OpenEngine,
    Passage,
    PlacedMarker,
    Request,
    check_nominal_epsilon,
    check_terms,
    ready_engine,
    release,
    require_active,
    require_permission,
)
from discreet.results import Release
from discreet.sql import make_first_form, plan_hash
from discreet.tables import Formed
from discreet.workspace import Workspace

__all__ = ["release_bootstrap", "require_opt_in"]

BY_CARD = "public in the card"
BY_STATEMENT = "declared public by the custodian"


@dataclass(frozen=True, slots=True)
class _Request:
    """What decides a release, all of it public or declared."""

    formed: Formed
    outline: Outline
    epsilon: Decimal
    method: ScaleMethod
    membership: str
    pool: Pool | None
    analyst: str
    request_id: str

    @property
    def questions(self) -> tuple[tuple[object, ...], ...]:
        """What the log knows the request by: now, and in the first form of plans."""
        plan, dataset = self.outline.plan, self.formed.dataset
        pool = "" if self.pool is None else self.pool.name
        first = make_first_form(plan, self.formed.statement.names).plan_hash
        return tuple(
            (dataset.name, dataset.version, known_by, text(self.epsilon), str(self.method), pool)
            for known_by in (plan_hash(plan), first)
        )

    def entry(self, marker: int, values: Sequence[int]) -> BootstrapEntry:
        """The line of the log that keeps what was drawn."""
        dataset = self.formed.dataset
        return BootstrapEntry(
            who=self.analyst,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            population=self.formed.card.population,
            dataset=dataset.name,
            version=dataset.version,
            plan_hash=plan_hash(self.outline.plan),
            epsilon=text(self.epsilon),
            method=str(self.method),
            membership=self.membership,
            pool="" if self.pool is None else self.pool.name,
            marker=marker,
            request_id=self.request_id,
            values=tuple(values),
        )


def release_bootstrap(
    formed: Formed,
    open_engine: OpenEngine,
    ledger: Ledger,
    workspace: Workspace,
    *,
    epsilon: ExactLike,
    method: ScaleMethod | str = ScaleMethod.MAXIMUM,
    membership_public: bool = False,
    pool: Pool | None = None,
    analyst: str,
    request_id: str,
) -> Release:
    """Release the table, or return it as it was released before; refused without the card's opt-in.

    `membership_public` is the custodian's statement that everybody may know which row lies in which cell; method (iii)
    rests on it wherever the card does not make every column that decides it public.
    """
    request = _read(formed, epsilon, _method(method), membership_public, pool, analyst, request_id)
    return release(_Bootstrap(request, workspace, open_engine), ledger)


@dataclass(frozen=True, slots=True)
class _Bootstrap(Passage[PlacedMarker, list[int], BootstrapEntry, Release]):
    """A bootstrap table on its way through."""

    request: _Request
    workspace: Workspace
    open_engine: OpenEngine

    def check(self, ledger: Ledger) -> None:
        card = self.request.formed.card
        check_terms([card], ledger)
        ledger.require_analyst(self.request.analyst)
        check_nominal_epsilon(
            self.request.epsilon, population=card.population, ledger=ledger, release=say("a bootstrap release")
        )

    def account(self) -> Mark[list[int], BootstrapEntry]:
        request = self.request
        return Mark(
            request=Request(
                datasets=request.formed.datasets,
                first=request.formed.dataset.name,
                analyst=request.analyst,
                request_id=request.request_id,
                plan_hash=plan_hash(request.outline.plan),
            ),
            guarantee=BootstrapDP(epsilon=request.epsilon),
            journal=BootstrapLog(self.workspace.path),
            questions=request.questions,
            entry=request.entry,
            kind=say("bootstrap table"),
            made=say("the table"),
        )

    def prepare(self, ledger: Ledger) -> Callable[[], list[int]]:
        formed, plan = self.request.formed, self.request.outline.plan
        require_active(formed.datasets, ledger)
        engine = ready_engine(self.open_engine, formed.datasets, plan, undone="released or marked")
        DiscreteLaplace.calibrate(sensitivity=1, epsilon=self.request.epsilon).load()
        return lambda: _noise(self.request, observe(plan, engine))

    def leave(self, ledger: Ledger, paid: PlacedMarker, stored: BootstrapEntry) -> Release:
        request = self.request
        return dress(
            request.formed,
            stored,
            ledger,
            analyst=request.analyst,
            request_id=request.request_id,
            replayed=paid.replayed,
        )


# --- before the marker ----------------------------------------------------------------------------------------------


def require_opt_in(card: Card) -> None:
    """Refuse a dataset whose card does not permit bootstrap releases."""
    require_permission(card, release=say("bootstrap"), sort="bootstrap")


def _read(
    formed: Formed,
    epsilon: ExactLike,
    method: ScaleMethod,
    membership_public: bool,
    pool: Pool | None,
    analyst: str,
    request_id: str,
) -> _Request:
    require_opt_in(formed.card)
    table = outline(formed)
    request = _Request(
        formed=formed,
        outline=table,
        epsilon=exact(epsilon, parameter="epsilon"),
        method=method,
        membership=_membership(table, method, declared=membership_public),
        pool=pool,
        analyst=analyst,
        request_id=request_id,
    )
    _check_scale(request)
    return request


def _method(given: ScaleMethod | str) -> ScaleMethod:
    try:
        return ScaleMethod(given)
    except ValueError:
        rule = say("must be one of {methods}", methods=", ".join(ScaleMethod))
        raise ParameterInvalid(parameter=Phrase("bootstrap method"), rule=rule, given=f"'{given}'") from None


def _membership(table: Outline, method: ScaleMethod, *, declared: bool) -> str:
    if method is not ScaleMethod.MEMBERSHIP:
        return ""
    if table.statistic is TableKind.COUNT:
        raise QueryRefused(
            say(
                "method (iii) takes it as known which row lies in which cell: then the counts are known too and "
                "need no release. Use method (i), or --method dp."
            ),
            method=str(method),
        )
    if table.membership_public:
        return BY_CARD
    if not declared:
        raise QueryRefused(
            say(
                "method (iii) needs public cell membership. Mark every column of the keys and of --where "
                "`public: true` in the card, or state with --membership-public that everybody may know which row "
                "lies in which cell."
            ),
            method=str(method),
        )
    return BY_STATEMENT


def _check_scale(request: _Request) -> None:
    """Refuse noise that cannot be drawn, by public bounds: whether it fails must not depend on the rows."""
    table = request.outline
    most = public_scale(table.bounds, method=request.method, cells=table.plan.cell_count)
    DiscreteLaplace.calibrate(sensitivity=most, epsilon=request.epsilon)


# --- after the marker -----------------------------------------------------------------------------------------------


def _noise(request: _Request, observed: Observed) -> list[int]:
    neighbours = observed if request.pool is None else observed.joined(request.pool.observed)
    scales = released_scales(
        dict(enumerate(neighbours.cells)),
        method=request.method,
        statistic=request.outline.statistic,
        public=request.outline.bounds,
        outside=neighbours.outside,
    )
    return _add_noise([cell.total for cell in observed.cells], list(scales.values()), epsilon=request.epsilon)


def _add_noise(totals: Sequence[int], scales: Sequence[int], *, epsilon: Decimal) -> list[int]:
    """Cells of one scale are drawn together."""
    noisy = list(totals)
    for scale in sorted(set(scales)):
        indices = [index for index, own in enumerate(scales) if own == scale]
        mechanism = DiscreteLaplace.calibrate(sensitivity=scale, epsilon=epsilon)
        for index, value in zip(indices, mechanism.release([totals[index] for index in indices]), strict=True):
            noisy[index] = value
    return noisy
