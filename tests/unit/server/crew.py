"""A server of several processes, as a command: `python -m tests.unit.server.crew '{"workers": 2, "fault": "slow"}'`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from discreet.errors import DiscreetError, Refused
from discreet.server import Guard, TlsFiles, open_listener, serve_processes
from tests.places import ROOT

__all__ = ["Crew", "crew"]

SECRET = "postgresql://office:hunter2@db"


class Crew:
    """A server that was started, and what it has told."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def port(self) -> int:
        """Known once all of it is ready; nothing where it ended before."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready "), self.told()
        return int(line.split()[1])

    @property
    def pid(self) -> int:
        return self.process.pid

    def told(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def wait(self, seconds: float = 60) -> int:
        return self.process.wait(seconds)

    def workers(self) -> set[int]:
        return set(map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()))


@contextmanager
def crew(folder: Path, *, tls: TlsFiles | None = None, **settings: Any) -> Iterator[Crew]:
    """Started as a process of its own and ended by its id."""
    chosen = {"workers": 2, "mark": str(folder / "mark"), **settings}
    if tls is not None:
        chosen |= {"certificate": os.fspath(tls.certificate), "key": os.fspath(tls.key)}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.server.crew"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(chosen))
            process.stdin.close()
            yield Crew(process, folder / "log")
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()
            process.wait()
            process.stdout.close()


def make(settings: Mapping[str, str]) -> ASGIApp:
    """The application of a worker, with the fault that was asked for."""
    fault = settings["fault"]
    mark = Path(settings["mark"])

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        if fault == "slow":
            time.sleep(1)
            with mark.open("a") as told:
                told.write("ready\n")
        elif fault == "refused":
            raise Refused("the ledger is not there.")
        elif fault == "failing":
            raise ValueError(SECRET)
        elif fault == "dead":
            os._exit(3)
        elif fault == "later":
            with mark.open("a") as told:
                told.write("started\n")
            if mark.read_text().count("started") > 2:
                raise Refused("the ledger is not there any more.")
        elif fault == "second":
            try:
                mark.mkdir()
            except FileExistsError:
                raise Refused("there is one already.") from None
        yield
        with mark.with_suffix(".ended").open("a") as told:
            told.write("ended\n")

    async def who(request: Request) -> Response:
        return PlainTextResponse(str(os.getpid()))

    async def fail(request: Request) -> Response:
        raise ValueError(SECRET)

    async def slow(request: Request) -> Response:
        await asyncio.sleep(float(request.query_params["seconds"]))
        return PlainTextResponse("slept")

    return Guard(Starlette(routes=[Route("/who", who), Route("/slow", slow), Route("/fail", fail)], lifespan=life))


def main() -> int:
    chosen = json.load(sys.stdin)
    tls = TlsFiles(chosen["certificate"], chosen["key"]) if "certificate" in chosen else None
    with open_listener("127.0.0.1", 0, beyond=False) as listener:
        port = listener.getsockname()[1]
        try:
            serve_processes(
                listener,
                workers=chosen["workers"],
                make="tests.unit.server.crew:make",
                settings={"fault": chosen.get("fault", ""), "mark": chosen["mark"], "secret": SECRET},
                tls=tls,
                announce=lambda: print("ready", port, flush=True),
            )
        except DiscreetError as error:
            print(error.message, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
