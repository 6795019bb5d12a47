"""`make bench`: every measurement, or those named: `python -m benchmarks noise ledger`."""

from __future__ import annotations

import importlib
import sys

NAMES = ("coldstart", "sample", "noise", "ledger", "ingest", "query", "shuffle", "study", "tables", "cube")
APART = ("peers",)  # needs an environment of its own: `make bench-peers`


def main(names: list[str]) -> None:
    for name in names or NAMES:
        if name not in NAMES + APART:
            sys.exit(f"no benchmark '{name}'; there are: {', '.join(NAMES + APART)}")
        print(f"\n## {name}", flush=True)
        for what, figure in importlib.import_module(f"benchmarks.{name}").run().items():
            print(f"{what:72} {figure:12,.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
