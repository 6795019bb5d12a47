"""The registry: counts a property in a sample, under an account for every unit, and answers with noise.

Who pays depends on samples and prices alone. Whoever has no room is left out without a word; nothing is refused
because of who is in a sample, or how many.

Guarantee: all answers about a property together are E-differentially private for each unit, against everybody outside
           the registry, and add 2E for each record of the holder against the researcher.
Proof:     docs/proofs/linked.md, Theorems 1 and 3.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.errors import DatasetSuspended, DiscreetError, FileRefused, Refused, RequestConflict
from discreet.files import locked, write_whole
from discreet.guarantees import PureDP, ceil_to_grid, text
from discreet.ledger import LinkedUse, canonical_json, sha256_hex, stale_accounts
from discreet.linkage.agreements.agreement import Agreement, AgreementTerms, IdType, LinkedProperty
from discreet.linkage.agreements.agreement_reader import digest_file
from discreet.linkage.agreements.agreement_schema import GROUPS
from discreet.linkage.agreements.office_keys import Office
from discreet.linkage.agreements.signed_agreement import SignedAgreement
from discreet.linkage.envelopes import EnvelopeKind, refuse_envelope
from discreet.linkage.offices.account_book import AccountBook, AccountFault, PendingUse
from discreet.linkage.offices.envelope_contents import DrawnSample, NoisyAnswer, Ticket, write_link_key
from discreet.linkage.offices.link_ids import pseudonyms_of, read_pairs
from discreet.linkage.offices.linked_rows import MarkedIds, id_type, mark_ids, plan_marks
from discreet.linkage.offices.office_studies import Study, create_study
from discreet.linkage.offices.registry_index import RegistryIndex, load_array, save_array
from discreet.linkage.tariff import LinkedKind
from discreet.noise import SystemEntropy, discrete_laplace, discrete_laplace_array
from discreet.paths import AnyPath, as_path
from discreet.session import Session, default_analyst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.cards import Card
    from discreet.workspace import Dataset

__all__ = ["AccountPool", "CountOutcome", "RegistryDesk", "open_registry", "registry_loss"]

Progress = Callable[[str], None]
_SPENT: Final = "spent.json"


@dataclass(frozen=True, slots=True)
class CountOutcome:
    """The envelope with the answer, and whether it was answered before."""

    request: str
    answer: bytes
    replayed: bool


@dataclass(frozen=True, slots=True)
class AccountPool:
    """The accounts of one property, which every agreement about it draws on."""

    folder: Path
    name: str
    population: str
    cap: int
    parts: int
    units: int
    members: int
    least: int

    @property
    def reservation(self) -> str:
        return f"linked:{self.name}"


def registry_loss(terms: AgreementTerms) -> PureDP:
    """What is reserved for one property of the registry's units: E, and the closing bit."""
    return PureDP(epsilon=ceil_to_grid(Fraction(terms.tariff.epsilon) + Fraction(terms.closing_epsilon)))


def open_registry(
    office: Office,
    signed: SignedAgreement,
    *,
    workspace: AnyPath,
    unit_map: AnyPath | None = None,
    crosswalk: AnyPath | None = None,
    progress: Progress | None = None,
) -> tuple[Study, bytes]:
    """Open a study: make the index and the accounts, reserve, and seal the study's key to the holder."""
    from discreet.session import open as open_workspace

    tell = progress or (lambda stage: None)
    agreement = signed.require_signed()
    terms = agreement.terms
    with open_workspace(workspace) as session, create_study(office, signed, session.workspace.path) as study:
        dataset = session.workspace.dataset(terms.registry.dataset)
        _check_card(terms, dataset.card, crosswalk is not None)
        tell(say("reading the registry"))
        people = _read_people(session, dataset, terms)
        tell(say("linking ids"))
        links = _Links.of(terms, people[0], dataset.card, unit_map, crosswalk)
        key = secrets.token_bytes(32)
        study.keep_secret("link", key)
        tell(say("making pseudonyms"))
        numbers = pseudonyms_of(links.ids, kind=terms.ids, key=key)
        RegistryIndex.build(numbers, links.people, links.units).save(study.folder)
        for asked, marked in zip(terms.properties, people, strict=True):
            tell(say("opening accounts of {name}", name=asked.name))
            _open_pool(session, study, dataset, asked, marked, links)
        sealed = study.seal(EnvelopeKind.LINK_KEY, write_link_key(key), request=agreement.digest[:32])
    return study.settled, sealed


