"""The people whom the files to link are about: households, ages, languages, and in which office's file they are.

Household sizes, ages and languages follow published counts of Ontario (`census_figures`). What leans which way is
assumed, and stands here and in `linked_health`. While drawing, answers are ranks among the words listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.samples.linked_offices.census_figures import CensusFigures, load_census
from discreet.samples.linked_offices.linked_health import draw_health
from discreet.samples.raking import Floats, Integers, TableMargin, draw

__all__ = ["FIRST_OFFICIAL", "HOME_LANGUAGES", "LARGEST", "REGIONS", "SEXES", "TONGUES", "draw_linked", "spell_digits"]

LARGEST: Final = 8
SEXES: Final = ("female", "male")
REGIONS: Final = ("east", "central", "toronto", "west", "north")
FIRST_OFFICIAL: Final = ("English", "French", "both", "neither")
HOME_LANGUAGES: Final = ("English", "French", "other")
# Which mother tongues a person names.
TONGUES: Final = (
    ("english",),
    ("french",),
    ("other",),
    ("english", "french"),
    ("english", "other"),
    ("french", "other"),
    ("english", "french", "other"),
)

# Households of five or more: 5, 6, 7, 8. Their published mean is 5.61 people.
_LARGE_HOUSEHOLDS: Final = (0.60, 0.24, 0.11, 0.05)
_REGION_SHARES: Final = (0.14, 0.34, 0.21, 0.25, 0.06)
# By region, how likely a household's language is to be English, French or another.
_LANGUAGE_BY_REGION: Final = (
    (0.72, 0.13, 0.15),
    (0.65, 0.012, 0.34),
    (0.52, 0.012, 0.47),
    (0.82, 0.015, 0.16),
    (0.74, 0.2, 0.06),
)
# Who names several mother tongues, and by language of the household who names which.
_SEVERAL_TONGUES: Final = (0.004, 0.02, 0.001, 0.0007)
_TONGUE_BY_HOUSEHOLD: Final = (
    (0.93, 0.012, 0.04, 0.003, 0.015, 0.0003, 0.0003),
    (0.12, 0.82, 0.01, 0.04, 0.002, 0.006, 0.002),
    (0.13, 0.002, 0.83, 0.0005, 0.036, 0.001, 0.0005),
)
# By mother tongue, in the order of TONGUES.
_OFFICIAL_BY_TONGUE: Final = (
    (0.9998, 0.0002, 0, 0),
    (0.06, 0.94, 0, 0),
    (0.88, 0.004, 0.02, 0.09),
    (0.7, 0.06, 0.24, 0),
    (0.9998, 0.0002, 0, 0),
    (0.2, 0.8, 0, 0),
    (0.6, 0.05, 0.35, 0),
)
_HOME_BY_TONGUE: Final = (
    (0.985, 0.003, 0.012),
    (0.42, 0.56, 0.02),
    (0.48, 0.004, 0.516),
    (0.75, 0.24, 0.01),
    (0.8, 0.002, 0.198),
    (0.4, 0.35, 0.25),
    (0.7, 0.15, 0.15),
)
# Who speaks the household's language at home is this many times likelier.
_HOME_BY_HOUSEHOLD: Final = 4
# By place in the household (alone, first of two, second of two, first two of more, others), how ages lean against
# everybody's. No household is of children alone.
_AGE_BY_PLACE: Final = (
    (0, 0, 0, 0.2, 0.9, 1.4, 1.2, 1, 1, 1.2, 1.5, 1.7, 1.9, 2, 2, 2.2, 2.5, 2.5),
    (0, 0, 0, 0.2, 0.8, 1.1, 1, 0.7, 0.6, 0.8, 1.2, 1.6, 1.8, 1.9, 1.9, 1.7, 1.5, 1),
    (0.2, 0.2, 0.3, 0.4, 0.8, 1.1, 1, 0.7, 0.6, 0.8, 1.2, 1.6, 1.8, 1.9, 1.9, 1.7, 1.5, 1),
    (0, 0, 0, 0.1, 0.4, 0.8, 1.4, 1.8, 1.8, 1.6, 1.2, 0.8, 0.5, 0.3, 0.2, 0.2, 0.1, 0.1),
    (2.5, 2.5, 2.5, 2.4, 1.8, 0.9, 0.4, 0.2, 0.15, 0.15, 0.15, 0.2, 0.25, 0.3, 0.3, 0.3, 0.3, 0.4),
)
_OLDEST: Final = 110
_LAST_AGE_GROUP: Final = 17
_WOMEN_BY_AGE: Final = (*[0.487] * 4, *[0.51] * 11, 0.54, 0.57, 0.63)
# Of the residents in the census; of the residents in the health file; households asked the long form; of those counted
# whose census number is known to go with a health number.
_COUNTED: Final = 0.99
_INSURED: Final = 0.95
_ASKED: Final = 0.2
_KEYED: Final = 0.85
# First half of a Canadian postal code: a letter by region, a digit, one of twenty letters.
_FIRST_LETTERS: Final = b"KLMNP"
_THIRD_LETTERS: Final = b"ABCEGHJKLMNPRSTVWXYZ"
_NUMBERS: Final = 10**6


def draw_linked(*, people: int, seed: int) -> Mapping[str, NDArray[Any]]:
    """The columns of all residents, one value for each; `address_codes` has one for each household, by its number."""
    census = load_census()
    rng = np.random.default_rng([seed, 5])
    sizes = _draw_sizes(rng, census, people)
    region = rng.choice(len(REGIONS), size=len(sizes), p=_REGION_SHARES).astype(np.int8)
    household = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    group = _draw_ages(rng, census, sizes)
    languages = _draw_languages(rng, census, region, household)
    french = languages["first_official"] == FIRST_OFFICIAL.index("French")
    male = rng.random(people) >= np.array(_WOMEN_BY_AGE)[group]
    counted = rng.random(people) < _COUNTED
    return {
        "household": household,
        "address_codes": _write_addresses(rng, region),
        "health_number": 10**9 + rng.choice(9 * 10**9, size=people, replace=False),
        "census_id": 10**8 + rng.choice(9 * 10**8, size=people, replace=False),
        "region": region[household],
        "age": _draw_years(rng, group),
        "sex": male.astype(np.int8),
        **languages,
        **draw_health(rng, group=group, male=male, french=french),
        "asked": (rng.random(len(sizes)) < _ASKED)[household],
        "insured": rng.random(people) < _INSURED,
        "counted": counted,
        "keyed": counted & (rng.random(people) < _KEYED),
    }


def _draw_sizes(rng: np.random.Generator, census: CensusFigures, people: int) -> NDArray[np.int8]:
    """Sizes of households until all people have one; the last is cut to those who are left."""
    published = np.array(census.household_sizes, dtype=np.float64)
    shares = np.concatenate([published[:-1], published[-1] * np.array(_LARGE_HOUSEHOLDS)]) / published.sum()
    # A household has 2.56 people on average, so that half as many households as people are more than enough.
    sizes = rng.choice(np.arange(1, LARGEST + 1, dtype=np.int8), size=people // 2, p=shares)
    ends = np.cumsum(sizes, dtype=np.int64)
    last = int(np.searchsorted(ends, people))
    sizes[last] -= ends[last] - people
    return sizes[: last + 1]


def _draw_ages(rng: np.random.Generator, census: CensusFigures, sizes: NDArray[np.int8]) -> NDArray[np.int8]:
    """The five-year group of each person's age, by their place in the household."""
    size = np.repeat(sizes, sizes)
    first = np.repeat(np.cumsum(sizes, dtype=np.int64) - sizes, sizes)
    within = np.arange(len(size)) - first
    places = [size == 1, (size == 2) & (within == 0), size == 2, within < 2]
    place = np.select(places, [np.int8(place) for place in range(len(places))], np.int8(len(places)))
    ages = np.array(census.ages, dtype=np.float64)
    return _draw_shares(rng, place, np.array(_AGE_BY_PLACE) * ages, ages)


