"""The attack of Figure 2, audited: no more than E with accounts, far more without; and answers that tell no refusal.

An audit is wrong with probability ALPHA at most. Four tests audit what must hold, seven bounds: 7e-7 together. What is
planted is so far beyond that missing it is rarer than 1e-8, as is a difference between equal laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from discreet.lab import AuditResult, audit_loss
from discreet.linkage import EnvelopeKind, NoisyAnswer
from discreet.linkage.accounts import Accounts
from discreet.linkage.attack_audit import audit_attack
from tests.unit.linkage.forged import forge, ticket_for
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text

pytest.importorskip("scipy")
pytestmark = pytest.mark.statistical

ALPHA = 1e-7
QUERIES = (1, 41, 42, 200)


def test_accounts_keep_what_they_promise_and_noise_alone_does_not() -> None:
    found = audit_attack(QUERIES, scale=30, belief="0.8", runs=4_000, alpha=ALPHA)
    assert found.allowed == 41
    assert not found.refuted
    by_number = {bare.queries: (bare, held) for bare, held in found.attacks}
    assert all(held.belief <= 0.797 for _, held in found.attacks)
    assert by_number[200][0].right > by_number[200][1].right


def test_noise_alone_is_far_above_it() -> None:
    """At scale 3 an account holds four queries of 1/3; 200 without accounts lose 66, and about 6 of it shows."""
    found = audit_attack([200], scale=3, belief="0.8", runs=4_000, alpha=ALPHA)
    bare, held = found.attacks[0]
    assert held.bound <= float(found.epsilon) < 3 < bare.bound
    assert bare.belief > 0.999999 > held.belief


def test_accounts_that_never_run_out_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: she stays in all answers."""
    monkeypatch.setattr(Accounts, "charge", lambda self, units, charge: np.ones(len(units), dtype=np.bool_))
    assert audit_attack([200], scale=3, belief="0.8", runs=4_000, alpha=ALPHA).refuted


@pytest.mark.long
def test_three_thousand_queries() -> None:
    found = audit_attack([3_000], scale=30, belief="0.8", runs=4_000, alpha=ALPHA)
    assert not found.refuted
    assert found.attacks[0][0].bound > 1.5


# --- by envelopes -----------------------------------------------------------------------------------------------------


def open_registry_of(folder: Path, people: int) -> ThreeOffices:
    """The first half have the property. An account holds one count of scale 1, for a belief of .74."""
    health = "number,address,age,ill\n" + "".join(f"{n},A,1,no\n" for n in range(1, people + 1))
    rows = "".join(f"{n},H,{'yes' if n <= people // 2 else 'no'},no,F,1\n" for n in range(1, people + 1))
    terms = terms_text(scales="scales: [1]", policy="policy: {belief: 0.74}", closing="closing: {share: 0.99}")
    registry = "person,household,french,english,first,weight\n" + rows
    return open_offices(folder, terms=terms, rows=(health, registry, "id,unit\n"))


def count_singly(offices: ThreeOffices, people: Sequence[int]) -> list[int]:
    """An answer for each of fifty people, each a group of one in one envelope; 0 is an empty group."""
    request = ticket_for(offices, scale=1, groups=50)
    drawn = [(person, place) for place, person in enumerate(people) if person]
    envelope = forge(offices, [person for person, _ in drawn], request, labels=[place for _, place in drawn])
    opened = offices.researcher.study.unseal(offices.registry.count(envelope).answer, EnvelopeKind.ANSWER)
    return [group[0] for group in NoisyAnswer.from_bytes(opened.body).cells or ()]


def attack_by_envelopes(folder: Path, queries: int, people: int = 400) -> AuditResult:
    """What shows of people with the property and without it, if answers above 0 are counted."""
    offices = open_registry_of(folder, people)
    above = np.zeros(people, dtype=np.int64)
    for _ in range(queries):
        for start in range(0, people, 50):
            above[start : start + 50] += np.array(count_singly(offices, range(start + 1, start + 51))) > 0
    offices.close()
    return audit_loss(above[: people // 2], above[people // 2 :], claimed=math.log(0.74 / 0.26), alpha=ALPHA)


def test_the_registry_s_own_answers_keep_it_too(tmp_path: Path) -> None:
    assert not attack_by_envelopes(tmp_path, 6).refuted


@pytest.mark.long
def test_a_registry_without_accounts_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: everybody has room. 20 answers lose 20, and 1.2 or more of it shows."""
    price = Accounts.price
    monkeypatch.setattr(
        Accounts, "price", lambda self, *asked, **given: price(Accounts(len(self), cap=self.cap), *asked, **given)
    )
    assert attack_by_envelopes(tmp_path, 20).refuted


GAP = 0.2
"""Between the laws with her counted and without her it is tanh(1/2) = 0.46."""


def test_answers_do_not_tell_whether_a_sample_has_an_exhausted_person(tmp_path: Path) -> None:
    """The refusal oracle: exhaust her, then ask criteria. Answers with her and without her follow one law.

    1,000 answers each are within 0.1 of their law but for 4·exp(-2·1000·0.01) = 1e-8.
    """
    offices = open_registry_of(tmp_path, 100)
    count_singly(offices, range(1, 51))
    drawn = [answer for _ in range(20) for answer in count_singly(offices, range(1, 51))]
    absent = [answer for _ in range(20) for answer in count_singly(offices, [0] * 50)]
    assert distance(drawn, absent) < GAP
    # The planted fault: a thousand answers as they would be if she were counted still.
    assert distance([answer + 1 for answer in absent], drawn) > GAP
    offices.close()


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """The largest distance between two distributions."""
    values = np.unique([*one, *other])
    laws = [np.searchsorted(np.sort(side), values, side="right") / len(side) for side in (one, other)]
    return float(np.abs(laws[0] - laws[1]).max())
