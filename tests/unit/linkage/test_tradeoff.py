"""The trade-off: figures that follow from the policy, and what an attack makes of them."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from discreet.catalogue import speaking
from discreet.errors import ParameterInvalid
from discreet.linkage.exhaustion import binomial_chance, forecast_exhaustion, share_exhausted
from discreet.linkage.repeated_requests import attack_once_more
from discreet.linkage.tradeoff import MOST_QUERIES, weigh
from discreet.linkage.tradeoff_figures import draw_tradeoff, tell_requests
from tests.places import DOCS, ROOT


@pytest.mark.parametrize(
    ("people", "sample", "first", "shares"),
    [
        (10**5, 1_000, 1_965, (2_847, 3_199, 4_167)),
        (10**5, 10_000, 207, (291, 325, 417)),
        (10**6, 10_000, 1_788, (2_847, 3_199, 4_167)),
        (10**6, 100_000, 190, (291, 325, 417)),
        (10**7, 1_000, 162_331, (284_072, 319_386, 416_672)),
        (10**7, 10_000, 16_245, (28_413, 31_943, 41_667)),
        (10**7, 100_000, 1_636, (2_847, 3_199, 4_167)),
    ],
)
def test_how_long_accounts_of_41_requests_last(people: int, sample: int, first: int, shares: tuple[int, ...]) -> None:
    found = forecast_exhaustion(people=people, sample=sample, allowed=41)
    assert found.first == first
    assert tuple(requests for _, requests in found.shares) == shares


def test_the_share_exhausted_is_the_binomial_tail() -> None:
    for requests, allowed, chance in ((50, 3, Fraction(1, 10)), (60, 41, Fraction(1, 2)), (45, 41, Fraction(99, 100))):
        exact = sum(
            math.comb(requests, hits) * chance**hits * (1 - chance) ** (requests - hits)
            for hits in range(allowed + 1, requests + 1)
        )
        assert share_exhausted(requests, allowed=allowed, chance=float(chance)) == pytest.approx(float(exact), rel=1e-9)
    assert share_exhausted(41, allowed=41, chance=1.0) == 0
    assert share_exhausted(42, allowed=41, chance=1.0) == 1


@pytest.mark.parametrize("requests", [1, 7, 42])
def test_an_attack_is_right_as_often_as_when_it_is_played(requests: int) -> None:
    """Played with noise of the law itself, judged by the likelihood of every answer."""
    random, scale, ratio = Random(1), 5.0, math.exp(-1 / 5)

    def noise() -> int:
        return sum(int(math.log(1 - random.random()) / math.log(ratio)) * sign for sign in (1, -1))

    rounds, right = 20_000, 0.0
    for _ in range(rounds):
        hers = random.random() < 0.5
        answers = [noise() + hers for _ in range(requests)]
        weight = sum(abs(answer) - abs(answer - 1) for answer in answers)
        right += 0.5 if weight == 0 else float((weight > 0) is hers)
    found = attack_once_more(requests, scale=scale)
    assert right / rounds == pytest.approx(found.right, abs=4 * 0.5 / math.sqrt(rounds))


def test_noise_alone_wears_off_and_accounts_do_not() -> None:
    bare = [attack_once_more(n, scale=30).right for n in (1, 41, 200, 1_000, 3_000)]
    held = [attack_once_more(n, scale=30, allowed=41) for n in (41, 42, 200, 3_000)]
    assert [round(share, 2) for share in bare] == [0.51, 0.54, 0.59, 0.7, 0.82]
    assert len({(attack.right, attack.rare, attack.most) for attack in held}) == 1
    assert held[0].rare <= held[0].most < 0.8
    assert attack_once_more(3_000, scale=30).most > 0.999


def test_no_answer_tells_nothing() -> None:
    found = attack_once_more(10, scale=30, allowed=0)
    assert (found.telling, found.right, found.rare, found.most) == (0, 0.5, 0.5, 0.5)


def test_two_of_three_and_the_rest_follows() -> None:
    found = weigh(prior="0.5", belief="0.8", scale=30, people=10**7, sample=100_000)
    assert found.solution.queries == 41
    assert found.households == ((1, 41), (2, 20), (3, 13), (4, 10), (5, 8))
    assert [bare.requests for bare, _ in found.attacks] == [1, 41, 42, 200, 1_000, 3_000]


@pytest.mark.parametrize("given", [{}, {"belief": "0.8"}, {"epsilon": 1}, {"scale": 30}, {"queries": 41}])
def test_one_of_three_is_too_few(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterInvalid, match=r"two of belief \(or epsilon\), scale and queries must be given"):
        weigh(prior="0.5", people=10**5, sample=10**4, **given)


@pytest.mark.parametrize(
    "given",
    [
        {"scale": 1_000_000, "belief": "0.8"},
        {"scale": 10**12, "epsilon": 10**6},
        {"queries": 10**12, "belief": "0.8"},
        {"queries": MOST_QUERIES + 1, "scale": 30},
    ],
)
def test_more_requests_than_a_service_answers_for_one_person_are_refused(given: dict[str, Any]) -> None:
    rule = r"queries must be at most 10,000 for one person \(give less noise, or a lower belief\); received [\d,]+\."
    with pytest.raises(ParameterInvalid, match=rule):
        weigh(prior="0.5", people=10**5, sample=10**4, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scale": "0", "belief": "0.8"}, "scale must be positive"),
        ({"scale": "-1", "belief": "0.8"}, "scale must be positive"),
        ({"scale": "nan", "belief": "0.8"}, "scale must be a plain finite decimal number"),
        ({"scale": "1e-9", "queries": 1}, "the epsilon of these queries must be at most 1000000"),
        ({"scale": 30, "belief": "1"}, "belief must be below 1"),
        ({"scale": 30, "belief": "0"}, "belief must be positive"),
        ({"scale": 30, "belief": "0.8", "prior": "0"}, "prior must be positive"),
    ],
)
def test_what_is_no_policy_is_told_in_one_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterInvalid, match=words):
        weigh(**{"prior": "0.5", "people": 10**5, "sample": 10**4, **given})


def test_without_noise_that_counts_one_answer_tells_all() -> None:
    assert [binomial_chance(3, hits, 1.0) for hits in range(4)] == [0, 0, 0, 1]
    assert attack_once_more(1, scale=1e-9).right == 1
    assert attack_once_more(3_000, scale=0.001, allowed=0).right == 0.5
    found = weigh(prior="0.5", belief="0.8", scale="1e-9", people=10**5, sample=10**4)
    assert found.solution.queries == 0
    assert {held.right for _, held in found.attacks} == {0.5}
    assert {bare.right for bare, _ in found.attacks} == {1}


@pytest.mark.parametrize(("people", "sample"), [(10, 0), (10, 11), (0, 1), (10**10, 5)])
def test_a_sample_is_some_of_the_people(people: int, sample: int) -> None:
    with pytest.raises(ParameterInvalid, match="sample"):
        forecast_exhaustion(people=people, sample=sample, allowed=41)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    "policy",
    [
        {"scale": 30, "belief": "0.8"},
        {"scale": "0.2", "belief": "0.8"},
        {"scale": "1e-9", "belief": "0.8"},
        {"scale": "0.001", "queries": 1},
        {"scale": 2, "queries": 1},
        {"scale": 10, "queries": 500},
    ],
)
def test_the_pictures_are_whole_and_say_what_they_show(language: str, policy: dict[str, Any]) -> None:
    found = weigh(prior="0.5", people=10**5, sample=10**4, **policy)
    drawn = list(draw_tradeoff(found, language))
    assert [figure.name for figure in drawn] == [
        "linked-belief",
        "linked-with-and-without",
        "linked-attack",
        "linked-exhaustion",
    ]
    for figure in drawn:
        ElementTree.fromstring(figure.svg)
        assert figure.words
        if language == "fr":
            assert " requests" not in figure.svg
            assert " belief" not in figure.svg


def test_numbers_in_pictures_are_short_and_never_say_nothing_of_something() -> None:
    def words(scale: str, queries: int, language: str) -> tuple[str, str]:
        found = weigh(prior="0.5", scale=scale, queries=queries, people=10**5, sample=10**4)
        belief, answers, *_ = draw_tradeoff(found, language)
        return belief.words, answers.words

    belief, answers = words("72.134752045", 100, "fr")
    assert "À l’échelle 72,1348, elle ne dépasse pas 80\u00a0% jusqu’à 100 demandes." in belief
    assert "Plus l’échelle est grande, plus elles se recouvrent\u00a0: à l’échelle 72,1348, aucune réponse" in answers
    assert "plus de 1,014 fois plus probable" in answers
    belief, answers = words("1234.5", 1, "en")
    assert "At scale 1,234.5 it stays at most 50% up to 1 request." in belief
    assert (
        "The larger the scale, the more they cover each other: at scale 1,234.5 no answer is more than 1.0009"
        in answers
    )
    assert "at scale 0.00001 no answer is more than e^100,000 times as likely" in words("0.00001", 1, "en")[1]
    assert "with her, at scale 2. The larger" in words("2", 1, "en")[1]


@pytest.mark.parametrize(
    ("number", "en", "fr"),
    [
        (0, "0 requests", "0 demande"),
        (1, "1 request", "1 demande"),
        (99_165, "99,165 requests", "99\u202f165 demandes"),
    ],
)
def test_requests_are_told_as_each_language_counts(number: int, en: str, fr: str) -> None:
    assert tell_requests(number) == en
    with speaking("fr"):
        assert tell_requests(number) == fr


def test_the_page_shows_what_the_command_prints() -> None:
    golden = (ROOT / "tests" / "golden" / "outputs" / "linked-tradeoff.txt").read_text("utf-8")
    command, _, printed = golden.partition("\n")
    page = (DOCS / "linked.md").read_text("utf-8")
    assert command.removeprefix("$ ") in page
    assert f"```text\n{printed.partition('[standard error]')[0]}```" in page
