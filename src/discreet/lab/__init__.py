"""The laboratory: what is compared, studied, attacked or answered without a proof. The core imports nothing of it.

`Laboratory` works on an open session. Rooms within: `study` (what privacy would cost), `strategies` (how much noise a
query needs), `today` (what agencies do), `bootstrap`, `generator`, and `audit` (what samples alone show of a loss).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.lab.audit import AuditResult, audit_loss, require_limits
    from discreet.lab.laboratory import Laboratory
    from discreet.lab.study.seeded_entropy import SeededEntropy
    from discreet.lab.study.study_file.study_schema import STUDY
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = ["STUDY", "AuditResult", "Laboratory", "SeededEntropy", "audit_loss", "require_limits"]
