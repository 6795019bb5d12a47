"""A researcher, a holder and a registry that obey nothing: what each can make the others do, and learn by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import (
    BudgetExceeded,
    DatasetSuspended,
    ParameterInvalid,
    Refused,
    RequestConflict,
    SignatureInvalid,
)
from discreet.linkage import (
    AskedGroup,
    CountRequest,
    DrawnSample,
    EnvelopeHeader,
    EnvelopeKind,
    GroupLabels,
    LinkedKind,
    NoisyAnswer,
    OfficeRole,
    RegistryDesk,
    SignedAgreement,
    Study,
    Ticket,
    create_office,
    find_study,
    list_studies,
    open_holder,
    open_registry,
    open_researcher,
    seal_envelope,
)
from discreet.linkage.envelopes import ROUTES
from tests.unit.linkage.forged import cells_of, counters_of, forge, forged_sample, silence, ticket_for, write
from tests.unit.linkage.three_offices import (
    PEOPLE_CARD,
    ThreeOffices,
    make_workspace,
    open_offices,
    people_rows,
    sign_all,
    terms_text,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeOffices]:
    """For what is refused, and so changes nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
        offices = open_offices(tmp_path_factory.mktemp("offices"))
    yield offices
    offices.close()


@pytest.fixture
def offices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreeOffices]:
    """Without noise, so that who is counted can be seen."""
    silence(monkeypatch)
    found = open_offices(tmp_path, terms=terms_text(closing="closing: {share: 0.99}"))
    yield found
    found.close()


def read(offices: ThreeOffices, sample: bytes) -> Any:
    return offices.researcher.read(offices.registry.count(sample).answer).answer.cells


def ask(offices: ThreeOffices, where: str | None = "ill = 'yes'") -> bytes:
    return offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=where).envelope


# --- the researcher ---------------------------------------------------------------------------------------------------


def test_a_sample_that_the_researcher_signs_is_refused(shared: ThreeOffices) -> None:
    request = ticket_for(shared)
    sample = forged_sample(shared, [4, 8], request)
    for by in (shared.researcher.study, shared.registry.study):
        sealed = by.seal(EnvelopeKind.SAMPLE, sample.to_bytes(), request=request.request)
        with pytest.raises(SignatureInvalid, match="the envelope was refused"):
            shared.registry.count(sealed)


def test_a_sample_sent_again_has_its_answer_bit_for_bit(offices: ThreeOffices) -> None:
    sample = offices.holder.draw(ask(offices)).sample
    first, again = offices.registry.count(sample), offices.registry.count(sample)
    assert (again.answer, again.replayed) == (first.answer, True)
    assert max(counters_of(offices)) == 10
    # The researcher who asks the same under another request meets the same noise, and nobody pays.
    other = offices.registry.count(offices.holder.draw(ask(offices)).sample)
    assert other.replayed
    assert max(counters_of(offices)) == 10


def test_who_was_counted_is_forgotten(offices: ThreeOffices) -> None:
    """Nothing of a sample stays at the registry but a digest under a key."""
    envelope = forge(offices, [4, 8])
    pseudonyms = sample_in(offices, envelope).entries()
    offices.registry.count(envelope)
    files = [file for file in (offices.folder / "registry").rglob("*") if file.is_file()]
    assert not [file for file in files if file.name.startswith("use-")]
    assert not [file for file in files if pseudonyms in file.read_bytes()]


def test_asking_for_more_people_is_another_draw(offices: ThreeOffices) -> None:
    """Answers that are equal whenever the units are would tell who is absent."""
    assert cells_of(offices, [4]) == cells_of(offices, [4, 9999]) == [[1]]
    assert counters_of(offices)[3] == 20


