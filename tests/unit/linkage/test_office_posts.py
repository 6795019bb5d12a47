"""Offices by network without processes: what is said of every envelope, when answers leave, what survives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import LedgerUnavailable, ParameterInvalid, Refused, RequestConflict, SignatureInvalid, UnknownName
from discreet.linkage import AskedCount, AskedGroup, DrawnSample, EnvelopeHeader, EnvelopeKind, LinkedKind, OfficeRole
from discreet.linkage.envelopes import MARK, read_header, seal_envelope
from discreet.linkage.office_network import office_posts
from discreet.linkage.office_network.couriers import check_url, fetch_answer, send_envelope
from discreet.linkage.office_network.linked_app import linked_app
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.office_network.office_posts import (
    HolderPost,
    OfficePost,
    RegistryPost,
    ResearcherPost,
    draw_waiting,
    received_answer,
)
from discreet.linkage.office_network.postman import Postman
from discreet.linkage.offices.office_studies import moment
from discreet.work import next_slot
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text
from tests.unit.server.listening import fetch, listen, post

ANSWER = 4_500


@pytest.fixture(scope="module")
def offices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeOffices]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
        patch.setenv("DISCREET_ANALYST", "ana")
        found = open_offices(
            tmp_path_factory.mktemp("offices"), terms=terms_text(slots="", closing="closing: {share: 0.9}")
        )
        yield found
        found.close()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def registry(offices: ThreeOffices, told: list[str]) -> RegistryPost:
    return RegistryPost(offices.registry.study, told.append, desk=offices.registry, pushes=False)


@pytest.fixture
def holder(offices: ThreeOffices, told: list[str]) -> HolderPost:
    return HolderPost(offices.holder.study, told.append, desk=offices.holder, approved=True)


def ask(offices: ThreeOffices, **asked: object) -> AskedCount:
    wanted = {"property": "francophone", "kind": LinkedKind.COUNT, "scale": 30, "where": "ill = 'yes'", **asked}
    return offices.researcher.ask(**wanted)  # type: ignore[arg-type]


def ask_groups(offices: ThreeOffices) -> AskedCount:
    groups = [AskedGroup("young", "age < 30", Decimal(1)), AskedGroup("old", "age >= 30", Decimal(1))]
    return ask(offices, groups=groups)


def draw(offices: ThreeOffices, **asked: object) -> bytes:
    return offices.holder.draw(ask(offices, **asked).envelope).sample


def forge(offices: ThreeOffices, sample: bytes, **changed: object) -> bytes:
    """The holder's own sample, altered and sealed again by the holder."""
    opened = offices.registry.study.unseal(sample, EnvelopeKind.SAMPLE)
    found = DrawnSample.from_bytes(opened.body)
    body = replace(found, **changed).to_bytes()  # type: ignore[arg-type]
    return offices.holder.study.seal(EnvelopeKind.SAMPLE, body, request=found.request)


@contextmanager
def served(office: OfficePost) -> Iterator[int]:
    with listen(linked_app(office, lambda said: None)) as port:
        yield port


# --- the registry ---------------------------------------------------------------------------------------------------


def test_samples_are_received_whatever_is_in_them(offices: ThreeOffices, registry: RegistryPost) -> None:
    sample = draw(offices)
    nobody = {"pseudonyms": np.zeros((0, 2), dtype=np.uint64), "group_of": np.zeros(0, dtype=np.uint8)}
    unknown = {"pseudonyms": np.arange(20, dtype=np.uint64).reshape(10, 2), "group_of": np.zeros(10, dtype=np.uint8)}
    with served(registry) as port:
        said = [
            post(port, "/linked/samples", data)
            for data in (
                sample,
                forge(offices, draw(offices, where="age < 5"), **nobody),
                forge(offices, draw(offices, where="age < 6"), **unknown),
            )
        ]
    assert said == [(202, b"received")] * 3
    assert len(registry.mailbox.waiting(EnvelopeKind.SAMPLE)) == 3
    while registry.work():
        pass
    assert registry.mailbox.waiting(EnvelopeKind.SAMPLE) == ()


