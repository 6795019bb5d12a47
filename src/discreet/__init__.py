"""Discreet: differential privacy for official statistics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from discreet.results import Release
    from discreet.session import Session
    from discreet.session import open_session as open

__all__ = ["Release", "Session", "__version__", "open"]

__version__ = "0.1.0"

_FOUND: Final = {
    "Release": ("discreet.results", "Release"),
    "Session": ("discreet.session", "Session"),
    "open": ("discreet.session", "open_session"),
}


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used, so that `import discreet` stays cheap."""
    if name not in _FOUND:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    module, attribute = _FOUND[name]
    return getattr(import_module(module), attribute)
