"""What people look at in a notebook beside releases: budgets, cards and explanations as rows, frames and HTML."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing
from discreet.guarantees import text
from discreet.present.pages.markup import element, table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from discreet.guarantees import Balance, PopulationTerms

__all__ = ["Listed", "ListedBudget"]


class Listed:
    """Gives its `rows` as tables, and a notebook its heading, its rows and its lines."""

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> Sequence[dict[str, Any]]:
        """One object for each thing that it lists, all with the same names."""

    @abstractmethod
    def heading(self) -> str:
        """What it is, in one line without the brackets of a repr."""

    def _lines(self) -> Sequence[str]:
        """What is said below the rows."""
        return ()

    def __repr__(self) -> str:
        return f"<{self.heading()}>"

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self.rows))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame; needs the extra 'pandas'."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("to_pandas()"), extra="pandas") from None
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars data frame; needs the extra 'polars'."""
        try:
            import polars
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("to_polars()"), extra="polars") from None
        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _repr_html_(self) -> str:
        rows = self.rows
        names = list(rows[0]) if rows else []
        shown = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
        parts = [element("p", element("strong", self.heading()))]
        parts += [table(names, shown)] if rows else []
        parts += [element("p", element("small", line)) for line in self._lines()]
        return str(element("div", *parts))


class ListedBudget(Listed):
    """Where a population stands, holder by holder: with its `terms`, its own balance and that of each analyst."""

    __slots__ = ()

    terms: PopulationTerms
    population: Balance
    analysts: Mapping[str, Balance]

    @property
    def charges(self) -> int:
        """How many were made."""
        return self.population.charges

    @property
    def rows(self) -> list[dict[str, str | int]]:
        """What the population and each analyst may spend, have spent and have left, as exact text."""
        holders = {"population": self.population, **{f"analyst {name}": item for name, item in self.analysts.items()}}
        return [
            {
                "holder": name,
                "charges": item.charges,
                "epsilon_budget": text(item.epsilon_cap),
                "epsilon_spent": text(item.epsilon_spent),
                "epsilon_remaining": text(item.epsilon_remaining),
            }
            for name, item in holders.items()
        ]

    def heading(self) -> str:
        left, whole = text(self.population.epsilon_remaining), text(self.population.epsilon_cap)
        return say(
            "Budget of {population}: epsilon {left} of {whole} remains",
            population=self.terms.population,
            left=left,
            whole=whole,
        )

    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """What every release and every view of the budget must say."""

    def _lines(self) -> tuple[str, ...]:
        return self.warnings()
