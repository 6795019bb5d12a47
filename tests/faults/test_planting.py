"""The planted faults fit the source as it reads today; `make faults` sees whether they are found."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.faults.__main__ import COPIED, _pytest
from tests.faults.planting import Fault, FaultUnplantable, read_faults
from tests.places import ROOT

FAULTS = read_faults()
HOMES = {"replications": "replications/src/discreet_replications"}
ROOMS = {path.stem for path in (ROOT / "src" / "discreet").iterdir() if not path.stem.startswith("_")} - {"py"}
ROOMS |= HOMES.keys()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.room}/{fault.name}")
def test_a_fault_changes_what_the_source_means(fault: Fault) -> None:
    assert ast.dump(ast.parse(fault.plant(ROOT))) != _meaning(fault.file)
    assert fault.file.startswith(HOMES.get(fault.room, f"src/discreet/{fault.room}"))
    assert fault.breaks.endswith(".")
    for test in fault.tests:
        file, _, function = test.partition("::")
        assert (ROOT / file).exists(), file
        assert not function or f"def {function.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), test
    assert fault.tests
    assert all(path.split("/")[0] in COPIED for path in (fault.file, *fault.tests))
    assert fault.long or not any(test.startswith("replications/") for test in fault.tests), "all of them are long"


def test_a_copy_is_tested_in_the_place_of_what_is_installed(tmp_path: Path) -> None:
    for package, source in (("discreet", "src"), ("discreet_replications", "replications/src")):
        (tmp_path / source / package).mkdir(parents=True)
        (tmp_path / source / package / "__init__.py").touch()
        (tmp_path / f"test_{package}.py").write_text(
            f"import {package}\ndef test(): assert {str(tmp_path)!r} not in {package}.__file__\n", encoding="utf-8"
        )
        code, output = _pytest(tmp_path, ["--noconftest", f"test_{package}.py"])
        assert code == 1, output


@cache
def _meaning(file: str) -> str:
    return ast.dump(ast.parse((ROOT / file).read_text(encoding="utf-8")))


def test_every_room_has_faults() -> None:
    assert len(FAULTS) >= 60
    counted = Counter(fault.room for fault in FAULTS)
    assert set(counted) == ROOMS
    assert min(counted.values()) >= 2


def test_names_are_given_once() -> None:
    assert max(Counter((fault.room, fault.name) for fault in FAULTS).values()) == 1


def test_a_fault_that_no_longer_fits_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n", encoding="utf-8")
    fault = Fault("room", "name", "Nothing.", "a.py", "1", "2", ("tests",))
    with pytest.raises(FaultUnplantable, match="stands 2 times"):
        fault.plant(tmp_path)
    with pytest.raises(FaultUnplantable, match="stands 0 times"):
        Fault("room", "name", "Nothing.", "a.py", "3", "2", ("tests",)).plant(tmp_path)


def test_a_page_that_leaves_something_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "room.toml").write_text('[a]\nbreaks = "x"\nfile = "a.py"\nold = "1"\nnew = "2"\n', encoding="utf-8")
    with pytest.raises(FaultUnplantable, match="tests must be said"):
        read_faults(tmp_path)
    (tmp_path / "room.toml").write_text(
        '[a]\nbreaks = "x"\nfile = "a.py"\nold = "1"\nnew = "2"\ntests = ["t"]\nby = "me"\n', encoding="utf-8"
    )
    with pytest.raises(FaultUnplantable, match="by is not known"):
        read_faults(tmp_path)
