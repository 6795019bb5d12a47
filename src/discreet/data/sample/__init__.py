"""The samples, synthetic files on which everything can be tried: a survey, its visits, and a textbook's example.

`figures` holds what was published, `tendencies` what is merely plausible; `people` draws from both, and
`survey`, `visits` and `ce` write the files with their cards. No row is a record of a real person (docs/sample.md).
"""

from discreet.data.sample.ce import write_ce
from discreet.data.sample.survey import write_survey
from discreet.data.sample.visits import write_visits

__all__ = ["write_ce", "write_survey", "write_visits"]
