"""Sources: data files and tables in memory as streams of Arrow batches, with limits checked while they are read.

`open_source` chooses by the name: CSV, Parquet, SAS, Stata, SPSS, a folder of Parquet. Nothing here knows a card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.sources.arrow_columns import arrow_of
    from discreet.sources.blanks import BLANK_TOKENS, WHITE_SPACE
    from discreet.sources.frame_source import Frame, FrameSource
    from discreet.sources.source import DataSource, FileLimits, choose_columns, open_source
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "BLANK_TOKENS",
    "WHITE_SPACE",
    "DataSource",
    "FileLimits",
    "Frame",
    "FrameSource",
    "arrow_of",
    "choose_columns",
    "open_source",
]
