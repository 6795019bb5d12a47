"""A real Spark cluster for the tests: a standalone master and two workers from the pip package, on loopback only."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

START_SECONDS = 120
PR_SET_PDEATHSIG = 1
WORKERS = 2
# Small: the driver of each of two workers of a run, and that of a command of each, find an executor. Java compiles with
# its quick compiler alone: no statement runs long enough for the other.
DEFAULTS = """\
spark.driver.memory 2g
spark.executor.memory 512m
spark.executor.cores 1
spark.cores.max 1
spark.sql.shuffle.partitions 2
spark.sql.adaptive.enabled false
spark.ui.enabled false
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""


class ClusterUnavailable(Exception):
    """What a cluster needs is not installed; the text says what."""


@contextmanager
def spark_cluster() -> Iterator[tuple[str, Path]]:
    """Start a cluster, yield its address and the folder of its settings, and stop it by its process ids."""
    with watched_cluster() as (address, folder, _):
        yield address, folder / "conf"


@contextmanager
def watched_cluster() -> Iterator[tuple[str, Path, list[int]]]:
    """A cluster with its folder and the process ids of its workers; worker N works in the folder's `workN`."""
    home = installed()
    folder = make_folder()
    address = f"127.0.0.1:{free_port()}"
    try:
        with ExitStack() as stack:
            host, port = address.split(":")
            words = ["master.Master", "--host", host, "--port", port, "--webui-port", "0"]
            stack.enter_context(daemon(home, folder, "master", words, ready="elected leader"))
            workers = []
            for number in range(WORKERS):
                work = ["--work-dir", str(folder / f"work{number}")]
                words = ["worker.Worker", "--host", host, "--cores", "2", "--memory", "1200m", "--webui-port", "0"]
                words += [*work, f"spark://{address}"]
                ready = "Successfully registered"
                workers.append(stack.enter_context(daemon(home, folder, f"worker{number}", words, ready=ready)))
            yield f"spark://{address}", folder, workers
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def connect_server() -> Iterator[str]:
    """Start a Spark Connect server and yield its address."""
    home = installed()
    if importlib.util.find_spec("grpc") is None:
        raise ClusterUnavailable("the extra 'spark' is not installed whole: Spark Connect needs grpcio")
    folder = make_folder()
    port = free_port()
    words = [
        "SparkSubmit",
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "--master",
        "local[1]",
    ]
    for setting in (
        f"spark.connect.grpc.binding.port={port}",
        "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.driver.host=127.0.0.1",
        "spark.ui.enabled=false",
    ):
        words += ["--conf", setting]
    try:
        with daemon(home, folder, "connect", words, ready="Spark Connect server started", memory="768m"):
            yield f"sc://127.0.0.1:{port}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def installed() -> Path:
    package = importlib.util.find_spec("pyspark")
    if package is None or package.origin is None:
        raise ClusterUnavailable("the extra 'spark' is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise ClusterUnavailable("Java is not installed; Spark 4 needs Java 17 or newer")
    return Path(package.origin).parent


def make_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="discreet-spark-"))
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text(DEFAULTS, encoding="ascii")
    return folder


@contextmanager
def daemon(home: Path, folder: Path, name: str, words: list[str], *, ready: str, memory: str = "256m") -> Iterator[int]:
    """Start a process of Spark's, yield its id when it is ready, and stop it."""
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": memory,
    }
    log = folder / f"{name}.log"
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{words[0]}", *words[1:]]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, which takes no lock
        )
    try:
        wait_for(process, log, ready)
        yield process.pid
    finally:
        stop(process)


def wait_for(process: subprocess.Popen[bytes], log: Path, ready: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if ready in log.read_text(errors="replace"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{log.stem} did not start: {log.read_text(errors='replace')[-5000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    for request in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(request)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue
        return


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
