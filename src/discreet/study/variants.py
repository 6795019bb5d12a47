"""From the choices in a study's file to the models that it runs, in the order of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from discreet.errors import Refused

if TYPE_CHECKING:
    from discreet.study.config import ModelChoice, StudyConfig
    from discreet.study.outcomes import Model
    from discreet.study.rawrows import RawRows

__all__ = ["build_models", "name_models"]


def build_models(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[Model, ...]:
    """One model for each choice. `raw` gives the file as it was written, and is called only where it is needed."""
    files: list[RawRows] = []

    def written() -> RawRows:
        if not files:
            files.append(raw())
        return files[0]

    models = tuple(_build(choice, config, written) for choice in config.models)
    twice = [variant for variant, times in Counter(model.variant for model in models).items() if times > 1]
    if twice:
        raise Refused(f"Two models of the study are the same: {twice[0]}. Leave one out.")
    return models


def name_models(models: Sequence[Model]) -> tuple[str, ...]:
    """What the column `model` of the results says: the model's name, or its variant where that would not tell.

    Mechanisms tell the shuffle's protocols and the recipes of the report apart; other choices do not show in them.
    """
    times = Counter(model.name for model in models)
    told = {"shuffle", "naive"}
    return tuple(m.variant if times[m.name] > 1 and m.name not in told else m.name for m in models)


def _build(choice: ModelChoice, config: StudyConfig, raw: Callable[[], RawRows]) -> Model:
    if choice.model == "central":
        from discreet.study.models.central import CentralModel

        return CentralModel(neighbours=config.neighbours, level=config.level, epsilon_is=config.epsilon_is)
    if choice.model == "local":
        from discreet.study.models.local import LocalModel

        return LocalModel(
            categories=choice.categories,
            numbers=choice.numbers,
            allocation=choice.allocation,
            missing=choice.missing,
            level=config.level,
            epsilon_is=config.epsilon_is,
        )
    if choice.model == "shuffle":
        from discreet.study.models.shuffle import ShuffleModel

        return ShuffleModel(
            mechanism=choice.mechanism,
            delta=config.delta,
            neighbours=config.neighbours,
            level=config.level,
            epsilon_is=config.epsilon_is,
        )
    from discreet.study.models.naive import NaiveModel

    return NaiveModel(mechanism=choice.mechanism or "", raw=raw())
