"""The cards of the samples, as YAML text in the card's own language.

A card states only what an agency that ran such a survey would make public: bounds and caps are round numbers, the
same for every sample, never read from its rows.
"""

from __future__ import annotations

from typing import Final

from discreet.catalogue import FRENCH, localise
from discreet.samples.card_lines import category_lines, column_lines, label_pair
from discreet.samples.published_figures import Label, PublishedFigures, Variable, load_figures

__all__ = ["CAPS", "ce_card", "survey_card", "visits_card"]

# By province code: weights above are cut.
CAPS: Final = {
    10: 1500,
    11: 500,
    12: 1500,
    13: 1500,
    24: 3000,
    35: 4400,
    46: 2000,
    47: 2000,
    48: 2500,
    59: 2500,
    60: 250,
    61: 250,
    62: 250,
}

# By design: nobody is drawn without a value, and non-response has codes of its own.
_COMPLETE: Final = "complete: true"

_TERMS: Final = """\
population: cchs-2017
unit: {{column: person_id, rows: {rows}}}
neighbours: add-remove
size: private
budget: {{epsilon: 3, per_analyst: 1}}
"""

_CLINICS: Final = (
    Label("Family practice", "Médecine familiale"),
    Label("Walk-in clinic", "Clinique sans rendez-vous"),
    Label("Specialist", "Spécialiste"),
    Label("Emergency department", "Service d'urgence"),
    Label("Virtual care", "Soins virtuels"),
)


_RACES: Final = (
    Label("White", "Blanche"),
    Label("Black", "Noire"),
    Label("Native American", "Autochtone d'Amérique"),
    Label("Asian", "Asiatique"),
    Label("Pacific Islander", "Insulaire du Pacifique"),
    Label("Multi-race", "Plusieurs races"),
)
_REGIONS: Final = (
    Label("Northeast", "Nord-Est"),
    Label("Midwest", "Midwest"),
    Label("South", "Sud"),
    Label("West", "Ouest"),
)


def survey_card(*, rows: int, seed: int) -> str:
    """The card of the survey: every column with its labels, every category that occurs in the code book."""
    figures = load_figures()
    blocks = [
        f"# The sample survey: {rows:,} synthetic people, seed {seed}. No row is a record of a real person.\n"
        "# Codes and labels follow the code book of the Canadian Community Health Survey 2017–2018\n"
        "# (Statistics Canada, public use microdata file). See docs/sample.md.\n"
        "dataset: survey\n"
        f"title: {label_pair(Label('Health survey (sample)', 'Enquête sur la santé (échantillon synthétique)'))}\n"
        + _TERMS.format(rows=1)
        + "weight:\n  column: weight\n  cap:\n    by: province\n    values:\n"
        + "".join(f"      {code}: {cap}\n" for code, cap in CAPS.items())
        + _totals(figures, rows)
        + "columns:\n",
        column_lines("person_id", Label("Person", "Personne"), ["kind: id", "type: integer"]),
        *(_category_column(variable) for variable in figures.variables.values()),
        _number("height", figures, bounds="[1.2, 2.1]", step="0.001", missing="[9.996, 9.997, 9.998, 9.999]"),
        _number(
            "body_weight",
            figures,
            bounds="[30, 140]",
            step="0.01",
            missing="[999.96, 999.97, 999.98, 999.99]",
        ),
        _number("weight", figures, bounds="[0, 15000]", step="0.01"),
        column_lines(
            "full_weight",
            Label("Survey weight before its cap", "Poids d’enquête avant plafonnement"),
            ["kind: number", "source: weight", "bounds: [0, 15000]", "step: 0.01"],
        ),
    ]
    return "".join(blocks)


def _totals(figures: PublishedFigures, rows: int) -> str:
    """The published weight of every province, to whole people; for another number of rows in proportion."""
    share = rows / figures.rows
    en = "Statistics Canada, code book of the CCHS 2017–2018 public use microdata file, weighted counts by province"
    fr = (
        "Statistique Canada, livre des codes du fichier de microdonnées à grande diffusion de l’ESCC 2017-2018, "
        "effectifs pondérés selon la province"
    )
    if rows != figures.rows:
        en += f"; in proportion to {rows:,} of {figures.rows:,} rows"
        few, all_ = (localise(f"{number:,}", FRENCH) for number in (rows, figures.rows))
        fr += f"\u202f; en proportion de {few} lignes sur {all_}"
    provinces = figures.variables["province"].categories
    return f"totals:\n  by: province\n  source: {label_pair(Label(en, fr))}\n  values:\n" + "".join(
        f"    {item.code}: {round(item.weighted * share)}\n" for item in provinces
    )


