"""From the choices in a study's file to the models that it runs, in the order of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.lab.study.study_file.study_config import ALLOCATIONS, AUTOMATIC, CALIBRATIONS, COUNTS, MISSING, RELATIONS

if TYPE_CHECKING:
    from discreet.lab.study.execution.outcomes import StudyModel
    from discreet.lab.study.raw_rows import RawRows
    from discreet.lab.study.study_file.study_config import ModelChoice, StudyConfig

__all__ = ["build_models", "tell_apart"]


def build_models(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[StudyModel, ...]:
    """One model for each choice. `raw` gives the file as it was written, and is called only where it is needed."""
    files: list[RawRows] = []

    def written() -> RawRows:
        if not files:
            files.append(raw())
        return files[0]

    models = tuple(_build(choice, config, written) for choice in config.models)
    twice = [variant for variant, times in Counter(model.variant for model in models).items() if times > 1]
    if twice:
        raise Refused(say("Two models of the study are the same: {twice}. Leave one out.", twice=twice[0]))
    return models


def tell_apart(choices: Sequence[ModelChoice]) -> tuple[tuple[str, ...], ...]:
    """For each choice, in words, where it differs from others of its model: what its mechanisms alone do not tell."""
    return tuple(_marks(choice, [other for other in choices if other.model == choice.model]) for choice in choices)


def _marks(choice: ModelChoice, rivals: Sequence[ModelChoice]) -> tuple[str, ...]:
    words = {
        "categories": f"{choice.categories}",
        "numbers": f"{choice.numbers}",
        "allocation": f"{choice.allocation}",
        "missing": f"missing {choice.missing}",
        "counts": f"counts by {choice.counts or COUNTS[0]}",
    }
    return tuple(word for field, word in words.items() if len({getattr(rival, field) for rival in rivals}) > 1)


def _build(choice: ModelChoice, config: StudyConfig, raw: Callable[[], RawRows]) -> StudyModel:
    if choice.model in {"central", "table"}:
        return _build_noisy(choice, config)
    if choice.model in {"local", "hybrid"}:
        from discreet.lab.study.models.local_model import LocalModel

        local = LocalModel(
            categories=choice.categories or AUTOMATIC,
            numbers=choice.numbers or AUTOMATIC,
            allocation=choice.allocation or ALLOCATIONS[0],
            missing=choice.missing or MISSING[0],
            level=config.level,
            epsilon_is=config.epsilon_is,
            counts=choice.counts or COUNTS[0],
        )
        if choice.model == "local":
            return local
        from discreet.lab.study.models.hybrid_model import HybridModel

        assert choice.share is not None
        return HybridModel(local, choice.share, choice.selection, choice.relation or RELATIONS[0])
    if choice.model == "shuffle":
        from discreet.lab.study.models.shuffle_model import ShuffleModel

        return ShuffleModel(
            mechanism=choice.mechanism or "",
            delta=config.delta,
            neighbours=config.neighbours,
            level=config.level,
            epsilon_is=config.epsilon_is,
        )
    from discreet.lab.study.models.naive_model import NaiveModel

    return NaiveModel(mechanism=choice.mechanism or "", raw=raw())


def _build_noisy(choice: ModelChoice, config: StudyConfig) -> StudyModel:
    """A custodian who adds noise, to answers or to tables."""
    from discreet.lab.study.models.central_model import LAPLACE, CentralModel

    noise = choice.mechanism or LAPLACE
    delta = Decimal(0) if noise == LAPLACE else config.delta
    if choice.model == "central":
        return CentralModel(config.neighbours, config.level, config.epsilon_is, noise, delta)
    from discreet.lab.study.models.table_model import TableModel

    calibrate = choice.calibrate or CALIBRATIONS[0]
    return TableModel(config.neighbours, config.level, config.epsilon_is, noise, delta, calibrate)
