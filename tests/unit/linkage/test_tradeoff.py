"""The trade-off: figures that follow from the policy, and what an attack makes of them."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from xml.etree import ElementTree

import pytest

from discreet.errors import ParameterInvalid
from discreet.linkage.exhaustion import forecast_exhaustion, share_exhausted
from discreet.linkage.repeated_requests import attack_once_more
from discreet.linkage.tradeoff import weigh
from discreet.linkage.tradeoff_figures import draw_tradeoff


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
    alone = weigh(prior="0.5", belief="0.8", people=10**7, sample=100_000)
    assert alone.solution.queries == 1


@pytest.mark.parametrize(("people", "sample"), [(10, 0), (10, 11), (0, 1), (10**10, 5)])
def test_a_sample_is_some_of_the_people(people: int, sample: int) -> None:
    with pytest.raises(ParameterInvalid, match="sample"):
        forecast_exhaustion(people=people, sample=sample, allowed=41)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    "policy", [{"scale": 30, "belief": "0.8"}, {"scale": "0.2", "belief": "0.8"}, {"scale": 10, "queries": 500}]
)
def test_the_pictures_are_whole_and_say_what_they_show(language: str, policy: dict[str, str | int]) -> None:
    found = weigh(prior="0.5", people=10**5, sample=10**4, **policy)  # type: ignore[arg-type]
    drawn = list(draw_tradeoff(found, language))
    assert [figure.name for figure in drawn] == ["belief", "with-and-without", "attack", "exhaustion"]
    for figure in drawn:
        ElementTree.fromstring(figure.svg)
        assert figure.words
        if language == "fr":
            assert " requests" not in figure.svg
            assert " belief" not in figure.svg
