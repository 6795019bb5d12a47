"""kill -9 at every step of a linked count, of a draw, of opening a study: charged once, answered once, nothing lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

import pytest

from discreet.errors import RequestConflict
from discreet.linkage import (
    DrawnSample,
    EnvelopeKind,
    LinkedKind,
    NoisyAnswer,
    OfficeRole,
    SignedAgreement,
    find_study,
    open_holder,
    open_office,
    open_registry,
    write_agreement,
)
from tests.unit.linkage.forged import counters_of, forge, ticket_for
from tests.unit.linkage.three_offices import HEALTH_CARD, PEOPLE_CARD, ThreeOffices, open_offices, sign_all, terms_text

WORKER = Path(__file__).with_name("linked_worker.py")
DESK = "discreet.linkage.offices.registry_desk"
BOOK = "discreet.linkage.offices.account_book"
LEDGER = "discreet.ledger.workspace_ledger:Ledger"
STUDY = "discreet.linkage.offices.office_studies"

# In the order in which they are reached: each with whether the charge stands once it was passed, and the answer.
COUNTING = [
    (f"{DESK}:RegistryDesk._spend_quota", False, False),
    (f"{BOOK}:_write_journal", False, False),
    (f"{LEDGER}.record_use", True, False),
    (f"{BOOK}:AccountBook._store", True, False),
    (f"{DESK}:RegistryDesk._cells", True, False),
    (f"{DESK}:discrete_laplace_array", True, False),
    (f"{LEDGER}.commit_use", True, True),
    (f"{BOOK}:AccountBook.finish", True, True),
    (f"{DESK}:RegistryDesk._close_if_worn", True, True),
    (f"{STUDY}:Study.note", True, True),
]
# Before a step it is as after the one before it.
BEFORE = [(place, "before", *earlier[1:]) for earlier, (place, *_) in pairwise([("", False, False), *COUNTING])]
STEPS = [
    *((place, "after", *found) for place, *found in COUNTING),
    *(pytest.param(*step, marks=pytest.mark.long) for step in BEFORE),
]


@dataclass
class Offices:
    three: ThreeOffices
    input: IO[str]
    output: IO[str]

    def run(
        self, what: str, office: OfficeRole, place: str = "", when: str = "", passes: int = 0, **given: str
    ) -> tuple[int, bytes]:
        """One life of an office: how it ended, and the envelope that it made."""
        out = self.three.folder / "out"
        out.unlink(missing_ok=True)
        fixed = {"what": what, "office": str(self.three.folder / office.value), "out": str(out)}
        fields = {**fixed, "place": place, "when": when, "passes": passes, "study": "tongues", **given}
        self.input.write(json.dumps(fields) + "\n")
        self.input.flush()
        code = json.loads(self.output.readline())
        return code, out.read_bytes() if out.exists() else b""

    def put(self, envelope: bytes) -> str:
        file = self.three.folder / "in"
        file.write_bytes(envelope)
        return str(file)


@pytest.fixture(scope="module")
def offices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offices]:
    folder = tmp_path_factory.mktemp("offices")
    large = "budget: {epsilon: 1000, per_analyst: 1}"
    cards = [card.replace("budget: {epsilon: 20, per_analyst: 1}", large) for card in (HEALTH_CARD, PEOPLE_CARD)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
        patch.setenv("DISCREET_ANALYST", "ana")
        terms = terms_text(closing="closing: {share: 0.99}")
        three = open_offices(folder, terms=terms, health_card=cards[0], people_card=cards[1])
        command = [sys.executable, str(WORKER)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            yield Offices(three, worker.stdin, worker.stdout)
            worker.stdin.close()
            worker.wait(timeout=60)
    three.close()


def answer_in(offices: Offices, envelope: bytes) -> NoisyAnswer:
    return NoisyAnswer.from_bytes(offices.three.researcher.study.unseal(envelope, EnvelopeKind.ANSWER).body)


def charged(offices: Offices) -> tuple[int, int]:
    """The uses that the ledger has of the property, and what person 4, who is in all of them, has paid."""
    three = offices.three
    name = three.registry.pool(three.signed.agreement.terms.property("francophone")).reservation
    events = [event for event in three.sessions[1].ledger.log() if event.kind == "linked"]
    return sum(event.payload["reservation"] == name for event in events), counters_of(three)[3]


@pytest.mark.parametrize(("place", "when", "stands", "fixed"), STEPS)
def test_a_killed_count_is_charged_once_and_answered_once(
    offices: Offices, place: str, when: str, stands: bool, fixed: bool
) -> None:
    three = offices.three
    uses, paid = charged(offices)
    assert paid == uses, "scale 300 costs one part"
    request, draw = ticket_for(three, scale=300), f"{uses:032x}"
    sample = forge(three, [4, 8], request, draw=draw)
    code, _ = offices.run("count", OfficeRole.REGISTRY, place, when, envelope=offices.put(sample))
    assert code == -signal.SIGKILL
    ledger = three.sessions[1].ledger
    pool = three.registry.pool(three.signed.agreement.terms.property("francophone"))
    use = ledger.find_use(pool.reservation, request=request.request)
    assert (use is not None) == stands
    assert charged(offices) == (uses + stands, paid + stands), "accounts are never behind the ledger"
    if use is not None:
        assert (use.answer is not None) == fixed
        with pytest.raises(RequestConflict):
            three.registry.count(forge(three, [4, 8, 12], request, draw=draw))
        with pytest.raises(RequestConflict):
            three.registry.count(forge(three, [4, 8], request, draw="f" * 32))
    code, answer = offices.run("count", OfficeRole.REGISTRY, envelope=offices.put(sample))
    assert code == 0
    told = answer_in(offices, answer)
    if use is not None and use.answer is not None:
        assert told == NoisyAnswer.from_bytes(use.answer)
    again = three.registry.count(sample)
    assert (again.answer, again.replayed) == (answer, True)
    other = three.registry.count(forge(three, [4, 8], ticket_for(three, scale=300), draw=draw))
    assert answer_in(offices, other.answer).cells == told.cells
    assert charged(offices) == (uses + 1, paid + 1)
    assert not list(pool.folder.glob("use-*")), "who was counted is forgotten"
    three.sessions[1].verify()


def test_two_kills_of_one_count(offices: Offices) -> None:
    three = offices.three
    uses, paid = charged(offices)
    sample = offices.put(forge(three, [4], asked={"scale": 300}))
    for place in (f"{LEDGER}.record_use", f"{BOOK}:AccountBook._recover", f"{DESK}:RegistryDesk._cells"):
        assert offices.run("count", OfficeRole.REGISTRY, place, "after", envelope=sample)[0] == -signal.SIGKILL
    assert offices.run("count", OfficeRole.REGISTRY, envelope=sample)[0] == 0
    assert charged(offices) == (uses + 1, paid + 1)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", [f"{STUDY}:Study.note", f"{STUDY}:Study.seal"])
def test_a_killed_draw_is_drawn_the_same(offices: Offices, place: str, when: str) -> None:
    three = offices.three

    def drawn(envelope: bytes) -> DrawnSample:
        return DrawnSample.from_bytes(three.registry.study.unseal(envelope, EnvelopeKind.SAMPLE).body)

    asked = three.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=300, where="age < 50")
    file = offices.put(asked.envelope)
    assert offices.run("draw", OfficeRole.HOLDER, place, when, envelope=file)[0] == -signal.SIGKILL
    code, first = offices.run("draw", OfficeRole.HOLDER, envelope=file)
    assert code == 0
    again = three.holder.draw(asked.envelope).sample
    assert drawn(first).to_bytes() == drawn(again).to_bytes()


# --- opening ----------------------------------------------------------------------------------------------------------

REGISTRY_STEPS = [
    ("discreet.linkage.offices.registry_index:RegistryIndex.save", "after", 0),
    (f"{DESK}:save_array", "after", 0),
    (f"{BOOK}:write_whole", "after", 0),
    (f"{BOOK}:AccountBook.create", "after", 0),
    (f"{LEDGER}.reserve", "before", 0),
    (f"{LEDGER}.reserve", "after", 0),
    (f"{BOOK}:write_whole", "after", 2),
    (f"{LEDGER}.reserve", "after", 1),
    (f"{STUDY}:Study.seal", "after", 0),
]


def agree(offices: Offices, name: str) -> tuple[SignedAgreement, str]:
    """An agreement about properties that no other has, signed, and its file."""
    text = terms_text(study=f"study: {name}")
    for condition in ("english = 'no'", "first = 'F'"):
        text = text.replace(condition, f"{condition} AND weight < {int(name.encode().hex(), 16)}")
    signed = sign_all(
        text, [open_office(offices.three.folder / role.value) for role in OfficeRole], offices.three.folder
    )
    file = offices.three.folder / f"{name}.json"
    write_agreement(signed, file)
    return signed, str(file)


@pytest.mark.parametrize(
    ("place", "when", "passes"),
    [pytest.param(*step, marks=pytest.mark.long if at % 2 else ()) for at, step in enumerate(REGISTRY_STEPS)],
)
def test_a_registry_killed_while_opening_reserves_once(offices: Offices, place: str, when: str, passes: int) -> None:
    three = offices.three
    signed, file = agree(offices, f"r{REGISTRY_STEPS.index((place, when, passes))}")
    workspace = str(three.folder / "r" / "workspace")
    before = three.sessions[1].budget("residents").population.epsilon_spent
    code, _ = offices.run(
        "open-registry", OfficeRole.REGISTRY, place, when, passes, agreement=file, workspace=workspace
    )
    assert code == -signal.SIGKILL
    _, key = open_registry(three.registry.study.office, signed, workspace=workspace)
    each = three.sessions[1].ledger.reservation("residents", f"linked:{next(iter(pools(signed, three).values()))}")
    assert each is not None
    assert three.sessions[1].budget("residents").population.epsilon_spent == before + 2 * each.guarantee.epsilon
    assert key


def pools(signed: SignedAgreement, three: ThreeOffices) -> dict[str, str]:
    study = find_study(three.folder / "registry", signed.agreement.digest)
    found: dict[str, str] = json.loads((study.folder / "pools.json").read_text())
    return found


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("place", [f"{STUDY}:Study.keep_secret", f"{LEDGER}.reserve"])
def test_a_holder_killed_while_opening_reserves_once(offices: Offices, place: str, when: str) -> None:
    three = offices.three
    signed, file = agree(offices, f"h{place[-2:].lower()}{when[0]}")
    _, key = open_registry(three.registry.study.office, signed, workspace=three.folder / "r" / "workspace")
    workspace = str(three.folder / "h" / "workspace")
    before = three.sessions[0].budget("insured").population.epsilon_spent
    code, _ = offices.run(
        "open-holder", OfficeRole.HOLDER, place, when, agreement=file, workspace=workspace, envelope=offices.put(key)
    )
    assert code == -signal.SIGKILL
    open_holder(three.holder.study.office, signed, workspace=workspace, link_key=key)
    held = three.sessions[0].ledger.reservation("insured", f"linked:{signed.agreement.short}")
    assert held is not None
    assert three.sessions[0].budget("insured").population.epsilon_spent == before + held.guarantee.epsilon
