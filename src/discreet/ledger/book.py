"""The ledger within one transaction: an authenticated standing, and events appended to it."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused, UnknownName
from discreet.ledger.chain_stores.store import FORMAT, Head, Transaction, damaged, newer
from discreet.ledger.events import GENESIS, Event, EventKind, now
from discreet.ledger.standing import PopulationStanding, Standing, StandingUnknown, fold
from discreet.ledger.trust.seal import Seal

__all__ = ["Book", "first_page"]


class Book:
    """Opened on a transaction; every change appends one event and moves the head with it."""

    def __init__(self, transaction: Transaction, seal: Seal) -> None:
        self.transaction = transaction
        self._seal = seal
        self.head = transaction.head()
        self.standing = authenticate(self.head, transaction, seal)

    def append(self, kind: EventKind, *, who: str, population: str = "", payload: Mapping[str, object]) -> Event:
        event = Event(
            sequence=self.head.sequence + 1,
            kind=kind,
            when=now(),
            who=who,
            population=population,
            payload=payload,
            previous=self.head.hash,
        )
        if self.transaction.format != FORMAT:  # no earlier release may write after this one
            self.transaction.upgrade()
        self.standing = fold(self.standing, event)
        self.head = make_head(event, self.standing, self._seal)
        self.transaction.insert_event(event)
        self.transaction.replace_head(self.head)
        return event

    def renew(self, seal: Seal) -> None:
        """What is appended from here on is signed with another key."""
        self._seal = seal

    def population(self, name: str) -> PopulationStanding:
        try:
            return self.standing.populations[name]
        except KeyError:
            known = self.standing.populations
            raise UnknownName(
                sort=Phrase("population"),
                name=name,
                where=say("the ledger"),
                known=known,
                advice=say("If adding its dataset was cut short, add it again with --replace."),
            ) from None

    def require_analyst(self, name: str) -> None:
        if name not in self.standing.analysts:
            raise UnknownName(
                sort=Phrase("analyst"),
                name=name,
                where=say("this workspace"),
                known=self.standing.analysts,
                advice=say("The custodian registers analysts: discreet analyst add {name}", name=name),
            )

    def require_dataset(self, dataset: str, *, population: str, version: int = 1) -> None:
        """The dataset was recorded under this population, whose budget is therefore the right one.

        A version that was not given out here may be given out later, for other rows.
        """
        entry = self.standing.datasets.get(dataset)
        if entry is None or entry.population != population:
            known = [name for name, entry in self.standing.datasets.items() if entry.population == population]
            raise UnknownName(
                sort=Phrase("dataset"),
                name=dataset,
                where=say("population '{population}' of the ledger", population=population),
                known=known,
                advice=say("If adding it was cut short, add it again with --replace."),
            )
        if version > entry.version and version > (newest := self.newest_version(dataset)):
            raise QueryRefused(
                say(
                    "The ledger has not given out version {version} of '{dataset}': its newest is {newest}. If "
                    "adding it was cut short, add it again with --replace. Nothing was released or charged.",
                    version=version,
                    dataset=dataset,
                    newest=newest,
                ),
                dataset=dataset,
                version=version,
            )

    def newest_version(self, dataset: str) -> int:
        """The largest version of a dataset that was given out; 0 if none was.

        Copies of a folder once counted for themselves, so that the last event need not have the largest number.
        """
        entry = self.standing.datasets.get(dataset)
        if entry is None:
            return 0
        events = self.transaction.find_datasets(population=entry.population)
        given = [int(event.payload["version"]) for event in events if event.payload["dataset"] == dataset]
        return max([entry.version, *given])


def first_page(seal: Seal, *, workspace_id: str, who: str) -> tuple[Event, Head]:
    """The event with which a ledger begins."""
    event = Event(
        sequence=1,
        kind=EventKind.OPENED,
        when=now(),
        who=who,
        population="",
        payload={"workspace": workspace_id},
        previous=GENESIS,
    )
    return event, make_head(event, fold(Standing(), event), seal)


def make_head(event: Event, standing: Standing, seal: Seal) -> Head:
    sequence, digest, text = event.sequence, event.hash, standing.text
    return Head(sequence, digest, text, seal.sign(sequence=sequence, hash=digest, standing=text))


def authenticate(head: Head, transaction: Transaction, seal: Seal) -> Standing:
    """The standing beside the head, once the key vouches for it and the chain ends where it says."""
    if not seal.holds(head.mac, sequence=head.sequence, hash=head.hash, standing=head.standing):
        raise damaged(say("the key does not vouch for its head"), sequence=head.sequence)
    last = transaction.event(head.sequence)
    if last is None or last.hash != head.hash or transaction.last_sequence() != head.sequence:
        raise damaged(say("its chain does not end at its head"), sequence=head.sequence)
    try:
        return Standing.from_text(head.standing)
    except StandingUnknown:
        raise newer(say("its standing holds something that this version does not know")) from None
