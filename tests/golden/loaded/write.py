"""Writes which modules a cold command loads: python -m tests.golden.loaded.write"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.cli.clinic import CARD, ROWS
from tests.workspaces import fill

__all__ = ["list_loaded"]

HERE: Final = Path(__file__).parent
COMMANDS: Final = {
    "help": ("--help",),
    "query": ("query", "-w", "w", "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town", "--epsilon", "0.5"),
}
# Ours one by one; of others those that cost something.
SCRIPT: Final = """
import sys
from discreet.cli import main
sys.argv = ["discreet", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
others = "cryptography duckdb fastapi httpx numpy opendp pandas polars psycopg pyarrow pyspark resvg_py rich scipy"
others += " sqlglot torch typer yaml"
own = sorted(name for name in sys.modules if name.startswith("discreet"))
print("LOADED", *own, *(name for name in others.split() if name in sys.modules), sep="\\n")
"""


def list_loaded(name: str, folder: Path) -> list[str]:
    """What a process of its own has loaded when it ends."""
    from discreet.session import Session

    def make(home: Path) -> None:
        (home / "clinic.csv").write_text(ROWS, encoding="utf-8")
        (home / "clinic.yaml").write_text(CARD, encoding="utf-8")
        with Session.create(home / "w") as session:
            session.add(home / "clinic.csv", confirm=lambda _: True)

    fill(folder, "a cold command", make)
    command = [sys.executable, "-P", "-c", SCRIPT, *COMMANDS[name]]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=dict(os.environ))
    return done.stdout.partition("LOADED\n")[2].splitlines()


if __name__ == "__main__":
    os.environ.setdefault("DISCREET_ANALYST", "ana")
    for command in COMMANDS:
        with tempfile.TemporaryDirectory() as home:
            os.environ["DISCREET_KEYS"] = f"{home}/keys"
            (HERE / f"{command}.txt").write_text("\n".join([*list_loaded(command, Path(home)), ""]), encoding="utf-8")
