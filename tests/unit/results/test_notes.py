"""Every note is known by a code, says what varies in plain values, and has a message in both languages."""

from __future__ import annotations

import inspect
import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.present.messages import say_message
from discreet.results import Labels, Note, notes
from discreet.results.notes import (
    BeliefRise,
    BeliefTable,
    BootstrapCaution,
    BootstrapGuarantee,
    BootstrapMethod,
    BootstrapNeighbours,
    BoundsUsed,
    Calibrated,
    CappedWeights,
    Coverage,
    DrawnAtRate,
    Estimator,
    FalseReports,
    FewReports,
    GradedMeans,
    KeysChosen,
    KnownPopulation,
    LeftOut,
    Linearised,
    LinkedInPart,
    LinkedProtection,
    MarginsAddUp,
    MarginsAreMeans,
    MarginsAreSums,
    MeansNotShown,
    MeasuredMargin,
    ModelAge,
    NotGraded,
    NotInTable,
    NotInTotals,
    NotNegative,
    NotProtected,
    RatiosNotShown,
    RegistryReceipt,
    Size,
    SizeTooSmall,
    StrategyUsed,
    Unbounded,
    UnderAccount,
    UnprovenCaution,
    Variance,
)

CELLS = MeasuredMargin(("a", "b"), residual=False, share=Fraction(1, 4))
TOTAL = MeasuredMargin((), residual=False, share=Fraction(3, 4))
EXAMPLES: tuple[Note, ...] = (
    Coverage("cell", ranks=True, selected=True, least=1200),
    Coverage("raw"),
    Coverage("calibrated"),
    Coverage("nothing"),
    CappedWeights(),
    CappedWeights(calibrated=True),
    Unbounded("people", 3),
    SizeTooSmall("mean", (Size("n", 4, 1200),)),
    BoundsUsed("income", 0, 99.5, found=True, epsilon=Decimal("0.1")),
    BoundsUsed("income", 0, 99.5, found=False, epsilon=Decimal("0.1")),
    KeysChosen(1200, 1, Decimal("1e-6")),
    StrategyUsed("laplace", (CELLS,)),
    StrategyUsed("gaussian", (CELLS, TOTAL), "COUNT(a)", Fraction(1, 3)),
    StrategyUsed("laplace", (CELLS, MeasuredMargin((), residual=True, share=Fraction(1, 2)))),
    MarginsAddUp(),
    MarginsAreMeans(),
    MarginsAreSums(),
    MeansNotShown(),
    GradedMeans("precision", Decimal("0.5"), 0.05, 0.1, third=False),
    GradedMeans("relative", None, 0.05, 0.1, third=True),
    GradedMeans("range", None, 0.05, 0.1, third=False),
    NotNegative(),
    NotInTable(Labels("no sex", "sans sexe")),
    NotInTotals(Labels("Sex", "Sexe")),
    Calibrated(),
    Linearised(),
    LeftOut(Decimal("0.333")),
    NotGraded(),
    BootstrapGuarantee(Decimal("0.5")),
    *(BootstrapNeighbours(pool) for pool in ("", "sub-population", "synthetic")),
    *(BootstrapMethod(method) for method in ("i", "ii", "iii", "pair")),
    BootstrapCaution("outsiders"),
    BootstrapCaution("noise"),
    BootstrapCaution("budget"),
    UnprovenCaution("value"),
    UnprovenCaution("budget"),
    ModelAge("farms", 1, "rice", 2),
    Estimator(sampled=True),
    Estimator(sampled=False),
    Variance("noise"),
    Variance("questions"),
    Variance("design"),
    FalseReports("smoking", "count", 0.25, proportional=True),
    FalseReports("smoking", "count", None, proportional=False),
    FewReports("smoking", "too few"),
    Coverage("linked"),
    UnderAccount("people", sized=True),
    UnderAccount("households", sized=False),
    RatiosNotShown(),
    DrawnAtRate(("all",), (Decimal("0.5"),)),
    DrawnAtRate(("young", "old"), (Decimal(1), Decimal("0.25"))),
    LinkedInPart(Decimal("0.85")),
    KnownPopulation(Decimal("0.045"), None),
    KnownPopulation(Decimal("0.045"), 14_000_000),
    LinkedProtection("person", Decimal("1.386294361"), Decimal("2.772588722"), Decimal("0.1")),
    LinkedProtection("household", Decimal(1), Decimal(2), Decimal("0.1")),
    NotProtected(),
    BeliefTable("person", (BeliefRise(Decimal("0.5"), Decimal("0.8")),)),
    BeliefTable("household", (BeliefRise(Decimal("0.05"), Decimal("0.173914")),)),
    RegistryReceipt("c0ffee"),
)
# What an estimator or its formula is called is not translated.
AS_GIVEN = (Estimator, FewReports)


def test_every_note_has_an_example_and_a_code() -> None:
    kinds = {one for _, one in inspect.getmembers(notes, inspect.isclass) if issubclass(one, Note)} - {Note}
    assert kinds == {type(note) for note in EXAMPLES}
    assert all(kind.code for kind in kinds)
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert {kind.__name__ for kind in kinds} <= set(notes.__all__)


@pytest.mark.parametrize("note", EXAMPLES, ids=repr)
def test_a_note_is_plain_values_under_its_code(note: Note) -> None:
    told = note.to_dict()
    assert told["code"] == type(note).code
    assert json.loads(json.dumps(told, allow_nan=False)) == told


@pytest.mark.parametrize("note", EXAMPLES, ids=repr)
def test_a_note_is_said_in_both_languages(note: Note) -> None:
    heading, said = say_message(note)
    if not isinstance(note, AS_GIVEN):
        assert said.en != said.fr
        assert not re.search(r"\b(the|noise on|each|rows|judged|every|only|are)\b", said.fr), said.fr
    assert heading.en
    assert heading.fr


def test_what_varies_is_exact() -> None:
    assert LeftOut(Decimal("0.3330")).to_dict() == {"code": "left-out", "above": "0.333"}
    assert NotInTotals(Labels("Sex", "Sexe")).to_dict()["title"] == {"en": "Sex", "fr": "Sexe"}
    assert StrategyUsed("laplace", (CELLS,)).to_dict()["measured"] == [
        {"keeps": ["a", "b"], "residual": False, "share": 0.25}
    ]


def test_bounds_warn_where_none_were_found() -> None:
    found, lost = (note for note in EXAMPLES if isinstance(note, BoundsUsed))
    assert (found.warns, lost.warns) == (False, True)
    assert {type(note) for note in EXAMPLES if note.warns} == {
        BoundsUsed, Unbounded, BootstrapCaution, UnprovenCaution, ModelAge, FewReports,
    }  # fmt: skip
