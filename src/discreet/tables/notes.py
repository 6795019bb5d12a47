"""What the figures of a table mean, as headings and sentences: the notes it was released with, then its facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from discreet.data.columns import Labels
from discreet.tables.table import Table

__all__ = ["list_notes", "warn_reader"]

_FACTS: Final[Sequence[tuple[str, Labels]]] = (
    ("guarantee", Labels("Guarantee", "Garantie")),
    ("unit", Labels("Protected unit", "Unité protégée")),
    ("neighbours", Labels("Neighbours", "Voisins")),
    ("charge", Labels("Charged", "Imputé au budget")),
    ("strategy", Labels("Strategy", "Stratégie")),
    ("method", Labels("Method", "Méthode")),
    ("level", Labels("Interval level", "Niveau des intervalles")),
    ("interval_meaning", Labels("What an interval covers", "Ce que couvre un intervalle")),
    ("quality_basis", Labels("Quality is judged by", "La qualité est jugée d’après")),
    ("calibration", Labels("Calibration", "Calage")),
    ("population", Labels("Population", "Population")),
    ("dataset", Labels("Dataset", "Jeu de données")),
    ("version", Labels("Version", "Version")),
    ("created", Labels("Date", "Date")),
    ("plan_hash", Labels("Plan hash", "Empreinte du plan")),
    ("request_id", Labels("Request", "Demande")),
    ("warnings", Labels("Warning", "Avertissement")),
)
_EPSILON: Final = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
_NOT_PRIVATE: Final = Labels("Not differentially private.", "Sans confidentialité différentielle.")


def list_notes(table: Table, language: str) -> Iterator[tuple[str, str]]:
    """Notes for people first; then every fact of the release that no note has named."""
    named = set()
    for heading, sentence in table.notes:
        named.add(heading.text(language).casefold())
        yield heading.text(language), sentence.text(language)
    facts = _facts(table)
    for name, title in _FACTS:
        if title.text(language).casefold() not in named:
            yield from ((title.text(language), words) for words in _sentences(facts.get(name)))


def warn_reader(table: Table, language: str) -> str | None:
    """What stands above everything else when a release is not differentially private."""
    if table.guarantee.differentially_private:
        return None
    return f"{_NOT_PRIVATE.text(language)} [{table.guarantee}]"


def _facts(table: Table) -> Mapping[str, object]:
    intervals = any(entry.low is not None or entry.high is not None for entry in table.entries())
    return {
        **table.description,
        **table.release,
        "guarantee": str(table.guarantee),
        "level": table.level if intervals else None,
        "quality_basis": table.quality_basis,
        "calibration": table.calibration,
        "dataset": table.dataset,
        "created": table.created,
    }


def _sentences(fact: object) -> Iterator[str]:
    """A fact as text; nothing for what is absent, one sentence for each of a list."""
    if fact is None or fact == "":
        return
    if isinstance(fact, Mapping):
        yield ", ".join(f"{_EPSILON.get(str(name), name)} = {value}" for name, value in fact.items())
    elif isinstance(fact, Sequence) and not isinstance(fact, str):
        for one in fact:
            yield str(one)
    else:
        yield str(fact)
