"""Every method of today and differential privacy on the same table: errors, what is changed, and what an attack finds.

For custodians only: errors are measured against the exact figures. Nothing here is a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, log10
from typing import Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Neighbours
from discreet.lab.today.controlled_rounding import ControlledRounding
from discreet.lab.today.holdings import Holdings, Published, require_whole
from discreet.lab.today.log_audit import QueryAuditing
from discreet.lab.today.overlap import OverlapControl
from discreet.lab.today.partitioning import Partitioning
from discreet.lab.today.perturbation import FixedPerturbation
from discreet.lab.today.private_release import PrivateRelease, publish_private, success_ceiling
from discreet.lab.today.restriction import SetSizeRestriction
from discreet.lab.today.rounding import RandomRounding, SystematicRounding
from discreet.lab.today.suppression import Suppression
from discreet.lab.today.swapping import RecordSwapping
from discreet.lab.today.trials import Attack, TodayMethod, attack, base_rate, draws
from discreet.tables import Margin

__all__ = ["MOST_RELEASES", "MOST_TRIALS", "MethodLine", "MethodsComparison", "compare", "list_methods"]

MOST_TRIALS: Final = 10**6
MOST_RELEASES: Final = 10
_DRAWS: Final = 20
_TITLES: Final = {
    "suppression": Phrase("suppression"),
    "systematic rounding": Phrase("systematic rounding"),
    "random rounding": Phrase("random rounding"),
    "controlled rounding": Phrase("controlled rounding"),
    "set-size restriction": Phrase("set-size restriction"),
    "overlap control": Phrase("overlap control"),
    "query auditing": Phrase("query auditing"),
    "partitioning": Phrase("partitioning"),
    "record swapping": Phrase("record swapping"),
    "fixed perturbation": Phrase("fixed perturbation"),
    "differential privacy": Phrase("differential privacy"),
}

Progress = Callable[[str, int, int], None]
"""Called with the name of a method, how many methods are done, and of how many."""


@dataclass(frozen=True, slots=True)
class MethodLine:
    """One method. Errors are absolute, in the table's unit, over shown figures; on average over draws.

    `changed` is the share of cells shown with another figure than the held one, `suppressed` of cells not shown. What
    a method without a table would have is None.
    """

    method: str
    did: str
    parameters: dict[str, object]
    guarantee: str
    private: bool
    mean_error: float | None
    largest_error: float | None
    margin_mean_error: float | None
    margin_largest_error: float | None
    changed: float | None
    suppressed: float | None
    additive: bool | None
    attack: Attack | None

    @property
    def title(self) -> str:
        """The method in a few words, with what tells it from its like."""
        if "epsilon" in self.parameters:
            return say("DP, epsilon {epsilon}", epsilon=self.parameters["epsilon"])
        if "exchanged" in self.parameters:
            return say("swapping of {exchanged}", exchanged=self.parameters["exchanged"])
        return str(_TITLES.get(self.method, self.method))

    def sentence(self) -> str:
        """What the method did, and what the attack recovered."""
        if self.attack is None:
            return say("{title}: {did} There is nothing to attack.", title=self.title, did=self.did)
        done = self.attack
        said = say(
            "{title}: {did} Of {trials} people {sure} were recovered beyond doubt and {right} guessed right "
            "({rate:.0%}; interval {low:.0%} to {high:.0%}).",
            title=self.title,
            did=self.did,
            trials=done.trials,
            sure=done.sure,
            right=done.right,
            rate=done.rate,
            low=done.low,
            high=done.high,
        )
        if done.ceiling is None:
            return said
        bound = say("On average no attack can guess more than {ceiling:.1%} right.", ceiling=done.ceiling)
        return f"{said} {bound}"

    def to_dict(self) -> dict[str, object]:
        return {
            "method": self.method,
            "parameters": self.parameters,
            "did": self.did,
            "guarantee": self.guarantee,
            "differentially_private": self.private,
            "mean_error": self.mean_error,
            "largest_error": self.largest_error,
            "margin_mean_error": self.margin_mean_error,
            "margin_largest_error": self.margin_largest_error,
            "share_changed": self.changed,
            "share_suppressed": self.suppressed,
            "additive": self.additive,
            "attack": None if self.attack is None else self.attack.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class MethodsComparison:
    """The lines, today's methods first; `target` names the key that the attack was after."""

    title: str
    lines: tuple[MethodLine, ...]
    target: str
    base_rate: float | None
    neighbours: Neighbours
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "title": self.title,
            "target": self.target,
            "neighbours": str(self.neighbours),
            "lines": [line.to_dict() for line in self.lines],
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> Iterator[str]:
        """How errors are meant and the attack goes, then one sentence or more for each method."""
        yield say(
            "Errors are those of the shown cells, in the unit of the table; what is random was drawn {draws} times, "
            "and its mean and its largest error are averages over the draws.",
            draws=_DRAWS,
        )
        yield say(
            "The attack: an outsider sees the table with everyone and without one person, knows all of that person's "
            "keys but {target}, what they add, and how common each category of {target} is among people with the same "
            "other keys. Where single queries are answered, they also ask about people they can name.",
            target=self.target,
        )
        if self.base_rate is not None:
            yield say(
                "Guessing the most common category, without any table, is right in {rate:.0%} of cases.",
                rate=self.base_rate,
            )
        yield from self.notes
        yield from (line.sentence() for line in self.lines)


