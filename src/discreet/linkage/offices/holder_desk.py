"""The holder: draws the people who meet criteria, and sends them to the registry as pseudonyms.

Each id is drawn by a secret coin of its own, so that one record changes one membership. The same criteria on the same
data are the same draw, with the same coins and the same masks of groups.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused, Refused, RequestConflict
from discreet.guarantees import PureDP, ceil_to_grid, text
from discreet.ledger import canonical_json, sha256_hex
from discreet.linkage.agreements.agreement import Agreement, AgreementTerms, IdType
from discreet.linkage.agreements.agreement_schema import GROUPS
from discreet.linkage.agreements.office_keys import Office
from discreet.linkage.agreements.signed_agreement import SignedAgreement
from discreet.linkage.envelopes import EnvelopeKind, OpenedEnvelope, refuse_envelope
from discreet.linkage.offices.envelope_contents import CountRequest, DrawnSample, GroupLabels, read_link_key
from discreet.linkage.offices.link_ids import pseudonyms_of, read_pairs, secret_words
from discreet.linkage.offices.linked_rows import id_type, mark_ids, plan_marks
from discreet.linkage.offices.office_studies import Study, create_study, moment
from discreet.paths import AnyPath, as_path
from discreet.session import Session, default_analyst
from discreet.sql import plan_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.cards import Card
    from discreet.sql import Plan
    from discreet.workspace import Dataset

__all__ = ["DrawOutcome", "HolderDesk", "PendingDraw", "holder_loss", "ids_of", "open_holder", "reservation_of"]

_CROSSWALK: Final = "crosswalk.parquet"


@dataclass(frozen=True, slots=True)
class PendingDraw:
    """A request as the holder sees it before approving: criteria, rates and price; what is counted stays sealed."""

    request: str
    where: str | None
    groups: tuple[tuple[str, str | None, str], ...]
    scale: int
    charge: int


@dataclass(frozen=True, slots=True)
class DrawOutcome:
    """What leaves the holder: the sample to the registry and, with groups, their labels to the researcher.

    `drawn` and the sizes of `groups` are for the holder's own eyes.
    """

    request: str
    sample: bytes
    labels: bytes | None
    drawn: int
    groups: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """What was sent, as a holder notes it: how many, in which groups, and how many bytes to whom."""
        return {
            "ids": self.drawn,
            "groups": dict(self.groups),
            "registry_bytes": len(self.sample),
            "researcher_bytes": 0 if self.labels is None else len(self.labels),
        }


def reservation_of(agreement: Agreement) -> str:
    """The name of a holder's reservation on its ledger."""
    return f"linked:{agreement.short}"


def holder_loss(terms: AgreementTerms, card: Card) -> PureDP:
    """What is reserved for the holder's records: 2E and the closing bit, for every property with accounts of its own.

    That is for one id. Where the holder's unit is not what it links by, each of a unit's rows may have another.
    Proof: docs/proofs/linked.md, Theorem 3.
    """
    each = 2 * Fraction(terms.tariff.epsilon) + Fraction(terms.closing_epsilon)
    return PureDP(epsilon=ceil_to_grid(len(terms.properties) * ids_of(terms, card) * each))


def ids_of(terms: AgreementTerms, card: Card) -> int:
    """How many ids one unit of the holder may have."""
    return 1 if terms.holder.id == card.unit.column else card.unit.rows


def open_holder(
    office: Office,
    signed: SignedAgreement,
    *,
    workspace: AnyPath,
    link_key: bytes,
    crosswalk: AnyPath | None = None,
) -> Study:
    """Take part in a study: check the card, take the registry's key, and reserve what records may lose."""
    from discreet.session import open as open_workspace

    agreement = signed.require_signed()
    terms = agreement.terms
    with open_workspace(workspace) as session, create_study(office, signed, session.workspace.path) as study:
        card = session.workspace.dataset(terms.holder.dataset).card
        own = id_type(card, terms.holder.id)
        if crosswalk is not None:
            _keep_crosswalk(study.folder, as_path(crosswalk, "crosswalk"), (terms.ids, own))
        elif own is not terms.ids:
            raise _other_type(terms.holder.id, own, terms.ids)
        opened = study.unseal(link_key, EnvelopeKind.LINK_KEY)
        study.keep_secret("link", read_link_key(opened.body))
        study.keep_secret("draw", secrets.token_bytes(32))
        session.ledger.reserve(
            card.population,
            reservation_of(agreement),
            agreement=agreement.digest,
            guarantee=holder_loss(terms, card),
            property=", ".join(item.name for item in terms.properties)[:200],
            who=default_analyst(),
        )
    return study.settled


