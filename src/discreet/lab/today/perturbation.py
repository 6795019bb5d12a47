"""Fixed perturbation: every record is changed once, at random, and all answers are computed from the changed file.

In a table of counts some people's place on one key is replaced by one drawn at random; in a table of totals what each
person adds is multiplied by a factor of its own. Nothing is drawn for an answer, so asking again tells nothing new; but
a changed record stands in the file as one person, and leaves it as one.

Refs: [AW89] fixed-data perturbation; [War65] replacing answers at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Unproven
from discreet.lab.today.holdings import HeldPerson, Holdings, Integers, Published, require_whole
from discreet.tables import keep_keys

__all__ = ["FixedPerturbation"]


@dataclass(frozen=True, slots=True)
class FixedPerturbation:
    """A `share` of the people get a place drawn at random on the key `perturbed`.

    In a table of totals nobody moves: what each adds is multiplied once by a factor between 1 − `spread` and 1 +
    `spread`, and rounded to whole steps.
    """

    perturbed: int = 0
    share: float = 0.1
    spread: float = 0.1

    def __post_init__(self) -> None:
        require_whole(self.perturbed, parameter="perturbed", least=0)
        for name, value in (("share", self.share), ("spread", self.spread)):
            if not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise ParameterInvalid(parameter=name, rule=say("must lie between 0 and 1"), given=str(value))

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """A file changed afresh at every call."""
        return self.publish(holdings, self.perturb(holdings, rng=np.random.default_rng() if rng is None else rng))

    def publish(self, holdings: Holdings, cells: Integers) -> Published:
        """A table of the changed file, with its margins."""
        margins = holdings.layout.margins
        name = holdings.name(self.perturbed)
        if holdings.magnitude:
            did = say(
                "What each person adds is multiplied once by a factor within {percent:g}% of 1; the table of the "
                "changed file is exact.",
                percent=100 * self.spread,
            )
            parameters: dict[str, object] = {"spread": self.spread}
            _, values, people = holdings.rows()
            reach = dict.fromkeys(margins, float(self.spread * (np.abs(values) @ people) + people.sum()))
        else:
            did = say(
                "{percent:g}% of the people get a {name} drawn at random, once; the table of the changed file is "
                "exact.",
                percent=100 * self.share,
                name=name,
            )
            parameters = {"share": self.share, "perturbed": name}
            reach = {margin: inf if self.perturbed in margin else 0.0 for margin in margins}
        return Published(
            method="fixed perturbation",
            did=did,
            parameters=parameters,
            guarantee=Unproven("a changed record still joins and leaves the table as one person"),
            figures={margin: keep_keys(cells, margin) for margin in margins},
            hidden={margin: np.zeros(holdings.layout.shape(margin), dtype=np.bool_) for margin in margins},
            reach=reach,
            steady=True,
        )

    def perturb(self, holdings: Holdings, *, rng: np.random.Generator) -> Integers:
        """The cells of the table made from the changed file."""
        require_whole(self.perturbed, parameter="perturbed", least=0, most=len(holdings.layout.sizes) - 1)
        if holdings.magnitude:
            cells, values, people = (np.asarray(part) for part in holdings.rows())
            factors = 1 + self.spread * rng.uniform(-1, 1, size=int(people.sum()))
            changed = np.rint(np.repeat(values, people) * factors).astype(np.int64)
            figures = np.zeros(holdings.counts.size, dtype=np.int64)
            np.add.at(figures, np.repeat(cells, people), changed)
            return figures.reshape(holdings.layout.sizes)
        moved = rng.binomial(holdings.counts, self.share)
        size = holdings.layout.sizes[self.perturbed]
        arrived = rng.multinomial(moved.sum(axis=self.perturbed), np.full(size, 1 / size))
        return np.asarray(holdings.counts - moved + np.moveaxis(arrived, -1, self.perturbed), dtype=np.int64)

    def perturb_person(self, holdings: Holdings, person: HeldPerson, *, rng: np.random.Generator) -> HeldPerson:
        """The person's record as it stands in the changed file."""
        if holdings.magnitude:
            factor = 1 + self.spread * float(rng.uniform(-1, 1))
            return HeldPerson(person.cell, round(person.value * factor))
        if rng.random() >= self.share:
            return person
        index = int(rng.integers(holdings.layout.sizes[self.perturbed]))
        return HeldPerson((*person.cell[: self.perturbed], index, *person.cell[self.perturbed + 1 :]), person.value)
