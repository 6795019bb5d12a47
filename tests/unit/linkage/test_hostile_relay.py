"""A relay between offices that drops, swaps, replays, alters and signs anew: it can stop answers and no more."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.linkage import EnvelopeKind, LinkedKind, OfficeRole
from discreet.linkage.envelopes import MARK, read_header, seal_envelope
from discreet.linkage.office_network.linked_app import linked_app
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.office_network.office_posts import RegistryPost, ResearcherPost, received_answer
from discreet.linkage.office_network.postman import Postman
from discreet.linkage.offices.office_studies import moment
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text
from tests.unit.server.listening import listen, post

Alter = Callable[[bytes], list[bytes]]


@pytest.fixture(scope="module")
def offices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeOffices]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
        patch.setenv("DISCREET_ANALYST", "ana")
        found = open_offices(tmp_path_factory.mktemp("offices"), terms=terms_text(closing="closing: {share: 0.9}"))
        yield found
        found.close()


@pytest.fixture
def registry(offices: ThreeOffices) -> RegistryPost:
    return RegistryPost(offices.registry.study, lambda said: None, desk=offices.registry, pushes=False)


@contextmanager
def relay(port: int, alter: Alter) -> Iterator[str]:
    """Sends on what `alter` makes of each body, and says what was said of the last; nothing at all for none."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = 0
            for body in alter(self.rfile.read(int(self.headers["Content-Length"]))):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("POST", self.path, body)
                status = connection.getresponse().status
                connection.close()
            if status:
                self.send_response(status)
                self.end_headers()

        def log_message(self, format: str, *given: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def draw(offices: ThreeOffices, where: str) -> bytes:
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=where)
    return offices.holder.draw(asked.envelope).sample


def deliver(offices: ThreeOffices, registry: RegistryPost, samples: list[bytes], alter: Alter) -> Mailbox:
    """The holder's postman, once, by way of a relay."""
    mailbox = Mailbox(offices.holder.study)
    for sample in samples:
        mailbox.post(EnvelopeKind.SAMPLE, read_header(sample).request, sample, leaves=moment())
    with listen(linked_app(registry, lambda said: None)) as port, relay(port, alter) as url:
        Postman(mailbox, OfficeRole.REGISTRY, url, lambda said: None).deliver()
    return mailbox


def clear(mailbox: Mailbox) -> None:
    for item in mailbox.outgoing():
        mailbox.sent(item)


def charged(offices: ThreeOffices) -> int:
    pool = offices.registry.pool(offices.signed.agreement.terms.property("francophone"))
    with offices.registry.hold(pool) as book:
        return int(book.accounts.counters.sum())


def test_what_is_dropped_is_sent_again_until_it_arrives(offices: ThreeOffices, registry: RegistryPost) -> None:
    sample = draw(offices, "age < 10")
    mailbox = deliver(offices, registry, [sample], lambda body: [])
    assert len(mailbox.outgoing()) == 1
    assert not registry.work()
    # Even where only what was said of it is lost.
    lost = deliver(offices, registry, [], lambda body: [body, b""])
    assert lost.refused() == (read_header(sample).request,)
    assert registry.work()
    assert registry.answer(read_header(sample).request) is not None


def test_what_is_replayed_is_counted_once(offices: ThreeOffices, registry: RegistryPost) -> None:
    sample = draw(offices, "age < 11")
    before = charged(offices)
    assert deliver(offices, registry, [sample], lambda body: [body] * 3).outgoing() == []
    while registry.work():
        pass
    once = charged(offices)
    assert once > before
    answer = registry.answer(read_header(sample).request)
    deliver(offices, registry, [sample], lambda body: [body] * 3)
    assert not registry.work()
    assert charged(offices) == once
    assert registry.answer(read_header(sample).request) == answer


