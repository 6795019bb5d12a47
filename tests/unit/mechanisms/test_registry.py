"""The list of mechanisms, what keeps seeds out of them, and what keeps start-up fast."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet import mechanisms
from discreet.mechanisms import MECHANISMS
from discreet.mechanisms.mechanism import Mechanism

ROOT = Path(discreet.__file__).parent


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_name_loads_its_class_with_a_full_header(name: str) -> None:
    loaded = pkgutil.resolve_name(MECHANISMS[name])
    assert issubclass(loaded, Mechanism)
    assert loaded.name == name
    header = inspect.getmodule(loaded).__doc__ or ""
    labels = [line.split(":")[0] for line in header.splitlines() if line[:1].isupper() and ":" in line]
    assert labels[-4:] == ["Guarantee", "Requires", "Proof", "Refs"]


def callables() -> Iterator[tuple[str, object]]:
    for found in pkgutil.iter_modules(mechanisms.__path__):
        module = importlib.import_module(f"discreet.mechanisms.{found.name}")
        for name, member in inspect.getmembers(module):
            if getattr(member, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(member):
                yield f"{module.__name__}.{name}", member
            elif inspect.isclass(member):
                for method, function in inspect.getmembers(member, callable):
                    if inspect.isfunction(function) or inspect.ismethod(function):
                        yield f"{module.__name__}.{name}.{method}", function


def test_nothing_in_the_mechanisms_takes_a_seed_or_a_source_of_randomness() -> None:
    checked = list(callables())
    assert len(checked) > 40
    for name, function in checked:
        assert callable(function)
        taken = set(inspect.signature(function).parameters)
        assert not {p for p in taken if "seed" in p or "entropy" in p or "rng" in p or "random" in p}, name


@pytest.mark.parametrize("room", ["noise", "mechanisms", "release", "plan", "engines", "ledger", "data"])
def test_no_releasing_room_imports_the_studies(room: str) -> None:
    for file in (ROOT / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any(name.startswith("discreet.lab.study") for name in names), file.name


def test_no_floating_point_and_no_other_randomness_in_the_samplers() -> None:
    """Literals, division of names bound to floats, and the random modules would all show here."""
    for file in (ROOT / "noise").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), file.name
            assert not (isinstance(node, ast.Name) and node.id == "float"), file.name
            if isinstance(node, ast.Import | ast.ImportFrom):
                written = ast.unparse(node)
                assert "random" not in written, file.name
                assert "secrets" not in written, file.name


def test_importing_mechanisms_leaves_heavy_packages_alone() -> None:
    script = (
        "import pkgutil, sys; from discreet.mechanisms import MECHANISMS; "
        "[*map(pkgutil.resolve_name, MECHANISMS.values())]; "
        "print([name for name in ('numpy', 'scipy', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("cells", [14, 200_000])
def test_laplace_noise_needs_no_heavy_package_at_any_length(cells: int) -> None:
    script = (
        "import sys; from fractions import Fraction; "
        "from discreet.mechanisms.discrete_laplace import DiscreteLaplace; "
        f"DiscreteLaplace(scale=Fraction(10)).release([0] * {cells}); "
        "print([name for name in ('numpy', 'scipy', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_room_imports_what_only_the_tests_install() -> None:
    """OpenDP is a witness of the tests: whoever installs the package does without it."""
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "opendp" not in ast.unparse(node), file.name
