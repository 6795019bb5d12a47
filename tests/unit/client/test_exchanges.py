"""Servers that speak nonsense: whatever comes, it ends soon, takes little room, and sends no token elsewhere."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from discreet.client.exchanges import ANSWER, AnswerNotTaken, Call, ExchangeFailed, Reply
from discreet.errors import ChargedNotAnswered, DiscreetError, ParameterInvalid, Refused
from discreet.results import RELEASE_FORM
from tests.unit.client.hostile import TOKEN, Askers, Step, Watch, answer, hostile, said

OK = said({"name": "ada"})
ME = Call("GET", ("me",))
QUERY = ("queries",)


def drip(wire: socket.socket) -> None:
    """A letter now and then: no pause is long enough for a timeout."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    for letter in head + b" " * 100_000:
        wire.sendall(bytes([letter]))
        time.sleep(0.02)


def stay_silent(wire: socket.socket) -> None:
    wire.recv(1)


def pour(wire: socket.socket) -> None:
    wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
    for _ in range(1_000):
        wire.sendall(b" " * 1_000_000)


NONSENSE: dict[str, Step] = {
    "nothing": lambda wire: None,
    "half a line": b"HTTP/1.1 20",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "no status": b"HTTP/1.1 abc OK\r\nconnection: close\r\n\r\n",
    "truncated": answer(200, b'{"na', Content_Length="5000", Connection="close"),
    "bad chunks": answer(200, b"zz\r\nabc\r\n", Content_Length="", Transfer_Encoding="chunked", Connection="close"),
    "a head without end": b"HTTP/1.1 200 OK\r\nx: " + b"a" * 1_000_000,
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 7\r\nconnection: close\r\n\r\n{}",
    "not a number": answer(200, b"{}", Content_Length="-2", Connection="close"),
}


def cut_off(step: Step) -> Step:
    """Said, and then the wire is cut."""
    return step if callable(step) else lambda wire: wire.sendall(step)


@pytest.mark.parametrize("step", NONSENSE.values(), ids=NONSENSE)
def test_what_is_no_answer_is_told_as_none(askers: Askers, step: Step) -> None:
    with hostile(cut_off(step)) as server, pytest.raises(Refused, match="did not answer in time"):
        askers.desk(server.url).find(ME, dict)
    with hostile(cut_off(step)) as server, pytest.raises(ChargedNotAnswered, match="--request-id mine"):
        askers.desk(server.url).spend(QUERY, {}, request_id="mine")