class RegistryDesk:
    """What a registry does in one study, in an open workspace."""

    def __init__(self, study: Study, session: Session) -> None:
        self.study = study
        self.session = session
        self._index: RegistryIndex | None = None

    @property
    def index(self) -> RegistryIndex:
        if self._index is None:
            self._index = RegistryIndex.load(self.study.folder)
        return self._index

    @property
    def spent(self) -> int:
        """What of the quota is used, in parts."""
        path = self.study.folder / _SPENT
        return int(json.loads(path.read_text())) if path.exists() else 0

    def pools(self) -> dict[str, str]:
        """The names of the accounts that the study draws on, by property."""
        return _read_pools(self.study)

    def pool(self, asked: LinkedProperty) -> AccountPool:
        return _read_pool(self.study.office.folder / "pools" / self.pools()[asked.name])

    def count(self, envelope: bytes, *, now: datetime | None = None) -> CountOutcome:
        """Answer a sample: charged before noise, once, whatever is sent again."""
        self.study.require_current(now)
        if self.session.ledger.suspended(self.study.agreement.terms.registry.dataset):
            raise DatasetSuspended(dataset=self.study.agreement.terms.registry.dataset)
        sample, ticket, asked, made = self.open_sample(envelope, now=now)
        question = sha256_hex(ticket.question(sample.draw).encode())
        pool = self.pool(asked)
        with self.hold(pool) as book:
            digest = book.digest_sample(sample.request, sample.entries())
            noted = self.study.noted(sample.request)
            if noted is not None:
                if (noted["question"], noted["sample"]) != (question, digest):
                    raise conflict()
                return CountOutcome(sample.request, base64.b64decode(noted["answer"]), replayed=True)
            answer, replayed = self._answer(book, pool, sample, ticket, asked, question, digest)
            body = NoisyAnswer(
                sample.request, ticket.property, ticket.kind, ticket.scale, sample.charge, answer.cells, answer.receipt
            )
            # Dated as the ticket: an answer does not tell how long drawing and counting took.
            sealed = self.study.seal(EnvelopeKind.ANSWER, body.to_bytes(), request=sample.request, now=made)
            told = {"question": question, "sample": digest, "answer": base64.b64encode(sealed).decode("ascii")}
            self.study.note(sample.request, told)
        return CountOutcome(sample.request, sealed, replayed)

    def open_sample(
        self, envelope: bytes, *, now: datetime | None = None
    ) -> tuple[DrawnSample, Ticket, LinkedProperty, datetime]:
        """A sample, its ticket and when that was made, if they belong together and ask for what was agreed on."""
        terms = self.study.agreement.terms
        opened = self.study.unseal(envelope, EnvelopeKind.SAMPLE, now=now)
        sample = DrawnSample.from_bytes(opened.body)
        carried = self.study.unseal(sample.ticket, EnvelopeKind.TICKET, now=now)
        ticket = Ticket.from_bytes(carried.body)
        requests = {sample.request, ticket.request, opened.header.request, carried.header.request}
        if len(requests) != 1 or len(sample.pseudonyms) > terms.largest_sample:
            raise refuse_envelope()
        try:
            asked = terms.property(ticket.property)
            charge = terms.charge(asked, ticket.kind, ticket.scale)
        except DiscreetError:
            raise refuse_envelope() from None
        agreed = (ticket.scale, ticket.groups, charge) == (sample.scale, sample.groups, sample.charge)
        if not agreed or (ticket.groups > 1 and GROUPS not in terms.kinds):
            raise refuse_envelope()
        return sample, ticket, asked, carried.header.created

    def hold(self, pool: AccountPool) -> Any:
        """The accounts of a property, while no other process has them."""
        return AccountBook.hold(
            pool.folder,
            self.session.ledger,
            population=pool.population,
            reservation=pool.reservation,
            cap=pool.cap,
        )

    # --- steps ------------------------------------------------------------------------------------------------------

    def _answer(
        self,
        book: AccountBook,
        pool: AccountPool,
        sample: DrawnSample,
        ticket: Ticket,
        asked: LinkedProperty,
        question: str,
        digest: str,
    ) -> tuple[NoisyAnswer, bool]:
        ledger = self.session.ledger
        same = ledger.find_use(pool.reservation, request=sample.request)
        same = same or ledger.find_use(pool.reservation, question=question)
        if same is not None:
            own = same.request == sample.request or same.answer is None
            # Whom an unanswered use counts is known; how many of them came is read from the bytes that it charged.
            if own and (same.question, same.sample) != (question, book.digest_sample(same.request, sample.entries())):
                raise conflict()
            if same.answer is not None:
                return NoisyAnswer.from_bytes(same.answer), True
        known = ledger.reservation(pool.population, pool.reservation)
        if same is None and known is not None and known.closed:
            return self._closed(sample, ticket), False
        places = self.index.find(sample.pseudonyms)
        entries = _once(places)
        payers, members = _pay(self.index, places[entries])
        if same is None:
            self._spend_quota(sample)
            use = LinkedUse(sample.request, question, self.study.agreement.digest, sample.charge, digest, "")
            pending = book.use(use, payers, members=members, who=default_analyst())
        else:
            pending = book.resume(same)
        if pending.use.answer is not None:
            return NoisyAnswer.from_bytes(pending.use.answer), True
        cells = self._cells(pool, sample, ticket, asked, places, entries, pending)
        drawn = discrete_laplace_array(
            SystemEntropy(), scale=Fraction(ticket.scale * asked.largest), count=cells.size
        ).reshape(cells.shape)
        noisy = tuple(tuple(int(value) for value in group) for group in cells + drawn)
        answer = NoisyAnswer(
            sample.request, ticket.property, ticket.kind, ticket.scale, sample.charge, noisy, pending.use.receipt
        )
        committed = ledger.commit_use(pending.use, answer.to_bytes())
        book.finish(pending.use)
        self._close_if_worn(pool, book)
        return NoisyAnswer.from_bytes(committed), False

    def _closed(self, sample: DrawnSample, ticket: Ticket) -> NoisyAnswer:
        return NoisyAnswer(sample.request, ticket.property, ticket.kind, ticket.scale, sample.charge, None, "")

    def _cells(
        self,
        pool: AccountPool,
        sample: DrawnSample,
        ticket: Ticket,
        asked: LinkedProperty,
        places: NDArray[np.int64],
        entries: NDArray[np.int64],
        pending: PendingUse,
    ) -> NDArray[np.int64]:
        """The exact cells of the people whose unit was charged, each person once, by group."""
        at = places[entries]
        counted = np.isin(self.index.payers(at), pending.units)
        at, groups = at[counted], sample.group_of[entries][counted].astype(np.int64)
        people = self.index.people[at].astype(np.int64)
        there = people >= 0
        known, first = np.unique(people[there], return_index=True)
        group_of = groups[there][first]
        values = load_array(pool.folder / "cells.npy")[known].astype(np.int64)
        width = self.study.agreement.terms.cells(asked, ticket.kind)
        cells = np.zeros((sample.groups, width), dtype=np.int64)
        if ticket.kind is not LinkedKind.COUNT_AND_SIZE:
            np.add.at(cells, group_of, values[:, :width])
            return cells
        rest = load_array(pool.folder / "rest.npy")[known].astype(np.int64)
        np.add.at(cells[:, 0], group_of, values[:, 0])
        np.add.at(cells[:, 1], group_of, np.where(values[:, 0] > 0, 0, rest))
        if width == 3:
            np.add.at(cells[:, 2], groups[~there], asked.largest)
        return cells

    def _spend_quota(self, sample: DrawnSample) -> None:
        """Ration by what requests cost, never by who is in them: not a guarantee."""
        with locked(self.study.folder / "lock"):  # properties have a lock each, and one quota
            spent = self.spent
            if spent + sample.charge > self.study.agreement.terms.quota:
                raise Refused(say("the study's quota is used up. Nothing was counted or charged."))
            write_whole(self.study.folder / _SPENT, json.dumps(spent + sample.charge), mode=0o600)

    def _close_if_worn(self, pool: AccountPool, book: AccountBook) -> None:
        """Close when a noisy number of exhausted units is above a noisy threshold: AboveThreshold, once."""
        terms = self.study.agreement.terms
        scale = 4 / Fraction(terms.closing_epsilon)
        threshold = int(json.loads((pool.folder / "closing.json").read_text())["threshold"])
        worn = book.accounts.exhausted(pool.least) + discrete_laplace(SystemEntropy(), scale=scale)
        if worn >= threshold:
            self.session.ledger.close_reservation(
                pool.population, pool.reservation, reason="closing rule", who=default_analyst()
            )


