"""The catalogues' tool: `python -m tests.catalogue write|check|missing|merge|compile`. CONTRIBUTING.md says when."""

from __future__ import annotations

import fcntl
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hatch_build import compile_catalogues

from tests.catalogue.catalogues import as_forms, read_catalogue, tell_faults, write_catalogue, write_english
from tests.catalogue.sentences import list_sentences


@contextmanager
def alone() -> Iterator[None]:
    """While the catalogues are written."""
    with (Path(__file__).parent / ".lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.catalogue", description=__doc__)
    parser.add_argument("act", choices=("write", "check", "missing", "merge", "compile"))
    parser.add_argument("paths", nargs="*", help="missing: sources to look at; merge: JSON files of translations")
    given = parser.parse_args()
    with alone():
        if given.act == "compile":
            compile_catalogues()
            return 0
        if given.act == "merge":
            known = read_catalogue()
            for path in given.paths:
                known |= as_forms(json.loads(Path(path).read_text(encoding="utf-8")))
            write_catalogue(known, list_sentences(), keep=True)
            compile_catalogues()
            return 0
        if given.act == "write":
            write_catalogue(read_catalogue(), list_sentences())
            write_english(list_sentences())
            compile_catalogues()
    sentences = list_sentences()
    if given.act == "missing":
        known = read_catalogue()
        asked = [
            sentence
            for sentence in sentences
            if not known.get(sentence.one)
            and (not given.paths or any(place.startswith(tuple(given.paths)) for place in sentence.places))
        ]
        sys.stdout.write(json.dumps([sentence.to_json() for sentence in asked], ensure_ascii=False, indent=1) + "\n")
        return 0
    faults = tell_faults(sentences)
    sys.stdout.write("\n".join([*faults, f"{len(sentences)} sentences, {len(faults)} faults"]) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
