"""What the figures of a table mean, as headings and sentences: the notes it was released with, then its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from discreet.present.charts.lettering import begin
from discreet.present.messages import say_message
from discreet.present.words import (
    NOT_PRIVATE,
    tell_basis,
    tell_calibration,
    tell_charge,
    tell_cover,
    tell_guarantee,
    tell_level,
    tell_neighbours,
    tell_unit,
)
from discreet.results import Labels, Release, ReleaseKind, Unbounded

__all__ = ["list_facts", "list_messages", "list_notes", "list_warnings", "warn_reader"]

Tell = Callable[[Release, str], str]

_WARNING: Final = Labels("Warning", "Avertissement")
_METHODS: Final = {"dp": Labels("differential privacy", "confidentialité différentielle")}


def list_notes(release: Release, language: str) -> Iterator[tuple[str, str]]:
    """Notes for people first; then every fact of the release that no note has named, and what it warns of."""
    for heading, sentence in list_messages(release):
        yield heading.text(language), sentence.text(language)
    yield from list_facts(release, language)
    yield from ((_WARNING.text(language), warning) for warning in list_warnings(release, language))


def list_messages(release: Release) -> list[tuple[Labels, Labels]]:
    """Headings and sentences of the notes, without what is said of the population."""
    return [say_message(note) for note in release.notes if not isinstance(note, Unbounded)]


def list_facts(release: Release, language: str) -> Iterator[tuple[str, str]]:
    """What the release says of itself, in a fixed order, where no note says it already."""
    named = {heading.en.casefold() for heading, _ in list_messages(release)}
    for title, tell in _FACTS:
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


def _is_linked(release: Release) -> bool:
    return release.kind is ReleaseKind.LINKED


_FACTS: Final[Sequence[tuple[Labels, Tell]]] = (
    (Labels("Only rows where", "Seulement les lignes où"), _asked("where")),
    (Labels("Guarantee", "Garantie"), tell_guarantee),
    (Labels("Protected unit", "Unité protégée"), tell_unit),
    (Labels("Neighbours", "Voisins"), tell_neighbours),
    (Labels("Charged", "Imputé au budget"), tell_charge),
    (Labels("Method", "Méthode"), _tell_method),
    (Labels("Interval level", "Niveau des intervalles"), tell_level),
    (Labels("What an interval covers", "Ce que couvre un intervalle"), tell_cover),
    (Labels("Quality counts", "La qualité tient compte de"), tell_basis),
    (Labels("Calibrated to", "Calé sur"), tell_calibration),
    (Labels("Population", "Population"), lambda release, _: release.claim.population),
    (Labels("Dataset", "Jeu de données"), lambda release, _: "" if _is_linked(release) else release.source.dataset),
    (Labels("Study", "Étude"), lambda release, _: release.source.dataset if _is_linked(release) else ""),
    (Labels("Agreement", "Accord"), lambda release, _: release.source.agreement),
    (Labels("Version", "Version"), lambda release, _: str(release.source.version or "")),
    (Labels("Date", "Date"), lambda release, _: release.source.created),
    (Labels("Plan hash", "Empreinte du plan"), lambda release, _: release.source.plan_hash),
    (Labels("Request", "Demande"), lambda release, _: release.source.request_id),
)
