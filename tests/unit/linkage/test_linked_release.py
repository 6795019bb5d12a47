"""An answer as a release: which statistics it has, what they are, and what is said beside them."""

from __future__ import annotations

from decimal import Decimal

import pytest

import discreet
from discreet.errors import ParameterInvalid
from discreet.guarantees import PureDP
from discreet.linkage import Agreement, LinkedKind, LinkedProperty, LinkedWeight, PropertyValue, publish_answer
from discreet.results import Accounted, Labels, Release, ReleaseKind, Shown
from discreet.results.notes import (
    BeliefTable,
    CappedWeights,
    Coverage,
    DrawnAtRate,
    KnownPopulation,
    LinkedInPart,
    LinkedProtection,
    NotProtected,
    RatiosNotShown,
    RegistryReceipt,
    UnderAccount,
)
from tests.unit.linkage.noisy_answers import RECEIPT, REQUEST, make_agreement, make_answer

COUNT, SIZED, HISTOGRAM = LinkedKind
BANDS = ("none", "some", "many")
MAPPED = "a" * 64


@pytest.fixture(scope="module")
def agreement() -> Agreement:
    return make_agreement()


def named(release: Release) -> tuple[str, ...]:
    return tuple(item.name for item in release.statistics)


def column(release: Release, name: str) -> list[Shown]:
    return [row[name] for row in release.rows]


def kinds(release: Release) -> list[type]:
    return [type(note) for note in release.notes]


def test_a_count_is_one_figure(agreement: Agreement) -> None:
    release = publish_answer(agreement, make_answer(agreement, [[412]], kind=COUNT))
    assert release.value == 412
    assert release.intervals == [{"count": [322, 502]}]
    assert release.kind is ReleaseKind.LINKED
    assert release.headings == ()


def test_what_is_claimed_and_paid(agreement: Agreement) -> None:
    release = publish_answer(agreement, make_answer(agreement, [[412, 800]]))
    assert release.guarantee == PureDP(epsilon="1.386294361")
    assert (release.claim.each, release.claim.population) == ("person", "people")
    assert release.settlement == Accounted(20, 300, 415, 1)
    assert isinstance(release.settlement, Accounted)
    assert release.settlement.epsilon == Decimal("0.066666667")
    assert (release.remaining, release.replayed, release.charge["epsilon"]) == (None, False, "0")
    assert (release.source.dataset, release.source.agreement) == ("tongues", agreement.digest)
    assert release.request_id == REQUEST
    assert isinstance(release, discreet.Release)


def test_with_the_size_there_is_a_share(agreement: Agreement) -> None:
    release = publish_answer(agreement, make_answer(agreement, [[400, 1200]]))
    assert named(release) == ("count", "size", "share")
    assert release.rows == [{"count": 400, "size": 1600, "share": 0.25}]


def test_notes_say_who_is_counted_and_who_is_protected(agreement: Agreement) -> None:
    release = publish_answer(agreement, make_answer(agreement, [[400, 1200]]))
    assert kinds(release) == [UnderAccount, Coverage, LinkedProtection, NotProtected, BeliefTable, RegistryReceipt]
    protection = next(note for note in release.notes if isinstance(note, LinkedProtection))
    assert (protection.epsilon, protection.record) == (Decimal("1.386294361"), Decimal("2.772588722"))
    beliefs = next(note for note in release.notes if isinstance(note, BeliefTable))
    assert [str(item.prior) for item in beliefs.rises] == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    assert [str(item.belief) for item in beliefs.rises] == ["0.173914", "0.571429", "0.8", "0.923077", "0.987013"]
    assert RegistryReceipt(RECEIPT) in release.notes


def test_a_known_share_gives_a_rate_ratio(agreement: Agreement) -> None:
    found = make_answer(agreement, [[400, 1200]])
    release = publish_answer(agreement, found, population_share="0.2")
    assert column(release, "rate_ratio") == [pytest.approx((400 / 1200) / (0.2 / 0.8))]
    assert KnownPopulation(Decimal("0.2"), None) in release.notes
    assert "rate_with" not in named(release)


def test_a_known_population_gives_rates(agreement: Agreement) -> None:
    found = make_answer(agreement, [[400, 1200]])
    release = publish_answer(agreement, found, population_share="0.2", population=10_000)
    [row] = release.rows
    assert (row["rate_with"], row["rate_without"]) == (400 / 2_000, 1200 / 8_000)
    assert isinstance(row["rate_ratio"], float)
    assert row["rate_ratio"] == pytest.approx(0.2 / 0.15)


def test_a_count_alone_has_the_rate_of_those_with_it(agreement: Agreement) -> None:
    found = make_answer(agreement, [[400]], kind=COUNT)
    assert named(publish_answer(agreement, found, population_share="0.2", population=10_000)) == ("count", "rate_with")


def test_groups_give_distributions_as_if_none_were_thinned(agreement: Agreement) -> None:
    cells = [[600, 3_000], [300, 1_000], [100, 500]]
    found = make_answer(agreement, cells, scale=10, groups=BANDS, rates=["0.5", "1", "1"])
    release = publish_answer(agreement, found)
    assert column(release, "group") == list(BANDS)
    assert column(release, "distribution_with") == [1_200 / 1_600, 300 / 1_600, 100 / 1_600]
    assert column(release, "distribution_without") == [6_000 / 7_500, 1_000 / 7_500, 500 / 7_500]
    assert DrawnAtRate(BANDS, (Decimal("0.5"), Decimal(1), Decimal(1))) in release.notes


