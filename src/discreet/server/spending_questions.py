"""Questions that spend: the three sorts as one. Their words are kept with a job, so that any worker can ask them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from discreet.guarantees import exact
from discreet.release import Ask, Workload, answer_ask, parse_workload, read_ask, run_workload
from discreet.results import Release
from discreet.session import Session

__all__ = ["QuestionKind", "ReadQuestion", "SpendingQuestion"]


class QuestionKind(StrEnum):
    QUERY = "query"
    WORKLOAD = "workload"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question that was read and checked, as far as it can be without a row. Nothing is charged yet.

    `asks` say how large it is; `answer` charges, draws and gives, or gives again what its request id stands for.
    """

    asks: Sequence[Ask]
    answer: Callable[[], Release]


@dataclass(frozen=True, slots=True)
class SpendingQuestion:
    """What was asked, in the words of its request."""

    kind: QuestionKind
    words: Mapping[str, Any]

    def read(self, session: Session, *, analyst: str, request_id: str) -> ReadQuestion:
        """Read it once, for its size and for its answer."""
        match self.kind:
            case QuestionKind.QUERY:
                asked = read_ask(
                    **self.words,
                    workspace=session.workspace,
                    ledger=session.ledger,
                    analyst=analyst,
                    request_id=request_id,
                )
                return ReadQuestion([asked], partial(answer_ask, asked, session.ledger, session.open_engine))
            case QuestionKind.TABLE:
                words, fresh = _apart(self.words, "fresh")
                table = session.read_table(words, analyst=analyst)
                give = partial(session.tables.release, table, analyst=analyst, request_id=request_id, fresh=bool(fresh))
                return ReadQuestion([table.ask(table.design)], give)
            case QuestionKind.WORKLOAD:
                planned = session.plan(self.workload, analyst=analyst)
                asks = [
                    Ask(
                        statement=part.reading.statement,
                        datasets=part.reading.datasets,
                        analyst=analyst,
                        request_id=request_id,
                        epsilon=part.epsilon,
                        level=planned.level,
                    )
                    for part in planned.parts
                ]
                give = partial(
                    run_workload, planned, session.ledger, request_id=request_id, open_engine=session.open_engine
                )
                return ReadQuestion(asks, give)

    @property
    def workload(self) -> Workload:
        """The workload of a request; whom its file names as analyst is passed over: whoever asks is the analyst."""
        found = parse_workload(self.words["workload"], file="workload")
        epsilon = self.words.get("epsilon")
        total = found.epsilon if epsilon is None else exact(epsilon, parameter="epsilon")
        return replace(found, epsilon=total, analyst=None)


def _apart(words: Mapping[str, Any], name: str) -> tuple[dict[str, Any], Any]:
    return {key: value for key, value in words.items() if key != name}, words.get(name)
