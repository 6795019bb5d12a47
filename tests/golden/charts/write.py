"""Writes the golden charts anew: python -m tests.golden.charts.write

Look at what changed before it is committed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discreet.present import draw_chart, picture_file
from tests.golden.charts.examples import CHARTS

__all__ = ["HERE"]

HERE: Final = Path(__file__).parent

if __name__ == "__main__":
    for chart in CHARTS:
        (HERE / f"{chart.name}.svg").write_text(picture_file(draw_chart(chart)), encoding="utf-8")
