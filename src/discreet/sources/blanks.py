"""What stands in a file where a value is absent: white space, and the words that mean nothing."""

from __future__ import annotations

from typing import Final

__all__ = ["BLANK_TOKENS", "WHITE_SPACE"]

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
BLANK_TOKENS: Final = ("", "?", ".", "na", "n/a", "#n/a", "nan", "null")