class HolderDesk:
    """What a holder does in one study, in an open workspace."""

    def __init__(self, study: Study, session: Session) -> None:
        self.study = study
        self.session = session

    def look(self, envelope: bytes, *, now: datetime | None = None) -> PendingDraw:
        """What a request asks for, checked as it would be drawn. Nothing is drawn yet."""
        found, _ = self.open_request(envelope, now=now)
        self._plan(found, self._dataset())
        groups = tuple((group.name, group.where, text(group.rate)) for group in found.groups)
        return PendingDraw(found.request, found.where, groups, found.scale, found.charge)

    def open_request(self, envelope: bytes, *, now: datetime | None = None) -> tuple[CountRequest, OpenedEnvelope]:
        """A request and its envelope, if it is one of this study."""
        opened = self.study.unseal(envelope, EnvelopeKind.REQUEST, now=now)
        found = CountRequest.from_bytes(opened.body)
        terms = self.study.agreement.terms
        grouped = len(found.groups) > 1 or found.groups[0].where is not None
        known = found.request == opened.header.request and found.scale in terms.scales and found.charge >= 1
        if not known or (grouped and GROUPS not in terms.kinds):
            raise refuse_envelope()
        return found, opened

    def draw(
        self, envelope: bytes, *, approve: Callable[[PendingDraw], bool] | None = None, now: datetime | None = None
    ) -> DrawOutcome:
        """Draw a sample once it is approved. The same request again gives the same sample; other bytes are refused."""
        self.study.require_current(now)
        found, opened = self.open_request(envelope, now=now)
        dataset = self._dataset()
        self._require_open(dataset)
        plan = self._plan(found, dataset)
        if approve is not None and not approve(self.look(envelope, now=now)):
            raise Refused(say("Not approved. Nothing was drawn or sent."))
        question = self._question(found, plan, dataset)
        noted = self.study.noted(found.request)
        if noted is not None and noted["envelope"] != opened.digest:
            raise RequestConflict(
                say("other bytes came for this request before. The researcher must make a new request.")
            )
        if noted is not None and noted["question"] != question:
            raise Refused(say("the data have changed since this request was drawn. The researcher must ask anew."))
        if noted is None:
            self._check_quota(found.charge)
        draw = self._number(question)
        note = {
            "drawn": (noted or {}).get("drawn") or (now or moment()).isoformat(timespec="seconds"),
            "envelope": opened.digest,
            "question": question,
            "draw": draw.hex(),
            "charge": found.charge,
            "scale": found.scale,
            "where": found.where,
            "groups": [{"name": item.name, "where": item.where, "rate": text(item.rate)} for item in found.groups],
        }
        self.study.note(found.request, note)
        drawn = self._draw(found, plan, dataset, draw, asked=opened.header.created, now=now)
        self.study.note(found.request, {**note, "sent": drawn.to_dict()})
        return drawn

    def preview(self, envelope: bytes, *, now: datetime | None = None) -> DrawOutcome:
        """What would be drawn and sent, for this office's own eyes. Nothing is noted."""
        found, opened = self.open_request(envelope, now=now)
        dataset = self._dataset()
        plan = self._plan(found, dataset)
        draw = self._number(self._question(found, plan, dataset))
        return self._draw(found, plan, dataset, draw, asked=opened.header.created, now=now)

    # --- steps ------------------------------------------------------------------------------------------------------

    def _dataset(self) -> Dataset:
        return self.session.workspace.dataset(self.study.agreement.terms.holder.dataset)

    def _plan(self, found: CountRequest, dataset: Dataset) -> Plan:
        """The criteria as a plan over the card; a person whom several groups would hold is in the first."""
        column = self.study.agreement.terms.holder.id
        conditions = [group.where for group in found.groups]
        if self.session.ledger.suspended(dataset.name):
            raise QueryRefused(
                say("'{name}' is suspended, and nothing is drawn from it.", name=dataset.name), part="dataset"
            )
        return plan_marks(dataset.card, column, conditions, where=found.where)

    def _question(self, found: CountRequest, plan: Plan, dataset: Dataset) -> str:
        """What makes two draws the same: plan, data and rates."""
        rates = [text(group.rate) for group in found.groups]
        return sha256_hex(canonical_json([plan_hash(plan), dataset.name, dataset.version, rates]).encode())

    def _number(self, question: str) -> bytes:
        """The draw's number: the same for the same question, and told to nobody who has not drawn it."""
        return hmac.digest(self.study.secret("draw"), b"draw\n" + question.encode(), hashlib.sha256)[:16]

    def _require_open(self, dataset: Dataset) -> None:
        known = self.session.ledger.reservation(dataset.card.population, reservation_of(self.study.agreement))
        if known is None or known.closed:
            raise Refused(say("this office has closed the study, or never reserved for it. Nothing was drawn."))

    def _check_quota(self, charge: int) -> None:
        spent, quota = self.study.charged, self.study.agreement.terms.quota
        if spent + charge > quota:
            raise Refused(
                say(
                    "the study's quota is {quota:,} parts, {spent:,} were drawn for, and this request costs "
                    "{charge:,} more. Nothing was drawn.",
                    quota=quota,
                    spent=spent,
                    charge=charge,
                )
            )

    def _draw(
        self, found: CountRequest, plan: Plan, dataset: Dataset, draw: bytes, *, asked: datetime, now: datetime | None
    ) -> DrawOutcome:
        marked = mark_ids(self.session, dataset, plan)
        met = np.stack([marks > 0 for marks in marked.marks], axis=1)
        kept = np.logical_or.reduce(met, axis=1)
        group_of = met.argmax(axis=1).astype(np.uint8)
        ids, group_of = marked.ids.filter(_arrow(kept)), group_of[kept]
        ids, places = self._agreed(ids)
        group_of = group_of[places]
        rates = [Fraction(group.rate) for group in found.groups]
        if any(rate < 1 for rate in rates):
            coins = secret_words(ids, key=self.study.secret("draw"), label=b"coin\n" + draw)
            drawn = _drawn(coins, group_of, rates)
            ids, group_of = ids.filter(_arrow(drawn)), group_of[drawn]
        order = _masks(self.study.secret("draw"), draw, len(found.groups))
        masked = np.argsort(order).astype(np.uint8)[group_of]
        terms = self.study.agreement.terms
        pseudonyms = pseudonyms_of(ids, kind=terms.ids, key=self.study.secret("link"))
        sorting = np.lexsort((pseudonyms[:, 1], pseudonyms[:, 0]))
        sample = DrawnSample(
            found.request,
            draw.hex(),
            found.scale,
            found.charge,
            len(found.groups),
            found.ticket,
            pseudonyms[sorting],
            masked[sorting],
        )
        labels = None
        if len(found.groups) > 1:
            told = GroupLabels(found.request, tuple(int(place) for place in order))
            # Dated as the request: labels do not tell how long drawing took.
            labels = self.study.seal(EnvelopeKind.LABELS, told.to_bytes(), request=found.request, now=asked)
        sizes = np.bincount(group_of, minlength=len(found.groups)).tolist()
        return DrawOutcome(
            found.request,
            self.study.seal(EnvelopeKind.SAMPLE, sample.to_bytes(), request=found.request, now=now),
            labels,
            len(ids),
            tuple(zip((group.name for group in found.groups), sizes, strict=True)),
        )

    def _agreed(self, ids: Any) -> tuple[Any, NDArray[np.int64]]:
        """The agreed ids for this office's own, each once, and the place of the own id each comes from."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = self.study.folder / _CROSSWALK
        if not file.exists():
            return ids, np.arange(len(ids))
        own = pa.table({"key": ids, "place": pa.array(np.arange(len(ids)))})
        found = pq.read_table(file).join(own, "key", join_type="inner").group_by("id").aggregate([("place", "min")])
        return found["id"].combine_chunks(), found["place_min"].to_numpy()


def _keep_crosswalk(folder: Path, path: Path, kinds: tuple[IdType, IdType]) -> None:
    """The agreed ids and this office's own, as one file of the study.

    An own id stands for one agreed id, its least: one record changes one membership.
    """
    import pyarrow.parquet as pq

    from discreet.files import staged_file

    pairs = read_pairs(path, columns=("id", "key"), kinds=kinds, sort=Phrase("crosswalk"))
    table = pairs.group_by("key").aggregate([("id", "min")]).rename_columns(["key", "id"])
    with staged_file(folder / _CROSSWALK, mode=0o600) as staged:
        pq.write_table(table, staged)


def _other_type(column: str, own: IdType, agreed: IdType) -> Refused:
    return Refused(
        say(
            "'{column}' holds ids of type {own}, and the agreement compares them as {agreed}. Agree on one, "
            "or give a crosswalk with --crosswalk.",
            column=column,
            own=own,
            agreed=agreed,
        )
    )


def _arrow(mask: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(mask)


def _drawn(coins: NDArray[np.uint64], group_of: NDArray[np.uint8], rates: list[Fraction]) -> NDArray[np.bool_]:
    """Whose coin falls below the rate of the group, to the last of 64 bits."""
    limits = [min(int(rate * (1 << 64)), (1 << 64) - 1) for rate in rates]
    sure = np.array([rate == 1 for rate in rates])
    found: NDArray[np.bool_] = (coins < np.array(limits, dtype=np.uint64)[group_of]) | sure[group_of]
    return found


def _masks(key: bytes, draw: bytes, groups: int) -> NDArray[np.int64]:
    """A secret order of the groups, the same for the same draw: the registry's group g is the request's order[g]."""
    words = [hmac.digest(key, b"mask\n" + draw + bytes([group]), hashlib.sha256) for group in range(groups)]
    return np.array(sorted(range(groups), key=words.__getitem__), dtype=np.int64)