def _draw_years(rng: np.random.Generator, group: NDArray[np.int8]) -> NDArray[np.int8]:
    """Years of age within the group; few of those over 85 grow much older."""
    old = np.minimum(rng.exponential(4.5, len(group)), _OLDEST - 5 * _LAST_AGE_GROUP)
    more = np.where(group == _LAST_AGE_GROUP, old, 5 * rng.random(len(group)))
    years: NDArray[np.int8] = group * np.int8(5) + more.astype(np.int8)
    return years


def _draw_languages(
    rng: np.random.Generator, census: CensusFigures, region: NDArray[np.int8], household: NDArray[np.int32]
) -> dict[str, NDArray[np.int8]]:
    """A language for each household, and from it what its members answer: so they speak alike, mostly."""
    named = census.mother_tongue
    spoken = _draw_shares(
        rng, region, np.array(_LANGUAGE_BY_REGION), np.array([named[word] for word in ("english", "french", "other")])
    )[household]
    tongue = _draw_shares(rng, spoken, np.array(_TONGUE_BY_HOUSEHOLD), _share_tongues(named))
    official = np.array([census.first_official[word] for word in FIRST_OFFICIAL], dtype=np.float64)
    at_home = np.array([census.home_language[word] for word in HOME_LANGUAGES], dtype=np.float64)
    alike = 1 + (_HOME_BY_HOUSEHOLD - 1) * np.eye(len(HOME_LANGUAGES))
    by_both = (alike[:, None, :] * np.array(_HOME_BY_TONGUE)).reshape(-1, len(HOME_LANGUAGES))
    return {
        "tongue": tongue,
        "first_official": _draw_shares(rng, tongue, np.array(_OFFICIAL_BY_TONGUE), official),
        "home_language": _draw_shares(rng, spoken * np.int8(len(TONGUES)) + tongue, by_both, at_home),
    }


