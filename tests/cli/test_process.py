"""What only a process of its own shows: exit codes, signals, pipes, encodings, what a cold start loads."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.clinic import Run, heed_interrupts

BY_TOWN = "SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"
ASK = ("query", "-w", "w", BY_TOWN, "--epsilon", "0.5")
DISCREET = (sys.executable, "-m", "discreet")
HEAVY = ("pandas", "resvg_py", "scipy", "torch", "pyspark", "sklearn", "polars", "psycopg")


def test_an_answer_leaves_with_0_and_on_standard_output_alone(clinic: Path, process: Run) -> None:
    answer = process(*ASK, "--format", "json")
    assert [row["town"] for row in answer.json()["rows"]] == ["N", "S", None]
    assert answer.err == ""


def test_a_refusal_leaves_with_1_and_nothing_on_standard_output(clinic: Path, process: Run) -> None:
    refused = process("query", "-w", "w", BY_TOWN, "--epsilon", "2", code=1)
    assert refused.err.startswith("BudgetExceeded")
    assert refused.out == ""


@pytest.mark.parametrize("words", [("query", "-w", "w"), ("query", "-w", "elsewhere", BY_TOWN, "--epsilon", "1")])
def test_a_wrong_call_leaves_with_2(clinic: Path, process: Run, words: tuple[str, ...]) -> None:
    assert process(*words, code=2).err


def test_a_charge_without_an_answer_leaves_with_3(clinic: Path, process: Run) -> None:
    (clinic / "datasets" / "clinic" / "v1" / "data.parquet").write_bytes(b"nothing")
    assert process(*ASK, code=3).err.startswith("ChargedNotAnswered")


def test_two_processes_replay_one_answer(clinic: Path, process: Run) -> None:
    first, again = (process(*ASK, "--format", "json").json() for _ in range(2))
    assert again["rows"] == first["rows"]
    assert (first["replayed"], again["replayed"]) == (False, True)


def test_an_unforeseen_fault_shows_its_kind_alone(clinic: Path, process: Run) -> None:
    (clinic / "workspace.json").write_text('{"schema": 1, "id": ["secret"], "ledger": 7}', encoding="utf-8")
    told = process(*ASK, code=None)
    assert told.code in (1, 2)
    assert "secret" not in told.err
    assert "Traceback" not in told.err


def test_ctrl_c_at_a_question_charges_nothing(clinic: Path, run: Run, tmp_path: Path) -> None:
    terminal, other = pty.openpty()
    with subprocess.Popen(
        [*DISCREET, *ASK],
        cwd=tmp_path,
        stdin=other,
        stdout=other,
        stderr=other,
        preexec_fn=heed_interrupts,  # noqa: PLW1509
    ) as running:
        os.close(other)
        seen, until, again = b"", time.monotonic() + 60, 0.0
        while running.poll() is None and time.monotonic() < until:
            if select.select([terminal], [], [], 0.2)[0]:
                with suppress(OSError):
                    seen += os.read(terminal, 4096)
            elif b"[y/N]" in seen and time.monotonic() > again:
                running.send_signal(signal.SIGINT)  # again after a while: one may come just before it waits
                again = time.monotonic() + 5
        running.kill()
    os.close(terminal)
    assert running.returncode in (1, 130, -signal.SIGINT)
    assert b"Traceback" not in seen
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["charges"] == 0


def test_a_reader_who_leaves_early_is_no_fault(clinic: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*DISCREET, "datasets", "-w", "w"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        told = running.stderr.read()
    assert told == b""
    assert running.returncode in (0, 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_screen_that_lacks_letters_loses_no_answer(
    clinic: Path, tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer was charged: what cannot be written is shown by its number."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = subprocess.run([*DISCREET, *ASK, "--lang", "fr"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0
    assert "Nord" in done.stdout.decode(encoding)
    assert ("\\u2500" in done.stdout.decode(encoding)) == (encoding != "utf-8")


def test_words_that_are_no_text_are_no_fault(clinic: Path, tmp_path: Path) -> None:
    sql = os.fsdecode(b"SELECT COUNT(*) FROM clinic WHERE note = '\xff'")
    done = subprocess.run([*DISCREET, "query", "-w", "w", sql, "--epsilon", "0.1"], cwd=tmp_path, capture_output=True)
    assert done.returncode in (0, 1, 2)
    assert b"InternalFault" not in done.stderr


def test_the_folder_one_stands_in_is_found(clinic: Path) -> None:
    here = subprocess.run([*DISCREET, "datasets"], cwd=clinic, capture_output=True, text=True)
    assert "clinic" in here.stdout


@pytest.mark.parametrize("words", [["--help"], ["query", "-w", "w", BY_TOWN, "--epsilon", "0.5"]])
def test_a_cold_start_leaves_heavy_packages_alone(clinic: Path, tmp_path: Path, words: list[str]) -> None:
    script = (
        f"import sys; sys.argv = ['discreet', *{words!r}]\n"
        "from discreet.cli import main\n"
        "try: main()\n"
        f"finally: sys.stderr.write(repr([name for name in {HEAVY!r} if name in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == "[]"
