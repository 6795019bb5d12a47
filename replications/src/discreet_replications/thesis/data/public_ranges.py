"""What is publicly known of each column without these rows: ranges from medicine, geometry and code books.

Each follows from the reason written beside it, not from the rows, and what lies outside is clipped. Those of the
columns that the thesis asks about decide the benchmark's noise; docs/thesis-cards.md tells the reasons at length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

from discreet.catalogue import Phrase

__all__ = ["COLUMNS", "Codes", "Range", "Words"]


@dataclass(frozen=True, slots=True)
class Range:
    """A numeric column: `low` to `high` in steps of `step`, and why."""

    column: str
    low: str
    high: str
    why: Phrase
    step: str = "1"

    def __post_init__(self) -> None:
        if not Decimal(self.low) < Decimal(self.high) or not self.why.en:
            raise ValueError(f"the range of {self.column} has two ends and a reason")

    @property
    def whole(self) -> bool:
        return Decimal(self.step) == 1


@dataclass(frozen=True, slots=True)
class Codes:
    """A column whose code book lists its codes. `source` is its name in the file when it differs."""

    column: str
    codes: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A column whose codes no code book lists."""

    column: str


_YES: Final = ("yes", "no")
_NORMAL: Final = ("normal", "abnormal")
_PRESENT: Final = ("present", "notpresent")

_KIDNEY: Final = (
    Range("age", "0", "100", Phrase("years; registers commonly put everybody above 100 at 100")),
    Range("bp", "30", "200", Phrase("mmHg diastolic; compatible with life, and the end of a cuff's usual scale")),
    Range("sg", "1.000", "1.040", Phrase("water is 1.000; the scale of a urine refractometer ends at 1.040"), "0.001"),
    Range("al", "0", "5", Phrase("grades of the test strip, in the file's header")),
    Range("su", "0", "5", Phrase("grades of the test strip, in the file's header")),
    Codes("rbc", _NORMAL),
    Codes("pc", _NORMAL),
    Codes("pcc", _PRESENT),
    Codes("ba", _PRESENT),
    Range("bgr", "20", "600", Phrase("mg/dL; glucose meters read from 20 to 600")),
    Range("bu", "0", "300", Phrase("mg/dL; normal to 40, dialysis is begun well below 300 even in uraemia"), "0.1"),
    Range("sc", "0", "20", Phrase("mg/dL; normal to 1.3, patients on dialysis mostly 5 to 15, rarely to 20"), "0.01"),
    Range("sod", "100", "180", Phrase("mEq/L; compatible with life"), "0.1"),
    Range("pot", "1", "10", Phrase("mEq/L; compatible with life"), "0.1"),
    Range("hemo", "2", "22", Phrase("g/dL; compatible with life"), "0.1"),
    Range("pcv", "5", "70", Phrase("per cent; compatible with life")),
    Range("wbcc", "2000", "30000", Phrase("per mm³; about where laboratories telephone the ward, at either end")),
    Range("rbcc", "1", "8", Phrase("millions per mm³; gravest anaemia to polycythaemia"), "0.1"),
    Codes("htn", _YES),
    Codes("dm", _YES),
    Codes("cad", _YES),
    Codes("appet", ("good", "poor")),
    Codes("pe", _YES),
    Codes("ane", _YES),
    Codes("class", ("ckd", "notckd")),
)


@dataclass(frozen=True, slots=True)
class _Feature:
    """What one nucleus may have (`low` to `largest`), and the most that an image's nuclei may have on average."""

    name: str
    low: str
    average: str
    largest: str
    step: str
    why: Phrase


_FEATURES: Final = (
    _Feature("radius", "5", "30", "40", "0.0001", Phrase("pixels of a 640 × 400 frame that shows many nuclei apart")),
    _Feature("texture", "0", "75", "75", "0.0001", Phrase("spread of 8-bit greys; evenly over all 256 it is 74")),
    _Feature("perimeter", "30", "190", "250", "0.0001", Phrase("2π times the radius")),
    _Feature("area", "50", "3000", "5000", "0.001", Phrase("π times the square of the radius")),
    _Feature(
        "smoothness", "0", "0.25", "0.25", "0.000001", Phrase("radii a quarter off their neighbours' mean: no outline")
    ),
    _Feature(
        "compactness", "0", "0.5", "1.25", "0.000001", Phrase("perimeter²/(4π·area) − 1: ellipses of 3:1 and of 5:1")
    ),
    _Feature("concavity", "0", "0.5", "1.25", "0.000001", Phrase("depth of dents relative to the outline")),
    _Feature(
        "concave_points", "0", "0.25", "0.35", "0.000001", Phrase("share of the outline in dents: a quarter, a third")
    ),
    _Feature("symmetry", "0", "0.5", "1", "0.000001", Phrase("relative difference of two halves: 1 is no second half")),
    _Feature(
        "fractal_dimension", "0", "0.25", "0.25", "0.000001", Phrase("dimension − 1; the coast of Britain has 0.25")
    ),
)


