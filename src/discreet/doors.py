"""Doors: a room is imported by its name alone, and loads a module when somebody asks for a name of it.

The imports that a room's `__init__.py` shows to type checkers are its only list of where names live:

    if TYPE_CHECKING:
        from discreet.ledger.accounting import weigh
    else:
        __getattr__, __dir__ = open_door(__name__)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["open_door"]


def open_door(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a room."""

    def load(name: str) -> Any:
        home = _find_homes(room).get(name)
        if home is None:
            raise AttributeError(f"module '{room}' has no attribute '{name}'")
        return getattr(import_module(home[0]), home[1])

    return load, lambda: sorted(_find_homes(room))


@cache
def _find_homes(room: str) -> dict[str, tuple[str, str]]:
    """By the names of a room: the module that has each, and its name there."""
    spec = sys.modules[room].__spec__
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(room)
    return dict(_list_imports(ast.parse(source or "")))


def _list_imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for block in tree.body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    yield from ((item.asname or item.name, (line.module, item.name)) for item in line.names)