def list_methods(
    holdings: Holdings,
    *,
    threshold: int = 5,
    base: int | None = None,
    least: int = 5,
    share: float = 0.05,
    seconds: float = 10.0,
    target: int = 0,
) -> tuple[TodayMethod, ...]:
    """Today's methods with their usual parameters.

    People trade the first key, which is mostly where they live, and in another file the `target` of the attack, which
    is also what is audited, partitioned and perturbed. Counts are rounded to base 5; totals to 5 times the power of ten
    below the mean contribution, so that rounding hides about as many people. `seconds` limit the search of controlled
    rounding and the audit of suppression.
    """
    step = base if base is not None else 5 * _power_of_ten(holdings)
    return (
        Suppression(threshold=threshold, seconds=seconds),
        SystematicRounding(base=step),
        RandomRounding(base=step),
        ControlledRounding(base=step, seconds=seconds),
        SetSizeRestriction(least=least),
        OverlapControl(least=least),
        QueryAuditing(confidential=target),
        Partitioning(along=target, least=least),
        *(RecordSwapping(share=share, exchanged=index) for index in sorted({0, target})),
        FixedPerturbation(perturbed=target),
    )


def compare(
    holdings: Holdings,
    *,
    private: Sequence[PrivateRelease],
    trials: int = 200,
    target: int | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    bounded: bool = True,
    methods: Sequence[TodayMethod] | None = None,
    attack_seconds: float = 3.0,
    title: str = "",
    notes: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> MethodsComparison:
    """One line for each method and each private release.

    The attack is after the key at place `target`, the last unless given, `trials` times or until `attack_seconds` are
    over for a method. No ceiling is stated unless `bounded`: neighbours may differ in the target.
    """
    require_whole(trials, parameter="trials", least=1, most=MOST_TRIALS)
    if not 1 <= len(private) <= MOST_RELEASES:
        raise ParameterInvalid(
            parameter="epsilons",
            rule=say("must be 1 to {most_releases}", most_releases=MOST_RELEASES),
            given=str(len(private)),
        )
    index = len(holdings.layout.sizes) - 1 if target is None else target
    require_whole(index, parameter="target", least=0, most=len(holdings.layout.sizes) - 1)
    chosen = list_methods(holdings, target=index) if methods is None else tuple(methods)
    drawn = np.random.default_rng() if rng is None else rng
    trial = partial(attack, holdings=holdings, target=index, trials=trials, seconds=attack_seconds, rng=drawn)
    total, lines = len(chosen) + len(private), list[MethodLine]()

    def enter(line: MethodLine) -> None:
        lines.append(line)
        if progress is not None:
            progress(line.title, len(lines), total)

    for method in chosen:
        random = draws(method)
        published = [method.apply(holdings, rng=drawn) for _ in range(_DRAWS if random else 1)]
        enter(_measure(holdings, published, trial(method, everyone=None if random else published[0])))
    for release in private:
        most = None
        if holdings.people and bounded:
            most = success_ceiling(holdings, index, guarantee=release.guarantee, neighbours=neighbours)
        published = [publish_private(release, holdings) for _ in range(_DRAWS)]
        enter(_measure(holdings, published, trial(release, ceiling=most)))
    base = base_rate(holdings, index) if holdings.people else None
    return MethodsComparison(title, tuple(lines), holdings.name(index), base, neighbours, tuple(notes))


def _measure(holdings: Holdings, drawn: Sequence[Published], found: Attack | None) -> MethodLine:
    first = drawn[0]
    cells = holdings.layout.cells
    margins = [margin for margin in holdings.layout.margins if margin != cells]
    private = first.guarantee.differentially_private
    errors = [_errors(holdings, item, [cells]) for item in drawn] if first.found else []
    beside = [_errors(holdings, item, margins) for item in drawn] if first.found else []
    return MethodLine(
        method=first.method,
        did=first.did,
        parameters=dict(first.parameters),
        guarantee=str(first.guarantee),
        private=private,
        mean_error=_mean([float(part.mean()) for part in errors if part.size]),
        largest_error=_mean([float(part.max()) for part in errors if part.size]),
        margin_mean_error=_mean([float(part.mean()) for part in beside if part.size]),
        margin_largest_error=_mean([float(part.max()) for part in beside if part.size]),
        changed=_mean([float((part > 0).sum() / holdings.counts.size) for part in errors]),
        suppressed=float(first.hidden[cells].mean()) if first.found else None,
        additive=first.additive() if first.found else None,
        attack=found,
    )


def _errors(
    holdings: Holdings, published: Published, margins: Sequence[Margin]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Absolute errors of the figures that are shown, in the table's unit."""
    parts = [np.zeros(0)]
    for margin in margins:
        away = np.abs(published.figures[margin] - holdings.margin(margin)) * float(holdings.step)
        parts.append(away[~published.hidden[margin]].ravel())
    return np.concatenate(parts)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _power_of_ten(holdings: Holdings) -> int:
    if holdings.contributions is None or not len(holdings.contributions):
        return 1
    _, values, people = holdings.rows()
    mean = float(np.abs(values) @ people) / float(people.sum())
    return int(10 ** max(0, floor(log10(mean)))) if mean >= 1 else 1
