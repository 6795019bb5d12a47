"""What callers hand in is of the sort that a signature says, or refused in our words before anything is read.

`checked` goes by annotations: texts, languages, truth values, whole numbers, paths and functions. Names of people and
requests are for `check_name`; numbers that must be exact and mappings have rules of their own, where they are read.
"""

from __future__ import annotations

import inspect
import re
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from discreet.catalogue import LANGUAGES, Phrase, say, say_list
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import shown
from discreet.paths import as_path

__all__ = ["Language", "as_given", "check_name", "checked", "name_request"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,62}", re.ASCII)

# What words are said in: "en" or "fr". `checked` refuses any other where a parameter is annotated with it.
Language = str

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called only with what its signature promises; what is annotated `AnyPath` arrives as a Path."""
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


def check_name(name: str, *, parameter: str | Phrase) -> str:
    """A name that a person gives to an analyst or a request, or ParameterInvalid."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        rule = say("must be letters, digits and . _ @ - (at most 63, no spaces)")
        phrase = ascii(name[:40]) if isinstance(name, str) else as_given(name)
        raise ParameterInvalid(parameter=parameter, rule=rule, given=phrase)
    return name


def name_request(given: str | None) -> str:
    """The id under which a question is asked; a new one unless it was given."""
    return uuid.uuid4().hex if given is None else check_name(given, parameter=Phrase("request id"))


def _text(value: object, parameter: str) -> str:
    if not isinstance(value, str):
        raise ParameterInvalid(parameter=parameter, rule=say("must be text"), given=as_given(value))
    return value


def _language(value: object, parameter: str) -> str:
    if value not in LANGUAGES:
        raise ParameterInvalid(
            parameter=parameter,
            rule=say("must be {languages}", languages=say_list(LANGUAGES, either=True)),
            given=as_given(value),
        )
    return str(value)


def _truth(value: object, parameter: str) -> bool:
    # Whatever is not empty would count as true, "no" among it.
    if not isinstance(value, bool):
        raise ParameterInvalid(parameter=parameter, rule=say("must be True or False"), given=as_given(value))
    return value


def _whole(value: object, parameter: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a whole number"), given=as_given(value))
    return value


def _rows(value: Any, parameter: str) -> Any:
    if hasattr(value, "__arrow_c_stream__"):
        return value
    return as_path(value, parameter, rule=say("must be the path of a file, or a table of pandas, polars or Arrow"))


def _function(value: object, parameter: str) -> Any:
    if not callable(value):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a function"), given=as_given(value))
    return value


_RULES: Final[dict[str, Callable[[Any, str], Any]]] = {
    "str": _text,
    "bool": _truth,
    "int": _whole,
    "Language": _language,
    "AnyPath": as_path,
    "AnyPath | Frame": _rows,
}


def _rule(annotation: str) -> Callable[[Any, str], Any] | None:
    sort = annotation.removesuffix(" | None")
    rule = _function if sort.startswith("Callable[") else _RULES.get(sort)
    if rule is None or sort == annotation:
        return rule
    return lambda value, parameter: None if value is None else rule(value, parameter)
