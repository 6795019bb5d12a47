"""The only way out: an `Ask` goes in, is priced, charged, drawn, stored, and leaves as a `Release`.

`read_ask` checks the words, `answer` takes them through the pipeline, `explain_ask` tells beforehand what would happen.
Whatever is released elsewhere (tables, the laboratory) goes through the same `Passage`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.release.ask import Ask, unproven_reason
    from discreet.release.ask_reader import Shelf, answer_ask, explain_ask, plan_workload, read_ask
    from discreet.release.cap_share import cap_share_sql, tell_cap_share
    from discreet.release.cells.noisy_cells import NoisyCells
    from discreet.release.cells.output_columns import show_values
    from discreet.release.cells.presence import presence_level
    from discreet.release.forecast.accuracy import Assumptions, ExpectedNoise, assume, reach_of, read_amounts
    from discreet.release.forecast.apportionment import Apportionment
    from discreet.release.forecast.explainer import figure_outputs, noise_of
    from discreet.release.forecast.explanation import Explanation, about, percent, tell_neighbours
    from discreet.release.forecast.outlook import Outlook, foresee
    from discreet.release.journals.bootstrap_journal import (
        BootstrapEntry,
        BootstrapLog,
        Releases,
        bootstrap_log,
        list_releases,
    )
    from discreet.release.journals.unproven_journal import UnprovenEntry, UnprovenJournal, describe_marker
    from discreet.release.journals.unproven_terms import check_nominal_epsilon, left_for_analyst, require_permission
    from discreet.release.measurement.noisy_measures import Noisy, NoisyMeasure, draw, slices_of
    from discreet.release.measurement.pricing import (
        Pricing,
        UsedMechanism,
        moves_of,
        price,
        price_gaussian,
        split_units,
    )
    from discreet.release.measurement.searched_bounds import answer_bounded, ends_of, price_searching
    from discreet.release.pipeline import (
        Charge,
        Mark,
        OpenEngine,
        Passage,
        PlacedMarker,
        Request,
        check_terms,
        hold,
        letting_go,
        ready_engine,
        release,
        require_active,
    )
    from discreet.release.question import Question, answer, find_stored, settled
    from discreet.release.stored_answer import Answer, interval_level, warn_of
    from discreet.release.workloads.workload import Workload, parse_workload, recall_workload, take_workload
    from discreet.release.workloads.workload_run import run_workload
    from discreet.release.workloads.workload_schema import WORKLOAD
    from discreet.release.workloads.workload_template import draft_workload
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "WORKLOAD",
    "Answer",
    "Apportionment",
    "Ask",
    "Assumptions",
    "BootstrapEntry",
    "BootstrapLog",
    "Charge",
    "ExpectedNoise",
    "Explanation",
    "Mark",
    "Noisy",
    "NoisyCells",
    "NoisyMeasure",
    "OpenEngine",
    "Outlook",
    "Passage",
    "PlacedMarker",
    "Pricing",
    "Question",
    "Releases",
    "Request",
    "Shelf",
    "UnprovenEntry",
    "UnprovenJournal",
    "UsedMechanism",
    "Workload",
    "about",
    "answer",
    "answer_ask",
    "answer_bounded",
    "assume",
    "bootstrap_log",
    "cap_share_sql",
    "check_nominal_epsilon",
    "check_terms",
    "describe_marker",
    "draft_workload",
    "draw",
    "ends_of",
    "explain_ask",
    "figure_outputs",
    "find_stored",
    "foresee",
    "hold",
    "interval_level",
    "left_for_analyst",
    "letting_go",
    "list_releases",
    "moves_of",
    "noise_of",
    "parse_workload",
    "percent",
    "plan_workload",
    "presence_level",
    "price",
    "price_gaussian",
    "price_searching",
    "reach_of",
    "read_amounts",
    "read_ask",
    "ready_engine",
    "recall_workload",
    "release",
    "require_active",
    "require_permission",
    "run_workload",
    "settled",
    "show_values",
    "slices_of",
    "split_units",
    "take_workload",
    "tell_cap_share",
    "tell_neighbours",
    "unproven_reason",
    "warn_of",
]
