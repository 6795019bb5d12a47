"""The wheel and the sdist run alone: built here, installed into fresh environments, with the checkout out of sight.

Every Python that the package promises is looked for on the path and where pyenv and uv keep theirs. One that cannot be
found is skipped, and the summary of the run says which. Packages come from wherever pip is told to look.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.places import ROOT

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("packaging")]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSIONS = [
    label.rpartition(" ")[2]
    for label in PROJECT["classifiers"]
    if label.startswith("Programming Language :: Python :: 3.")
]
UNWANTED = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DISCREET_KEYS", "DISCREET_ANALYST", "DISCREET_WORKSPACE"}


def run(*words: str | Path, cwd: Path, home: Path | None = None) -> str:
    """What a command prints, run in a process that knows nothing of this checkout."""
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    if home is not None:
        environment |= {"HOME": str(home), "DISCREET_ANALYST": "ana"}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(kind: str, source: Path, folder: Path) -> Path:
    folder.mkdir()
    run(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", folder, source, cwd=folder)
    (built,) = folder.iterdir()
    return built


@dataclass(frozen=True, slots=True)
class Distributions:
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    folder = tmp_path_factory.mktemp("dist")
    return Distributions(build("wheel", ROOT, folder / "wheel"), build("sdist", ROOT, folder / "sdist"))


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sources() -> Iterator[str]:
    folder = ROOT / "src"
    for file in (folder / "discreet").rglob("*"):
        # Of a catalogue, what was compiled is enough.
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".po":
            yield file.relative_to(folder).as_posix()


def test_a_wheel_holds_the_package_and_says_what_it_needs(built: Distributions) -> None:
    held = contents(built.wheel)
    stem = f"{PROJECT['name']}-{PROJECT['version']}.dist-info"
    assert {name for name in held if not name.startswith(stem)} == set(sources())
    facts = Parser().parsestr(held[f"{stem}/METADATA"].decode())
    assert facts["Requires-Python"] == ">=3.11"
    assert {link.partition(",")[0] for link in facts.get_all("Project-URL", [])} == set(PROJECT["urls"])
    needed = [line for line in facts.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert len(needed) == len(PROJECT["dependencies"])
    assert not any("opendp" in line for line in needed)


def test_an_sdist_makes_the_same_wheel_and_holds_what_its_tests_need(built: Distributions, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    again = build("wheel", source, tmp_path / "again")
    assert contents(again) == contents(built.wheel)
    for file in ("Makefile", "constraints.txt", "tests/conftest.py", "replications/pyproject.toml", "examples/demo.sh"):
        assert (source / file).read_bytes() == (ROOT / file).read_bytes()


def find_python(version: str) -> Path | None:
    """An interpreter of this version that can make environments."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local" / "share" / "uv" / "python"))
    named = shutil.which(f"python{version}")
    candidates = [
        Path(sys.executable),
        *([Path(named)] if named else []),
        *sorted(pyenv.glob(f"{version}.*/bin/python{version}")),
        *sorted(managed.glob(f"cpython-{version}.*/bin/python{version}")),
    ]
    script = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", script], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_an_installed_wheel_answers_questions_and_makes_tables(
    version: str, built: Distributions, tmp_path: Path
) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"no Python {version} with venv on the path, in pyenv or in uv: the wheel was not tried on it")
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    run(python, "-m", "venv", tmp_path / "venv", cwd=work)
    bin_folder = tmp_path / "venv" / "bin"
    constraints = ROOT / "constraints.txt"
    run(bin_folder / "pip", "install", "--quiet", "--constraint", constraints, built.wheel, cwd=work)
    run(bin_folder / "pip", "check", cwd=work)
    listed = run(bin_folder / "pip", "list", "--format", "freeze", cwd=work)
    assert f"discreet=={PROJECT['version']}" in listed
    assert "opendp" not in listed
    assert str(tmp_path) in run(bin_folder / "python", "-c", "import discreet; print(discreet.__file__)", cwd=work)

    def discreet(*words: str) -> str:
        return run(bin_folder / "discreet", *words, cwd=work, home=home)

    assert discreet("--version").split() == ["discreet", PROJECT["version"]]
    assert "Afficher cette aide et terminer." in discreet("--help", "--lang", "fr")
    discreet("sample", "survey", "data")
    card = work / "data" / "survey.yaml"
    text = card.read_text(encoding="utf-8")
    assert text.count("budget: {epsilon: 3, per_analyst: 1}") == 1
    card.write_text(text.replace("{epsilon: 3, per_analyst: 1}", "{epsilon: 3, delta: 1e-6}"), encoding="utf-8")
    discreet("init", "office")
    discreet("add", "-w", "office", "data/survey.parquet")
    asked = "SELECT COUNT(*) AS smokers FROM survey WHERE smoking = 1"
    assert "smokers" in discreet("query", "-w", "office", asked, "--epsilon", "0.3")
    for noise in ("laplace", "gaussian"):
        out = f"{noise}.csv"
        words = ("--by", "smoking,sex", "--epsilon", "0.3", "--noise", noise, "--out", out)
        discreet("table", "-w", "office", "survey", *words)
        rows = list(csv.DictReader((work / out).read_text(encoding="utf-8").splitlines()))
        total = sum(int(row["value"]) for row in rows if not row["margin"])
        assert abs(total - 113_290) < 1000
    assert "epsilon" in discreet("budget", "-w", "office")
