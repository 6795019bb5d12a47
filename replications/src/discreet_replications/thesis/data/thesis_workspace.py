"""A workspace that holds the thesis' data on one set of terms, ready to be planned against and measured.

It has no ledger: nothing can be charged or released from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.cards import parse_card
from discreet.workspace import Workspace, WorkspaceSettings, add_file
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.readings import Readings
from discreet_replications.thesis.data.thesis_cards import Variant, card_text
from discreet_replications.thesis.data.thesis_queries import DATASETS

__all__ = ["prepare"]


def prepare(
    folder: Path,
    readings: Readings,
    variant: Variant,
    *,
    reading: KidneyReading = KidneyReading.CLEAN,
    only: Collection[str] = DATASETS,
    narrow: bool = False,
    progress: Callable[[str, int], None] | None = None,
) -> Workspace:
    """A new workspace in `folder`, absent or empty, with every data set that was read and is among `only`.

    `narrow` takes the columns that are asked about and no others; `progress` is told the data set and the rows taken in
    so far.
    """
    # Paths beside the folder are named and never made: keys of a benchmark have no place among the user's own.
    settings = WorkspaceSettings(key=folder / "unused.key", anchor=folder / "unused.anchor")
    workspace = Workspace.create(folder, settings=settings)
    for name, table in readings.tables(reading).items():
        if name not in only:
            continue
        with TemporaryDirectory() as passing:
            card = parse_card(card_text(name, variant, narrow=narrow), file=f"{name}.yaml")
            file = Path(passing) / f"{name}.csv"
            table.write(file)
            text = None if progress is None else _told(progress, name)
            add_file(workspace, file, card, replace=False, progress=text)
    return workspace


def _told(progress: Callable[[str, int], None], name: str) -> Callable[[int], None]:
    return lambda rows: progress(name, rows)