def conflict() -> RequestConflict:
    return RequestConflict(say("other bytes came for this request before. Make a new request."))


def _once(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The entries of a sample that the registry can account for, each id once."""
    found, first = np.unique(places, return_index=True)
    return first[found >= 0]


def _pay(index: RegistryIndex, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The units that pay, and how many ids of each are in the sample, registered or not.

    Without a map a unit is a person of the registry, who is one member under however many ids.
    """
    payers = index.payers(places)
    units, members = np.unique(payers[payers >= 0], return_counts=True)
    return units, members.astype(np.int64) if index.units is not None else np.ones_like(units)


# --- opening --------------------------------------------------------------------------------------------------------


def _check_card(terms: AgreementTerms, card: Card, crossed: bool) -> None:
    """The accounts protect whom the registry's budget protects."""
    own, column = id_type(card, terms.registry.id), terms.registry.id
    if not crossed and own is not terms.ids:
        raise Refused(
            say(
                "'{column}' holds ids of type {own}, and the agreement compares them as {agreed}. Agree on one, or "
                "give a crosswalk with --crosswalk.",
                column=column,
                own=own,
                agreed=terms.ids,
            )
        )
    if terms.mapped and column == card.unit.column:
        raise Refused(
            say(
                "the agreement has a map of units, and '{column}' is the unit of '{dataset}' itself. Link by the "
                "column of people, or agree without a map.",
                column=column,
                dataset=card.dataset,
            )
        )
    if not terms.mapped and column != card.unit.column:
        raise Refused(
            say(
                "the unit of '{dataset}' is '{column}', and the agreement links by '{link}'. Link by the "
                "unit, or agree on a public map from ids to units.",
                dataset=card.dataset,
                column=card.unit.column,
                link=column,
            )
        )


def _read_people(session: Session, dataset: Dataset, terms: AgreementTerms) -> list[MarkedIds]:
    """For each property what every id of the registry has, the last column being all its rows or their weight."""
    found = []
    for asked in terms.properties:
        conditions = [*(value.where for value in asked.values), None]
        weight = None if asked.weight is None else asked.weight.column
        if asked.weight is not None and dataset.card.column(asked.weight.column).step != asked.weight.step:
            raise Refused(
                say(
                    "weights of '{name}' are agreed on in steps of {step}, and the card of '{dataset}' has others. "
                    "Agree on the card's step.",
                    name=asked.name,
                    step=text(asked.weight.step),
                    dataset=dataset.name,
                )
            )
        plan = plan_marks(dataset.card, terms.registry.id, conditions, weight=weight, by_unit=terms.mapped)
        found.append(mark_ids(session, dataset, plan))
    return found


@dataclass(frozen=True)
class _Links:
    """Every agreed id with its person's number (-1 for nobody) and, with a map, its unit's; `count` units pay."""

    ids: Any
    people: NDArray[np.int32]
    units: NDArray[np.int32] | None
    count: int

    @classmethod
    def of(
        cls, terms: AgreementTerms, own: MarkedIds, card: Card, unit_map: AnyPath | None, crosswalk: AnyPath | None
    ) -> _Links:
        """People are numbered as `own` lists them, whatever the agreement: accounts outlive one."""
        import pyarrow as pa

        rows = pa.table({"key": own.ids, "person": pa.array(np.arange(len(own.ids), dtype=np.int32))})
        linked = None
        if crosswalk is not None:
            kinds = terms.ids, IdType(str(card.column(terms.registry.id).type))
            pairs = read_pairs(
                as_path(crosswalk, "crosswalk"), columns=("id", "key"), kinds=kinds, sort=Phrase("crosswalk")
            )
            linked = pairs.group_by("id").aggregate([("key", "min")]).rename_columns(["id", "key"])
        if not terms.mapped:
            found = rows.rename_columns(["id", "person"]) if linked is None else linked.join(rows, "key")
            return cls(found["id"].combine_chunks(), _people(found["person"]), None, len(own.ids))
        mapped, units, count = _read_map(terms, card, unit_map)
        listed = mapped.append_column("place", pa.array(np.arange(len(mapped))))
        listed = listed.append_column("key", mapped["id"]) if linked is None else listed.join(linked, "id")
        # A row whose unit is not the map's belongs to no account, and is never counted.
        found = listed.join(rows.append_column("unit", own.units), ["key", "unit"]).sort_by("place")
        return cls(found["id"].combine_chunks(), _people(found["person"]), units, count)


def _people(column: Any) -> NDArray[np.int32]:
    from pyarrow import compute as pc

    numbers: NDArray[np.int32] = pc.fill_null(column, -1).to_numpy()
    return numbers


def _read_map(terms: AgreementTerms, card: Card, unit_map: AnyPath | None) -> tuple[Any, NDArray[np.int32], int]:
    """The public map that was agreed on: its lines, the number of each line's unit, and how many units there are."""
    from pyarrow import compute as pc

    if unit_map is None:
        raise Refused(say("the agreement has a map of units. Give the file with --map."))
    path = as_path(unit_map, "map")
    try:
        digest = digest_file(path)
    except OSError:
        raise FileRefused(say("the map '{path}' is not there or cannot be read.", path=path), file=path.name) from None
    if digest != terms.map_digest:
        raise FileRefused(
            say("'{name}' is not the map that was agreed on: its digest differs.", name=path.name), file=path.name
        )
    kinds = terms.ids, IdType(str(card.column(card.unit.column).type))
    mapped = read_pairs(path, columns=("id", "unit"), kinds=kinds, sort=Phrase("map"))
    if pc.count_distinct(mapped["id"]).as_py() != len(mapped):
        raise FileRefused(say("the map '{name}' gives an id two units.", name=path.name), file=path.name)
    coded = mapped["unit"].combine_chunks().dictionary_encode()
    units = coded.indices.to_numpy().astype(np.int32)
    if len(units) and np.bincount(units).max() > terms.members:
        raise FileRefused(
            say(
                "the map '{name}' gives a unit more than {members} ids, which is what was agreed on.",
                name=path.name,
                members=terms.members,
            ),
            file=path.name,
        )
    return mapped, units, len(coded.dictionary)


def _open_pool(
    session: Session, study: Study, dataset: Dataset, asked: LinkedProperty, marked: MarkedIds, links: _Links
) -> None:
    """The accounts of a property: new ones, or those that another agreement about it has opened."""
    terms, office = study.agreement.terms, study.office
    name = _pool_name(study.agreement, dataset, asked)
    folder, population = office.folder / "pools" / name, dataset.card.population
    guarantee, tariff = registry_loss(terms), terms.tariff
    pool = AccountPool(
        folder,
        name,
        population,
        tariff.cap,
        tariff.parts,
        links.count,
        terms.members,
        tariff.charge(LinkedKind.COUNT, max(terms.scales)),
    )
    there = AccountBook.exists(folder)
    if not there:
        if session.ledger.find_use(pool.reservation) is not None:
            raise stale_accounts()
        _make_pool(pool, asked, marked, terms)
    elif _read_pool(folder) != pool:
        raise Refused(
            say(
                "accounts of '{name}' are open under another agreement with another belief or menu of scales, "
                "and one property has one account. Agree on the same.",
                name=asked.name,
            )
        )
    session.ledger.reserve(
        population,
        pool.reservation,
        agreement=study.agreement.digest,
        guarantee=guarantee,
        property=asked.name,
        who=default_analyst(),
    )
    pools = {**_read_pools(study), asked.name: name}
    write_whole(study.folder / "pools.json", json.dumps(pools) + "\n", mode=0o600)


def _pool_name(agreement: Agreement, dataset: Dataset, asked: LinkedProperty) -> str:
    """What two agreements must share to draw on the same accounts: the data, the unit and the property."""
    terms, content = agreement.terms, asked.to_content()
    for item in (content, *content["values"]):
        del item["name"], item["title"]
    identity = [
        dataset.card.population,
        dataset.name,
        dataset.version,
        terms.registry.id,
        terms.map_digest,
        content,
    ]
    return sha256_hex(canonical_json(identity).encode())[:32]


def _make_pool(pool: AccountPool, asked: LinkedProperty, marked: MarkedIds, terms: AgreementTerms) -> None:
    pool.folder.parent.mkdir(mode=0o700, exist_ok=True)
    pool.folder.mkdir(mode=0o700, exist_ok=True)
    cells, rest = _bounded(asked, marked)
    save_array(pool.folder / "cells.npy", cells)
    save_array(pool.folder / "rest.npy", rest)
    noise = discrete_laplace(SystemEntropy(), scale=2 / Fraction(terms.closing_epsilon))
    threshold = int(Fraction(terms.closing_share) * terms.people) + noise
    write_whole(pool.folder / "closing.json", json.dumps({"threshold": threshold}) + "\n", mode=0o600)
    fields = {
        "name": pool.name,
        "population": pool.population,
        "cap": pool.cap,
        "parts": pool.parts,
        "units": pool.units,
        "members": pool.members,
        "least": pool.least,
    }
    write_whole(pool.folder / "pool.json", json.dumps(fields) + "\n", mode=0o600)
    (pool.folder / "digest.key").unlink(missing_ok=True)
    AccountBook.create(pool.folder, units=pool.units)


def _bounded(asked: LinkedProperty, marked: MarkedIds) -> tuple[NDArray[Any], NDArray[Any]]:
    """What each person adds to each cell, and to those without the property: never more than was agreed on."""
    size = np.min_scalar_type(asked.largest)
    columns = np.stack(marked.marks, axis=1)
    has = columns[:, :-1] > 0
    kept = has & (np.cumsum(has, axis=1) <= asked.answers)
    held = np.clip(columns, 0, asked.largest) if asked.weight is not None else (columns > 0).astype(np.int64)
    return np.where(kept, held[:, :-1], 0).astype(size), held[:, -1].astype(size)


def _read_pools(study: Study) -> dict[str, str]:
    path = study.folder / "pools.json"
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _read_pool(folder: Path) -> AccountPool:
    try:
        return AccountPool(folder, **json.loads((folder / "pool.json").read_text()))
    except (OSError, ValueError, TypeError):
        raise stale_accounts(AccountFault.POOL) from None
