"""`python -m tests.golden.openapi.write` writes the description of the API anew; read the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from discreet.server.assembly import describe_api

__all__ = ["GOLDEN", "describe"]

GOLDEN: Final = Path(__file__).parent / "openapi.json"


def describe() -> str:
    """The description as text, without the version, which changes with every release."""
    found = describe_api()
    found["info"]["version"] = "…"
    return json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(describe(), encoding="utf-8")