def _standard_error(feature: _Feature) -> str:
    """Ten nuclei spread evenly over all that one may have: (largest − low) / √12 / √10, up to two figures."""
    width = Decimal(feature.largest) - Decimal(feature.low)
    rounded = Context(prec=2, rounding=ROUND_CEILING).create_decimal(width / Decimal(math.sqrt(120)))
    return f"{rounded:f}"


def _breast() -> tuple[Range | Codes, ...]:
    spread = Phrase("ten nuclei spread evenly over all sizes and shapes")
    return (
        Codes("diagnosis", ("M", "B")),
        *(Range(f"{item.name}_mean", item.low, item.average, item.why, item.step) for item in _FEATURES),
        *(Range(f"{item.name}_se", "0", _standard_error(item), spread, item.step) for item in _FEATURES),
        *(Range(f"{item.name}_worst", item.low, item.largest, item.why, item.step) for item in _FEATURES),
    )


# fmt: off
_DRUGS: Final = (
    "metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glipizide",
    "glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose", "miglitol", "troglitazone", "tolazamide",
    "examide", "citoglipton", "insulin", "glyburide-metformin", "glipizide-metformin", "glimepiride-pioglitazone",
    "metformin-rosiglitazone", "metformin-pioglitazone",
)
# fmt: on
_ICD: Final = Phrase("ICD-9 chapters run from 001 to 999; supplementary codes are no numbers")
_WEEKLY: Final = Phrase("visits in a year: one a week")

_DIABETES: Final[tuple[Range | Codes | Words, ...]] = (
    Range("encounter_id", "0", "999999999", Phrase("a running number of at most nine digits")),
    Range("patient_nbr", "0", "999999999", Phrase("a running number of at most nine digits")),
    Codes("race", ("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other")),
    Codes("gender", ("Female", "Male", "Unknown/Invalid")),
    Codes("age", tuple(f"[{low}-{low + 10})" for low in range(0, 100, 10))),
    Words("weight"),
    Range("admission_type_id", "1", "8", Phrase("codes of the published mapping")),
    Range("discharge_disposition_id", "1", "30", Phrase("codes of the published mapping")),
    Range("admission_source_id", "1", "26", Phrase("codes of the published mapping")),
    Range("time_in_hospital", "1", "14", Phrase("days; only stays of 1 to 14 days were included")),
    Words("payer_code"),
    Words("medical_specialty"),
    Range("num_lab_procedures", "0", "200", Phrase("fourteen tests on each of at most 14 days")),
    Range("num_procedures", "0", "14", Phrase("one on each of at most 14 days")),
    Range("num_medications", "0", "100", Phrase("generic names given in at most 14 days")),
    Range("number_outpatient", "0", "52", _WEEKLY),
    Range("number_emergency", "0", "52", _WEEKLY),
    Range("number_inpatient", "0", "52", _WEEKLY),
    Range("diag_1", "1", "1000", _ICD, "0.01"),
    Range("diag_2", "1", "1000", _ICD, "0.01"),
    Range("diag_3", "1", "1000", _ICD, "0.01"),
    Range("number_diagnoses", "1", "20", Phrase("a claim has room for no more")),
    Codes("max_glu_serum", ("None", "Norm", ">200", ">300")),
    Codes("A1Cresult", ("None", "Norm", ">7", ">8")),
    *(Codes(drug.replace("-", "_"), ("No", "Steady", "Up", "Down"), drug) for drug in _DRUGS),
    Codes("change", ("No", "Ch")),
    Codes("diabetesMed", ("No", "Yes")),
    Codes("readmitted", ("NO", ">30", "<30")),
)

COLUMNS: Final[Mapping[str, tuple[Range | Codes | Words, ...]]] = {
    "kidney": _KIDNEY,
    "breast": _breast(),
    "diabetes": _DIABETES,
}
