"""Overlap control, auditing, partitioning and fixed perturbation publish what they say; each falls to its attack."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.lab.today.differencing import Certainty, OutsiderVerdict
from discreet.lab.today.holdings import HeldPerson, Holdings, Integers
from discreet.lab.today.log_audit import LinearAudit, QueryAuditing
from discreet.lab.today.methods_comparison import list_methods
from discreet.lab.today.overlap import OverlapControl, OverlapService
from discreet.lab.today.partitioning import Partitioning
from discreet.lab.today.perturbation import FixedPerturbation
from discreet.lab.today.trials import TodayMethod, attack_once

pytestmark = pytest.mark.slow

SURE = (Certainty.SURE, True)


def attacked(
    method: TodayMethod, held: Holdings, cell: tuple[int, ...], value: int = 1, target: int = 1
) -> OutsiderVerdict:
    found = attack_once(method, held, HeldPerson(cell, value), target=target)
    assert found is not None
    return found


def test_overlap_control_answers_cells_and_refuses_their_sums(sparse: Holdings) -> None:
    made = OverlapControl(least=5, overlap=1).apply(sparse)
    assert made.values((0, 1)) == [[120, None, 40], [300, 45, 61], [17, 8, None], [64, 33, 29]]
    assert made.hidden[0,].all()
    assert made.hidden[1,].all()
    assert made.values(()) is None


def test_sums_of_refused_cells_are_answered_unless_they_share_too_many() -> None:
    """Rows of 2 + 2 + 2 people are answered; then columns share two people with each of them."""
    held = Holdings.of_counts(np.full((3, 3), 2))
    assert OverlapControl(least=5, overlap=1).apply(held).values((0,)) == [6, 6, 6]
    assert OverlapControl(least=5, overlap=1).apply(held).values((1,)) == [None] * 3
    assert OverlapControl(least=5, overlap=2).apply(held).values((1,)) == [6, 6, 6]


def test_the_service_counts_people_in_common(sparse: Holdings) -> None:
    service = OverlapService(sparse, 1, OverlapControl(least=3, overlap=1))
    first = service.ask(np.array([0, 1, 2]))
    assert first is not None
    assert first.tolist() == [3, 0, 0]
    assert service.ask(np.array([0, 1])) is None
    assert service.ask(np.array([1, 2, 3])) is None
    assert service.ask(np.array([2, 3, 121])) is not None


def test_one_user_finds_anyone_with_few_queries(sparse: Holdings, monkeypatch: pytest.MonkeyPatch) -> None:
    """2k − 1 queries, all answered; no fewer than 1 + (k − 1)/r can do [DJL79]."""
    asked = list[int]()
    ask = OverlapService.ask

    def count(service: OverlapService, people: Integers) -> Integers | None:
        asked.append(people.size)
        return ask(service, people)

    monkeypatch.setattr(OverlapService, "ask", count)
    for cell in ((0, 1), (2, 2), (1, 0)):
        asked.clear()
        found = attacked(OverlapControl(least=5, overlap=1), sparse, cell)
        assert (found.certainty, found.right) == SURE
        assert sorted(asked) == [5] * 9
        assert len(asked) >= 1 + (5 - 1) / 1


def test_without_overlap_one_user_finds_nobody_and_two_users_do(sparse: Holdings) -> None:
    control = OverlapControl(least=5, overlap=0)
    assert control._cross(sparse, HeldPerson((0, 0), 1), target=1, rng=np.random.default_rng()) is None
    found = attacked(control, sparse, (0, 0))
    assert (found.certainty, found.right) == SURE


def determined(queries: list[list[int]], alone: list[bool]) -> bool:
    """By ranks: a unit vector lies in the span when it does not raise the rank."""
    matrix = np.array(queries, dtype=float).reshape(len(queries), len(alone))
    rank = np.linalg.matrix_rank(matrix) if len(queries) else 0
    return any(
        np.linalg.matrix_rank(np.vstack([matrix, unit])) == rank
        for unit, one in zip(np.eye(len(alone)), alone, strict=True)
        if one
    )


@given(
    st.integers(1, 5).flatmap(
        lambda columns: st.tuples(
            st.lists(st.booleans(), min_size=columns, max_size=columns),
            st.lists(st.lists(st.integers(0, 1), min_size=columns, max_size=columns), max_size=8),
        )
    )
)
@settings(max_examples=60)
def test_an_audit_refuses_exactly_what_determines_somebody(case: tuple[list[bool], list[list[int]]]) -> None:
    alone, queries = case
    audit, log = LinearAudit(np.array(alone)), list[list[int]]()
    for query in queries:
        told = audit.admit(np.array(query))
        assert told is not determined([*log, query], alone)
        if told:
            log.append(query)


def test_auditing_refuses_lines_of_one_and_sums_that_tell_them() -> None:
    held = Holdings.of_counts(np.array([[3, 2], [0, 1], [4, 4]]))
    made = QueryAuditing(confidential=1).apply(held)
    assert made.values((0, 1)) == [[3, 2], [None, None], [4, 4]]
    assert made.values((1,)) == [None, None]
    assert made.values((0,)) == [5, 1, 8], "who lives where is not what is audited"
    pair = Holdings.of_counts(np.array([[3, 2], [0, 1], [1, 0]]))
    assert QueryAuditing(confidential=1).apply(pair).values((1,)) == [4, 3]


def test_auditing_of_totals_refuses_what_one_person_adds() -> None:
    held = Holdings.of_contributions((2, 2), np.array([(0, 70, 1), (2, 20, 3), (3, 50, 2)]))
    made = QueryAuditing(confidential=1).apply(held)
    assert made.values((0, 1)) == [[None, None], [60, 100]]
    assert made.values((0,)) == [None, 160]
    assert made.values(()) is None


def test_pairs_tell_what_the_audit_lets_pass(sparse: Holdings, incomes: Holdings) -> None:
    for cell in np.ndindex(sparse.layout.sizes):
        found = attacked(QueryAuditing(confidential=1, pairs=100), sparse, cell)
        assert (found.certainty, found.right) == SURE
    assert attacked(QueryAuditing(confidential=1), incomes, (1, 0), 90).right


def test_pairs_that_tell_the_third_of_a_line_are_refused() -> None:
    """The line is in the log: with a pair taken out of three people the third would be determined; of four, nobody."""
    three, four = (Holdings.of_counts(np.array([[people, 0]])) for people in (3, 4))
    assert attacked(QueryAuditing(confidential=1), three, (0, 0)).certainty is Certainty.NOTHING
    assert attacked(QueryAuditing(confidential=1), four, (0, 0)).certainty is Certainty.SURE


@pytest.mark.parametrize(("along", "least"), [(0, 5), (1, 5), (1, 50), (0, 1), (1, 720)])
def test_groups_have_enough_people_and_are_never_parted(sparse: Holdings, along: int, least: int) -> None:
    method = Partitioning(along=along, least=least)
    groups = method.partition(sparse)
    people = np.bincount(groups.ravel(), weights=sparse.counts.ravel())
    assert people.min() >= min(least, sparse.people)
    made = method.apply(sparse)
    for margin, hidden in made.hidden.items():
        for figure in np.ndindex(hidden.shape):
            inside = np.zeros(sparse.layout.sizes, dtype=bool)
            inside[tuple(figure[margin.index(place)] if place in margin else slice(None) for place in (0, 1))] = True
            whole = all(inside[groups == one].all() for one in np.unique(groups[inside]))
            assert hidden[figure] != whole


def test_short_lines_are_joined_whole() -> None:
    held = Holdings.of_counts(np.array([[1, 1], [9, 9], [2, 2], [1, 0]]))
    assert Partitioning(along=1, least=5).partition(held).tolist() == [[2, 2], [0, 1], [2, 2], [2, 2]]
    few = Partitioning(along=1, least=5).apply(Holdings.of_counts(np.array([[1, 1]])))
    assert few.values(()) is None


def test_editions_tell_the_group_and_no_more(sparse: Holdings) -> None:
    method = Partitioning(along=1, least=5)
    sure = attacked(method, sparse, (1, 1))
    assert (sure.certainty, sure.right) == SURE
    joined = attacked(method, sparse, (0, 1))
    assert joined.certainty is Certainty.GUESSED
    assert joined.guess == 2, "of the two joined cells the more common one"


@given(st.lists(st.integers(0, 9), min_size=12, max_size=12), st.integers(0, 2), st.integers(1, 8))
@settings(max_examples=40)
def test_whoever_is_called_sure_is_right(counts: list[int], target: int, least: int) -> None:
    held = Holdings.of_counts(np.array(counts).reshape(2, 3, 2))
    methods = (
        OverlapControl(least=min(least, 3)),
        QueryAuditing(confidential=target, pairs=4),
        Partitioning(along=target, least=least),
        FixedPerturbation(perturbed=target),
    )
    for cell in np.ndindex(held.layout.sizes):
        for method in methods if held.counts[cell] else ():
            found = attacked(method, held, cell, target=target)
            assert found.right or found.certainty is not Certainty.SURE


def test_perturbed_counts_keep_their_lines_and_totals_their_places(sparse: Holdings, incomes: Holdings) -> None:
    method = FixedPerturbation(perturbed=1, share=0.5)
    made = method.apply(sparse)
    assert made.values((0,)) == [162, 406, 26, 126]
    assert made.values((0, 1)) != sparse.counts.tolist()
    assert made.additive()
    assert FixedPerturbation(perturbed=1, share=0).apply(sparse).values((0, 1)) == sparse.counts.tolist()
    drawn = np.array([FixedPerturbation(spread=0.1).perturb(incomes, rng=np.random.default_rng()) for _ in range(20)])
    away = np.abs(drawn - incomes.figures) / incomes.figures
    assert 0 < away.max() <= 0.1 + 30 / 1120


def test_a_perturbed_value_still_shows_where_it_is(incomes: Holdings) -> None:
    found = attacked(FixedPerturbation(), incomes, (1, 0), 90)
    assert (found.certainty, found.right) == SURE


def test_a_key_that_is_not_perturbed_stays_exact(sparse: Holdings) -> None:
    """Adding the cells up over the perturbed key gives the other one away, published or not."""
    held = Holdings.of_counts(sparse.counts, margins=[])
    found = attacked(FixedPerturbation(perturbed=0, share=1), held, (0, 1))
    assert (found.certainty, found.right) == SURE


def test_all_are_among_the_methods_and_say_that_nothing_is_proven(sparse: Holdings) -> None:
    made = [method.apply(sparse) for method in list_methods(sparse, target=1)]
    titles = [one.method for one in made]
    for title in ("overlap control", "query auditing", "partitioning", "fixed perturbation"):
        assert title in titles
    assert not any(one.guarantee.differentially_private for one in made)


@pytest.mark.parametrize(
    "build",
    [
        lambda: OverlapControl(least=0),
        lambda: OverlapControl(overlap=-1),
        lambda: QueryAuditing(confidential=-1),
        lambda: QueryAuditing(pairs=0),
        lambda: QueryAuditing(confidential=2).apply(Holdings.of_counts(np.ones((2, 2), dtype=int))),
        lambda: Partitioning(least=0),
        lambda: Partitioning(along=2).apply(Holdings.of_counts(np.ones((2, 2), dtype=int))),
        lambda: FixedPerturbation(share=1.1),
        lambda: FixedPerturbation(spread=float("nan")),
        lambda: FixedPerturbation(perturbed=2).apply(Holdings.of_counts(np.ones((2, 2), dtype=int))),
    ],
)
def test_bad_parameters_are_refused(build: object) -> None:
    assert callable(build)
    with pytest.raises(ParameterInvalid):
        build()


def test_named_people_divide_as_they_stand(sparse: Holdings) -> None:
    """All triples of a small table, against the file written out."""
    held = Holdings.of_counts(np.array([[2, 0, 1], [1, 1, 0]]))
    places = [0, 0, 2, 0, 1]
    for chosen in combinations(range(5), 3):
        expected = np.bincount([places[one] for one in chosen], minlength=3)
        assert held.divide(np.array(chosen), 1).tolist() == expected.tolist()