def test_what_is_swapped_reaches_no_request_but_its_own(offices: ThreeOffices, registry: RegistryPost) -> None:
    first, second = draw(offices, "age < 12"), draw(offices, "age < 13")
    start = len(MARK) + 4

    def exchange(body: bytes) -> list[bytes]:
        """The head of one with the seal of the other."""
        other = second if body == first else first
        size = int.from_bytes(body[len(MARK) : start], "big")
        return [body[: start + size] + other[start + size :]]

    before = charged(offices)
    mailbox = deliver(offices, registry, [first, second], exchange)
    assert {read_header(sample).request for sample in (first, second)} <= set(mailbox.refused())
    assert not registry.work()
    assert charged(offices) == before


@pytest.mark.parametrize("place", [len(MARK) + 1, len(MARK) + 60, 300, 340, 1_000, -1])
def test_what_is_altered_is_refused(offices: ThreeOffices, registry: RegistryPost, place: int) -> None:
    sample = draw(offices, "age < 14")

    def alter(body: bytes) -> list[bytes]:
        changed = bytearray(body)
        changed[place] ^= 1
        return [bytes(changed)]

    assert read_header(sample).request in deliver(offices, registry, [sample], alter).refused()
    assert not registry.work()


def test_what_is_signed_anew_is_refused(offices: ThreeOffices, registry: RegistryPost) -> None:
    sample = draw(offices, "age < 15")
    start = len(MARK) + 4
    size = int.from_bytes(sample[len(MARK) : start], "big")
    sealer = offices.signed.agreement.offices[OfficeRole.REGISTRY].sealer
    researcher = offices.researcher.study.office.sign

    def sign(body: bytes, key: Ed25519PrivateKey) -> bytes:
        """The seal as it came, under a signature of another."""
        from hashlib import sha256

        head, ciphertext = body[start : start + size], body[start + size + 64 :]
        return body[: start + size] + key.sign(MARK + head + sha256(ciphertext).digest()) + ciphertext

    def seal(body: bytes, key: Ed25519PrivateKey) -> bytes:
        """A body of the relay's own."""
        return seal_envelope(b"nobody", read_header(body), sign=key, seal=sealer)

    forged = [make(sample, key) for make in (sign, seal) for key in (Ed25519PrivateKey.generate(), researcher)]
    for other in forged:
        mailbox = deliver(offices, registry, [sample], lambda body, other=other: [other])  # type: ignore[misc]
        assert read_header(sample).request in mailbox.refused()
    assert not registry.work()


def test_an_answer_for_another_request_or_of_another_is_refused(offices: ThreeOffices, registry: RegistryPost) -> None:
    office = ResearcherPost(offices.researcher.study, lambda said: None)
    samples = [draw(offices, f"age < {age}") for age in (16, 17)]
    answers = [offices.registry.count(sample).answer for sample in samples]
    start = len(MARK) + 4
    size = int.from_bytes(answers[0][len(MARK) : start], "big")
    swapped = answers[0][: start + size] + answers[1][start + size :]
    own = seal_envelope(
        b"{}",
        read_header(answers[0]),
        sign=offices.holder.study.office.sign,
        seal=offices.signed.agreement.offices[OfficeRole.RESEARCHER].sealer,
    )
    with listen(linked_app(office, lambda said: None)) as port:
        assert [post(port, "/linked/answers", body)[0] for body in (swapped, own, answers[0])] == [400, 400, 202]
    assert received_answer(office.study, read_header(answers[0]).request)[0] == answers[0]


def test_of_two_senders_at_once_one_is_told_of_the_conflict(offices: ThreeOffices, registry: RegistryPost) -> None:
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="age < 18")
    body = offices.registry.study.unseal(offices.holder.draw(asked.envelope).sample, EnvelopeKind.SAMPLE).body
    entries = int(body.partition(b'"ids":')[2].partition(b",")[0])
    fewer = body.replace(b'"ids":%d' % entries, b'"ids":%d' % (entries - 1))[:-17]
    seal = offices.holder.study.seal
    rivals = [seal(EnvelopeKind.SAMPLE, content, request=asked.request) for content in (body, fewer)]
    with listen(linked_app(registry, lambda said: None)) as port, ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda data: post(port, "/linked/samples", data)[0], rivals * 4))
    taken = 0 if said[0] == 202 else 1
    assert said[taken::2] == [202] * 4
    assert said[1 - taken :: 2] == [409] * 4
    assert registry.work()
    assert not registry.work()
