"""Three offices as three processes, each in a network of its own, joined only by relays that write down every byte.

Run as `python -m tests.cli.linked_scene FOLDER`. With NAMESPACES after it, under `unshare -rn`, each office is in a
network namespace that this script makes, with one cable, to the relays. Else all are on ports of 127.0.0.1.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread

ROLES = ("researcher", "holder", "registry")
WIRES = (("researcher", "holder"), ("holder", "registry"), ("holder", "researcher"), ("registry", "researcher"))
PORT = 8520
DISCREET = (sys.executable, "-m", "discreet", "linked")
ALONE = "NAMESPACES"


def may_make_namespaces() -> bool:
    """Whether this machine lets a user make networks."""
    script = "ip link set lo up && unshare -n true && ip link add near type veth peer name far"
    try:
        return subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Relay:
    """Carries bytes from a sender to a receiver and back, and writes them down."""

    def __init__(self, address: tuple[str, int], receiver: tuple[str, int], record: Path) -> None:
        self._receiver = receiver
        self._record = record.open("wb")
        self._lock = Lock()
        self.listener = socket.create_server(address)
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            one, _ = self.listener.accept()
            other = socket.create_connection(self._receiver, timeout=30)
            for source, sink in ((one, other), (other, one)):
                Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while part := source.recv(65_536):
                with self._lock:
                    self._record.write(part)
                    self._record.flush()
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Networks:
    """Where each office is, and how a command is run there."""

    def __init__(self, apart: bool) -> None:
        self.apart = apart
        self.places: dict[str, tuple[str, int]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self, number: int, role: str) -> None:
        """A namespace, held open by a process that waits, with a cable to this one."""
        if not self.apart:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.places[role] = free.getsockname()
            return
        waiting = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        self._processes[f"network of {role}"] = waiting
        until(lambda: os.readlink(f"/proc/{waiting.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
        cable = (f"ip link add near{number} type veth peer name far netns {waiting.pid}",)
        near = (f"ip addr add {hub(number)}/24 dev near{number}", f"ip link set near{number} up")
        self.places[role] = f"10.77.{number}.2", PORT
        for line in (*cable, *near):
            subprocess.run(line.split(), check=True)
        for line in ("ip link set lo up", f"ip addr add 10.77.{number}.2/24 dev far", "ip link set far up"):
            subprocess.run([*self.inside(role), *line.split()], check=True)

    def inside(self, role: str) -> tuple[str, ...]:
        return ("nsenter", "-t", str(self._processes[f"network of {role}"].pid), "-n") if self.apart else ()

    def start(self, role: str, *words: str) -> None:
        host, port = self.places[role]
        listening = ("--host", host, "--port", str(port), "--behind-proxy")
        command = [*self.inside(role), *DISCREET, "serve", "--office", role, "--role", role, *listening, *words]
        self._processes[role] = subprocess.Popen(command, stdout=subprocess.PIPE)

    def line(self, role: str) -> str:
        stdout = self._processes[role].stdout
        assert stdout is not None
        return stdout.readline().decode()

    def end(self, sign: signal.Signals) -> list[int]:
        offices = [self._processes.pop(role) for role in ROLES]
        for process in offices:
            process.send_signal(sign)
        return [process.wait(20) for process in offices]

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


def hub(number: int) -> str:
    return f"10.77.{number}.1"


def until(fits: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not fits():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def play(folder: Path, apart: bool) -> None:
    """A request goes round; `wires/` has what was carried, `answer.env` and `labels.env` what came of it."""
    networks = Networks(apart)
    (folder / "wires").mkdir()
    try:
        for number, role in enumerate(ROLES):
            networks.prepare(number, role)
        urls = {}
        for port, (sender, receiver) in enumerate(WIRES, 9_001):
            address = (hub(ROLES.index(sender)), port) if apart else ("127.0.0.1", 0)
            relay = Relay(address, networks.places[receiver], folder / "wires" / f"{sender}-{receiver}")
            host, number = relay.listener.getsockname()
            urls[sender, receiver] = f"http://{host}:{number}"
        to_researcher = ("--to-researcher", urls["holder", "researcher"])
        networks.start("researcher")
        networks.start("registry", "--to-researcher", urls["registry", "researcher"])
        networks.start("holder", "--approve", "--to-registry", urls["holder", "registry"], *to_researcher)
        for role in ROLES:
            print(networks.line(role), end="")
        if apart:
            tell_reach(networks)
        send = [*networks.inside("researcher"), *DISCREET, "send", "request.env", "--to", urls["researcher", "holder"]]
        subprocess.run(send, check=True)
        inbox = next((folder / "researcher" / "studies").iterdir()) / "inbox"
        until(lambda: inbox.is_dir() and len([path for path in inbox.iterdir() if path.name[0] != "."]) == 2)
        print("ends", *networks.end(signal.SIGTERM))
    finally:
        networks.close()


def tell_reach(networks: Networks) -> None:
    """Whether the holder reaches the registry other than by a relay."""
    reach = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2)"
    host, port = networks.places["registry"]
    command = [*networks.inside("holder"), sys.executable, "-c", reach, host, str(port)]
    found = subprocess.run(command, capture_output=True).returncode
    print("offices are apart" if found else "offices reach each other")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    play(Path.cwd(), ALONE in sys.argv)
