"""TLS of the server's own: handshakes have a deadline and are connections, and files that do not serve are told."""

from __future__ import annotations

import os
import socket
import ssl
from asyncio import sslproto
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from discreet.errors import PathInvalid
from discreet.server import Guard, GuardedProtocol, TlsFiles
from tests.unit.server.certificates import make_tls
from tests.unit.server.listening import Answer, Mirror, fetch, listen, read_all, read_answer, speak, until

mirror = Mirror()


class Hasty(GuardedProtocol):
    seconds = 0.5
    most_connections = 8


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def port(tls: TlsFiles) -> Iterator[int]:
    before = sslproto.SSLProtocol.max_size
    with listen(Guard(mirror), Hasty, tls=tls) as found:
        yield found
    sslproto.SSLProtocol.max_size = before


@pytest.fixture(autouse=True)
def _forget() -> None:
    mirror.reached.clear()


def trusting(tls: TlsFiles) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=os.fspath(tls.certificate))


@contextmanager
def connect(port: int, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        yield connection


def say(port: int, tls: TlsFiles, said: bytes, context: ssl.SSLContext | None = None) -> bytes:
    with connect(port, context or trusting(tls)) as connection:
        with suppress(ConnectionError, ssl.SSLError):
            connection.sendall(said)
        return read_all(connection)


def get(port: int, tls: TlsFiles, *lines: str) -> Answer:
    head = ["GET /take HTTP/1.1", "Host: office", "Connection: close", *lines, "", ""]
    return read_answer(say(port, tls, "\r\n".join(head).encode()))


def test_what_is_asked_by_tls_is_answered_and_known_to_be(port: int, tls: TlsFiles) -> None:
    seen = get(port, tls).json
    assert (seen["scheme"], seen["client"]) == ("https", "127.0.0.1")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_of_today_are_spoken_and_http_1_1_alone(
    port: int, tls: TlsFiles, version: ssl.TLSVersion
) -> None:
    context = trusting(tls)
    context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    with connect(port, context) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"


def test_what_is_older_or_renegotiates_is_not_spoken(tls: TlsFiles) -> None:
    context = tls.open()
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.options & ssl.OP_NO_RENEGOTIATION
    assert context.options & ssl.OP_NO_COMPRESSION


def test_plain_http_is_gone_at_once_and_nothing_is_said_to_it(port: int) -> None:
    said = speak(port, b"GET /take HTTP/1.1\r\nHost: office\r\n\r\n")
    assert b"HTTP" not in said
    assert mirror.reached == []


def test_a_refusal_comes_by_tls_too(port: int, tls: TlsFiles) -> None:
    assert read_answer(say(port, tls, b"nonsense\r\n\r\n")).status == 400
    flood = b"POST /take HTTP/1.1\r\nHost: office\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n"
    assert read_answer(say(port, tls, flood + b"x" * 999_999)).status == 413


def test_a_handshake_that_never_ends_does(port: int) -> None:
    for begun in (b"", b"\x16", b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03" + b"a" * 900):
        assert speak(port, begun) == b""  # the end, well before the test would give up


def test_a_request_that_trickles_ends_as_it_does_in_plain_http(port: int, tls: TlsFiles) -> None:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        trusting(tls).wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        suppress(ConnectionError, ssl.SSLError),
    ):
        for _ in until(10):
            connection.sendall(b"G")
        pytest.fail("a request that trickles is still heard")


def test_handshakes_are_connections(port: int, tls: TlsFiles) -> None:
    """Who never says who they are holds memory like anybody else."""
    with ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(3 * Hasty.most_connections)
        ]
        ended = 0
        for connection in held:
            connection.settimeout(0.02)
            with suppress(TimeoutError, ConnectionError):
                ended += connection.recv(1) == b""
        assert ended >= len(held) - 2 * Hasty.most_connections  # long before their deadlines; some may have come round
    for _ in until(10):
        with suppress(OSError):
            if get(port, tls).status == 200:
                break
    else:
        pytest.fail("there is no room again")


def test_a_connection_of_tls_holds_little(port: int) -> None:
    assert sslproto.SSLProtocol.max_size <= 65_536


def test_who_ends_tls_without_reading_is_left(tls: TlsFiles) -> None:
    """Their side says that it is through, and takes nothing of what is still on the way."""
    body = b"x" * 40_000_000

    class Long:
        async def __call__(self, scope: object, receive: object, send: object) -> None:
            assert callable(send)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})

    class Few(Hasty):
        most_connections = 1

    with listen(Guard(Long()), Few, tls=tls) as port, socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        plain.connect(("127.0.0.1", port))
        plain.settimeout(10)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        spoken = trusting(tls).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        for _ in until(10):
            try:
                spoken.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(outgoing.read())
                incoming.write(plain.recv(65_536))
        spoken.write(b"GET / HTTP/1.1\r\nHost: office\r\n\r\n")
        plain.sendall(outgoing.read())
        with suppress(ssl.SSLError):
            spoken.unwrap()
        plain.sendall(outgoing.read())
        for _ in until(20):
            with suppress(OSError):
                if read_answer(
                    say(port, tls, b"OPTIONS / HTTP/1.1\r\nHost: office\r\nConnection: close\r\n\r\n")
                ).status:
                    break
        else:
            pytest.fail("the one connection that there may be is still held")


@pytest.mark.parametrize(
    "fault", ["no certificate", "no key", "swapped", "another key", "a password", "a folder", "empty"]
)
def test_files_that_do_not_serve_are_told_in_a_sentence(tmp_path: Path, fault: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    files = make_tls(tmp_path, password=b"secret" if fault == "a password" else b"")
    certificate, key = Path(os.fspath(files.certificate)), Path(os.fspath(files.key))
    match fault:
        case "no certificate":
            certificate.unlink()
        case "no key":
            key.unlink()
        case "swapped":
            certificate, key = key, certificate
        case "another key":
            key = Path(os.fspath(make_tls(other).key))
        case "a folder":
            key = other
        case "empty":
            certificate.write_bytes(b"")
    with pytest.raises(PathInvalid) as caught:
        TlsFiles(certificate, key).open()
    assert "cannot be used for TLS" in caught.value.message
    assert caught.value.__suppress_context__
    assert "-----BEGIN" not in caught.value.message


def test_a_key_alone_or_none_is_never_plain_http(tls: TlsFiles, tmp_path: Path) -> None:
    files = TlsFiles(tmp_path / "missing.crt", tls.key)
    with pytest.raises(PathInvalid), listen(Guard(mirror), Hasty, tls=files) as found:
        fetch(found, "GET", "/take")
