"""What the thesis prints: the 26 queries of Appendix A, and the figures that a comparison is held against.

Facts of the founding thesis [T]: true results and sensitivities (Appendix A), relative errors per query (Tables 16 and
26), and what is said over all queries (Tables 5 to 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from discreet.catalogue import Phrase

__all__ = [
    "DATASETS",
    "GENERATED_SENSITIVITY_ERROR",
    "QUERIES",
    "RELATIVE_ERROR",
    "REPLACEMENT_ERROR",
    "SECONDS",
    "SECONDS_WARM",
    "SOURCE",
    "Setting",
    "Summary",
    "ThesisQuery",
    "matches",
]

SOURCE: Final = Phrase(
    "the thesis, Appendix A (queries, true results, sensitivities), Figure 1, Tables 1 to 9, 16 and 26"
)
DATASETS: Final = ("kidney", "breast", "diabetes")


@dataclass(frozen=True, slots=True)
class ThesisQuery:
    """One query as printed. `result` and `sensitivity` are the printed text; the errors are means over 100 runs.

    `generated_error` is the relative error at ε = .01 with 100,000 generated rows, `replaced_error` that of answering
    from generated rows.
    """

    number: int
    dataset: str
    aggregate: Literal["AVG", "SUM"]
    column: str
    result: str
    sensitivity: str
    generated_error: float
    replaced_error: float

    @property
    def name(self) -> str:
        return f"{self.aggregate}({self.column})"

    @property
    def sql(self) -> str:
        return f"SELECT {self.name} FROM {self.dataset}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A row of Tables 5 to 9."""

    mean: float
    median: float
    least: float
    most: float


Setting = tuple[str, int]
"""ε as printed, and how many rows were generated."""

QUERIES: Final = (
    ThesisQuery(0, "kidney", "AVG", "age", "51.4834", "0.2256", 0.5188, 0.0391),
    ThesisQuery(1, "kidney", "AVG", "wbcc", "8425.7730", "66.1654", 0.7537, 0.0183),
    ThesisQuery(2, "kidney", "AVG", "sc", "3.0725", "0.1905", 6.8548, 0.1165),
    ThesisQuery(3, "kidney", "SUM", "bu", "2.1879e4", "391", 1.7730, 0.1329),
    ThesisQuery(4, "kidney", "SUM", "sg", "359.1450", "1.0250", 0.2878, 0.0142),
    ThesisQuery(5, "kidney", "SUM", "rbcc", "1249.1000", "6.5000", 0.5413, 0.1070),
    ThesisQuery(6, "breast", "AVG", "radius_mean", "14.1273", "0.0495", 0.5239, 0.3435),
    ThesisQuery(7, "breast", "AVG", "concave_points_mean", "0.0489", "3.5400e-4", 1.0489, 0.5321),
    ThesisQuery(8, "breast", "AVG", "area_se", "40.3371", "0.9546", 2.7762, 0.3938),
    ThesisQuery(9, "breast", "AVG", "texture_worst", "25.6772", "0.0872", 0.4120, 0.3841),
    ThesisQuery(10, "breast", "AVG", "fractal_dimension_worst", "0.0839", "3.6500e-4", 0.7188, 0.2379),
    ThesisQuery(11, "breast", "SUM", "smoothness_mean", "54.8290", "0.1634", 0.3405, 0.0533),
    ThesisQuery(12, "breast", "SUM", "compactness_mean", "59.3700", "0.3454", 0.7465, 0.1548),
    ThesisQuery(13, "breast", "SUM", "radius_se", "230.5429", "2.8730", 1.5752, 0.2894),
    ThesisQuery(14, "breast", "SUM", "symmetry_se", "11.6886", "0.0790", 0.7058, 0.1161),
    ThesisQuery(15, "breast", "SUM", "area_worst", "5.0105e5", "4254", 1.1272, 0.7411),
    ThesisQuery(16, "diabetes", "AVG", "encounter_id", "1.6520e8", "4361.6880", 0.0031, 1.9092e-6),
    ThesisQuery(17, "diabetes", "AVG", "admission_type_id", "2.0240", "7.8600e-5", 0.0053, 4.7643e-6),
    ThesisQuery(18, "diabetes", "AVG", "time_in_hospital", "4.3960", "1.3800e-4", 0.0027, 2.4747e-6),
    ThesisQuery(19, "diabetes", "AVG", "number_emergency", "0.1978", "7.4700e-4", 0.5385, 0.0019),
    ThesisQuery(20, "diabetes", "AVG", "diag_2", "438.6749", "0.0098", 0.0025, 8.4847e-7),
    ThesisQuery(21, "diabetes", "SUM", "patient_nbr", "5.5290e12", "1.8950e8", 0.0039, 2.1823e-6),
    ThesisQuery(22, "diabetes", "SUM", "discharge_disposition_id", "3.7813e5", "28", 0.0074, 6.0752e-6),
    ThesisQuery(23, "diabetes", "SUM", "num_lab_procedures", "4.3857e6", "132", 0.0035, 4.0581e-6),
    ThesisQuery(24, "diabetes", "SUM", "num_medications", "1.6305e6", "81", 0.0047, 1.0174e-5),
    ThesisQuery(25, "diabetes", "SUM", "number_emergency", "2.0133e4", "76", 0.4915, 0.0028),
)

