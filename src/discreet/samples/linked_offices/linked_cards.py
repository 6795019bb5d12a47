"""The cards of the files to link: of the health file, and of the registry by household and by person.

Like the other samples' they state what the offices would make public. Budgets are pure, and have room for what linked
counts reserve.
"""

from __future__ import annotations

from typing import Final

from discreet.samples.card_lines import category_lines, column_lines, label_pair
from discreet.samples.published_figures import Label

__all__ = ["health_card", "people_card", "registry_card"]

_CATEGORY: Final = ["kind: category", "complete: true"]
_YES_NO: Final = category_lines([("yes", Label("Yes", "Oui")), ("no", Label("No", "Non"))])
_ENGLISH: Final = ("English", Label("English", "Anglais"))
_FRENCH: Final = ("French", Label("French", "Français"))
_HEALTH_NUMBER: Final = Label("Health number", "Numéro de carte santé")
_ADDRESS: Final = Label("Address code of the household", "Code d'adresse du ménage")

_TERMS: Final = """\
dataset: {dataset}
title: {title}
population: {population}
unit: {{column: {unit}, rows: {rows}}}
neighbours: add-remove
size: private
rows_at_most: {people}
budget: {{epsilon: 4, per_analyst: 1}}
"""


def health_card(*, people: int, seed: int) -> str:
    """The card of the health file: one row for each person."""
    diabetes = [
        ("none", Label("None", "Aucun")),
        ("type 1", Label("Type 1", "Type 1")),
        ("type 2", Label("Type 2", "Type 2")),
    ]
    regions = [
        ("east", Label("East", "Est")),
        ("central", Label("Central", "Centre")),
        ("toronto", Label("Toronto", "Toronto")),
        ("west", Label("West", "Ouest")),
        ("north", Label("North", "Nord")),
    ]
    sexes = [("female", Label("Female", "Féminin")), ("male", Label("Male", "Masculin"))]
    return "".join(
        [
            _head(people, seed),
            _TERMS.format(
                dataset="health",
                title=label_pair(Label("Insured persons (sample)", "Personnes assurées (échantillon synthétique)")),
                population="insured",
                unit="health_number",
                rows=1,
                people=people,
            ),
            "columns:\n",
            column_lines("health_number", _HEALTH_NUMBER, ["kind: id", "type: integer"]),
            column_lines("address", _ADDRESS, ["kind: id", "type: text"]),
            column_lines(
                "age",
                Label("Age in years", "Âge en années"),
                ["kind: integer", "complete: true", "bounds: [0, 110]", "edges: [0, 15, 25, 45, 65, 75, 85, 110]"],
            ),
            column_lines("sex", Label("Sex", "Sexe"), [*_CATEGORY, *category_lines(sexes)]),
            column_lines("region", Label("Health region", "Région sanitaire"), [*_CATEGORY, *category_lines(regions)]),
            column_lines(
                "angioplasty", Label("Ever had an angioplasty", "A déjà subi une angioplastie"), [*_CATEGORY, *_YES_NO]
            ),
            column_lines("diabetes", Label("Diabetes", "Diabète"), [*_CATEGORY, *category_lines(diabetes)]),
            column_lines(
                "hospital_days",
                Label("Days in hospital in the last year", "Jours d'hospitalisation dans la dernière année"),
                ["kind: integer", "complete: true", "bounds: [0, 365]", "edges: [0, 1, 4, 8, 15, 31, 365]"],
            ),
        ]
    )


def registry_card(*, people: int, seed: int) -> str:
    """The card of the registry whose unit is the household: of more than five members, five count."""
    title = Label("Languages of residents (sample)", "Langues des résidents (échantillon synthétique)")
    terms = _TERMS.format(
        dataset="registry",
        title=label_pair(title),
        population="residents",
        unit="household",
        rows=5,
        people=people,
    )
    return _head(people, seed) + terms + _registry_columns()


def people_card(*, people: int, seed: int) -> str:
    """The card of the same registry file whose unit is the person."""
    title = Label(
        "Languages of residents, by person (sample)", "Langues des résidents, par personne (échantillon synthétique)"
    )
    terms = _TERMS.format(
        dataset="people",
        title=label_pair(title),
        population="residents-by-person",
        unit="person",
        rows=1,
        people=people,
    )
    note = "# The rows are those of registry.yaml, under a budget of its own: use one of the two cards, not both.\n"
    return _head(people, seed) + note + terms + _registry_columns()


def _head(people: int, seed: int) -> str:
    return (
        f"# A sample to link: {people:,} synthetic residents, seed {seed}. No row is a record of a real person.\n"
        "# Household sizes, ages and languages follow the census of Ontario. See docs/sample.md.\n"
    )


def _registry_columns() -> str:
    official = [_ENGLISH, _FRENCH, ("both", Label("Both", "Les deux")), ("neither", Label("Neither", "Aucune"))]
    at_home = [_ENGLISH, _FRENCH, ("other", Label("Another language", "Une autre langue"))]
    blocks = [
        ("household", _ADDRESS, ["kind: id", "type: text"]),
        ("person", _HEALTH_NUMBER, ["kind: id", "type: integer"]),
        ("census_id", Label("Census number", "Numéro de recensement"), ["kind: id", "type: integer"]),
        ("french", Label("Mother tongue: French", "Langue maternelle : français"), [*_CATEGORY, *_YES_NO]),
        ("english", Label("Mother tongue: English", "Langue maternelle : anglais"), [*_CATEGORY, *_YES_NO]),
        ("other", Label("Mother tongue: another", "Langue maternelle : autre"), [*_CATEGORY, *_YES_NO]),
        (
            "first_official",
            Label("First official language spoken", "Première langue officielle parlée"),
            [*_CATEGORY, *category_lines(official)],
        ),
        (
            "home_language",
            Label("Language spoken most often at home", "Langue parlée le plus souvent à la maison"),
            ["kind: category", *category_lines(at_home)],
        ),
        ("asked", Label("Received the long form", "A reçu le questionnaire détaillé"), [*_CATEGORY, *_YES_NO]),
        (
            "weight",
            Label("Weight of the long form", "Poids du questionnaire détaillé"),
            ["kind: number", "complete: true", "bounds: [0, 10]", "step: 1"],
        ),
    ]
    columns = (column_lines(name, label, lines) for name, label, lines in blocks)
    return "".join(["weight: {column: weight, cap: 5}\n", "columns:\n", *columns])