def test_rates_are_raised_by_the_rate_of_the_draw(agreement: Agreement) -> None:
    found = make_answer(agreement, [[400, 1200]], rates=["0.5"])
    [row] = publish_answer(agreement, found, population_share="0.2", population=10_000).rows
    assert (row["count"], row["rate_with"], row["rate_without"]) == (400, 800 / 2_000, 2_400 / 8_000)


def test_a_histogram_has_a_row_for_each_value(agreement: Agreement) -> None:
    found = make_answer(agreement, [[600, 300, 100]], kind=HISTOGRAM, property="tongue")
    release = publish_answer(agreement, found)
    assert column(release, "value") == ["french", "english", "other"]
    assert column(release, "share") == [0.6, 0.3, 0.1]
    assert named(release) == ("count", "share")


def test_a_histogram_of_groups_is_distributed_by_value(agreement: Agreement) -> None:
    cells = [[600, 300, 100], [200, 300, 300]]
    found = make_answer(agreement, cells, kind=HISTOGRAM, property="tongue", scale=10, groups=("ill", "well"))
    release = publish_answer(agreement, found)
    assert [(row["group"], row["value"]) for row in release.rows][2:4] == [("ill", "other"), ("well", "french")]
    assert column(release, "distribution") == [0.75, 0.5, 0.25, 0.25, 0.5, 0.75]


def test_values_that_do_not_exclude_each_other_have_no_shares() -> None:
    spoken = Labels("Spoken", "Parlées")
    values = tuple(PropertyValue(name, spoken, f"{name} = 'yes'") for name in ("french", "english"))
    agreement = make_agreement(LinkedProperty("spoken", spoken, values, answers=2))
    found = make_answer(agreement, [[600, 300]], kind=HISTOGRAM, property="spoken")
    assert named(publish_answer(agreement, found)) == ("count",)


def test_a_ratio_over_nobody_is_not_shown(agreement: Agreement) -> None:
    release = publish_answer(agreement, make_answer(agreement, [[400, 20]]), population_share="0.2")
    assert column(release, "rate_ratio") == [None]
    assert release.intervals[0]["rate_ratio"] == [None, None]
    assert RatiosNotShown in kinds(release)


def test_shares_stay_within_0_and_1(agreement: Agreement) -> None:
    [row] = (release := publish_answer(agreement, make_answer(agreement, [[-70, 900]]))).rows
    assert (row["count"], row["share"]) == (-70, 0)
    low, high = release.intervals[0]["share"]
    assert low == 0
    assert high is not None
    assert 0 < high < 0.1


def test_a_public_share_linked_scales_counts_and_rates() -> None:
    agreement = make_agreement(linked_share="linked_share: 0.8")
    found = make_answer(agreement, [[400, 1200]])
    release = publish_answer(agreement, found, population_share="0.2", population=10_000)
    [row] = release.rows
    assert (row["count"], row["scaled_count"], row["rate_with"]) == (400, 500, 0.25)
    assert release.intervals[0]["scaled_count"] == [pytest.approx(387.5), pytest.approx(612.5)]
    assert LinkedInPart(Decimal("0.8")) in release.notes


def test_a_map_of_units_tells_the_share_linked() -> None:
    agreement = make_agreement(unit=f"unit: {{map: {MAPPED}, members: 4}}")
    release = publish_answer(agreement, make_answer(agreement, [[400, 1200, 400]]))
    assert column(release, "linked_share") == [0.8]
    assert release.settlement == Accounted(20, 300, 415, 4)
    assert release.claim.each == "household"
    assert UnderAccount("people", sized=True) in release.notes


def test_ids_that_are_addresses_count_households() -> None:
    agreement = make_agreement(unit="unit: household")
    release = publish_answer(agreement, make_answer(agreement, [[400]], kind=COUNT))
    assert UnderAccount("households", sized=False) in release.notes


def test_weights_are_whole_steps_with_larger_noise() -> None:
    spoken = Labels("French", "Français")
    weight = LinkedWeight("weight", Decimal(5), Decimal("0.5"))
    weighted = LinkedProperty("francophone", spoken, (PropertyValue("f", spoken, "french = 'yes'"),), weight=weight)
    agreement = make_agreement(weighted, unit=f"unit: {{map: {MAPPED}, members: 4}}")
    release = publish_answer(agreement, make_answer(agreement, [[4_001, 9_000, 100]]))
    [row] = release.rows
    assert (row["count"], row["size"]) == (2_000.5, 6_500.5)
    assert release.intervals[0]["count"] == [1_551, 2_450]  # 899 half steps either way
    assert "linked_share" not in named(release)
    assert CappedWeights in kinds(release)


@pytest.mark.parametrize(
    ("kind", "public", "wrong"),
    [
        (COUNT, {"population_share": "0.2"}, "count-and-size"),
        (SIZED, {"population": 1_000}, "goes with population_share"),
        (SIZED, {"population_share": "1"}, "population_share must be below 1"),
        (SIZED, {"population_share": "0"}, "population_share must be positive"),
        (SIZED, {"population_share": "0.2", "population": 0}, "population must be a whole number"),
        (HISTOGRAM, {"population_share": "0.2"}, "one property"),
    ],
)
def test_public_numbers_that_do_not_fit_are_refused(
    agreement: Agreement, kind: LinkedKind, public: dict[str, str | int], wrong: str
) -> None:
    property = "tongue" if kind is HISTOGRAM else "francophone"
    cells = {COUNT: [[1]], SIZED: [[1, 1]], HISTOGRAM: [[1, 1, 1]]}[kind]
    with pytest.raises(ParameterInvalid, match=wrong):
        publish_answer(agreement, make_answer(agreement, cells, kind=kind, property=property), **public)  # type: ignore[arg-type]
