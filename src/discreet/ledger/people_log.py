"""What the chain says of people, read on from where a reader was, or anew where that is on another chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from discreet.ledger.book import Book
from discreet.ledger.chain_stores.store import Transaction
from discreet.ledger.events import Event, EventKind

__all__ = ["NO_MARK", "ChainMark", "PeopleLog", "has_news", "read_people"]

_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class ChainMark:
    """An event by its number and hash: whoever was there knows its chain again."""

    sequence: int
    hash: str


NO_MARK: Final = ChainMark(0, "")


@dataclass(frozen=True, slots=True)
class PeopleLog:
    """Events about people up to `mark`, the oldest first: all of them where `whole`, else those after what was read."""

    mark: ChainMark
    events: tuple[Event, ...]
    whole: bool


def read_people(book: Book, after: ChainMark) -> PeopleLog:
    """What was written after a mark; everything where the chain does not have that mark."""
    mark = ChainMark(book.head.sequence, book.head.hash)
    if after == mark:
        return PeopleLog(mark, (), whole=False)
    known = _is_on(book, after)
    return PeopleLog(mark, tuple(_walk(book.transaction, after.sequence if known else 0, mark)), whole=not known)


def has_news(book: Book, after: ChainMark) -> bool:
    """Whether anything was written about people after a mark, or the mark is of another chain."""
    mark = ChainMark(book.head.sequence, book.head.hash)
    if after == mark:
        return False
    return not _is_on(book, after) or next(_walk(book.transaction, after.sequence, mark), None) is not None


def _is_on(book: Book, mark: ChainMark) -> bool:
    event = book.transaction.event(mark.sequence)
    return event is not None and event.hash == mark.hash


def _walk(transaction: Transaction, after: int, mark: ChainMark) -> Iterator[Event]:
    low = after + 1
    while low <= mark.sequence:
        page = transaction.page(
            low=low,
            high=mark.sequence,
            kinds=[EventKind.PEOPLE],
            population=None,
            analyst=None,
            newest_first=False,
            size=_PAGE,
        )
        yield from page
        if len(page) < _PAGE:
            return
        low = page[-1].sequence + 1
