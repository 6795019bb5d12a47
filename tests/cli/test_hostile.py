"""Words and files that mean harm: told in lines that steer no terminal, and never waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from discreet.errors import LONGEST_LINE
from tests.cli.clinic import CARD, ROWS, Run

STEERING = "\x1b[31m\u202ered\u200b\x9b\x07\r"
LONG = STEERING + "long " * 3_000
NAMED = {
    "a card": ("card", "check", "x.yaml"),
    "a draft": ("card", "init", "x.csv"),
    "a data file": ("add", "-w", "w", "x.csv", "--card", "clinic.yaml", "--replace"),
    "the card of a file": ("add", "-w", "w", "clinic.csv", "--card", "x.yaml"),
    "a public table": ("public", "add", "-w", "w", "x.csv", "--key", "k"),
    "a workload": ("plan", "-w", "w", "x.yaml"),
    "the terms of a population": ("population", "change", "-w", "w", "--card", "x.yaml", "--custodian"),
    "a study": ("study", "run", "x.yaml", "--out", "out"),
    "a manifest": ("local", "sign", "x.yaml", "--key", "clinic.csv", "--out", "m.json"),
    "a signing key": ("local", "sign", "manifest.yaml", "--key", "x.yaml", "--out", "m.json"),
    "a signed manifest": ("local", "show", "x.json"),
    "answers": ("local", "encode", "x.json", "clinic.csv", "--out", "r.jsonl"),
    "figures to reproduce": ("reproduce", "bootstrap", "--data", "x.csv", "--out", "out"),
    "a workspace's settings": ("datasets", "-w", "strange"),
}

MANIFEST = """\
survey: clinic
version: 1
epsilon: 1
questions:
  smokes: {kind: category, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}}
"""


def require_legible(told: str) -> None:
    for line in told.split("\n"):
        assert not [one for one in line if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}], line
        assert len(line) <= 4 * LONGEST_LINE  # in JSON the message stands beside its facts


@pytest.mark.parametrize("hostile", [STEERING, LONG], ids=["steering", "long"])
@pytest.mark.parametrize("shape", ["table", "json"])
def test_hostile_words_are_told_in_legible_lines(clinic: Path, run: Run, hostile: str, shape: str) -> None:
    form = ("--format", shape)
    for words in (
        ("query", "-w", "w", hostile, "--epsilon", "1", *form),
        ("query", "-w", "w", f'SELECT COUNT(*) FROM "{hostile}"', "--epsilon", "1", *form),
        ("query", "-w", "w", f'SELECT SUM("{hostile}") FROM clinic', "--epsilon", "1", *form),
        ("query", "-w", "w", f"SELECT COUNT(*) FROM clinic WHERE town = '{hostile}'", "--epsilon", "1", *form),
        ("query", "-w", "w", f"SELECT {hostile}(1) FROM clinic", "--epsilon", "1", *form),
        ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", hostile, *form),
        ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "1", "--analyst", hostile, *form),
        ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "1", "--request-id", hostile, *form),
        ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--within", hostile, *form),
        ("query", "-w", "w", "SELECT AVG(age) FROM clinic", "--epsilon", "1", "--assume", hostile, "--explain", *form),
        ("show", "-w", "w", hostile, *form),
        ("budget", "-w", "w", "--population", hostile, *form),
        ("table", "-w", "w", "clinic", "--by", hostile, "--epsilon", "1"),
        ("table", "-w", "w", "clinic", "--by", "town", "--where", hostile, "--epsilon", "1"),
        ("datasets", "-w", hostile[:100], *form),
        ("add", "-w", "w", hostile[:100] + ".csv"),
        ("card", "check", hostile[:100] + ".yaml"),
        ("datasets", "--format", hostile),
        ("datasets", hostile),
        (hostile,),
        (f"--{hostile}",),
    ):
        told = run(*words, code=None)
        assert told.code in (1, 2), words
        assert told.err, words
        assert "InternalFault" not in told.err, words
        require_legible(told.err)


def test_what_a_hostile_card_or_file_holds_is_told_in_legible_lines(clinic: Path, run: Run, tmp_path: Path) -> None:
    for place, text in enumerate(
        (
            CARD.replace("clinic", STEERING),
            CARD + f"\n{STEERING}: 1\n",
            CARD + f"\n{'x' * 5_000}: 1\n",
            CARD + '\n"\\e[31m\\u202e": 1\n',
            CARD.replace("town", "t" * 5_000),
        )
    ):
        (tmp_path / "hostile.yaml").write_text(text, encoding="utf-8")
        told = run("card", "check", "hostile.yaml", code=1)
        require_legible(told.err)
        assert told.err.startswith("Card"), place
    (tmp_path / "hostile.csv").write_text(ROWS.replace("town", STEERING), encoding="utf-8")
    require_legible(run("add", "-w", "w", "hostile.csv", "--card", "clinic.yaml", "--replace", code=1).err)
    named = tmp_path / "\x1b[31m\u202e.csv"
    named.write_text(ROWS.replace("town", "twon"), encoding="utf-8")
    require_legible(run("add", "-w", "w", named.name, "--card", "clinic.yaml", "--replace", code=1).err)


def test_keys_that_come_from_rows_steer_no_terminal(run: Run, tmp_path: Path) -> None:
    card = CARD.replace("epsilon: 3, per_analyst: 1", "epsilon: 30, delta: 1e-6")
    rows = "".join(f"{patient},N,1,30,\x1b[31mn\n" for patient in range(2_000))
    (tmp_path / "open.csv").write_text("patient,town,smokes,age,note\n" + rows, encoding="utf-8")
    (tmp_path / "open.yaml").write_text(card, encoding="utf-8")
    run("init", "w")
    run("add", "-w", "w", "open.csv")
    by_note = ("SELECT note, COUNT(*) AS n FROM clinic GROUP BY note", "--epsilon", "5", "--delta", "1e-7")
    shown = run("query", "-w", "w", *by_note)
    assert r"\x1b[31mn" in shown.out
    assert "\x1b" not in shown.out
    assert run("query", "-w", "w", *by_note, "--format", "json").json()["rows"][0]["note"] == "\x1b[31mn"


def test_no_command_waits_for_a_pipe(clinic: Path, tmp_path: Path) -> None:
    """In a process of its own, so that a command that waits is ended and told."""
    for name in ("x.yaml", "x.csv", "x.json"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "strange").mkdir()
    os.mkfifo(tmp_path / "strange" / "workspace.json")
    script = (
        "import sys, json\n"
        "from discreet.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    sys.argv = ['discreet', *words]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as left:\n"
        "        print('left with', left.code, file=sys.stderr, flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps([*NAMED.values()])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    told = done.stderr.split("left with ")
    assert len(told) == len(NAMED) + 1, told
    for what, refusal, left in zip(NAMED, told, told[1:], strict=False):
        assert left[0] in "12", (what, refusal)
        assert "regular file" in refusal or "cannot be read" in refusal, (what, refusal)