def test_a_request_to_the_holder_says_nothing_but_what_was_agreed_on(shared: ThreeOffices) -> None:
    request = ticket_for(shared)
    everybody = request.groups[0]
    for altered in (
        replace(request, scale=31),
        replace(request, charge=0),
        replace(request, charge=-10),
        replace(request, request="f" * 32),
    ):
        sealed = shared.researcher.study.seal(EnvelopeKind.REQUEST, altered.to_bytes(), request=request.request)
        with pytest.raises(SignatureInvalid):
            shared.holder.draw(sealed)
    body = json.loads(request.to_bytes())
    wrong: list[dict[str, Any]] = [
        {"groups": []},
        {"groups": [{"name": "a", "where": None, "rate": "0"}]},
        {"groups": [{"name": "a", "where": None, "rate": "1.5"}]},
        {"groups": [{"name": "a\u202e", "where": None, "rate": "1"}]},
        {"groups": [{"name": "a", "where": "", "rate": "1"}]},
        {"groups": [{"name": f"{n}", "where": None, "rate": "1"} for n in range(51)]},
        {"where": "x" * 20_001},
        {"where": 5},
        {"scale": True},
        {"scale": 30.0},
        {"ticket": "not base64!"},
        {"more": 1},
    ]
    for part in wrong:
        data = json.dumps({**body, **part}, sort_keys=True, separators=(",", ":")).encode()
        sealed = shared.researcher.study.seal(EnvelopeKind.REQUEST, data, request=request.request)
        with pytest.raises(SignatureInvalid):
            shared.holder.look(sealed)
    assert everybody.rate == 1


def test_the_researcher_is_told_before_sending(shared: ThreeOffices) -> None:
    def try_group(name: str, rate: str = "1") -> None:
        group = AskedGroup(name, None, Decimal(rate))
        shared.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None, groups=[group])

    for name, rate in (("", "1"), ("a\x1b[2J", "1"), ("a" * 101, "1"), ("a", "NaN"), ("a", "0"), ("a", "1.1")):
        with pytest.raises(ParameterInvalid):
            try_group(name, rate)
    with pytest.raises(ParameterInvalid):
        try_group("a", "0.1234567891")


def test_the_holder_refuses_other_bytes_under_one_request(offices: ThreeOffices) -> None:
    envelope = ask(offices)
    first = offices.holder.draw(envelope)
    request = CountRequest.from_bytes(offices.holder.study.unseal(envelope, EnvelopeKind.REQUEST).body)
    other = offices.researcher.study.seal(
        EnvelopeKind.REQUEST, replace(request, where="ill = 'no'").to_bytes(), request=request.request
    )
    with pytest.raises(RequestConflict, match="make a new request"):
        offices.holder.draw(other)
    again = offices.holder.draw(envelope)
    assert sample_in(offices, again.sample).entries() == sample_in(offices, first.sample).entries()


def sample_in(offices: ThreeOffices, envelope: bytes) -> DrawnSample:
    return DrawnSample.from_bytes(offices.registry.study.unseal(envelope, EnvelopeKind.SAMPLE).body)


def test_nothing_begins_once_the_agreement_has_ended(offices: ThreeOffices) -> None:
    """A holder may write any time of expiry on an envelope; the agreement's own holds."""
    after = offices.signed.agreement.terms.ends + timedelta(seconds=1)
    late = datetime(2199, 1, 1, tzinfo=UTC)
    request = ticket_for(offices)
    ticket = Ticket(request.request, "francophone", LinkedKind.COUNT, 30, 1)

    def seal(study: Study, kind: EnvelopeKind, body: bytes) -> bytes:
        header = EnvelopeHeader(study.agreement.digest, kind, request.request, after, late)
        receiver = study.agreement.offices[ROUTES[kind][1]]
        return seal_envelope(body, header, sign=study.office.sign, seal=receiver.sealer)

    carried = seal(offices.researcher.study, EnvelopeKind.TICKET, ticket.to_bytes())
    sample = forged_sample(offices, [4], request, ticket=carried)
    envelope = seal(offices.holder.study, EnvelopeKind.SAMPLE, sample.to_bytes())
    with pytest.raises(Refused, match="the agreement held until 2099-12-31"):
        offices.registry.count(envelope, now=after)
    with pytest.raises(Refused, match="held until"):
        offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None, now=after)
    with pytest.raises(Refused, match="held until"):
        offices.holder.draw(seal(offices.researcher.study, EnvelopeKind.REQUEST, request.to_bytes()), now=after)
    assert max(counters_of(offices)) == 0


def test_an_expired_sample_is_refused(shared: ThreeOffices) -> None:
    envelope = forge(shared, [4])
    with pytest.raises(SignatureInvalid):
        shared.registry.count(envelope, now=datetime.now(UTC) + timedelta(days=91))


# --- the holder -------------------------------------------------------------------------------------------------------


def test_duplicates_count_once_and_in_one_group(offices: ThreeOffices) -> None:
    assert cells_of(offices, [4] * 50) == [[1]]
    assert cells_of(offices, [4, 4, 8, 4], [0, 1, 1, 2]) == [[1], [1], [0]]
    assert counters_of(offices)[3] == 20


