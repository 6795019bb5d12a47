"""The thesis' benchmark from its data to its verdict: checked, drawn, audited, written. Never a release, never charged.

Copies of the data stay in a folder that is removed at the end; only generators are kept, because they take long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import ENGLISH, Phrase, say, speaking
from discreet.lab.audit import require_limits
from discreet.lab.strategies.generated_columns import GeneratedColumns
from discreet_replications.thesis.benchmark_runs import House, Progress, run_all, run_patients
from discreet_replications.thesis.data.compared_columns import (
    ColumnLine,
    GeneratorSample,
    compare_columns,
    list_columns,
    sample_generators,
)
from discreet_replications.thesis.data.generators import (
    expect_seconds,
    find_generator,
    have_torch,
    settings_for,
    train_generator,
)
from discreet_replications.thesis.data.readings import read_data
from discreet_replications.thesis.data.thesis_cards import Variant
from discreet_replications.thesis.foresight import Foresight, foresee_all
from discreet_replications.thesis.medians import Median, run_medians
from discreet_replications.thesis.neighbours import AuditFinding, audit_all, list_pairs
from discreet_replications.thesis.run_records import Records
from discreet_replications.thesis.setting import ThesisSetting
from discreet_replications.thesis.shortfalls import Shortfall, judge_shortfalls
from discreet_replications.thesis.thesis_truth import Lost, TruthCheck, check_readings, losses
from discreet_replications.thesis.timings import Timing, judge_timings
from discreet_replications.thesis.verdict import PatientScore, ThesisVerdict, judge, judge_patients

if TYPE_CHECKING:
    from discreet.lab.generator.shelf import Shelved
    from discreet_replications.thesis.scales import ScaleLine

__all__ = ["AUDITED_EPSILON", "NOTICE", "ThesisReproduction", "reproduce_thesis"]

NOTICE: Final = Phrase(
    "Exact answers, sensitivities of the rows and answers without a guarantee stand beside each other here, drawn as "
    "often as it takes to compare them. Nothing was charged, and nothing of this may leave the custodian's hands when "
    "the data are confidential."
)
AUDITED_EPSILON: Final = "0.01"
_UNINSTALLED: Final = Phrase("They need a trained generator, and the extra 'gan' is not installed.")
_UNWANTED: Final = Phrase("They need a trained generator, and none was wanted (--no-gan).")

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ThesisReproduction:
    """All that came of one run, and where it is written."""

    folder: Path
    setting: ThesisSetting
    absent: tuple[Phrase, ...]
    checks: tuple[TruthCheck, ...]
    lost: Lost | None
    foreseen: tuple[Foresight, ...]
    records: Records
    patients: Records
    medians: tuple[Median, ...]
    audit: tuple[AuditFinding, ...]
    verdict: ThesisVerdict
    patient_scores: tuple[PatientScore, ...]
    columns: tuple[ColumnLine, ...]
    every_column: tuple[Mapping[str, Any], ...]
    sampled: Mapping[str, GeneratorSample]
    scales: tuple[ScaleLine, ...]
    shortfalls: tuple[Shortfall, ...]
    timings: tuple[Timing, ...]
    epochs: Mapping[str, int]
    seconds: float

    @property
    def files(self) -> dict[str, str]:
        named = {"report": "thesis.html", "results": "results.json", "tables": "tables", "figures": "figures"}
        return {name: str(self.folder / file) for name, file in named.items()}

    @property
    def notes(self) -> list[str]:
        """The check in words, what it rests on, and what is missing."""
        lost = [] if self.lost is None else [self.lost.tell()]
        return [*(check.tell() for check in self.checks), *lost, *map(str, self.absent)]

    def to_dict(self) -> dict[str, Any]:
        """For machines, and so the same in every language."""
        with speaking(ENGLISH):
            return self._to_dict()

    def _to_dict(self) -> dict[str, Any]:
        return {
            "reproduction": "thesis",
            "finished": True,
            "notice": str(NOTICE),
            "files": self.files,
            "seconds": round(self.seconds, 1),
            "setting": asdict(self.setting),
            "epochs": dict(self.epochs),
            "absent": list(map(str, self.absent)),
            "skipped": [{"strategy": method.name, "why": str(why)} for method, why in self.records.skipped],
            "checks": [check.to_dict() for check in self.checks],
            "clipping": [item.to_dict() for item in self.foreseen],
            "verdict": self.verdict.to_dict(),
            "sensitivities_too_low": [item.to_dict() for item in self.shortfalls],
            "tables_1_to_4": [item.to_dict() for item in self.columns],
            "inspections": {name: item.inspection.to_dict() for name, item in self.sampled.items()},
            "figure_1": [item.to_dict() for item in self.scales],
            "tables_8_and_9": [item.to_dict() for item in self.timings],
            "patients": [score.to_dict() for score in self.patient_scores],
            "medians": [item.to_dict() for item in self.medians],
            "audit": [item.to_dict() for item in self.audit],
        }


def reproduce_thesis(
    folder: Path,
    *,
    data: Path | None = None,
    setting: ThesisSetting | None = None,
    progress: Progress | None = None,
    note: Note | None = None,
) -> ThesisReproduction:
    """Run the benchmark and write it into `folder`, new or its own. `note` is told what takes long before it starts.

    PathInvalid when the folder holds anything else, ExtraMissing without the extra 'study'.
    """
    from discreet_replications.thesis.pages.thesis_figures import draw_figures
    from discreet_replications.thesis.pages.thesis_files import claim_folder, write_reproduction
    from discreet_replications.thesis.scales import draw_scales, run_scales

    require_limits(Phrase("the audit of a claim"), extra="study")
    started, asked = time.monotonic(), setting or ThesisSetting()
    lines, said = progress or _silent, note or _unsaid
    readings = read_data(data)
    claim_folder(folder)
    checks = check_readings(readings)
    with TemporaryDirectory(prefix="discreet-") as passing, House(Path(passing), readings, progress=lines) as house:
        models = _generators(house, folder / "models", asked, lines, said)
        why = _UNWANTED if not asked.gan else _UNINSTALLED
        sampled = sample_generators(house, models, asked.sample_sizes, lines)
        records = run_all(house, asked, models, why=why, progress=lines)
        patients = run_patients(house, asked, progress=lines)
        medians = run_medians(house, asked, progress=lines)
        pairs = list_pairs(house.tables, lambda dataset, column: _generated(models.get(dataset), column, asked))
        audit = audit_all(pairs, epsilon=AUDITED_EPSILON, samples=asked.audit_samples, progress=lines)
    foreseen = foresee_all(readings)
    done = ThesisReproduction(
        folder=folder,
        setting=asked,
        absent=readings.absent,
        checks=checks,
        lost=losses(readings),
        foreseen=foreseen,
        records=records,
        patients=patients,
        medians=medians,
        audit=tuple(audit),
        verdict=judge(records),
        patient_scores=judge_patients(patients, records),
        columns=compare_columns(readings, sampled, why=why),
        every_column=tuple(list_columns(readings, sampled)),
        sampled=sampled,
        scales=run_scales(readings.diabetes, asked),
        shortfalls=judge_shortfalls(records, foreseen),
        timings=judge_timings(records, sampled),
        epochs={name: settings_for(name, asked.epochs).epochs for name in models},
        seconds=time.monotonic() - started,
    )
    write_reproduction(done, [draw_scales(done.scales), *draw_figures(records)])
    return done


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody watches."""