def test_other_bytes_under_one_request_are_a_conflict_before_and_after_counting(
    offices: ThreeOffices, registry: RegistryPost
) -> None:
    sample = draw(offices, where="age < 40")
    other = forge(offices, sample, group_of=np.zeros(0, dtype=np.uint8), pseudonyms=np.zeros((0, 2), dtype=np.uint64))
    again = forge(offices, sample)
    assert again != sample
    with served(registry) as port:
        for counted in (False, True):
            assert post(port, "/linked/samples", sample)[0] == 202
            assert post(port, "/linked/samples", again)[0] == 202
            assert post(port, "/linked/samples", other) == (409, b"other bytes came under this request before")
            if not counted:
                assert registry.work()
    assert not registry.work()
    request = read_header(sample).request
    kept = b"".join(path.read_bytes() for path in registry.study.folder.rglob("*") if request in path.name)
    found = DrawnSample.from_bytes(offices.registry.study.unseal(sample, EnvelopeKind.SAMPLE).body)
    assert found.entries()[:16] not in kept
    assert hashlib.sha256(found.to_bytes()).hexdigest().encode() not in kept


def test_a_sample_from_anybody_but_the_holder_is_refused(offices: ThreeOffices, registry: RegistryPost) -> None:
    sample = draw(offices, where="age < 41")
    opened = offices.registry.study.unseal(sample, EnvelopeKind.SAMPLE)
    header = EnvelopeHeader(**{name: getattr(opened.header, name) for name in EnvelopeHeader.__slots__})
    study = offices.researcher.study
    sealer = study.agreement.offices[OfficeRole.REGISTRY].sealer
    # Validly signed, by a party to the agreement, which may not send this kind.
    forged = seal_envelope(opened.body, header, sign=study.office.sign, seal=sealer)
    wrong = ask(offices)
    cut = bytearray(sample)
    cut[-1] ^= 1
    length = len(MARK)
    bad = {
        "another role": forged,
        "a request": wrong.envelope,
        "altered": bytes(cut),
        "short": sample[:-1],
        "long": sample + b"\0",
        "empty": b"",
        "length beyond the data": sample[:length] + b"\xff\xff\xff\xff" + sample[length + 4 :],
        "header of 64 KB": MARK + (70_000).to_bytes(4, "big") + b" " * 70_000 + b"\0" * 5_000,
        "JSON": json.dumps({"request": "0" * 32}).encode(),
        "charge other than the ticket's": forge(offices, sample, charge=1),
        "another scale": forge(offices, sample, scale=300),
        "another ticket": forge(offices, sample, ticket=b"nothing"),
        "ticket of another request": forge(
            offices,
            sample,
            ticket=DrawnSample.from_bytes(
                offices.registry.study.unseal(draw(offices, where="age < 42"), EnvelopeKind.SAMPLE).body
            ).ticket,
        ),
    }
    with served(registry) as port:
        said = {name: post(port, "/linked/samples", data) for name, data in bad.items()}
        assert post(port, "/linked/requests", wrong.envelope)[0] == 404
        assert post(port, "/linked/samples", sample, Content_Encoding="gzip")[0] == 415
        assert post(port, "/linked/samples", b"x", Content_Length="999999999999")[0] == 413
    assert said == dict.fromkeys(bad, (400, b"envelope refused"))
    assert registry.mailbox.waiting(EnvelopeKind.SAMPLE) == ()