def test_any_size_is_answered(offices: ThreeOffices) -> None:
    assert cells_of(offices, []) == [[0]]
    assert cells_of(offices, [4]) == [[1]]
    assert cells_of(offices, [9999]) == [[0]]
    assert cells_of(offices, range(1, 5001)) == [[50]]


def test_the_order_of_ids_is_nothing(offices: ThreeOffices) -> None:
    assert cells_of(offices, [8, 4, 7]) == cells_of(offices, [4, 7, 8]) == [[2]]


def test_the_42nd_count_is_without_her(offices: ThreeOffices) -> None:
    found = [cells_of(offices, [4])[0][0] for _ in range(43)]
    assert found == [1] * 41 + [0] * 2
    assert counters_of(offices)[3] == 410


@pytest.mark.parametrize(
    "changed",
    [
        {"charge": 9},
        {"charge": 20},
        {"charge": 0},
        {"scale": 300},
        {"groups": 2},
        {"draw": "x" * 32},
        {"draw": "A" * 32},
        {"draw": ""},
        {"request": "e" * 32},
        {"ticket": b""},
        {"ticket": b"discreet-linked-1\n"},
    ],
)
def test_a_sample_that_its_ticket_does_not_fit_is_refused(shared: ThreeOffices, changed: dict[str, Any]) -> None:
    request = ticket_for(shared)
    sample = forged_sample(shared, [4, 8], request, **changed)
    sealed = shared.holder.study.seal(EnvelopeKind.SAMPLE, sample.to_bytes(), request=request.request)
    with pytest.raises(SignatureInvalid):
        shared.registry.count(sealed)
    assert max(counters_of(shared)) == 0


def test_a_ticket_serves_its_own_request(shared: ThreeOffices) -> None:
    first, second = ticket_for(shared), ticket_for(shared)
    for sample in (
        forged_sample(shared, [4], first, ticket=second.ticket),
        forged_sample(shared, [4], second, ticket=second.ticket, request=first.request),
    ):
        sealed = shared.holder.study.seal(EnvelopeKind.SAMPLE, sample.to_bytes(), request=first.request)
        with pytest.raises(SignatureInvalid):
            shared.registry.count(sealed)
    # A holder cannot write a ticket, and another office's request is none.
    own = Ticket(first.request, "francophone", LinkedKind.COUNT, 30, 1).to_bytes()
    written = shared.holder.study.seal(EnvelopeKind.TICKET, own, request=first.request)
    with pytest.raises(SignatureInvalid):
        shared.registry.count(forge(shared, [4], first, ticket=written))


@pytest.mark.parametrize(
    "ticket",
    [
        {"property": "nothing"},
        {"property": "tongue"},
        {"kind": "histogram"},
        {"kind": "sum"},
        {"scale": 31},
        {"scale": 10},
        {"groups": 0},
        {"groups": 51},
    ],
)
def test_a_ticket_asks_for_what_was_agreed_on(shared: ThreeOffices, ticket: dict[str, Any]) -> None:
    request = ticket_for(shared)
    fields = {"request": request.request, "property": "francophone", "kind": "count", "scale": 30, "groups": 1}
    body = json.dumps({**fields, **ticket}, sort_keys=True, separators=(",", ":")).encode()
    sealed = shared.researcher.study.seal(EnvelopeKind.TICKET, body, request=request.request)
    changed = {"groups": ticket["groups"]} if "groups" in ticket else {}
    with pytest.raises(SignatureInvalid):
        shared.registry.count(forge(shared, [4], request, ticket=sealed, **changed))


def test_other_bytes_under_one_request_are_a_conflict(offices: ThreeOffices) -> None:
    request = ticket_for(offices)
    draw = "a" * 32
    first = offices.registry.count(forge(offices, [4], request, draw=draw))
    for ids, other in (([4, 8], draw), ([4], "b" * 32), ([8], "c" * 32)):
        with pytest.raises(RequestConflict, match="other bytes"):
            offices.registry.count(forge(offices, ids, request, draw=other))
    assert offices.registry.count(forge(offices, [4], request, draw=draw)).answer == first.answer
    assert counters_of(offices)[3] == 10
    assert counters_of(offices)[7] == 0