def _unsaid(words: str) -> None:
    """Nobody listens."""


def _generators(house: House, home: Path, setting: ThesisSetting, progress: Progress, note: Note) -> dict[str, Shelved]:
    """One for each data set, from an earlier run where it is of the same rows; none without the extra `gan`."""
    if not setting.gan:
        return {}
    if not have_torch():
        note(say("Without the extra 'gan' the rows of the generators are left out; the rest follows."))
        return {}
    workspace = house.workspace(Variant.PRIVATE_BOUNDS, wide=True)
    wanted = {name: (workspace.dataset(name), settings_for(name, setting.epochs)) for name in house.tables}
    found = {name: find_generator(dataset, home, settings) for name, (dataset, settings) in wanted.items()}
    missing = [name for name, shelved in found.items() if shelved is None]
    if missing:
        minutes = sum(expect_seconds(name, wanted[name][1]) for name in missing) / 60
        each = ", ".join(say("{name} ({epochs} epochs)", name=name, epochs=wanted[name][1].epochs) for name in missing)
        note(
            say(
                "Training generators for {each}: about {minutes:.0f} min; --no-gan leaves them out.",
                each=each,
                minutes=max(minutes, 1),
            )
        )
    return {
        name: found[name] or train_generator(dataset, home, settings, progress=progress)
        for name, (dataset, settings) in wanted.items()
    }


def _generated(shelved: Shelved | None, column: str, setting: ThesisSetting) -> Fraction | None:
    """The maximum that the audit takes for a generated column."""
    if shelved is None:
        return None
    return GeneratedColumns(shelved.folder, shelved.load, max(setting.sample_sizes)).maximum(column)
