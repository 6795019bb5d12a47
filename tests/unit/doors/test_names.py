"""One name, one thing: no public class and no module has the name of another in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import discreet

HOUSE = Path(discreet.__file__).parent


def find_twice(names: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: homes for name, homes in names.items() if len(homes) > 1}


def test_no_public_class_has_the_name_of_another() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in HOUSE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(HOUSE).as_posix())
    assert len(homes) > 300
    assert find_twice(homes) == {}


def test_no_module_has_the_name_of_another() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in HOUSE.rglob("*.py"):
        name = path.parent.name if path.stem == "__init__" else path.stem
        homes[name].append(path.relative_to(HOUSE).as_posix())
    assert find_twice(homes) == {}


def test_a_flat_folder_stays_small() -> None:
    """About fifteen modules: more than that wants rooms within."""
    sizes = {path.relative_to(HOUSE).as_posix(): len(list(path.glob("*.py"))) for path in HOUSE.rglob("*/")}
    assert {folder: size for folder, size in sizes.items() if size > 18} == {}
