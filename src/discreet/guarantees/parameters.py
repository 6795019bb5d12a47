"""What callers hand in is of the sort that a signature says, or refused in our words before anything is read.

`checked` goes by annotations: texts, truth values, whole numbers, paths and functions. Numbers that must be exact,
names and mappings have rules of their own, where they are read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import shown

__all__ = ["as_given", "checked"]

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called only with what its signature promises; a path may also come as text."""
    signature = inspect.signature(function)
    rules = {name: rule for name, item in signature.parameters.items() if (rule := _rule(str(item.annotation)))}

    @wraps(function)
    def call(*words: P.args, **named: P.kwargs) -> R:
        try:
            given = signature.bind(*words, **named)
        except TypeError as error:  # one too many, or an unknown one: Python's own words say which
            raise TypeError(f"{function.__name__}(): {error}") from None
        for name, rule in rules.items():
            if name in given.arguments:
                given.arguments[name] = rule(given.arguments[name], name.replace("_", " "))
        return function(*given.args, **given.kwargs)

    return call


def as_given(value: object) -> str:
    """What a caller gave, for a message: None, or its sort and, where that is short, itself."""
    if value is None:
        return "None"
    if isinstance(value, str | int | float):
        return f"{type(value).__name__} {shown(value)}"
    return type(value).__name__


def _text(value: object, parameter: str) -> str:
    if not isinstance(value, str):
        raise ParameterInvalid(parameter=parameter, rule="must be text", given=as_given(value))
    return value


def _truth(value: object, parameter: str) -> bool:
    # Whatever is not empty would count as true, "no" among it.
    if not isinstance(value, bool):
        raise ParameterInvalid(parameter=parameter, rule="must be True or False", given=as_given(value))
    return value


def _whole(value: object, parameter: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterInvalid(parameter=parameter, rule="must be a whole number", given=as_given(value))
    return value


def _path(value: object, parameter: str, rule: str = "must be the path of a file or folder") -> Path:
    if not isinstance(value, str | Path) or not str(value):
        raise ParameterInvalid(parameter=parameter, rule=rule, given=as_given(value))
    if "\0" in str(value):
        raise ParameterInvalid(parameter=parameter, rule="holds no NUL character", given=as_given(str(value)))
    return Path(value)


def _rows(value: object, parameter: str) -> Any:
    if hasattr(value, "__arrow_c_stream__"):
        return value
    return _path(value, parameter, "must be the path of a file, or a table of pandas, polars or Arrow")


def _function(value: object, parameter: str) -> Any:
    if not callable(value):
        raise ParameterInvalid(parameter=parameter, rule="must be a function", given=as_given(value))
    return value


_RULES: Final[dict[str, Callable[[object, str], Any]]] = {
    "str": _text,
    "bool": _truth,
    "int": _whole,
    "Path": _path,
    "str | Path": _path,
    "str | Path | Frame": _rows,
}


def _rule(annotation: str) -> Callable[[object, str], Any] | None:
    sort = annotation.removesuffix(" | None")
    rule = _function if sort.startswith("Callable[") else _RULES.get(sort)
    if rule is None or sort == annotation:
        return rule
    return lambda value, parameter: None if value is None else rule(value, parameter)
