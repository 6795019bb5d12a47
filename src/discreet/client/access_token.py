"""The token that says who asks: handed in, read from a file of its owner's alone, or DISCREET_TOKEN. It is never shown.

What is wrong with a token is said without a letter of it.
"""

from __future__ import annotations

import os
import re
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, PathInvalid, UsageError
from discreet.paths import AnyPath, as_path, open_regular, tell_reason

__all__ = ["VARIABLE", "Token", "read_token", "take_token"]

# `checked` leaves it alone: what is wrong with a token is said without a letter of it.
Token = str

VARIABLE: Final = "DISCREET_TOKEN"
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=@-]{1,500}", re.ASCII)
_LONGEST: Final = 1_000
_OTHERS: Final = 0o077


def take_token(given: str | None) -> str:
    """The token that was handed in, else that of the environment; UsageError where there is none."""
    token = os.environ.get(VARIABLE) if given is None else given
    if token is None:
        raise UsageError(
            say("no token was given. Put it into {variable}; the custodian makes one.", variable=VARIABLE),
            variable=VARIABLE,
        )
    return _check(token)


def read_token(path: AnyPath) -> str:
    """The token in a file that nobody but its owner can read; PathInvalid where others can."""
    path = as_path(path)
    try:
        with open_regular(path) as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise PathInvalid(
            say("'{path}' cannot be read: {reason}.", path=path, reason=tell_reason(error)), path=str(path)
        ) from None
    if os.name == "posix" and mode & _OTHERS:
        raise PathInvalid(
            say("others can read the token in '{path}'. Make it yours alone with: chmod 600 {path}", path=path),
            path=str(path),
        )
    return _check(content.decode("ascii", errors="replace"))


def _check(token: str) -> str:
    found = token.strip() if isinstance(token, str) else ""
    if not _TOKEN.fullmatch(found):
        raise ParameterInvalid(
            parameter=Phrase("the token"),
            rule=say("must be as the custodian gave it, ID.SECRET on one line"),
            given=say("something else"),
        )
    return found
