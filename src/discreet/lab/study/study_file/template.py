"""The file that `discreet study init` writes: a study that runs as it is, with every key explained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from discreet.cards import Card, Column, ColumnKind, draft_file
from discreet.catalogue import say
from discreet.lab.study.study_file.queries import varies
from discreet.lab.study.study_file.study_schema import STUDY

__all__ = ["sample_template", "template_for"]

_MODELS: Final = """
  - central
  - {model: local, categories: automatic, numbers: automatic, allocation: sampling, missing: public, counts: ratio}
  - {model: shuffle, mechanism: [single-message, multi-message]}"""

# What every drafted study says.
_SAID: Final = {
    "weights": "{multiplier: 1}",
    "models": _MODELS,
    "epsilon": "[3, 1, 0.5]",
    "epsilon_is": "total",
    "delta": "1e-6",
    "neighbours": "add-remove",
    "runs": "3",
    "level": "0.95",
    "metrics": "[ks-complement, correlation-similarity, coverage, linkage]",
    "seed": "1",
}
_ASKED: Final = """
  categories: all
  means: all
  sums: none"""

_SAMPLE_QUERIES: Final = """
  named:
    - {column: smoking, category: 1}
    - {mean: height}
  custom:
    - name: smokers_in_poor_health
      label: LABEL
      where: {smoking: [1], perceived_health: [4, 5]}
#   - {name: height_of_women, mean: height, where: {sex: [2]}}   # MEAN
#   - {name: weight_of_women, sum: body_weight, where: {sex: [2]}}   # SUM"""


def sample_template(file: str) -> str:
    """A study of the sample survey: thirteen provinces, five columns to protect."""
    said = {
        "study": "sample",
        "title": say("What privacy costs in the sample survey"),
        "sample": "{rows: 113290, seed: 1}",
        "strata": "[province]",
        "static": "[sex, marital_status, age_group]",
        "columns": "[smoking, perceived_health, life_stress, height, body_weight]",
        "queries": _ASKED + _ask_sample(),
    }
    return _write(file, said, figures="[smoking=1]")


def _ask_sample() -> str:
    said = {
        "LABEL": say("Daily smokers in fair or poor health"),
        "MEAN": say("a mean where static conditions hold"),
        "SUM": say("likewise a sum; by column: {{sum: body_weight}}"),
    }
    text = _SAMPLE_QUERIES
    for place, words in said.items():
        text = text.replace(place, words)
    return text


def template_for(card: Card, *, data: str, file: str) -> str:
    """A study of a card's dataset; `data` is what its key `dataset` says. Public categories are the strata."""
    strata = [c.name for c in card.columns if c.kind is ColumnKind.CATEGORY and c.public][:1]
    studied = [c for c in card.columns if c.name not in strata and not card.is_weight(c) and _fits(c)]
    columns = [column for column in studied if not column.public]
    said = {
        "study": card.dataset,
        "title": json.dumps(say("What privacy costs in {title}", title=card.title), ensure_ascii=False),
        "dataset": data,
        "strata": _listed(strata),
        "static": _listed(column.name for column in studied if column.public),
        "columns": _listed(column.name for column in columns),
        "queries": _ASKED + ("\n  named:" if columns else "") + "".join(map(_ask, columns[:2])),
    }
    figure = next((f"{c.name}={c.categories[0].code}" for c in columns if c.categories), "mean of NAME")
    return _write(file, said, figures=f"[{json.dumps(figure, ensure_ascii=False)}]")


def _write(file: str, said: Mapping[str, str], *, figures: str) -> str:
    use = say("Run it with: discreet study run {file} --out DIR      docs/study.md explains more.", file=file)
    return draft_file(STUDY, {**_SAID, **said}, use=use, examples={"figures": figures})


def _ask(column: Column) -> str:
    """A named query of a column: of its first code, or of its mean."""
    if column.categories:
        return f"\n    - {{column: {column.name}, category: {_scalar(column.categories[0].code)}}}"
    return f"\n    - {{mean: {column.name}}}"


def _fits(column: Column) -> bool:
    return (column.kind is ColumnKind.CATEGORY or (column.numeric and column.bounds is not None)) and varies(column)


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def _scalar(code: str) -> str:
    return code if code.isalnum() and code.isascii() else json.dumps(code, ensure_ascii=False)
