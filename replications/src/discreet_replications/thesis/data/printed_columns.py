"""What the thesis prints of its data sets and of rows generated from them: Tables 1 to 4, facts of Section 3 [T].

Printed figures are the printed text. Each line has the real rows first, then generated sets of the sizes named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from discreet.catalogue import Phrase

__all__ = ["CAPTIONS", "PRINTED_COLUMNS", "SIZES", "TRUE_SUM", "PrintedColumn"]

Measure = Literal["uniqueness", "cardinality", "unknown"]

CAPTIONS: Final = {
    1: Phrase("Table 1. Breast: different values, in % of the rows"),
    2: Phrase("Table 2. Kidney: different values, “?” counted as one"),
    3: Phrase("Table 3. Kidney: “?” in % of the rows"),
    4: Phrase("Table 4. Diabetes: different values, “?” counted as one"),
}

# How many rows were generated for each data set; None for as many as there are real ones.
SIZES: Final[Mapping[str, tuple[int | None, ...]]] = {
    "breast": (None,),
    "kidney": (None, 10_000),
    "diabetes": (10_000, 50_000, 100_000),
}

TRUE_SUM: Final = 1_630_479
"""The answer behind Figure 1: SUM(num_medications) over diabetes, as Section 2.2.2 prints it."""


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """One line: of the real rows (`real`), and of each generated set."""

    table: int
    dataset: str
    column: str
    measure: Measure
    real: str
    generated: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.generated) != len(SIZES[self.dataset]):
            raise ValueError("every generated set has a figure")


PRINTED_COLUMNS: Final = (
    PrintedColumn(1, "breast", "id", "uniqueness", "100%", ("64.3%",)),
    PrintedColumn(1, "breast", "diagnosis", "uniqueness", "0.4%", ("0.4%",)),
    PrintedColumn(1, "breast", "smoothness_worst", "uniqueness", "72.2%", ("100%",)),
    PrintedColumn(1, "breast", "smoothness_se", "uniqueness", "96.1%", ("100%",)),
    PrintedColumn(2, "kidney", "bgr", "cardinality", "147", ("107", "145")),
    PrintedColumn(2, "kidney", "class", "cardinality", "2", ("2", "2")),
    PrintedColumn(2, "kidney", "rbcc", "cardinality", "48", ("47", "48")),
    PrintedColumn(2, "kidney", "rbc", "cardinality", "3", ("3", "3")),
    PrintedColumn(3, "kidney", "bgr", "unknown", "11%", ("18.5%", "15.8%")),
    PrintedColumn(3, "kidney", "class", "unknown", "0%", ("0%", "0%")),
    PrintedColumn(3, "kidney", "rbcc", "unknown", "32%", ("20.8%", "23.3%")),
    PrintedColumn(3, "kidney", "rbc", "unknown", "38%", ("33.5%", "32.4%")),
    PrintedColumn(4, "diabetes", "encounter_id", "cardinality", "100,000", ("10,000", "49,995", "99,997")),
    PrintedColumn(4, "diabetes", "patient_nbr", "cardinality", "71,518", ("9,999", "49,986", "99,906")),
    PrintedColumn(4, "diabetes", "diag_3", "cardinality", "790", ("280", "434", "499")),
    PrintedColumn(4, "diabetes", "medical_specialty", "cardinality", "73", ("57", "69", "70")),
    PrintedColumn(4, "diabetes", "number_emergency", "cardinality", "33", ("4", "4", "4")),
    PrintedColumn(4, "diabetes", "payer_code", "cardinality", "18", ("18", "18", "18")),
)
