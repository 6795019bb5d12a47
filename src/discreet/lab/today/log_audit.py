"""Auditing of a query log: an answer is refused where it and the earlier ones, as equations, determine an individual.

What is audited is one confidential key. A query names people by their other keys and asks how they divide over the
confidential one; each answer is an equation in what its people add, and a person is determined when the equations have
only one solution for them. Whether to refuse is decided from who is asked about, never from the answer, so a refusal
says nothing. But equations over all numbers do not know that a person stands in one place only: two people of whom both
are, or neither is, in a place are known without being determined.

Refs: [CO82] the audit of sums by linear algebra; [KPR03] that auditing yes-or-no values is another matter; [KMN05]
refusals that depend on no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.catalogue import say
from discreet.guarantees import Unproven
from discreet.lab.today.differencing import OutsiderVerdict, conclude
from discreet.lab.today.holdings import Figures, HeldPerson, Hidden, Holdings, Integers, Published, require_whole
from discreet.tables import Margin, keep_keys

__all__ = ["LinearAudit", "QueryAuditing"]

_NOTHING = 1e-9


class LinearAudit:
    """A log of answered queries over some columns: people, or groups nobody has asked to part.

    `alone` marks the columns that are one person. The log is kept solved: every row has a column of its own, so that a
    column is determined exactly where a row holds nothing else.
    """

    def __init__(self, alone: Hidden) -> None:
        self.columns = alone.size
        self._alone = alone
        self._rows: NDArray[np.float64] = np.zeros((0, alone.size))
        self._own: list[int] = []

    def admit(self, query: Figures) -> bool:
        """Whether the query may be answered; if so it is entered."""
        asked = np.asarray(query, dtype=np.float64)
        new = _settle(asked - asked[self._own] @ self._rows)
        if not new.any():
            return True
        own = int(np.abs(new).argmax())
        new = new / new[own]
        rows = np.vstack([_settle(self._rows - np.outer(self._rows[:, own], new)), new])
        single = rows[(rows != 0).sum(axis=1) == 1]
        if self._alone[(single != 0).any(axis=0)].any():
            return False
        self._rows = rows
        self._own.append(own)
        return True


@dataclass(frozen=True, slots=True)
class QueryAuditing:
    """Figures that together with earlier ones determine somebody's place on the key `confidential` are refused.

    The log is kept for ever and for all users together. Figures are asked for in the order of the layout, the cells
    first. The attack asks for at most `pairs` pairs.
    """

    confidential: int = 0
    pairs: int = 20

    def __post_init__(self) -> None:
        require_whole(self.confidential, parameter="confidential", least=0)
        require_whole(self.pairs, parameter="pairs", least=1)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: figures are exact or refused."""
        margins = sorted(holdings.layout.margins, key=len, reverse=True)
        require_whole(self.confidential, parameter="confidential", least=0, most=len(holdings.layout.sizes) - 1)
        refused = self._audit(holdings, margins)
        hidden = {margin: self._spread(holdings, margin, refused) for margin in margins}
        name = holdings.name(self.confidential)
        return Published(
            method="query auditing",
            did=say(
                "Figures from which, with earlier ones, linear algebra determines one person's {name} are refused; "
                "the log is kept for ever and for all users, cells are asked for before margins, and what is answered "
                "is exact.",
                name=name,
            ),
            parameters={"confidential": name, "log": "all queries of all users"},
            guarantee=Unproven("exact answers; what whole numbers tell beyond linear algebra is not audited"),
            figures={margin: np.where(hidden[margin], 0, holdings.margin(margin)) for margin in margins},
            hidden=hidden,
            reach=dict.fromkeys(margins, 0.0),
            steady=True,
        )

    def attack(
        self, holdings: Holdings, person: HeldPerson, *, target: int, common: Figures, rng: np.random.Generator
    ) -> OutsiderVerdict:
        """The second table is refused wherever it tells the person, so pairs are asked for: the person and another.

        A place stands while in every pair taking the person out of it leaves at most one place, the other's. The log
        holds the table before the pairs: the lines of all who are named, each with a column for the people of the line
        who are not. Margins add nothing, as they are sums of lines, or hold two people or more whose lines are refused.
        """
        possible = np.ones(common.size, dtype=np.bool_)
        if person.value and holdings.people > 1:
            named, log = self._open_log(holdings, person, target=target, rng=rng)
            for index, other in enumerate(named[1:], start=1):
                pair = np.zeros(log.columns)
                pair[[0, index]] = 1
                if not log.admit(pair):
                    continue
                answer = holdings.divide(np.array([named[0], other]), target)
                left = answer - person.value * np.eye(common.size, dtype=np.int64)
                possible &= (left != 0).sum(axis=1) <= 1
                if possible.sum() == 1:
                    break
        return conclude(possible, np.zeros(common.size), common, person.cell[target])

    def _open_log(
        self, holdings: Holdings, person: HeldPerson, *, target: int, rng: np.random.Generator
    ) -> tuple[Integers, LinearAudit]:
        """The person and others drawn at random; a log that holds the lines in which they stand."""
        number = holdings.number(person, rng)
        others = rng.choice(holdings.people - 1, size=min(self.pairs, holdings.people - 1), replace=False)
        named = np.append(number, others + (others >= number))
        keys = np.unravel_index(holdings.stand(named)[0], holdings.layout.sizes)
        known = [index for index in holdings.layout.cells if index != target]
        lines = holdings.counts.sum(axis=target).ravel()
        shape = holdings.layout.shape(tuple(known))
        stand = np.ravel_multi_index([keys[index] for index in known], shape) if known else np.zeros_like(named)
        touched, at = np.unique(stand, return_inverse=True)
        rest = lines[touched] - np.bincount(at)
        log = LinearAudit(np.append(np.ones(named.size, dtype=np.bool_), rest == 1))
        for line, people in enumerate(lines[touched]):
            if people > 1:
                log.admit(np.append(at == line, (np.arange(rest.size) == line) & (rest > 0)))
        return named, log

    def _audit(self, holdings: Holdings, margins: list[Margin]) -> dict[Margin, Hidden]:
        """For each set of known keys the groups that are refused. Only lines of one person are ever at stake."""
        indices = tuple(index for index in holdings.layout.cells if index != self.confidential)
        lines = keep_keys(holdings.counts, indices)
        single = np.flatnonzero(lines.ravel() == 1)
        log = LinearAudit(np.ones(single.size, dtype=np.bool_))
        refused = dict[Margin, Hidden]()
        for margin in margins:
            known = tuple(index for index in margin if index != self.confidential)
            if known in refused:
                continue
            numbers = np.arange(holdings.layout.count(known)).reshape(holdings.layout.shape(known))
            over = tuple(axis for axis, index in enumerate(indices) if index not in known)
            group = np.broadcast_to(np.expand_dims(numbers, over), lines.shape).ravel()[single]
            kept = [item for item in np.unique(group) if not log.admit(group == item)]
            refused[known] = np.isin(numbers, kept)
        return refused

    def _spread(self, holdings: Holdings, margin: Margin, refused: dict[Margin, Hidden]) -> Hidden:
        """The figures of a margin that are refused. Counts by known keys alone say nothing about the audited one."""
        known = tuple(index for index in margin if index != self.confidential)
        if self.confidential not in margin:
            return refused[known] & holdings.magnitude
        wide = np.expand_dims(refused[known], margin.index(self.confidential))
        return np.broadcast_to(wide, holdings.layout.shape(margin)).copy()


def _settle(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(rows) < _NOTHING, 0.0, rows)
