"""Samples: synthetic files on which everything can be tried, after published counts.

A survey, its visits, a textbook's consumer units, and the files of two offices to link; each with its card. The same
seed gives the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.samples.consumer_units import write_ce
    from discreet.samples.destination import FEWEST, MOST
    from discreet.samples.linked_offices.linked_files import write_linked
    from discreet.samples.sample_cards import survey_card
    from discreet.samples.survey import write_survey
    from discreet.samples.visits import write_visits
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = ["FEWEST", "MOST", "survey_card", "write_ce", "write_linked", "write_survey", "write_visits"]
