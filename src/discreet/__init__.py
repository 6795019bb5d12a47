"""Discreet: differential privacy for official statistics.

    import discreet

    with discreet.create("office") as office:
        office.add("survey.csv")                      # described by survey.yaml beside it
        answer = office.query("SELECT province, COUNT(*) AS people FROM survey GROUP BY province", epsilon="0.5")
        answer.to_pandas()                            # or to_polars(), to_arrow(), rows, intervals, plot()
        answer.save("people.xlsx")                    # or .html, .csv, .parquet, .sdmx.csv, .json, .svg, .txt

A workspace is opened again with `discreet.open("office")`, and an office's server is asked in the same words through
`discreet.connect("https://office.example")`. What leaves is a `Release`: figures with intervals, what is
claimed of them (`claim`, a guarantee such as `PureDP`), and what they cost (`settlement`, which is `Charged` or, where
nothing is proved, `Marked`). What is refused raises a `DiscreetError`; where a charge was made before an answer failed,
that is `ChargedNotAnswered`. docs/python.md tells more, docs/promise.md what is promised and to whom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.client import connect
    from discreet.errors import (
        BudgetExceeded,
        CardInvalid,
        ChargedNotAnswered,
        DatasetSuspended,
        DiscreetError,
        FileRefused,
        LedgerDamaged,
        LedgerUnavailable,
        QueryRefused,
        Refused,
        RequestConflict,
        UnknownName,
        UsageError,
    )
    from discreet.guarantees import ZCDP, ApproxDP, BootstrapDP, LocalDP, PureDP, ShuffleDP, Unproven
    from discreet.ledger import BudgetState
    from discreet.release import Explanation
    from discreet.results import Charged, Claim, Collected, Figure, Heading, Marked, Note, Quality, Release, Statistic
    from discreet.session import Session, create, open
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BootstrapDP",
    "BudgetExceeded",
    "BudgetState",
    "Card",
    "CardInvalid",
    "Charged",
    "ChargedNotAnswered",
    "Claim",
    "Collected",
    "DatasetSuspended",
    "DiscreetError",
    "Explanation",
    "Figure",
    "FileRefused",
    "Heading",
    "LedgerDamaged",
    "LedgerUnavailable",
    "LocalDP",
    "Marked",
    "Note",
    "PureDP",
    "Quality",
    "QueryRefused",
    "Refused",
    "Release",
    "RequestConflict",
    "Session",
    "ShuffleDP",
    "Statistic",
    "UnknownName",
    "Unproven",
    "UsageError",
    "__version__",
    "connect",
    "create",
    "open",
]

__version__ = "0.1.0"
