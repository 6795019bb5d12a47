"""The file that `discreet study init` writes: a study that runs as it is, with every key explained."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from discreet.data.card import Card, Column, Kind
from discreet.study.queries import varies

__all__ = ["sample_template", "template_for"]

_HEAD: Final = """\
# A study: what a choice of model, ε and mechanism does to your tables, before anything is released.
# It is computed from the true data with repeatable noise: its results are for the custodian alone.
# Run it with: discreet study run {file} --out DIR      Every key is explained in docs/study.md.

study: {name}
title: {title}

# The data: exactly one of
#   sample: {{rows: 113290, seed: 1}}                 the sample survey; its seed is not that of the noise
#   dataset: {{card: survey.yaml, file: survey.parquet}}   a file and its card, from this folder
#   dataset: {{workspace: office, name: survey}}      what a workspace holds
{data}

# Weights, and all counts with them, are multiplied by this.
weights: {{multiplier: 1}}

# Groups: every combination of these category columns that occurs. [] is one group.
strata: {strata}

# Columns left as they are, beside the strata. Whoever is unique on them stays recognisable.
static: {static}

# Columns to protect. Without this key: every other category, and every number with bounds.
{columns}
"""

_TAIL: Final = """\
# The models to compare: names, or mappings with their choices. A list makes one variant of each.
#   central   {{noise: laplace or gaussian}}: as discreet query answers; gaussian is drawn for (ε, δ), as tables do
#   table     {{noise: laplace or gaussian, calibrate: none or card}}: as discreet table publishes, with all margins
#   local     {{categories: automatic, grr, oue, rappor, olh, subset or hadamard,
#              numbers: automatic, laplace, duchi, piecewise, piecewise-wide, hybrid or bounded-laplace
#              (to compare only: clip, modulo, abs),
#              allocation: sampling or split (when ε is a total: a few columns of each person, or all at a share),
#              missing: public or category,
#              counts: total or ratio (the share among those asked times everybody's weight: what to take of a sample)}}
#   hybrid    {{share: [0.1, 0.3], selection: {{column: {selected}, times: 0.5}}, relation: samples or strata}}
#             a share of people answer in clear, the others as in local; who answers in clear may depend on an answer,
#             here half as often (none: all alike; numbers: above: 30 in place of codes)
#   shuffle   {{mechanism: single-message, multi-message or vector-sum}}: to compare; no command runs it
#   naive     {{mechanism: central, local, shuffle or all}}: an early report's recipe. Not private; to compare only.
models:
  - central
  - {{model: local, categories: automatic, numbers: automatic, allocation: sampling, missing: public, counts: ratio}}
  - {{model: shuffle, mechanism: [single-message, multi-message]}}

# The privacy parameters to compare, and whether each is spent per-column or is the total of a respondent.
# Advice goes by the total: ten columns at ε = 1 each cost a respondent 10.
epsilon: [3, 1, 0.5]
epsilon_is: total

# δ of the shuffle models and of Gaussian noise.
delta: 1e-6

# The noise of central models and tables: laplace, gaussian or both.
# noise: [laplace, gaussian]

# For central, table and multi-message: add-remove or replace-one. The others are replace-one by nature.
neighbours: add-remove

# Runs at each ε, and the coverage of the intervals.
runs: 3
level: 0.95

# Accuracy against the number of respondents: the study is repeated on so many of them.
# rows: [2000, 10000, 50000]

# What is asked in every group. Custom queries are questions of their own, with an ε of their own.
queries:
  categories: all        # every category of every protected column; or none
  means: all             # the mean of every protected number; or none
  sums: none             # the sum of every protected number, weighted as the survey is; or all
{queries}

# Queries that get figures. Without this key: the named and custom ones, else the first six.
# figures: ["{figure}"]

# Quality metrics.
metrics: [ks-complement, correlation-similarity, coverage, linkage]

# The seed of all noise: the same seed gives the same study.
seed: 1
"""

_SAMPLE_QUERIES: Final = """\
  named:
    - {column: smoking, category: 1}
    - {mean: height}
  custom:
    - name: smokers_in_poor_health
      label: Daily smokers in fair or poor health
      where: {smoking: [1], perceived_health: [4, 5]}
#   - {name: height_of_women, mean: height, where: {sex: [2]}}   # a mean where static conditions hold
#   - {name: weight_of_women, sum: body_weight, where: {sex: [2]}}   # a sum likewise; by column: {sum: body_weight}"""


def sample_template(file: str) -> str:
    """A study of the sample survey: thirteen provinces, five columns to protect."""
    columns = "[smoking, perceived_health, life_stress, height, body_weight]"
    head = _HEAD.format(
        file=file,
        name="sample",
        title="What privacy costs in the sample survey",
        data="sample: {rows: 113290, seed: 1}",
        strata="[province]",
        static="[sex, marital_status, age_group]",
        columns=f"columns: {columns}",
    )
    return head + "\n" + _TAIL.format(queries=_SAMPLE_QUERIES, figure="smoking=1", selected="smoking, codes: [1]")


def template_for(card: Card, *, data: str, file: str) -> str:
    """A study of a card's dataset; `data` is the line that names it. Public categories are the strata."""
    strata = [c.name for c in card.columns if c.kind is Kind.CATEGORY and c.public][:1]
    studied = [c for c in card.columns if c.name not in strata and not card.is_weight(c) and _fits(c)]
    static = [column.name for column in studied if column.public]
    columns = [column for column in studied if not column.public]
    head = _HEAD.format(
        file=file,
        name=card.dataset,
        title=json.dumps(f"What privacy costs in {card.title.en}", ensure_ascii=False),
        data=data,
        strata=_listed(strata),
        static=_listed(static),
        columns=f"columns: {_listed(column.name for column in columns)}",
    )
    queries = ["  named:"] if columns else []
    for column in columns[:2]:
        code = _scalar(column.categories[0].code) if column.categories else ""
        queries.append(
            f"    - {{column: {column.name}, category: {code}}}" if code else f"    - {{mean: {column.name}}}"
        )
    figure = next((f"{c.name}={c.categories[0].code}" for c in columns if c.categories), "mean of NAME")
    selected = next((_select(column) for column in columns), "NAME, codes: [CODE]")
    tail = _TAIL.format(queries="\n".join(queries), figure=figure.replace('"', '\\"'), selected=selected)
    return head + "\n" + tail


def _select(column: Column) -> str:
    """Who might rather not answer in clear, for the example: those with the first code, or large numbers."""
    if column.categories:
        return f"{column.name}, codes: [{_scalar(column.categories[0].code)}]"
    return f"{column.name}, above: {column.bounds[1] if column.bounds else 0}"


def _fits(column: Column) -> bool:
    return (column.kind is Kind.CATEGORY or (column.numeric and column.bounds is not None)) and varies(column)


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def _scalar(code: str) -> str:
    return code if code.isalnum() and code.isascii() else json.dumps(code, ensure_ascii=False)