def test_an_answer_leaves_at_a_slot_of_its_request_and_not_before(
    offices: ThreeOffices, registry: RegistryPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [moment() + timedelta(seconds=3)]  # drawing took so long
    monkeypatch.setattr(office_posts, "moment", lambda: clock[0])
    samples = [draw(offices, where=f"age < {age}") for age in (50, 51)]
    requests = [read_header(sample).request for sample in samples]
    with served(registry) as port:
        url = f"http://127.0.0.1:{port}"
        for sample in samples:
            assert post(port, "/linked/samples", sample)[0] == 202
        assert [fetch_answer(url, request) for request in requests] == [None, None]
        ready = clock[0] = clock[0] + timedelta(seconds=5)
        assert registry.work()
        assert registry.work()
        assert [fetch_answer(url, request) for request in requests] == [None, None]
        asked = offices.registry.open_sample(samples[0])[3]
        slot = next_slot(asked, ready)
        clock[0] = slot - timedelta(milliseconds=1)
        assert fetch_answer(url, requests[0]) is None
        clock[0] = slot + timedelta(seconds=8)
        answers = [fetch_answer(url, request) for request in requests]
        assert fetch_answer(url, "0" * 32) is None
        for name, status in (("../../link.key", 400), ("%2e%2e%2flink.key", 400), ("link.key", 404), ("0" * 32, 404)):
            assert fetch(port, "GET", f"/linked/answers/{name}").status == status
    assert len({len(answer or b"") for answer in answers}) == 1
    assert len(answers[0] or b"") == pytest.approx(ANSWER, abs=50)
    # What stands in clear on an answer was known when it was asked.
    assert read_header(answers[0] or b"").created == asked
    assert offices.researcher.read(answers[0] or b"").answer.cells is not None


def test_slots_can_be_switched_off_by_the_agreement(
    offices: ThreeOffices, registry: RegistryPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = moment()
    assert registry.leaves(asked) > moment() + timedelta(milliseconds=100)
    terms = replace(offices.registry.study.agreement.terms, slots=False)
    registry.study = replace(registry.study, agreement=replace(registry.study.agreement, terms=terms))
    assert registry.leaves(asked) <= moment()


def test_samples_are_counted_in_the_order_of_their_ids(
    offices: ThreeOffices, registry: RegistryPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [draw(offices, where=f"age < {age}") for age in range(60, 66)]
    for sample in samples:
        registry.accept(EnvelopeKind.SAMPLE, sample)
    dealt: list[str] = []
    deal = registry.deal

    def note_and_deal(request: str) -> None:
        dealt.append(request)
        deal(request)

    monkeypatch.setattr(registry, "deal", note_and_deal)
    while registry.work():
        pass
    assert dealt == sorted(read_header(sample).request for sample in samples)


def test_what_fails_for_a_while_is_tried_again_and_what_is_hopeless_is_put_aside(
    offices: ThreeOffices, registry: RegistryPost, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = draw(offices, where="age < 70")
    request = read_header(sample).request
    registry.accept(EnvelopeKind.SAMPLE, sample)

    def fail(*given: object, **named: object) -> None:
        raise failure

    failure: Exception = LedgerUnavailable("the ledger is away.")
    with monkeypatch.context() as patch:
        patch.setattr(offices.registry, "count", fail)
        assert registry.work()
        assert not registry.work()  # not before a while has passed
        assert registry.mailbox.waiting(EnvelopeKind.SAMPLE) == (request,)
        registry._waits.clear()
        failure = RequestConflict("other bytes")
        assert registry.work()
    assert registry.mailbox.waiting(EnvelopeKind.SAMPLE) == ()
    assert registry.answer(request) is None
    assert told == ["A sample is tried again in 1 s: the ledger is away.", "A sample was put aside: other bytes"]
    assert not any(request in said for said in told)


# --- the holder -----------------------------------------------------------------------------------------------------


def test_a_request_waits_until_a_person_has_approved_it(offices: ThreeOffices, told: list[str]) -> None:
    office = HolderPost(offices.holder.study, told.append, desk=offices.holder, approved=False)
    asked = ask_groups(offices)
    with served(office) as port:
        send_envelope(f"http://127.0.0.1:{port}", asked.envelope)
        send_envelope(f"http://127.0.0.1:{port}", asked.envelope)
        assert post(port, "/linked/samples", asked.envelope)[0] == 404
        assert post(port, "/linked/requests", draw(offices))[0] == 400
    assert not office.work()
    assert office.mailbox.waiting(EnvelopeKind.REQUEST) == (asked.request,)
    with pytest.raises(Refused, match="Not approved"):
        draw_waiting(offices.holder, asked.request, approve=lambda pending: False)
    assert office.mailbox.outgoing() == []
    draw_waiting(offices.holder, asked.request, approve=lambda pending: True)
    outgoing = office.mailbox.outgoing()
    assert [item.kind for item in outgoing] == [EnvelopeKind.SAMPLE, EnvelopeKind.LABELS]
    labels = office.mailbox.content(outgoing[1])
    # The researcher learns from labels neither by their date nor by their arrival how long drawing took.
    assert read_header(labels).created == read_header(asked.envelope).created
    after = (outgoing[1].leaves - read_header(labels).created) / timedelta(milliseconds=250)
    assert after == int(after)
    assert int(after).bit_count() == 1
    with pytest.raises(UnknownName):
        draw_waiting(offices.holder, asked.request)
    for item in outgoing:
        office.mailbox.sent(item)


def test_other_bytes_under_one_request_are_a_conflict_for_the_researcher(
    offices: ThreeOffices, holder: HolderPost
) -> None:
    asked = ask(offices, where="age < 20")
    study = offices.researcher.study
    opened = offices.holder.study.unseal(asked.envelope, EnvelopeKind.REQUEST)
    other = study.seal(EnvelopeKind.REQUEST, opened.body.replace(b"age < 20", b"age < 21"), request=asked.request)
    holder.accept(EnvelopeKind.REQUEST, asked.envelope)
    for _ in range(2):
        with pytest.raises(RequestConflict):
            holder.accept(EnvelopeKind.REQUEST, other)
        holder.work()
    for item in holder.mailbox.outgoing():
        holder.mailbox.sent(item)


def test_criteria_that_cannot_be_planned_are_put_aside(
    offices: ThreeOffices, holder: HolderPost, told: list[str]
) -> None:
    asked = ask(offices, where="wealth > 3")
    holder.accept(EnvelopeKind.REQUEST, asked.envelope)
    assert holder.work()
    assert not holder.work()
    assert len(told) == 1
    assert told[0].startswith("A request was put aside: ")
    assert holder.mailbox.outgoing() == []


# --- sending --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_sent_is_kept_and_sent_later(
    offices: ThreeOffices, holder: HolderPost, registry: RegistryPost, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    holder.accept(EnvelopeKind.REQUEST, ask(offices, where="age < 30").envelope)
    assert holder.work()
    away = Postman(holder.mailbox, OfficeRole.REGISTRY, "http://127.0.0.1:9", told.append)
    away.deliver()
    away.deliver()
    assert told == ["The registry cannot be reached. What is for it is kept and sent later."]
    assert len(holder.mailbox.outgoing()) == 1
    with served(registry) as port:
        Postman(Mailbox(holder.study), OfficeRole.REGISTRY, f"http://127.0.0.1:{port}", told.append).deliver()
    assert holder.mailbox.outgoing() == []
    assert len(registry.mailbox.waiting(EnvelopeKind.SAMPLE)) == 1
    assert registry.work()


def test_what_the_other_office_refuses_is_kept_aside(
    offices: ThreeOffices, holder: HolderPost, registry: RegistryPost, told: list[str]
) -> None:
    mailbox = holder.mailbox
    mailbox.post(EnvelopeKind.SAMPLE, "ab" * 16, b"no envelope", leaves=moment())
    mailbox.post(EnvelopeKind.SAMPLE, "cd" * 16, b"not yet", leaves=moment() + timedelta(hours=1))
    mailbox.post(EnvelopeKind.LABELS, "ef" * 16, b"for another", leaves=moment())
    with served(registry) as port:
        Postman(mailbox, OfficeRole.REGISTRY, f"http://127.0.0.1:{port}", told.append).deliver()
    assert told == ["The registry did not take a sample (400). It is tried again after a restart."]
    assert mailbox.refused() == ("ab" * 16,)
    assert {item.request for item in mailbox.outgoing()} == {"cd" * 16, "ef" * 16}
    mailbox.retry()
    assert mailbox.refused() == ()
    assert len(mailbox.outgoing()) == 3
    for item in mailbox.outgoing():
        mailbox.sent(item)


@pytest.mark.parametrize(
    "url", ["", "ftp://office", "http://", "http://a b", "http://u@office", "http://o?x", "office:1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ParameterInvalid, match="to-registry must be an address"):
        check_url(url, "to-registry")


def test_offices_that_are_away_and_envelopes_that_go_by_hand(offices: ThreeOffices) -> None:
    with pytest.raises(Refused, match="could not be reached"):
        send_envelope("http://127.0.0.1:9", ask(offices).envelope)
    with pytest.raises(Refused, match="could not be reached"):
        fetch_answer("http://127.0.0.1:9", "0" * 32)
    key = offices.registry.study.seal(EnvelopeKind.LINK_KEY, b"key", request="0" * 32)
    with pytest.raises(Refused, match="not sent by network"):
        send_envelope("http://127.0.0.1:9", key)
    with pytest.raises(SignatureInvalid):
        send_envelope("http://127.0.0.1:9", b"no envelope")


# --- the researcher -------------------------------------------------------------------------------------------------


def test_a_researcher_takes_answers_and_labels_to_own_requests_alone(offices: ThreeOffices, told: list[str]) -> None:
    office = ResearcherPost(offices.researcher.study, told.append)
    asked = ask_groups(offices)
    drawn = offices.holder.draw(asked.envelope)
    answer = offices.registry.count(drawn.sample).answer
    assert drawn.labels is not None
    unasked = offices.registry.study.seal(
        EnvelopeKind.ANSWER, offices.researcher.study.unseal(answer, EnvelopeKind.ANSWER).body, request="0" * 32
    )
    with served(office) as port:
        url = f"http://127.0.0.1:{port}"
        assert post(port, "/linked/answers", drawn.labels)[0] == 400
        assert post(port, "/linked/labels", answer)[0] == 400
        assert post(port, "/linked/answers", unasked)[0] == 400
        assert post(port, "/linked/answers", b"x" * 200_000)[0] in (0, 413)
        assert received_answer(office.study, asked.request) == (None, None)
        send_envelope(url, answer)
        send_envelope(url, drawn.labels)
        assert fetch(port, "GET", "/health").body == b"ok"
        agreement = fetch(port, "GET", "/linked/agreement").body
        assert fetch(port, "GET", f"/linked/answers/{asked.request}").status == 404
        assert fetch(port, "PUT", "/linked/answers").status == 405
        assert fetch(port, "POST", "/linked/answers", "Origin: http://elsewhere.example", body=answer).status == 403
    assert json.loads(agreement)["agreement"] == office.study.agreement.to_content()
    found = received_answer(office.study, asked.request)
    assert found == (answer, drawn.labels)
    assert offices.researcher.read(answer, drawn.labels).groups == ("young", "old")


def test_a_study_is_served_once(offices: ThreeOffices) -> None:
    mailbox = Mailbox(offices.researcher.study)
    with mailbox.hold(), pytest.raises(Refused, match="served by another process"), mailbox.hold():
        pass


def test_nothing_is_said_of_a_failure_but_its_kind(
    offices: ThreeOffices, registry: RegistryPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(registry, "accept", lambda kind, data: 1 / 0)
    with listen(linked_app(registry, said.append)) as port:
        assert post(port, "/linked/samples", b"secret") == (500, b"Internal Server Error")
    assert said == ["A request failed: ZeroDivisionError"]


def test_folders_of_the_mail_are_closed_to_others(offices: ThreeOffices, registry: RegistryPost) -> None:
    folder: Path = registry.study.folder
    assert {oct((folder / name).stat().st_mode)[-3:] for name in ("inbox", "outbox", "settled")} == {"700"}
