"""The code blocks of the pages, and what becomes of each.

| block | what a test does with it |
| --- | --- |
| `sh` | runs it, in order with the page's other blocks, in one folder |
| `console` | runs what follows `$ `; the rest is output, which noise changes |
| `python` | runs it, with the names of the page's blocks before it |
| `sql` | plans each statement over the samples' cards |
| `yaml` | reads it as a card, workload, manifest, study or agreement; a part of a card, within the sample survey's |
| `json`, `csv` | parses it |
| `r` | runs it, where R is: tests/e2e/test_r_recipe.py, which has the server it speaks to |
| `text` | nothing: a formula, a layout, output by itself |

A `yaml` block whose first line is `# NAME.yaml` is also saved as that file, for the commands after it. A page that
links to `sample.md#the-sample-workspace` starts with what that section makes.

A comment on the line before a block says more: `<!-- refused -->`, each command must end with an error;
`<!-- served -->`, its one command runs on while the blocks after it speak to port 8765; `<!-- part of a card -->`;
`<!-- not run: why -->`. A block of any other language, or of none, is refused.

`python -m tests.docs.blocks` lists the pages with their blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.places import DOCS, ROOT

__all__ = ["PAGES", "Block", "Fate", "list_pages", "read_blocks"]

PAGES: Final = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
_FENCE: Final = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<language>.*)$")
_COMMENT: Final = re.compile(r"^\s*<!-- (?P<said>.*) -->$")
_NOT_RUN: Final = re.compile(r"not run: \S.*")


class Fate(StrEnum):
    """What becomes of a block."""

    RUN = "run"
    PLANNED = "planned"
    CHECKED = "checked"
    ELSEWHERE = "elsewhere"
    SHOWN = "shown"
    NOT_RUN = "not run"


_FATES: Final = {
    "sh": Fate.RUN,
    "console": Fate.RUN,
    "python": Fate.RUN,
    "sql": Fate.PLANNED,
    "yaml": Fate.CHECKED,
    "json": Fate.CHECKED,
    "csv": Fate.CHECKED,
    "r": Fate.ELSEWHERE,
    "text": Fate.SHOWN,
}
_SAID: Final = {"refused": ("sh", "console"), "served": ("sh",), "part of a card": ("yaml",)}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where its first line stands, its language and text, and what the comment before it says."""

    page: Path
    line: int
    language: str
    text: str
    said: str = ""

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def fate(self) -> Fate:
        """Raises ValueError for a block that is neither run nor marked."""
        if self.language not in _FATES:
            raise ValueError(f"{self.place}: {self.language or 'no'} language; take one of {', '.join(_FATES)}")
        if _NOT_RUN.fullmatch(self.said):
            return Fate.NOT_RUN
        if self.said and self.language not in _SAID.get(self.said, ()):
            raise ValueError(f"{self.place}: '{self.said}' is not said of a {self.language} block")
        if self.language == "text" and re.search(r"^(?:\$ |discreet )", self.text, re.MULTILINE):
            raise ValueError(f"{self.place}: holds a command; take sh or console")
        return _FATES[self.language]


def read_blocks(page: Path) -> Iterator[Block]:
    """Every block of a page, from the top. Raises ValueError for an indented one and one without an end."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number, inside_list = 0, False
    while number < len(lines):
        before, line = lines[number - 1] if number else "", lines[number]
        number += 1
        if line.strip() and not line.startswith(" "):
            inside_list = bool(re.match(r"(?:[-*+]|\d+\.) ", line))
        opened = _FENCE.match(line)
        if opened is None:
            if line.startswith("    ") and not before.strip() and line.strip() and not inside_list:
                raise ValueError(f"{page.name}:{number}: an indented block; fence it")
            continue
        start, indent = number, len(opened["indent"])
        while number < len(lines) and lines[number].strip() != opened["ticks"]:
            number += 1
        if number == len(lines):
            raise ValueError(f"{page.name}:{start}: the block does not end")
        text = "".join(f"{line[indent:]}\n" for line in lines[start:number])
        said = _COMMENT.match(before)
        yield Block(page, start + 1, opened["language"].strip(), text, said["said"] if said else "")
        number += 1


def list_pages() -> str:
    """Each page that has blocks, with how many have which fate."""
    rows = [f"{'page':<38}" + "".join(f"{fate:>10}" for fate in Fate)]
    for page in PAGES:
        counted = Counter(block.fate for block in read_blocks(page))
        if counted:
            rows.append(f"{page.relative_to(ROOT)!s:<38}" + "".join(f"{counted[fate] or '':>10}" for fate in Fate))
    return "\n".join(rows)


if __name__ == "__main__":
    print(list_pages())
