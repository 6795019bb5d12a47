"""The file that `discreet plan init` writes: a workload of the sample survey, with every key explained."""

from __future__ import annotations

from typing import Final

from discreet.cards import draft_file
from discreet.catalogue import say
from discreet.release.workloads.workload_schema import WORKLOAD

__all__ = ["draft_workload"]

_QUESTIONS: Final = """
  - name: smokers
    sql: SELECT province, SUM(weight) AS people FROM survey WHERE smoking = 1 GROUP BY province
    within: {{people: 50000}}
  - name: height
    sql: SELECT WAVG(height) AS height FROM survey
    within: {{height: 0.05}}
    assume: {{weights: 30000000}}
# - name: sexes
#   sql: SELECT sex, COUNT(*) AS people FROM survey GROUP BY sex
#   share: 1        # {share}"""


def draft_workload(file: str) -> str:
    """A workload that can be planned and run as it is, where the sample survey was added."""
    use = say("Plan it with: discreet plan {file}; ask with --run.      docs/workloads.md explains more.", file=file)
    share = say("of what the targets leave of `epsilon`, which must then be given")
    return draft_file(WORKLOAD, {"level": "0.95", "questions": _QUESTIONS.format(share=share)}, use=use)