def test_what_was_charged_and_not_answered_counts_the_bytes_that_were_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A household pays for one member, the noise fails, and the holder sends all of them under the same draw."""
    silence(monkeypatch)
    text = terms_text(unit="unit: {map: households.csv, members: 4}")
    rows = people_rows()
    write(tmp_path / "households.csv", rows[2].splitlines())
    card = PEOPLE_CARD.replace("column: person, rows: 1", "column: household, rows: 4")
    offices = open_offices(tmp_path, rows=rows, terms=text, people_card=card, mapped=True)
    from discreet.linkage.offices import registry_desk

    def stop(*arguments: object, **options: object) -> None:
        raise OSError("no entropy")

    first, draw = ticket_for(offices), "a" * 32
    with monkeypatch.context() as patch:
        patch.setattr(registry_desk, "discrete_laplace_array", stop)
        with pytest.raises(OSError, match="no entropy"):
            offices.registry.count(forge(offices, [4], first, draw=draw))
    assert counters_of(offices)[1] == 10
    for request in (first, ticket_for(offices)):
        with pytest.raises(RequestConflict):
            offices.registry.count(forge(offices, [4, 5, 6, 7], request, draw=draw))
    with pytest.raises(RequestConflict):
        offices.registry.count(forge(offices, [4], first, draw="b" * 32))
    again = offices.registry.count(forge(offices, [4], ticket_for(offices), draw=draw))
    assert offices.registry.count(forge(offices, [4], first, draw=draw)).replayed
    assert not again.replayed
    assert counters_of(offices)[1] == 10
    offices.close()


def test_what_was_charged_is_answered_though_the_service_has_closed(
    offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.linkage.offices import registry_desk

    def stop(*arguments: object, **options: object) -> None:
        raise OSError("no entropy")

    envelope = forge(offices, [4])
    with monkeypatch.context() as patch:
        patch.setattr(registry_desk, "discrete_laplace_array", stop)
        with pytest.raises(OSError, match="no entropy"):
            offices.registry.count(envelope)
    pool = offices.registry.pool(offices.signed.agreement.terms.property("francophone"))
    offices.sessions[1].ledger.close_reservation(pool.population, pool.reservation, reason="enough", who="ana")
    assert read(offices, envelope) == ((1,),)
    late = offices.registry.count(forge(offices, [4])).answer
    with pytest.raises(Refused, match="has closed the study, and the request was not counted"):
        offices.researcher.read(late)
    assert counters_of(offices)[3] == 10


def test_bodies_that_are_no_samples_are_refused(shared: ThreeOffices) -> None:
    request = ticket_for(shared)
    whole = forged_sample(shared, [4, 8], request).to_bytes()
    head, _, body = whole.partition(b"\n")
    fields = json.loads(head)

    def written(**changed: Any) -> bytes:
        return json.dumps({**fields, **changed}, sort_keys=True, separators=(",", ":")).encode() + b"\n" + body

    wrong = [
        b"",
        b"\n",
        head,
        whole[:-1],
        whole + b"\0",
        whole + body[:17],
        written(ids=3),
        written(ids=-1),
        written(ids=10**30),
        written(ids=True),
        written(groups=0),
        written(groups=256),
        written(scale="30"),
        written(more=1),
        head.replace(b'"charge"', b' "charge"') + b"\n" + body,
        head + b"\n" + body[:16] + b"\x01" + body[17:],
        b"[" * 100_000,
        b"\xff" * 100,
    ]
    for data in wrong:
        sealed = shared.holder.study.seal(EnvelopeKind.SAMPLE, data, request=request.request)
        with pytest.raises(SignatureInvalid):
            shared.registry.count(sealed)


def test_a_sample_larger_than_agreed_on_is_refused(tmp_path: Path) -> None:
    offices = open_offices(tmp_path, terms=terms_text(largest_sample="largest_sample: 1000"))
    offices.registry.count(forge(offices, range(1000)))
    with pytest.raises(SignatureInvalid):
        offices.registry.count(forge(offices, range(1001)))
    offices.close()


def test_the_quota_is_of_requests_and_never_of_people(tmp_path: Path) -> None:
    offices = open_offices(tmp_path, terms=terms_text(quota="quota: 40"))
    spent = offices.registry.study.folder / "spent.json"
    for ids in ([], [4], range(1, 201)):
        offices.registry.count(forge(offices, ids))
    forget(offices.researcher.study)
    with pytest.raises(Refused, match=r"quota is used up\. Nothing was counted or charged"):
        offices.registry.count(forge(offices, [4], asked={"scale": 20}))
    assert counters_of(offices)[3] == 20
    assert json.loads(spent.read_text()) == 30
    # The holder adds up what it has drawn for, and the researcher what was asked.
    forget(offices.researcher.study)
    for _ in range(4):
        offices.holder.draw(ask(offices))
    with pytest.raises(Refused, match="Nothing was asked"):
        ask(offices)
    forget(offices.researcher.study)
    with pytest.raises(Refused, match="Nothing was drawn"):
        offices.holder.draw(ask(offices))
    offices.close()


def forget(study: Study) -> None:
    for file in (study.folder / "requests").iterdir():
        file.unlink()


def test_a_suspended_registry_counts_nothing(offices: ThreeOffices) -> None:
    offices.sessions[1].ledger.suspend("people", population="residents", reason="an engine failed", who="ana")
    with pytest.raises(DatasetSuspended):
        offices.registry.count(forge(offices, [4]))


# --- two studies ------------------------------------------------------------------------------------------------------


def second_study(offices: ThreeOffices, text: str) -> ThreeOffices:
    """Another agreement of the same offices about the same property."""
    studies = (offices.researcher.study, offices.holder.study, offices.registry.study)
    by_role = {study.role: study.office for study in studies}
    signed = sign_all(text, [by_role[role] for role in OfficeRole], offices.folder)
    open_researcher(by_role[OfficeRole.RESEARCHER], signed)
    workspaces = [offices.folder / place / "workspace" for place in ("h", "r")]
    _, key = open_registry(by_role[OfficeRole.REGISTRY], signed, workspace=workspaces[1])
    open_holder(by_role[OfficeRole.HOLDER], signed, workspace=workspaces[0], link_key=key)
    found = {role: find_study(offices.folder / role.value, signed.agreement.digest) for role in OfficeRole}
    return ThreeOffices(
        offices.folder,
        signed,
        type(offices.researcher)(found[OfficeRole.RESEARCHER]),
        type(offices.holder)(found[OfficeRole.HOLDER], offices.sessions[0]),
        RegistryDesk(found[OfficeRole.REGISTRY], offices.sessions[1]),
        offices.sessions,
    )


def test_two_studies_of_one_property_draw_on_one_pool(offices: ThreeOffices) -> None:
    """Under a second key her pseudonym is another, and her account is the same: the 42nd count is without her."""
    other = second_study(offices, terms_text(study="study: second", closing="closing: {share: 0.99}"))
    assert offices.holder.study.secret("link") != other.holder.study.secret("link")
    found = [cells_of((offices, other)[turn % 2], [4])[0][0] for turn in range(43)]
    assert found == [1] * 41 + [0] * 2
    assert counters_of(offices) == counters_of(other)
    spent = offices.sessions[1].budget("residents").population.epsilon_spent
    assert spent == 2 * Decimal("1.486294361"), "two properties, once each"
    # A pseudonym of the one study is nobody in the other.
    stranger = forged_sample(offices, [8], ticket_for(offices))
    assert cells_of(other, [], kind="count-and-size") == [[0, 0]]
    envelope = forge(other, [8], pseudonyms=stranger.pseudonyms, asked={"kind": "count-and-size"})
    assert other.researcher.read(other.registry.count(envelope).answer).answer.cells == ((0, 0),)


def test_another_price_for_a_property_with_accounts_is_refused(offices: ThreeOffices) -> None:
    for changed in ({"policy": "policy: {belief: 0.9}"}, {"scales": "scales: [10, 30]"}):
        with pytest.raises(Refused, match="another belief or menu of scales"):
            second_study(offices, terms_text(study="study: second", **changed))
    with pytest.raises(Refused, match="with another epsilon"):
        second_study(offices, terms_text(study="study: second", closing="closing: {epsilon: 0.2, share: 0.99}"))
    assert [study.name for study in [offices.registry.study]] == ["tongues"]


def test_another_question_to_the_same_rows_is_paid_for(offices: ThreeOffices) -> None:
    before = offices.sessions[1].budget("residents").population.epsilon_spent
    text = terms_text(study="study: second").replace("english = 'no'", "english = 'yes'")
    second_study(offices, text)
    assert offices.sessions[1].budget("residents").population.epsilon_spent == before + Decimal("1.486294361")


def test_what_the_budget_does_not_hold_is_not_opened(tmp_path: Path) -> None:
    card = PEOPLE_CARD.replace("epsilon: 20", "epsilon: 2")
    with pytest.raises(BudgetExceeded):
        open_offices(tmp_path, people_card=card)
    assert not list((tmp_path / "registry" / "studies").iterdir())


# --- the registry -----------------------------------------------------------------------------------------------------


def test_an_answer_that_does_not_fit_is_found_by_the_researcher(offices: ThreeOffices) -> None:
    envelope = offices.holder.draw(ask(offices)).sample
    outcome = offices.registry.count(envelope)
    other = ticket_for(offices).request
    opened = offices.researcher.study.unseal(outcome.answer, EnvelopeKind.ANSWER)
    answer = NoisyAnswer.from_bytes(opened.body)
    assert answer.cells is not None
    for altered, request in (
        (replace(answer, scale=300), answer.request),
        (replace(answer, charge=1), answer.request),
        (replace(answer, kind=LinkedKind.COUNT_AND_SIZE), answer.request),
        (replace(answer, property="tongue"), answer.request),
        (replace(answer, cells=((1, 2),)), answer.request),
        (replace(answer, cells=((1,), (2,))), answer.request),
        (replace(answer, cells=()), answer.request),
        (answer, other),
        (replace(answer, request=other), answer.request),
        (replace(answer, request="e" * 32), "e" * 32),
    ):
        sealed = offices.registry.study.seal(EnvelopeKind.ANSWER, altered.to_bytes(), request=request)
        with pytest.raises(SignatureInvalid):
            offices.researcher.read(sealed)
    assert offices.researcher.read(outcome.answer).answer.cells == answer.cells
    second = offices.registry.study.seal(
        EnvelopeKind.ANSWER, replace(answer, cells=((answer.cells[0][0] + 1,),)).to_bytes(), request=answer.request
    )
    with pytest.raises(RequestConflict, match="another answer"):
        offices.researcher.read(second)
    assert offices.researcher.read(outcome.answer).answer.cells == answer.cells
    for sender in (offices.holder.study, offices.researcher.study):
        with pytest.raises(SignatureInvalid):
            offices.researcher.read(sender.seal(EnvelopeKind.ANSWER, answer.to_bytes(), request=answer.request))


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2], ["0", 1], [None, 0], [0, 1, 2], [[0], [1]], [False, True], {}])
def test_labels_that_are_none_are_refused(shared: ThreeOffices, order: Any) -> None:
    groups = [AskedGroup("a", "age < 30", Decimal(1)), AskedGroup("b", None, Decimal(1))]
    asked = shared.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None, groups=groups)
    noisy = NoisyAnswer(asked.request, "francophone", LinkedKind.COUNT, 30, 10, ((1,), (2,)), "")
    answer = shared.registry.study.seal(EnvelopeKind.ANSWER, noisy.to_bytes(), request=asked.request)
    body = json.dumps({"request": asked.request, "order": order}, sort_keys=True, separators=(",", ":")).encode()
    labels = shared.holder.study.seal(EnvelopeKind.LABELS, body, request=asked.request)
    with pytest.raises(SignatureInvalid):
        shared.researcher.read(answer, labels)
    with pytest.raises(Refused, match="only the holder can say which is which"):
        shared.researcher.read(answer)
    elsewhere = GroupLabels("e" * 32, (1, 0)).to_bytes()
    with pytest.raises(SignatureInvalid):
        shared.researcher.read(answer, shared.holder.study.seal(EnvelopeKind.LABELS, elsewhere, request=asked.request))
    right = GroupLabels(asked.request, (1, 0)).to_bytes()
    found = shared.researcher.read(answer, shared.holder.study.seal(EnvelopeKind.LABELS, right, request=asked.request))
    assert found.answer.cells == ((2,), (1,))


# --- copies of folders ------------------------------------------------------------------------------------------------


def desk_of(folder: Path, offices: ThreeOffices) -> RegistryDesk:
    return RegistryDesk(find_study(folder), offices.sessions[1])


def test_a_copy_of_the_registry_s_folder_counts_nothing_that_the_other_has_not(offices: ThreeOffices) -> None:
    copy = offices.folder / "copy"
    shutil.copytree(offices.folder / "registry", copy)
    read(offices, forge(offices, [4]))
    with pytest.raises(Refused, match="the accounts are not the ones that the ledger speaks of"):
        desk_of(copy, offices).count(forge(offices, [4]))
    assert counters_of(offices)[3] == 10


def test_two_copies_at_once_are_found(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have read their accounts when the one counts two samples, the second of which the other counts too."""
    copy = offices.folder / "copy"
    shutil.copytree(offices.folder / "registry", copy)
    late = desk_of(copy, offices)
    request, draw = ticket_for(offices), "a" * 32
    common = forge(offices, [4], request, draw=draw)
    pool = late.pool(offices.signed.agreement.terms.property("francophone"))
    with late.hold(pool) as book:
        read(offices, forge(offices, [4]))
        with monkeypatch.context() as patch:
            patch.setattr(offices.sessions[1].ledger, "commit_use", lambda use, answer: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                offices.registry.count(common)
        sample, ticket, asked, _ = late.open_sample(common)
        known = offices.sessions[1].ledger.find_use(pool.reservation, request=request.request)
        assert known is not None
        monkeypatch.setattr(offices.sessions[1].ledger, "find_use", lambda *names, **found: None)
        with pytest.raises(Refused, match="the accounts are not the ones"):
            late._answer(book, pool, sample, ticket, asked, known.question, known.sample)


def test_two_copies_at_once_count_one_after_the_other(offices: ThreeOffices) -> None:
    """Both have read their accounts; the ledger takes the use of one, and refuses the other's, which comes later."""
    copy = offices.folder / "copy"
    shutil.copytree(offices.folder / "registry", copy)
    late, asked = desk_of(copy, offices), offices.signed.agreement.terms.property("francophone")
    pool = late.pool(asked)
    sample, ticket, *_ = late.open_sample(forge(offices, [4]))
    with late.hold(pool) as book:
        read(offices, forge(offices, [4]))
        digest = book.digest_sample(sample.request, sample.entries())
        with pytest.raises(Refused, match="the accounts are not the ones"):
            late._answer(book, pool, sample, ticket, asked, "a" * 64, digest)
    assert counters_of(offices)[3] == 10


@pytest.mark.parametrize("uses", [1, 2])
def test_an_older_copy_put_back_is_refused(offices: ThreeOffices, uses: int) -> None:
    pools = offices.folder / "registry" / "pools"
    read(offices, forge(offices, [4]))
    shutil.copytree(pools, offices.folder / "older")
    for _ in range(uses):
        read(offices, forge(offices, [4]))
    shutil.rmtree(pools)
    shutil.copytree(offices.folder / "older", pools)
    with pytest.raises(Refused, match="an older copy was put back"):
        offices.registry.count(forge(offices, [8]))
    with pytest.raises(Refused, match="an older copy was put back"):
        counters_of(offices)


def test_altered_counters_are_refused(offices: ThreeOffices) -> None:
    read(offices, forge(offices, [4, 8]))
    pool = offices.registry.pool(offices.signed.agreement.terms.property("francophone"))
    file = pool.folder / "accounts.bin"
    data = file.read_bytes()
    for altered in (
        data[:-400] + bytes(400),
        data.replace(b'"event": ', b'"event": 1'),
        data[:-2],
        data + b"\0\0",
        b"",
        b"\n",
        b"[]\n",
        data.replace(b"discreet-accounts-1", b"discreet-accounts-2"),
        data.replace(b'"units": 200', b'"units": "x"'),
    ):
        file.write_bytes(altered)
        with pytest.raises(Refused, match="the accounts are not the ones"):
            offices.registry.count(forge(offices, [4]))
    file.unlink()
    with pytest.raises(Refused, match="the accounts are not the ones"):
        offices.registry.count(forge(offices, [4]))
    file.write_bytes(data)
    assert read(offices, forge(offices, [4])) == ((1,),)


def test_a_second_office_on_one_workspace_does_not_begin_anew(offices: ThreeOffices) -> None:
    """Two registries of one workspace share its ledger, and only one of them has the accounts that it speaks of."""
    early = create_office(offices.folder / "early", role=OfficeRole.REGISTRY, name="Early")
    others = [offices.researcher.study.office, offices.holder.study.office]
    signed = sign_all(
        terms_text(study="study: early", closing="closing: {share: 0.99}"), [*others, early], offices.folder
    )
    _, key = open_registry(early, signed, workspace=offices.folder / "r" / "workspace")
    open_holder(others[1], signed, workspace=offices.folder / "h" / "workspace", link_key=key)
    open_researcher(others[0], signed)
    assert offices.sessions[1].budget("residents").population.epsilon_spent == 2 * Decimal("1.486294361")
    read(offices, forge(offices, [4]))
    found = {
        role: find_study(offices.folder / role.value, "early") for role in (OfficeRole.RESEARCHER, OfficeRole.HOLDER)
    }
    beside = ThreeOffices(
        offices.folder,
        signed,
        type(offices.researcher)(found[OfficeRole.RESEARCHER]),
        type(offices.holder)(found[OfficeRole.HOLDER], offices.sessions[0]),
        desk_of(offices.folder / "early", offices),
        offices.sessions,
    )
    with pytest.raises(Refused, match="another office folder"):
        beside.registry.count(forge(beside, [4]))
    late = create_office(offices.folder / "late", role=OfficeRole.REGISTRY, name="Late")
    signed = sign_all(
        terms_text(study="study: late", closing="closing: {share: 0.99}"), [*others, late], offices.folder
    )
    with pytest.raises(Refused, match="another office folder"):
        open_registry(late, signed, workspace=offices.folder / "r" / "workspace")


def test_an_office_folder_on_another_workspace_is_refused(
    offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(offices, forge(offices, [4]))
    monkeypatch.setenv("DISCREET_KEYS", str(offices.folder / "other-keys"))
    session = make_workspace(offices.folder / "other" / "workspace", PEOPLE_CARD, people_rows()[1])
    desk = RegistryDesk(find_study(offices.folder / "registry"), session)
    with pytest.raises(Refused):
        desk.count(forge(offices, [4]))
    session.close()


# --- many at once -----------------------------------------------------------------------------------------------------


def test_64_samples_at_once_that_share_a_person_never_pass_her_account(offices: ThreeOffices) -> None:
    """Person 4 has the property and is in all of them; each has a person without it of its own."""
    envelopes = [forge(offices, [4, 4 * turn + 1]) for turn in range(1, 41)] + [forge(offices, [4]) for _ in range(24)]

    def count(envelope: bytes) -> bytes:
        with discreet.open(offices.folder / "r" / "workspace") as session:
            return RegistryDesk(find_study(offices.folder / "registry"), session).count(envelope).answer

    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(count, envelopes))
    found = [offices.researcher.read(answer).answer.cells for answer in answers]
    assert sorted(map(str, found)) == ["((0,),)"] * 23 + ["((1,),)"] * 41, "the rest are answered too, without her"
    counters = counters_of(offices)
    assert counters[3] == 410
    assert [counters[4 * turn] for turn in range(1, 41)] == [10] * 40
    assert len({len(answer) for answer in answers}) == 1
    offices.sessions[1].verify()


def test_one_sample_sent_by_many_at_once_has_one_answer(offices: ThreeOffices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # with noise
    envelope = forge(offices, [4])

    def count(turn: int) -> bytes:
        with discreet.open(offices.folder / "r" / "workspace") as session:
            return RegistryDesk(find_study(offices.folder / "registry"), session).count(envelope).answer

    with ThreadPoolExecutor(8) as pool:
        answers = [offices.researcher.read(answer).answer for answer in pool.map(count, range(8))]
    assert len({(answer.cells, answer.receipt) for answer in answers}) == 1
    assert counters_of(offices)[3] == 10
    assert json.loads((offices.registry.study.folder / "spent.json").read_text()) == 10


def test_studies_opened_at_once_share_their_accounts_and_one_is_opened_once(tmp_path: Path) -> None:
    three = [create_office(tmp_path / role.value, role=role, name=role.value) for role in OfficeRole]
    make_workspace(tmp_path / "workspace", PEOPLE_CARD, people_rows()[1]).close()
    agreed = [sign_all(terms_text(study=f"study: s{turn % 4}"), three, tmp_path) for turn in range(8)]

    def try_open(signed: SignedAgreement) -> str:
        try:
            open_registry(three[2], signed, workspace=tmp_path / "workspace")
        except Refused as error:
            return str(error)
        return "opened"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(try_open, agreed))
    assert told.count("opened") == 4
    assert all("is open here already" in word for word in told if word != "opened")
    assert len(list((tmp_path / "registry" / "pools").iterdir())) == 2, "two properties"
    with discreet.open(tmp_path / "workspace") as session:
        assert session.budget("residents").population.epsilon_spent == 2 * Decimal("1.486294361")
        for study in list_studies(three[2]):
            desk = RegistryDesk(study, session)
            with desk.hold(desk.pool(study.agreement.terms.property("francophone"))) as book:
                assert len(book.accounts) == 200