UNREADABLE: dict[str, bytes] = {
    "a page": answer(200, b"<html>sign in</html>", "text/html"),
    "no media type": answer(200, b"{}", ""),
    "not JSON": answer(200, b"{"),
    "a list": answer(200, b"[]"),
    "not UTF-8": answer(200, b'{"name": "\xff"}'),
    "NaN": answer(200, b'{"name": NaN}'),
    "deep": answer(200, b'{"name": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"),
    "deep, and open": answer(200, b"[" * 30_000),
    "a number without end": answer(200, b'{"name": ' + b"9" * 100_000 + b"}"),
    "a bomb": answer(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
    "compressed": answer(200, b"{}", Content_Encoding="br"),
    "as long as it says": answer(200, b"{}", Content_Length="99999999999"),
    "longer than numbers": answer(200, b"{}", Content_Length="9" * 18),
    "created": said({"name": "ada"}, 201),
    "nothing more": answer(204, b"", Content_Length=""),
    "not well": answer(500, b"<html>", "text/html"),
    "another's problem": answer(400, b'{"title": "no"}', "application/problem+json"),
    "a problem of numbers": answer(400, b'{"error": 5, "message": []}', "application/problem+json"),
}


@pytest.mark.parametrize("said", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_told_so_at_once(askers: Askers, said: bytes) -> None:
    watch = Watch()
    with hostile(said) as server, pytest.raises(Refused, match="cannot be read"):
        askers.desk(server.url, watch).find(ME, lambda told: told["name"])
    with hostile(said) as server, pytest.raises(ChargedNotAnswered) as charged:
        askers.desk(server.url, watch).spend(QUERY, {}, request_id="mine")
    assert charged.value.fields["request_id"] == "mine"
    assert watch.pauses == []


@contextmanager
def within(seconds: float) -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


@pytest.mark.parametrize("step", [drip, stay_silent])
def test_a_slow_server_is_cut_off(askers: Askers, step: Step) -> None:
    with hostile(step) as server, within(8):
        exchange = askers.exchange(server.url, timeout=0.5)
        with pytest.raises(ExchangeFailed) as failed:
            exchange.send(ME)
    assert failed.value.sent


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nx: "])
def test_a_head_that_drips_is_cut_off_too(askers: Askers, begin: bytes) -> None:
    def drip_head(wire: socket.socket) -> None:
        wire.sendall(begin)
        for _ in range(1_000):
            wire.sendall(b"a")
            time.sleep(0.02)

    with hostile(drip_head) as server, within(8), pytest.raises(ExchangeFailed):
        askers.exchange(server.url, timeout=0.5).send(ME)


def test_a_connection_that_was_kept_is_cut_off_too(askers: Askers) -> None:
    with hostile(OK, drip) as server, within(8):
        exchange = askers.exchange(server.url, timeout=0.5)
        assert exchange.send(ME).status == 200
        with pytest.raises(ExchangeFailed):
            exchange.send(ME)


def test_a_body_without_end_is_left(askers: Askers) -> None:
    with hostile(pour) as server, within(30), pytest.raises(AnswerNotTaken) as failed:
        askers.exchange(server.url, timeout=20).send(ME)
    assert failed.value.status == 200


@pytest.mark.parametrize(("status", "media"), [(202, ANSWER), (404, ANSWER), (200, "application/json")])
def test_only_a_release_may_be_longer_than_facts(askers: Askers, status: int, media: str) -> None:
    body, wanted = b" " * 10_000_001, Call("GET", ("answers", "5"), accept=ANSWER)
    with hostile(answer(status, body, media), answer(200, body, ANSWER)) as server:
        with pytest.raises(AnswerNotTaken):
            askers.exchange(server.url, timeout=20).send(wanted)
        assert len(askers.exchange(server.url, timeout=20).send(wanted).body) == len(body)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(askers: Askers, status: int) -> None:
    with hostile(OK) as other:
        away = answer(status, b"", Location=f"{other.url}/v1/me")
        with hostile(away) as server:
            with pytest.raises(Refused, match=rf"\({status}\) cannot be read"):
                askers.desk(server.url).find(ME, dict)
            with pytest.raises(Refused, match=rf"\({status}\) is not how a Discreet server answers"):
                askers.desk(server.url).spend(QUERY, {}, request_id="mine")
        assert len(server.heard) == 2
        assert other.heard == []


def test_nothing_of_the_environment_is_asked_or_sent(
    askers: Askers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login root password hunter2\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with hostile(OK) as proxy, hostile(OK) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        askers.desk(server.url).find(ME, dict)
        assert proxy.heard == []
        assert f"authorization: bearer {TOKEN}".encode() in server.heard[0].lower()


def test_no_cookie_is_kept(askers: Askers) -> None:
    with hostile(answer(200, b"{}", Set_Cookie="id=1; Path=/")) as server:
        desk = askers.desk(server.url)
        for _ in range(2):
            desk.find(ME, dict)
    assert len(server.heard) == 2
    assert b"cookie" not in b"".join(server.heard).lower()


def test_what_is_sent(askers: Askers) -> None:
    with hostile(OK) as server:
        exchange = askers.exchange(f"{server.url}/census")
        exchange.send(Call("GET", ("answers", "a b?c"), query={"limit": "5"}, language="fr"))
        exchange.send(Call("POST", QUERY, body={"sql": "é"}, accept=ANSWER, request_id="mine"))
        exchange.send(Call("GET", ("jobs", "5"), request_id="mine"))
    got, posted, polled = (request.decode() for request in server.heard)
    assert got.startswith("GET /census/v1/answers/a%20b%3Fc?limit=5 HTTP/1.1\r\n")
    assert "accept-language: fr\r\n" in got.lower()
    assert "accept-encoding: identity\r\n" in got.lower()
    assert "idempotency-key: mine\r\n" in posted.lower()
    assert f"accept: {ANSWER}; form={RELEASE_FORM}, application/problem+json\r\n" in posted.lower()
    assert posted.endswith('{"sql": "é"}')
    assert "idempotency-key" not in polled.lower()


@pytest.mark.parametrize(
    ("body", "says"), [({"sql": "a" * 70_000}, "65,536 bytes in all"), ({"sql": "\ud800"}, "must be text in UTF-8")]
)
def test_what_no_server_takes_is_not_sent(askers: Askers, body: dict[str, object], says: str) -> None:
    with hostile(OK) as server, pytest.raises(ParameterInvalid, match=says):
        askers.desk(server.url).spend(QUERY, body, request_id="mine")
    assert server.heard == []


def test_a_server_that_is_not_there_was_asked_nothing(askers: Askers) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for ask in (
        lambda: askers.desk(url).find(ME, dict),
        lambda: askers.desk(url).spend(QUERY, {}, request_id="mine"),
    ):
        with pytest.raises(Refused, match=r"cannot be reached\. Nothing was asked or charged"):
            ask()


# --- TLS ------------------------------------------------------------------------------------------------------------


def certify(folder: Path, name: str) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate that nobody but its own file vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_named(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    found.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return found


def _named(name: str) -> x509.GeneralName:
    return x509.DNSName(name) if name[0].isalpha() else x509.IPAddress(ip_address(name))


def test_an_untrusted_certificate_gets_no_token(
    askers: Askers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile(OK, tls=certify(tmp_path, "127.0.0.1")) as server:
        watch = Watch()
        for ask in (
            lambda: askers.desk(server.url, watch).find(ME, dict),
            lambda: askers.desk(server.url, watch).spend(QUERY, {}, request_id="mine"),
        ):
            with pytest.raises(Refused, match=r"certificate of '127\.0\.0\.1' is not trusted.*SSL_CERT_FILE"):
                ask()
        assert (server.heard, watch.pauses) == ([], [])
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert askers.desk(server.url).find(ME, dict) == {"name": "ada"}


def test_a_certificate_for_another_name_gets_no_token(
    askers: Askers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile(OK, tls=certify(tmp_path, "office.example")) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        with pytest.raises(Refused, match="is not trusted"):
            askers.desk(server.url).find(ME, dict)
        assert server.heard == []


def test_nothing_shows_the_token(askers: Askers) -> None:
    with hostile(answer(500, b"x", "text/plain")) as server:
        desk = askers.desk(server.url)
        shown: list[object] = [
            desk,
            desk._server,
            desk._server._exchange,
            Call("GET", ("me",)),
            Reply(200, "", None, b""),
        ]
        with pytest.raises(DiscreetError) as told:
            desk.find(ME, dict)
    chain: BaseException | None = told.value
    while chain is not None:
        shown += [chain, *chain.args]
        chain = chain.__context__
    assert TOKEN.partition(".")[2] not in " ".join(map(repr, shown)) + " ".join(map(str, shown))