def _share_tongues(named: Mapping[str, float]) -> Floats:
    """The share of each combination, such that people who share themselves equally make up the published shares."""
    several = dict(zip(TONGUES[3:], _SEVERAL_TONGUES, strict=True))
    alone = [
        named[word] - sum(share / len(words) for words, share in several.items() if word in words)
        for (word,) in TONGUES[:3]
    ]
    return np.array([*alone, *several.values()])


def _draw_shares(rng: np.random.Generator, groups: Integers, leans: Floats, shares: Floats) -> NDArray[np.int8]:
    """An answer for each person or household: the groups lean, and together they have the published shares."""
    totals = shares / shares.sum() * len(groups)
    margin = TableMargin(np.zeros(len(leans), np.int8), np.arange(len(totals)), totals[None, :])
    return draw(rng, groups, leans, [margin])


def _write_addresses(rng: np.random.Generator, region: NDArray[np.int8]) -> NDArray[np.bytes_]:
    """An address code for each household, such as K1A-000123; it says the region and nothing else."""
    drawn = rng.choice(10 * len(_THIRD_LETTERS) * _NUMBERS, size=len(region), replace=False)
    prefix, number = np.divmod(drawn, _NUMBERS)
    digit, letter = np.divmod(prefix, len(_THIRD_LETTERS))
    text = np.full((len(region), 10), ord("-"), dtype=np.uint8)
    text[:, 0] = np.frombuffer(_FIRST_LETTERS, dtype=np.uint8)[region]
    text[:, 1] = ord("0") + digit
    text[:, 2] = np.frombuffer(_THIRD_LETTERS, dtype=np.uint8)[letter]
    text[:, 4:] = spell_digits(number, 6)
    return text.view("S10").ravel()


def spell_digits(values: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Numbers in decimal digits of one width, a row of bytes for each."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return (values[:, None] // powers % 10 + ord("0")).astype(np.uint8)
