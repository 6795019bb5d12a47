"""Discreet: differential privacy for official statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.session import open_session as open

__all__ = ["__version__", "open"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`discreet.open` is loaded when first used, so that `import discreet` stays cheap."""
    if name == "open":
        from discreet.session import open_session

        return open_session
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")
