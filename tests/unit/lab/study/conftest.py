"""Small frames for the tests of studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from discreet.cards.card import Card, parse_card
from discreet.lab.study.frame import AnswerColumn, StudyFrame
from discreet.lab.study.inquiry import Inquiry

CARD = """
dataset: people
title: {en: People, fr: Personnes}
population: people
unit: {column: id, rows: 1}
neighbours: add-remove
budget: {epsilon: 10}
columns:
  id: {kind: id, type: integer, label: {en: Id, fr: Id}}
  region:
    kind: category
    label: {en: Region, fr: Région}
    public: true
    categories: {a: {en: Alpha, fr: Alpha}, b: {en: Beta, fr: Bêta}}
  answer:
    kind: category
    label: {en: Answer, fr: Réponse}
    categories: {y: {en: 'Yes', fr: Oui}, n: {en: 'No', fr: Non}, m: {en: Maybe, fr: Peut-être}}
  size:
    kind: number
    label: {en: Size, fr: Taille}
    bounds: [1, 3]
    step: 0.01
"""
WEIGHTED = (
    CARD.replace("columns:\n", "weight: {column: weight, cap: 5}\ncolumns:\n")
    + "  weight: {kind: integer, bounds: [0, 5]}\n"
)


@pytest.fixture
def card() -> Card:
    return parse_card(CARD, file="people.yaml")


@pytest.fixture
def make_frame(card: Card) -> Callable[..., StudyFrame]:
    """A frame of the card's columns from positions; region is static and the only stratum. Weights go up to 5."""

    def build(columns: Mapping[str, Any], weights: Any = None) -> StudyFrame:
        answers = {
            name: AnswerColumn(card.column(name), np.asarray(values, dtype=np.int64), name == "region")
            for name, values in columns.items()
        }
        cells = answers["region"].positions
        held = np.ones(cells.size, dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
        taken, cap = (card, 1) if weights is None else (parse_card(WEIGHTED, file="people.yaml"), 5)
        inquiry = Inquiry(taken, ("region",), ((0,), (1,)), ("region",))
        return StudyFrame(inquiry, answers, ("Alpha", "Beta"), cells, held, 1.0, np.array([cap] * 2))

    return build
