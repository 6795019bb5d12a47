"""A study's noise cannot reach a release: nothing that releases knows the study, takes a seed or is handed entropy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.lab.study.seeded_entropy import SeededEntropy
from discreet.noise.entropy import SystemEntropy

SOURCE = Path(discreet.__file__).parent
STUDY = "discreet.lab.study"
# In the laboratory, what is let out must not know the study either.
LETTING_OUT = (
    "bootstrap/bootstrap_release.py",
    "strategies/unproven_question.py",
    "generator/protected/private_training.py",
)
MODULES = [
    *(file for file in sorted(SOURCE.rglob("*.py")) if not file.is_relative_to(SOURCE / "lab")),
    *(SOURCE / "lab" / file for file in LETTING_OUT),
]


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parameters(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            yield from (one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))


@pytest.mark.slow
def test_no_releasing_room_imports_the_study() -> None:
    assert len(MODULES) > 200
    for file in MODULES:
        names = list(imported(ast.parse(file.read_text(encoding="utf-8"))))
        assert not [name for name in names if name.startswith(STUDY)], file.name


def test_the_check_above_would_find_an_import_inside_a_function() -> None:
    assert "discreet.lab.study.seeded_entropy" in list(
        imported(ast.parse("def f():\n    from discreet.lab.study.seeded_entropy import X\n"))
    )


@pytest.mark.parametrize("room", ["release", "mechanisms", "ledger", "engines", "sql"])
def test_nothing_that_releases_can_be_handed_randomness(room: str) -> None:
    for file in (SOURCE / room).rglob("*.py"):
        taken = set(parameters(ast.parse(file.read_text(encoding="utf-8"))))
        assert not taken & {"entropy", "seed", "rng", "generator", "streams"}, file.name


def test_seeded_entropy_is_no_system_entropy() -> None:
    """The type checker's part is seeds_are_refused.py, which `make check` and `make test` read."""
    assert not isinstance(SeededEntropy(1), SystemEntropy)
