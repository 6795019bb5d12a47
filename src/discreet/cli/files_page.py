"""Writes docs/files.md from the declared languages: every key of every file that people write.

A test compares the page with what this module writes, so that no key is undocumented.
"""

from __future__ import annotations

import sys
from typing import Final

from discreet.cards import key_table
from discreet.cli.file_schemas import FileKind, load_schema

__all__ = ["files_page"]

_HEAD: Final = """\
# Files that people write

Written from the code by `make docs`; a test keeps it complete.

Cards, workloads, manifests, studies and agreements are YAML files, read strictly: every problem is told with its line,
an unknown key with the nearest known one, and scalars are text until a key says what they are
([how](card.md#how-it-is-read)).
Each kind is declared once in the code. Its reader, its table on this page, the comments of its draft and its JSON
Schema are made from that declaration.

## In an editor
Editors that know the YAML language server (VS Code with its YAML extension, Neovim, Emacs, JetBrains) complete keys,
explain them and mark slips while one writes, if the file begins with

```text
# yaml-language-server: $schema={card_url}
```

Every draft begins so. `discreet schema card --out card.json` writes the same file for machines without a network; name
its path in place of the address. The schemas are in JSON Schema, draft 2020-12.

A schema sees a file through an ordinary YAML loader, and so takes what that may make of it:

- numbers may be written in quotes or with an exponent, which many loaders leave as text; limits hold for numbers only;
- names and texts may look like numbers or truth values, and codes also like nothing at all (`null`, `~`), because
  Discreet reads the characters one sees;
- a value in quotes with blanks around it is refused by the schema, though the reader trims it;
- the plain word `DECIDE` is marked wherever a number or a choice must stand.

What it cannot say, the reader does (`discreet card check` for a card). Above all it cannot tie keys together, beyond
which keys go with which kind of column, question or model:

- columns that are named elsewhere exist and are of the right kind: unit, weight, `by`, `references`, strata, queries;
- caps and totals list every category; several totals agree; codes are different; the dearest questions of a respondent
  cost no more than the total;
- bounds rise and lie on the step; edges, caps and typical values fit them;
- `size`, `membership`, `presence` and `neighbours` agree; `sample` or `dataset` is named, `within` or `share`.
"""

_SECTION: Final = """\
## {title}

{about} {page} explains it; its schema is [schemas/{kind}.json](schemas/{kind}.json). `*` stands for a name
you choose.

{table}
"""
_PAGES: Final = {
    FileKind.CARD: "[The dataset card](card.md)",
    FileKind.WORKLOAD: "[Workloads](workloads.md)",
    FileKind.MANIFEST: "[Collecting protected answers](local.md)",
    FileKind.STUDY: "[Studies](study.md)",
    FileKind.AGREEMENT: "[Linked counts](linked.md)",
}


def files_page() -> str:
    """The whole page."""
    sections = [_HEAD.format(card_url=load_schema(FileKind.CARD).url)]
    for kind, page in _PAGES.items():
        schema = load_schema(kind)
        facts = {"title": schema.title.en, "about": schema.about.en, "page": page, "kind": kind}
        sections.append(_SECTION.format(**facts, table=key_table(schema)))
    return "\n".join(sections)


if __name__ == "__main__":
    sys.stdout.write(files_page())
