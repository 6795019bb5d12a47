"""Where the suite finds things: the checkout, its pages, golden files, and real data that may lie beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["DOCS", "GOLDEN", "ROOT", "SHARED", "TESTS"]

TESTS: Final = Path(__file__).resolve().parent
ROOT: Final = TESTS.parent
DOCS: Final = ROOT / "docs"
GOLDEN: Final = TESTS / "golden"
SHARED: Final = ROOT.parent / "shared" / "data"
