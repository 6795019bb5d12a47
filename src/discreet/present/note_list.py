"""What the figures of a table mean, as headings and sentences: the notes it was released with, then its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from discreet.catalogue import Phrase
from discreet.present.charts.lettering import begin
from discreet.present.messages import say_message
from discreet.present.protection import tell_protected, tell_protection, tell_strength
from discreet.present.words import (
    NOT_PRIVATE,
    tell_basis,
    tell_calibration,
    tell_charge,
    tell_cover,
    tell_guarantee,
    tell_level,
    tell_neighbours,
    titles_of,
)
from discreet.results import Labels, Release, ReleaseKind, Unbounded

__all__ = ["list_details", "list_facts", "list_messages", "list_notes", "list_warnings", "warn_reader"]

Tell = Callable[[Release, str], str]

_WARNING: Final = Phrase("Warning")
_METHODS: Final = {"dp": Phrase("differential privacy")}


def list_notes(release: Release, language: str) -> Iterator[tuple[str, str]]:
    """Notes for people first; then every fact of the release that no note has named, and what it warns of."""
    for heading, sentence in list_messages(release):
        yield heading.text(language), sentence.text(language)
    yield from list_facts(release, language)
    yield from ((_WARNING.text(language), warning) for warning in list_warnings(release, language))


def list_messages(release: Release) -> list[tuple[Labels, Labels]]:
    """Headings and sentences of the notes, without what is said of the population."""
    titles = titles_of(release)
    return [say_message(note, titles) for note in release.notes if not isinstance(note, Unbounded)]


def list_facts(release: Release, language: str) -> Iterator[tuple[str, str]]:
    """What the release says of itself to every reader, in a fixed order, where no note says it already."""
    return _list(_FACTS, release, language)


def list_details(release: Release, language: str, *, hashes: bool = True) -> Iterator[tuple[str, str]]:
    """What somebody needs who verifies the release: terms of the trade, names, hashes."""
    return _list([item for item in _DETAILS if hashes or item is not _HASH], release, language)


def _list(facts: Sequence[tuple[Labels, Tell]], release: Release, language: str) -> Iterator[tuple[str, str]]:
    named = {heading.en.casefold() for heading, _ in list_messages(release)}
    for title, tell in facts:
        if title.en.casefold() not in named and (text := tell(release, language)):
            yield title.text(language), text


def list_warnings(release: Release, language: str) -> list[str]:
    """What is said of the population, whatever the figures are."""
    return [say_message(note)[1].text(language) for note in release.notes if isinstance(note, Unbounded)]


def warn_reader(release: Release, language: str) -> str | None:
    """What stands above everything else when a release is not differentially private."""
    if release.guarantee.differentially_private:
        return None
    # The guarantee's own words begin with what is said first.
    reason = tell_guarantee(release, language).partition(":")[2].strip()
    return f"{NOT_PRIVATE.text(language)} {begin(reason)}".strip()


def _asked(name: str) -> Tell:
    """A part of the request that needs no translation: a name, a condition."""

    def tell(release: Release, language: str) -> str:
        fact = release.asked.get(name)
        return "" if fact is None else str(fact)

    return tell


def _tell_method(release: Release, language: str) -> str:
    method = _asked("method")(release, language)
    return _METHODS[method].text(language) if method in _METHODS else method


def _tell_date(release: Release, language: str) -> str:
    """The day, as everybody reads it; the details have the time."""
    return release.source.created.partition("T")[0]


def _is_linked(release: Release) -> bool:
    return release.kind is ReleaseKind.LINKED


_FACTS: Final[Sequence[tuple[Labels, Tell]]] = (
    (Phrase("Only rows where"), _asked("where")),
    (Phrase("Protection"), tell_protection),
    (Phrase("Strength of the protection"), tell_strength),
    (Phrase("Interval level"), tell_level),
    (Phrase("What an interval covers"), tell_cover),
    (Phrase("Quality counts"), tell_basis),
    (Phrase("Calibrated to"), tell_calibration),
    (Phrase("Method"), _tell_method),
    (Phrase("Date"), _tell_date),
)
_HASH: Final[tuple[Labels, Tell]] = (Phrase("Plan hash"), lambda release, _: release.source.plan_hash)
_DETAILS: Final[Sequence[tuple[Labels, Tell]]] = (
    (Phrase("Guarantee"), tell_guarantee),
    (Phrase("Protected unit"), tell_protected),
    (Phrase("Neighbours"), tell_neighbours),
    (Phrase("Charged"), tell_charge),
    (Phrase("Population"), lambda release, _: release.claim.population),
    (Phrase("Dataset"), lambda release, _: "" if _is_linked(release) else release.source.dataset),
    (Phrase("Study"), lambda release, _: release.source.dataset if _is_linked(release) else ""),
    (Phrase("Agreement"), lambda release, _: release.source.agreement),
    (Phrase("Version"), lambda release, _: str(release.source.version or "")),
    (Phrase("Time"), lambda release, _: release.source.created if "T" in release.source.created else ""),
    _HASH,
    (Phrase("Request"), lambda release, _: release.source.request_id),
)