def visits_card(*, people: int, seed: int) -> str:
    """The card of the visits: the survey's population and terms; at most 20 rows of a person count."""
    blocks = [
        f"# The sample visits of {people:,} synthetic people, seed {seed}. No row records a real visit.\n"
        "# The people are those of the sample survey of the same size and seed. See docs/sample.md.\n"
        "dataset: visits\n"
        f"title: {label_pair(Label('Visits (sample)', 'Consultations (échantillon synthétique)'))}\n"
        + _TERMS.format(rows=20)
        + "columns:\n",
        column_lines("person_id", Label("Person", "Personne"), ["kind: id", "type: integer"]),
        column_lines(
            "visit",
            Label("Number of the visit", "Numéro de la consultation"),
            ["kind: integer", _COMPLETE, "bounds: [1, 40]"],
        ),
        column_lines(
            "day",
            Label("Day, from the first of two years", "Jour, sur deux ans"),
            ["kind: integer", _COMPLETE, "bounds: [1, 730]"],
        ),
        column_lines(
            "clinic",
            Label("Kind of clinic", "Type de clinique"),
            ["kind: category", _COMPLETE, *category_lines(enumerate(_CLINICS, start=1))],
        ),
        column_lines(
            "cost",
            Label("Cost in dollars", "Coût en dollars"),
            ["kind: number", _COMPLETE, "bounds: [0, 2000]", "step: 0.01"],
        ),
    ]
    return "".join(blocks)


def ce_card(*, seed: int) -> str:
    """The card of the consumer units: incomes within the bounds of the textbook's example, one row for each unit."""
    blocks = [
        f"# The sample of consumer units: 994 synthetic households, seed {seed}. No row is a record of a real one.\n"
        "# 51 are rural and the mean income is 67,593 dollars, as in a textbook's example. See docs/tutorial-ce.md.\n"
        "dataset: ce\n"
        f"title: {label_pair(Label('Consumer units (sample)', 'Ménages consommateurs (échantillon synthétique)'))}\n"
        "population: ce-example\n"
        "unit: {column: unit_id, rows: 1}\n"
        "neighbours: add-remove\n"
        "size: private\n"
        "budget: {epsilon: 3}\n"
        "columns:\n",
        column_lines("unit_id", Label("Consumer unit", "Ménage consommateur"), ["kind: id", "type: integer"]),
        column_lines(
            "urban_rural",
            Label("Urban or rural", "Urbain ou rural"),
            [
                "kind: category",
                _COMPLETE,
                *category_lines([(1, Label("Urban", "Urbain")), (2, Label("Rural", "Rural"))]),
            ],
        ),
        column_lines(
            "region",
            Label("Region", "Région"),
            ["kind: category", _COMPLETE, *category_lines(enumerate(_REGIONS, start=1))],
        ),
        column_lines(
            "family_size",
            Label("Family size", "Taille de la famille"),
            ["kind: integer", _COMPLETE, "bounds: [1, 20]"],
        ),
        column_lines(
            "income",
            Label("Income before taxes, past 12 months, dollars", "Revenu avant impôt, 12 derniers mois, dollars"),
            ["kind: integer", _COMPLETE, "bounds: [0, 1000000]"],
        ),
        column_lines(
            "race",
            Label("Race of the reference person", "Race de la personne de référence"),
            ["kind: category", _COMPLETE, *category_lines(enumerate(_RACES, start=1))],
        ),
        column_lines(
            "expenditure",
            Label("Expenditure in the last quarter, dollars", "Dépenses du dernier trimestre, dollars"),
            ["kind: integer", _COMPLETE, "bounds: [0, 100000]"],
        ),
    ]
    return "".join(blocks)


def _category_column(variable: Variable) -> str:
    public = ["public: true"] if variable.name == "province" else []
    pairs = ((category.code, category.label) for category in variable.categories)
    return column_lines(variable.name, variable.label, ["kind: category", *public, _COMPLETE, *category_lines(pairs)])


def _number(name: str, figures: PublishedFigures, *, bounds: str, step: str, missing: str | None = None) -> str:
    lines = ["kind: number", f"bounds: {bounds}", f"step: {step}"]
    return column_lines(name, figures.measures[name].label, [*lines, *([f"missing: {missing}"] if missing else [])])
