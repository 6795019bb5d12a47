"""What the figures of a table mean, as headings and sentences: the notes it was released with, then its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from discreet.data.columns import Labels
from discreet.pages.lettering import begin
from discreet.tables.factwords import (
    NOT_PRIVATE,
    tell_basis,
    tell_calibration,
    tell_charge,
    tell_cover,
    tell_guarantee,
    tell_level,
    tell_neighbours,
    tell_unit,
    tell_warning,
)
from discreet.tables.table import Table

__all__ = ["list_facts", "list_notes", "list_warnings", "warn_reader"]

Tell = Callable[[Table, str], str]

_WARNING: Final = Labels("Warning", "Avertissement")
_METHODS: Final = {"dp": Labels("differential privacy", "confidentialité différentielle")}


def list_notes(table: Table, language: str) -> Iterator[tuple[str, str]]:
    """Notes for people first; then every fact of the release that no note has named, and what it warns of."""
    for heading, sentence in table.notes:
        yield heading.text(language), sentence.text(language)
    yield from list_facts(table, language)
    yield from ((_WARNING.text(language), warning) for warning in list_warnings(table, language))


def list_facts(table: Table, language: str) -> Iterator[tuple[str, str]]:
    """What the release says of itself, in a fixed order, where no note says it already."""
    named = {heading.en.casefold() for heading, _ in table.notes}
    for title, tell in _FACTS:
        if title.en.casefold() not in named and (told := tell(table, language)):
            yield title.text(language), told


def list_warnings(table: Table, language: str) -> list[str]:
    """What the release warns of, without what its notes say already."""
    warnings = table.release.get("warnings")
    noted = {sentence.en for _, sentence in table.notes}
    if not isinstance(warnings, Sequence) or isinstance(warnings, str):
        return []
    return [tell_warning(str(warning), language) for warning in warnings if warning not in noted]


def warn_reader(table: Table, language: str) -> str | None:
    """What stands above everything else when a release is not differentially private."""
    if table.guarantee.differentially_private:
        return None
    # The guarantee's own words begin with what is said first.
    reason = tell_guarantee(table, language).partition(":")[2].strip()
    return f"{NOT_PRIVATE.text(language)} {begin(reason)}".strip()


def _known(name: str) -> Tell:
    """A fact that needs no translation: a name, a number, a hash."""

    def tell(table: Table, language: str) -> str:
        fact = table.release.get(name, table.description.get(name))
        return "" if fact is None else str(fact)

    return tell


def _tell_method(table: Table, language: str) -> str:
    method = _known("method")(table, language)
    return _METHODS[method].text(language) if method in _METHODS else method


_FACTS: Final[Sequence[tuple[Labels, Tell]]] = (
    (Labels("Only rows where", "Seulement les lignes où"), _known("where")),
    (Labels("Guarantee", "Garantie"), tell_guarantee),
    (Labels("Protected unit", "Unité protégée"), tell_unit),
    (Labels("Neighbours", "Voisins"), tell_neighbours),
    (Labels("Charged", "Imputé au budget"), tell_charge),
    (Labels("Method", "Méthode"), _tell_method),
    (Labels("Interval level", "Niveau des intervalles"), tell_level),
    (Labels("What an interval covers", "Ce que couvre un intervalle"), tell_cover),
    (Labels("Quality counts", "La qualité tient compte de"), tell_basis),
    (Labels("Calibrated to", "Calé sur"), tell_calibration),
    (Labels("Population", "Population"), _known("population")),
    (Labels("Dataset", "Jeu de données"), lambda table, _: table.dataset),
    (Labels("Version", "Version"), _known("version")),
    (Labels("Date", "Date"), lambda table, _: table.created),
    (Labels("Plan hash", "Empreinte du plan"), _known("plan_hash")),
    (Labels("Request", "Demande"), _known("request_id")),
)