# Tables 5 and 6.
RELATIVE_ERROR: Final[Mapping[Setting, Summary]] = {
    ("0.01", 100_000): Summary(0.8372, 0.2225, 1.1918e-5, 37.1703),
    ("0.1", 100_000): Summary(0.0818, 0.0213, 7.5100e-8, 2.8010),
    ("0.01", 10_000): Summary(0.7929, 0.2107, 4.7808e-9, 30.2441),
    ("0.1", 10_000): Summary(0.0811, 0.0211, 1.7165e-7, 3.6687),
}
REPLACEMENT_ERROR: Final = Summary(0.1415, 0.0439, 3.4464e-7, 0.8507)

# Table 7.
GENERATED_SENSITIVITY_ERROR: Final[Mapping[Setting, Summary]] = {
    ("0.01", 100_000): Summary(0.1946, 0.0783, 0, 0.9597),
    ("0.1", 100_000): Summary(0.1949, 0.0794, 0, 0.9595),
    ("0.01", 10_000): Summary(0.1951, 0.0774, 0, 0.9600),
    ("0.1", 10_000): Summary(0.1952, 0.0789, 0, 0.9600),
}

# Tables 8 and 9: seconds for an answer, with and without the first of each data set.
SECONDS: Final[Mapping[Setting, Summary]] = {
    ("0.01", 100_000): Summary(9.1471, 7.3797, 3.7775, 4805.3389),
    ("0.1", 100_000): Summary(7.6755, 7.9737, 3.6358, 57.3049),
    ("0.01", 10_000): Summary(0.7289, 0.6129, 0.3665, 3.5788),
    ("0.1", 10_000): Summary(0.7762, 0.6771, 0.3226, 37.5916),
}
SECONDS_WARM: Final[Mapping[Setting, Summary]] = {
    ("0.01", 100_000): Summary(7.2908, 7.3819, 3.7775, 21.3477),
    ("0.1", 100_000): Summary(7.6640, 7.9661, 3.6358, 57.3049),
    ("0.01", 10_000): Summary(0.7275, 0.6128, 0.3665, 1.2460),
    ("0.1", 10_000): Summary(0.7610, 0.6761, 0.3226, 1.8619),
}


def matches(value: Fraction, printed: str) -> bool:
    """Whether a value, rounded to the printed figures, is the printed one.

    Zeros at the end of printed decimals only fill the column (3.5400e-4 was rounded to 3.54e-4 before), so they are not
    figures.
    """
    mantissa, mark, exponent = printed.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    shown = Decimal(f"{mantissa}{mark}{exponent}")
    last = Fraction(Decimal(1).scaleb(int(shown.as_tuple().exponent)))
    return abs(value - Fraction(shown)) <= last / 2
