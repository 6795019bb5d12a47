"""Every code block of the documentation runs, is planned or checked, or says why not."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest
from openpyxl import load_workbook

import discreet
from tests.docs.blocks import PAGES, Fate, list_pages, read_blocks
from tests.docs.page_run import PageRun, split_commands
from tests.places import ROOT

LONG: Final = frozenset(
    f"{page}.md"
    for page in ("generator", "local-estimates", "reproduce-bootstrap", "sample", "shuffle", "study", "tables-today")
)
NEEDS: Final = {"generator.md": "torch"}


def test_every_block_is_run_or_marked() -> None:
    """Lists the pages with what becomes of their blocks; `pytest -rP` shows it."""
    print(list_pages())


def test_r_stands_where_it_is_run() -> None:
    found = [block.page.name for page in PAGES for block in read_blocks(page) if block.fate is Fate.ELSEWHERE]
    assert found == ["service.md"], "tests/e2e/test_r_recipe.py runs one block"


def _is_tried(page: Path) -> bool:
    try:
        return any(block.fate not in {Fate.ELSEWHERE, Fate.SHOWN, Fate.NOT_RUN} for block in read_blocks(page))
    except ValueError:  # the test above says which block is at fault
        return True


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.long] if page.name in LONG else [])
        for page in PAGES
        if _is_tried(page)
    ],
)
def test_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    follow(page, tmp_path, monkeypatch)


def follow(page: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
    with closing(PageRun(page, folder, patch)) as run:
        for block in run.blocks:
            run.do(block)
        if page.name in AFTERWARDS:
            AFTERWARDS[page.name](run)


def _the_textbook_is_right(run: PageRun) -> None:
    assert "\n67593.21\n" in run.printed
    assert "\n1006.04\n" in run.printed
    with discreet.open(run.folder / "households") as house:
        population = house.budget("ce-example").population
        assert (population.charges, population.epsilon_spent) == (5, Decimal("2.8"))


def _files_are_left(run: PageRun) -> None:
    assert {file.name for file in run.folder.glob("*.*")} == {"people.xlsx", "smoking.html"}


def _every_report_is_read(run: PageRun) -> None:
    assert "accepted           113290" in run.printed


def _the_recipes_leave_tables(run: PageRun) -> None:
    by_sex, medians = (
        list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        for file in sorted(run.folder.glob("answer-*.csv"))
    )
    assert [row["sex_label"] for row in by_sex] == ["Male", "Female"]
    assert len(medians) == 97 * 16 * 2
    assert load_workbook(run.folder / "people.xlsx").sheetnames == ["Table", "Figures", "Notes"]


AFTERWARDS: Final[Mapping[str, Callable[[PageRun], None]]] = {
    "tutorial-ce.md": _the_textbook_is_right,
    "python.md": _files_are_left,
    "local.md": _every_report_is_read,
    "service.md": _the_recipes_leave_tables,
}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```sh\ndiscreet frobnicate\n```", "p.md:2: exit code 2"),
        ("```sh\ndiscreet belief --epsilon 0.5 --prior 0.1\nfalse | cat\n```", "exit code 1 of false | cat"),
        ("```console\n$ discreet belief --epsilon x \\\n    --prior 0.1\nBelief\n```", "p.md:2: exit code"),
        ("<!-- refused -->\n```sh\ndiscreet belief --epsilon 0.5 --prior 0.1\n```", "p.md:3: exit code 0"),
        ("```sh\ndiscreet table d --by a --epsilon 1 --no-margins || true\n```", "an old spelling"),
        ("```python\nx = 1\n```\n\n```python\nassert x == 2, 'two'\n```", "two"),
        ("```sql\nSELECT COUNT(*) FROM survey;\nSELECT person_id FROM survey\n```", "person_id"),
        ("```yaml\ndataset: survey\n```", "neither a card"),
        ("<!-- part of a card -->\n```yaml\ncolumns:\n  size: {kind: numbre}\n```", "numbre"),
        ("```json\n{1}\n```", "property name"),
        ("```csv\na,b\n1\n```", "several lengths"),
        ("```\nx\n```", "no language"),
        ("```ruby\nx\n```", "ruby language"),
        ("```text\n$ discreet show\n```", "holds a command"),
        ("<!-- not run: -->\n```sh\nfalse\n```", "is not said of a sh block"),
        ("<!-- refused -->\n```yaml\na: 1\n```", "is not said of a yaml block"),
        ("<!-- served -->\n```sh\ndiscreet serve -w nowhere\n```", "nothing is served"),
        ('```sh\nexport WORD="$(cat nowhere)"\n```', "p.md:2: exit code 1"),
        ("A\n\n    discreet show", "p.md:3: an indented block"),
        ("```sh\ndiscreet show", "does not end"),
    ],
)
def test_a_broken_block_is_found(text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "p.md"
    page.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises((AssertionError, ValueError, discreet.DiscreetError), match=complaint.replace("|", r"\|")):
        follow(page, tmp_path, monkeypatch)


def test_a_sound_page_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "p.md"
    page.write_text(
        """# A page

- An item.

    ```sh
    export WORD='two words'
    cat > a.txt <<'END'
    don't stop
    END
    ```

```sh
printf '%s' "$WORD" > b.txt  # it's a comment
discreet belief --epsilon 0.5 \\
  --prior 0.1 --format json > c.json
```

```python
from pathlib import Path
assert Path("a.txt").read_text() == "don't stop\\n"
assert Path("b.txt").read_text() == "two words"
assert Path("c.json").read_text().startswith("{")
```

<!-- not run: would end the world -->
```sh
false
```

```text
∎
```
""",
        encoding="utf-8",
    )
    follow(page, tmp_path, monkeypatch)
    assert [block.fate for block in read_blocks(page)] == [*[Fate.RUN] * 3, Fate.NOT_RUN, Fate.SHOWN]


def test_commands_stay_whole() -> None:
    script = "a 'b\nc' # d'\n\n# e\nf \\\n  g\ncat <<X\nit's\nX\nh"
    assert list(split_commands(script)) == ["a 'b\nc' # d'", "f \\\n  g", "cat <<X\nit's\nX", "h"]
