"""Offices of linked counts that kill themselves: one process that forks another for each line it is given.

A line is JSON: what to do (`count`, `draw`, `open-registry`, `open-holder`), in which folder, with which envelope or
agreement, and where to die: the module and name of a function, `before` or `after` it has done its work, and how often
it is passed first. The answer is a line too: how the fork ended and the envelope it made.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.linkage import (
    HolderDesk,
    RegistryDesk,
    find_study,
    open_holder,
    open_office,
    open_registry,
    read_agreement,
)


def plant(place: str, when: str, passes: int) -> None:
    """Die at a function, of a module or of a class in it."""
    module, _, path = place.partition(":")
    owner: Any = import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = getattr(owner, name)
    left = [passes]

    def patched(*arguments: Any, **options: Any) -> Any:
        if left[0] == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = original(*arguments, **options)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return found

    setattr(owner, name, staticmethod(patched) if isinstance(vars(owner).get(name), staticmethod) else patched)


def act(task: dict[str, Any]) -> bytes:
    folder = Path(task["office"])
    if task["what"] == "open-registry":
        return open_registry(open_office(folder), read_agreement(task["agreement"]), workspace=task["workspace"])[1]
    if task["what"] == "open-holder":
        key = Path(task["envelope"]).read_bytes()
        open_holder(open_office(folder), read_agreement(task["agreement"]), workspace=task["workspace"], link_key=key)
        return b""
    study = find_study(folder, task["study"])
    data = Path(task["envelope"]).read_bytes()
    with study.open_session() as session:
        if task["what"] == "draw":
            return HolderDesk(study, session).draw(data).sample
        return RegistryDesk(study, session).count(data).answer


SLOW = ("duckdb", "pandas", "pyarrow.compute", "pyarrow.csv", "sqlite3", "discreet.engines.embedded")
"""What every fork would load by itself."""


def main() -> None:
    for name in (*SLOW, "cryptography.hazmat.primitives.hpke"):
        import_module(name)
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            if task["place"]:
                plant(task["place"], task["when"], task["passes"])
            Path(task["out"]).write_bytes(act(task))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
