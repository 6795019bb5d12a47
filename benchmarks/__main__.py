"""`make bench`: every measurement, or those named: `python -m benchmarks noise ledger`.

Some compare on data sets of others, in a folder: `python -m benchmarks private_bounds --data DIR`. One has options of
its own: `python -m benchmarks scale --help`.
"""

from __future__ import annotations

import importlib
import sys
from argparse import ArgumentParser
from pathlib import Path

NAMES = (
    "cold_start",
    "sample",
    "noise",
    "ledger",
    "ingest",
    "query",
    "cells",
    "shuffle",
    "study",
    "tables",
    "cube",
    "figures",
    "generated",
)
APART = ("peers",)  # needs an environment of its own: `make bench-peers`
COMPARED = ("private_bounds", "generator")  # take a folder of data
OPTIONED = ("scale", "linked", "service")  # read the words after their name themselves


def main(words: list[str]) -> None:
    if words and words[0] in OPTIONED:
        importlib.import_module(f"benchmarks.{words[0]}").main(words[1:])
        return
    every = NAMES + APART + COMPARED
    parser = ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    parser.add_argument("--data", type=Path, help="the folder of data for " + ", ".join(COMPARED))
    asked = parser.parse_args(words)
    for name in asked.names or NAMES:
        if name not in every:
            sys.exit(f"no benchmark '{name}'; there are: {', '.join(every)}")
        print(f"\n## {name}", flush=True)
        given = {"data": asked.data} if name in COMPARED else {}
        for what, figure in importlib.import_module(f"benchmarks.{name}").run(**given).items():
            print(f"{what:72} {figure:12,.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
