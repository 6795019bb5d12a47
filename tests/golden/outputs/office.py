"""The folder that every scene starts from: a workspace with three small datasets, and a survey that collects locally.

Two hundred patients, each with a weight and every kind of column; visits whose keys the card does not list, under an
(epsilon, delta) budget; farms whose card permits releases without a proof.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.cli.in_process import call_here

__all__ = ["make_office"]

REPORTS: Final = Path(__file__).with_name("reports.jsonl")

CLINIC: Final = """\
dataset: clinic
title: {en: Clinic, fr: Clinique}
description: {en: People who came in., fr: Les personnes venues.}
population: patients
unit: {column: patient, rows: 1}
neighbours: add-remove
size: private
weight: {column: weight, cap: {by: town, values: {N: 5, S: 20}}}
totals: {by: town, values: {N: 700, S: 900}, source: {en: Register, fr: Registre}}
budget: {epsilon: 6, per_analyst: 4}
columns:
  patient: {kind: id, type: integer}
  town:
    kind: category
    label: {en: Town, fr: Ville}
    public: true
    complete: true
    categories: {N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}
  smokes:
    kind: category
    label: {en: Smokes, fr: Fume}
    categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}
  age:
    kind: integer
    label: {en: Age, fr: Âge}
    bounds: [0, 110]
    edges: [0, 30, 60, 110]
    typical: 40
    precision: 5
    missing: [999]
  income: {kind: integer, label: {en: Income, fr: Revenu}, bounds: private}
  gain: {kind: integer, label: {en: Gain, fr: Gain}, bounds: [0, 50], provenance: from_rows}
  weight: {kind: integer, bounds: [0, 60]}
  full: {kind: integer, source: weight, bounds: [0, 60]}
  note: {kind: text}
"""

VISITS: Final = """\
dataset: visits
title: {en: Visits, fr: Visites}
population: visitors
unit: {column: person, rows: 3}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6, per_analyst: 2}
columns:
  person: {kind: id, type: text}
  ward: {kind: category, label: {en: Ward, fr: Service}, categories: {A: {en: Day, fr: Jour}, B: {en: Night, fr: Nuit}}}
  cost: {kind: number, label: {en: Cost, fr: Coût}, bounds: [0, 100], step: 0.5}
  reason: {kind: text, label: {en: Reason, fr: Motif}}
"""

FARMS: Final = """\
dataset: farms
title: {en: Farms, fr: Fermes}
unit: {column: farm, rows: 1}
neighbours: replace-one
size: public
exact_public: true
budget: {epsilon: 3, per_analyst: 2}
allow: [bootstrap, generated]
columns:
  farm: {kind: id, type: integer}
  status: {kind: category, label: {en: Status, fr: Statut}, categories: {owner: {en: Owner, fr: Propriétaire},
    share: {en: Sharecropper, fr: Métayer}}}
  output: {kind: integer, label: {en: Output, fr: Production}, bounds: [0, 1000]}
"""

TOWNS: Final = "town,region,people\nN,East,700\nS,West,900\n"

WORKLOAD: Final = """\
questions:
  - name: towns
    sql: SELECT town, COUNT(*) AS people FROM clinic GROUP BY town
    within: {people: 20}
  - name: ages
    sql: SELECT AVG(age) AS mean FROM clinic
    within: {mean: 10}
    assume: {n: 200}
"""

SHARED: Final = """\
epsilon: 1
questions:
  - name: smokers
    sql: SELECT smokes, COUNT(*) AS people FROM clinic GROUP BY smokes
    share: 2
  - name: weights
    sql: SELECT SUM(weight) AS people FROM clinic
"""

MANIFEST: Final = """\
survey: clinic
version: 1
title: {en: Clinic, fr: Clinique}
epsilon: 4
mode: split
groups:
  town: {label: {en: Town, fr: Ville}, categories: {N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}}
questions:
  smokes: {kind: category, label: {en: Smokes, fr: Fume}, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}}
  age: {kind: integer, label: {en: Age, fr: Âge}, bounds: [0, 110], missing: public}
"""

STUDY: Final = """\
study: clinic
dataset: {card: clinic.yaml, file: clinic.csv}
strata: [town]
static: [smokes]
models: [central]
epsilon: [1]
epsilon_is: per-column
runs: 2
seed: 7
"""


def _clinic() -> str:
    lines = ["patient,town,smokes,age,income,gain,weight,note"]
    for patient in range(1, 201):
        town = "N" if patient % 3 else "S"
        smokes = "" if patient % 19 == 0 else 1 + (patient % 7 > 2)
        age = 999 if patient % 23 == 0 else 20 + patient % 50
        weight = 3 + patient % 4 if town == "N" else 10 + patient % 30
        lines.append(f"{patient},{town},{smokes},{age},{1500 + 13 * patient},{patient % 51},{weight},n{patient % 5}")
    return "\n".join(lines) + "\n"


def _visits() -> str:
    reasons = ("cold", "cold", "cough", "check", "check", "fall", "rare")
    lines = ["person,ward,cost,reason"]
    for visit in range(600):
        reason = reasons[visit % 6] if visit != 100 else reasons[6]
        lines.append(f"p{visit // 2},{'AB'[visit % 5 > 2]},{visit % 90 / 2},{reason}")
    return "\n".join(lines) + "\n"


def _farms() -> str:
    return "farm,status,output\n" + "".join(
        f"{farm},{'owner' if farm < 30 else 'share'},{farm * 7}\n" for farm in range(1, 41)
    )


def _answers() -> str:
    lines = ["town,smokes,age"]
    for patient in range(60):
        lines.append(f"{'NS'[patient % 3 == 0]},{1 + patient % 2},{'' if patient % 11 == 0 else 20 + patient}")
    return "\n".join(lines) + "\n"


def make_office(folder: Path) -> None:
    """By the commands a user would give."""
    files = {
        "clinic.yaml": CLINIC,
        "clinic.csv": _clinic(),
        "visits.yaml": VISITS,
        "visits.csv": _visits(),
        "farms.yaml": FARMS,
        "farms.csv": _farms(),
        "towns.csv": TOWNS,
        "work.yaml": WORKLOAD,
        "shared.yaml": SHARED,
        "survey.yaml": MANIFEST,
        "study.yaml": STUDY,
        "answers.csv": _answers(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if REPORTS.exists():
        shutil.copy2(REPORTS, folder)
    for words in (
        ("init", "w"),
        ("add", "-w", "w", "clinic.csv"),
        ("add", "-w", "w", "visits.csv", "--yes"),
        ("add", "-w", "w", "farms.csv", "--yes"),
        ("public", "add", "-w", "w", "towns.csv", "--key", "town"),
        ("local", "keys"),
        ("local", "sign", "survey.yaml", "--out", "survey.json"),
    ):
        done = call_here(folder, words)
        assert done.code == 0, (words, done)
