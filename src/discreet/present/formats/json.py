"""A release as JSON: one shape for all kinds, with codes beside words. docs/answers.md says what each field means.

schema, kind        which form this is, and of what
rows, intervals     one object for each row; tables have their cells and margins too
labels, level       words for codes; the level of intervals
charge … remaining  what was charged, to whom, and what is left
guarantee … claim   what is promised, in words and as codes
notes               what must be said, each with its code, what varies, and its sentence
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from discreet.catalogue import speaking
from discreet.guarantees import ZCDP, ApproxDP, BootstrapDP, Guarantee, LocalDP, PureDP, ShuffleDP, Unproven, text
from discreet.present.messages import (
    CAPPED,
    ESTIMATES,
    ESTIMATORS,
    POOLS,
    TOO_SMALL,
    VARIANCES,
    cover_of,
    say_accuracy,
    say_message,
)
from discreet.present.words import say_basis, say_neighbours, say_unit, tell_guarantee
from discreet.results import (
    Accounted,
    Amount,
    BoundsUsed,
    CappedWeights,
    Charged,
    Collected,
    FalseReports,
    Figure,
    KeysChosen,
    Marked,
    MeasureNoise,
    Noise,
    Release,
    ReleaseKind,
    SizeTooSmall,
    Variance,
)

__all__ = [
    "SCHEMA",
    "about_collection",
    "charge_fields",
    "describe",
    "facts",
    "fields",
    "json_parts",
    "warnings",
    "write_parts",
]

SCHEMA: Final = 1

Fields = dict[str, Any]


def describe(release: Release, language: str) -> Fields:
    """Every field, in plain values."""
    found = fields(release, language)
    return {name: list(part) if hasattr(part, "to_json") else part for name, part in found.items()}


def json_parts(release: Release, language: str) -> Iterator[str]:
    """The text of the whole, in parts."""
    yield from write_parts(fields(release, language))


def write_parts(value: Fields) -> Iterator[str]:
    """Exactly what Python would give, as JSON; rows that are made when they are looked at, a stretch at a time."""
    for index, (name, part) in enumerate(value.items()):
        yield f"{',' if index else '{'}\n  {json.dumps(name, ensure_ascii=False)}: "
        if hasattr(part, "to_json") and len(part):
            yield "[\n"
            yield from part.to_json()
            yield "\n  ]"
        else:
            plain = list(part) if hasattr(part, "to_json") else part
            yield json.dumps(plain, indent=2, ensure_ascii=False).replace("\n", "\n  ")
    yield "\n}\n"


def fields(release: Release, language: str) -> Fields:
    """The same, with rows and intervals as they are kept: for whoever writes them out one after another."""
    with speaking(language):
        notice = " ".join(str(say_message(note)[1]) for note in _unfound(release))
        return {
            **({"notice": notice} if notice else {}),
            "schema": SCHEMA,
            "kind": str(release.kind),
            **_figures(release, language),
            **facts(release, language),
        }


def facts(release: Release, language: str) -> Fields:
    """Everything but the figures. Sentences are in the language; what programs compare stays in English."""
    with speaking(language):
        return _all_facts(release, language)


def _all_facts(release: Release, language: str) -> Fields:
    if release.kind is ReleaseKind.LOCAL:
        return _of_collection(release, language)
    if release.kind is ReleaseKind.WORKLOAD:
        return _of_workload(release, language)
    if release.kind is ReleaseKind.LINKED:
        return _of_linked(release, language)
    absent = [_absent(note) for note in release.notes if isinstance(note, SizeTooSmall)]
    return {
        **({} if release.basis is None else {"quality_basis": say_basis(release.basis)}),
        **({} if release.calibration is None else {"calibration": _calibration(release)}),
        **({"absent": absent} if absent else {}),
        **_facts(release, language),
    }


def _figures(release: Release, language: str) -> Fields:
    if release.kind is ReleaseKind.WORKLOAD:
        return {"answers": {name: describe(part, language) for name, part in release.parts.items()}}
    if release.kind is ReleaseKind.LOCAL:
        return {
            **about_collection(release),
            "estimates": _estimates(release, language),
            "rows": list(release.rows),
            "intervals": list(release.intervals),
        }
    table = _table(release, language) if release.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP) else {}
    return {
        **table,
        "rows": release.listed_rows,
        "labels": release.labels(language),
        "intervals": release.listed_intervals,
    }


def _unfound(release: Release) -> list[BoundsUsed]:
    return [note for note in release.notes if isinstance(note, BoundsUsed) and not note.found]


# --- what is said of any release ------------------------------------------------------------------------------------


def _facts(release: Release, language: str) -> Fields:
    source = release.source
    bounds = {note.column: _bounds(note) for note in release.notes if isinstance(note, BoundsUsed)}
    chosen = next((note for note in release.notes if isinstance(note, KeysChosen)), None)
    weighted = any(isinstance(note, CappedWeights) for note in release.notes)
    return {
        "level": None if release.level is None else text(release.level),
        "interval_meaning": cover_of(release.notes, language),
        **({"weights": str(CAPPED)} if weighted else {}),
        **_settlement(release),
        **_claim(release),
        "mechanisms": [_mechanism(item) for item in release.mechanisms.value],
        **_unproven(release),
        **({"bounds": bounds} if bounds else {}),
        **({} if chosen is None else {"threshold": _threshold(chosen)}),
        "dataset": source.dataset,
        "version": source.version,
        "datasets": dict(source.datasets),
        "plan_hash": source.plan_hash,
        "request_id": source.request_id,
        "replayed": release.replayed,
        "warnings": warnings(release),
        **({} if "sql" not in release.asked else {name: release.asked[name] for name in ("method", "sql")}),
        "notes": _notes(release, language),
    }


def _settlement(release: Release) -> Fields:
    settled = release.settlement
    assert isinstance(settled, Charged | Marked), "others say what was received or paid"
    if isinstance(settled, Marked):
        return {"charge": Amount().to_dict(), "remaining": settled.left.to_dict()}
    found: Fields = {"charge": charge_fields(settled)}
    if settled.population is not None and settled.analyst is not None:
        found["debited"] = {"population": settled.population.to_dict(), "analyst": settled.analyst.to_dict()}
    if settled.cost is not None:
        found["cost"] = settled.cost.to_dict()
    return {**found, "remaining": settled.left.to_dict()}


def charge_fields(settled: Charged) -> dict[str, str]:
    """What was charged; under an (epsilon, delta) budget also the population's epsilon before and after."""
    if settled.before is None or settled.after is None:
        return settled.charge.to_dict()
    ends = {"epsilon_before": text(settled.before), "epsilon_after": text(settled.after)}
    return {**settled.charge.to_dict(), **ends}


def _claim(release: Release) -> Fields:
    claim = release.claim
    return {
        "guarantee": tell_guarantee(release, "en"),
        "differentially_private": claim.guarantee.differentially_private,
        "unit": say_unit(claim, "en"),
        "neighbours": say_neighbours(release),
        "population": claim.population,
        "claim": {
            "guarantee": _guarantee(claim.guarantee),
            "unit": None if claim.unit is None else {"column": claim.unit.column, "rows": claim.unit.rows},
            "neighbours": None if claim.neighbours is None else str(claim.neighbours),
        },
    }


def _guarantee(guarantee: Guarantee) -> Fields:
    """The guarantee as a code and its exact parameters."""
    match guarantee:
        case PureDP(epsilon=epsilon):
            return {"code": "pure", "epsilon": text(epsilon)}
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"code": "approximate", "epsilon": text(epsilon), "delta": text(delta)}
        case ZCDP(rho=rho, delta=delta):
            return {"code": "zcdp", "rho": text(rho), "delta": text(delta)}
        case LocalDP(epsilon=epsilon):
            return {"code": "local", "epsilon": text(epsilon)}
        case ShuffleDP(epsilon=epsilon, delta=delta):
            return {"code": "shuffle", "epsilon": text(epsilon), "delta": text(delta)}
        case BootstrapDP(epsilon=epsilon):
            return {"code": "bootstrap", "nominal_epsilon": text(epsilon)}
        case Unproven(reason=reason):
            return {"code": "unproven", "reason": reason}


def _unproven(release: Release) -> Fields:
    """What a release without differential privacy adds."""
    settled, asked = release.settlement, release.asked
    if not isinstance(settled, Marked):
        return {}
    nominal = None if settled.nominal_epsilon is None else text(settled.nominal_epsilon)
    if release.kind is ReleaseKind.BOOTSTRAP:
        return {
            "bootstrap": {
                "nominal_epsilon": nominal,
                "method": asked["bootstrap_method"],
                "membership": asked["membership"],
                "neighbours_from": POOLS[release.claim.neighbours_from or ""].en,
                "marker": settled.marker,
            }
        }
    return {
        "unproven": {
            "strategy": asked["strategy"],
            "nominal_epsilon": nominal,
            "model": asked["model"],
            "sample_size": asked["sample_size"],
            "marker": settled.marker,
        }
    }


def warnings(release: Release) -> list[str]:
    """What a reader may not pass over, in the language of the moment."""
    unfound = " ".join(str(say_message(note)[1]) for note in _unfound(release))
    others = [note for note in release.notes if note.warns and not isinstance(note, BoundsUsed)]
    return [*([unfound] if unfound else []), *(str(say_message(note)[1]) for note in others)]


def _notes(release: Release, language: str) -> list[Fields]:
    return [{**note.to_dict(), "text": say_message(note)[1].text(language)} for note in release.notes]


# --- notes and mechanisms with fields of their own ------------------------------------------------------------------


def _absent(note: SizeTooSmall) -> Fields:
    sizes = [{"size": item.measure, "above": [item.low, item.high]} for item in note.sizes]
    return {"output": note.output, "code": note.code, "sizes": sizes, "reason": str(TOO_SMALL)}


def _bounds(note: BoundsUsed) -> Fields:
    return {"low": note.low, "high": note.high, "found": note.found, "epsilon": text(note.epsilon)}


def _threshold(note: KeysChosen) -> Fields:
    return {"least_units": note.least, "keys": note.keys, "delta": text(note.delta)}


def _mechanism(measure: MeasureNoise) -> Fields:
    if not measure.shown:
        return {"name": measure.name, "noise": "not shown"}
    head: Fields = {"measure": measure.measure}
    if measure.by is None:
        head |= _noise(measure.noise[0])
    else:
        slices = [{"cell": item.cell, **_noise(item)} for item in measure.noise]
        head |= {"name": measure.name, "by": measure.by, "slices": slices}
    return {**head, **measure.share, "step": measure.step}


def _noise(noise: Noise) -> Fields:
    found: Fields = {"name": noise.name, **noise.parameters}
    if (aim := noise.aim) is not None:
        found["candidates"] = str(aim.candidates)
        if aim.depth is not None:
            found["depth"] = str(aim.depth)
        found["accuracy"] = say_accuracy(level=aim.level, rows=aim.rows, depth=aim.depth, side=aim.side)
    return {**found, **noise.bound, "derivation": noise.derivation}


# --- tables ---------------------------------------------------------------------------------------------------------


def _table(release: Release, language: str) -> Fields:
    asked = {name: fact for name, fact in release.asked.items() if name not in _ELSEWHERE}
    if release.kind is ReleaseKind.BOOTSTRAP:
        asked = {"method": f"bootstrap ({release.asked['bootstrap_method']})"}
    return {
        "table": {
            "title": release.title.text(language),
            "statistic": release.statistic.title.text(language),
            "keys": [{"column": item.name, "title": item.title.text(language)} for item in release.headings],
            "step": release.statistic.step,
            **asked,
        },
        "cells": [_figure(release, figure) for figure in release.cells],
        "margins": [_figure(release, figure) for figure in release.margins],
    }


_ELSEWHERE: Final = ("method", "sql")


def _figure(release: Release, figure: Figure) -> Fields:
    keys = {heading.name: code for heading, code in zip(release.headings, figure.codes, strict=True)}
    result: Fields = {
        "keys": keys,
        "value": figure.value,
        "raw": figure.raw,
        "low": figure.low,
        "high": figure.high,
        "quality": str(figure.quality),
    }
    if figure.over:
        result["over"] = [release.headings[index].name for index in figure.over]
    if release.calibration is not None:
        result["calibrated"] = figure.value  # the name under which programs of earlier releases look for it
        result["uncalibrated"] = figure.uncalibrated
    return result


def _calibration(release: Release) -> Mapping[str, object]:
    calibration = release.calibration
    assert calibration is not None
    return {
        "to": [
            {
                "totals": target.name,
                "by": list(target.by),
                **({} if target.source is None else {"source": {"en": target.source.en, "fr": target.source.fr}}),
            }
            for target in calibration.targets
        ],
        "estimates": str(ESTIMATES),
        "intervals": "linearised" if calibration.linearised else "of the quotient",
        "left_out": [dict(item) for item in calibration.left_out],
        "met": True,
        "shared_out": [{"totals": name, "keys": dict(keys)} for name, keys in calibration.shared_out],
    }


# --- workloads ------------------------------------------------------------------------------------------------------


def _of_workload(release: Release, language: str) -> Fields:
    """`charge` is what all answers cost together; under each answer stands its part."""
    return {
        **{name: fact for name, fact in _settlement(release).items() if name != "cost"},
        **_claim(release),
        "dataset": release.source.dataset,
        "version": release.source.version,
        "datasets": dict(release.source.datasets),
        "replayed": release.replayed,
        "request_id": release.source.request_id,
        "plan_hash": release.source.plan_hash,
        "warnings": warnings(release),
        "notes": _notes(release, language),
    }


# --- linked counts --------------------------------------------------------------------------------------------------


def _of_linked(release: Release, language: str) -> Fields:
    """`account` is what each member of a unit paid of what one holds, in parts of epsilon."""
    paid, source = release.settlement, release.source
    assert isinstance(paid, Accounted)
    return {
        "level": text(release.level or Decimal(0)),
        "interval_meaning": cover_of(release.notes, language),
        "account": {
            "charge": paid.charge,
            "cap": paid.cap,
            "parts": paid.parts,
            "members": paid.members,
            "epsilon": text(paid.epsilon),
        },
        **_claim(release),
        "mechanisms": [_mechanism(item) for item in release.mechanisms.value],
        "study": source.dataset,
        "agreement": source.agreement,
        "request_id": source.request_id,
        "asked": dict(release.asked),
        "warnings": warnings(release),
        "notes": _notes(release, language),
    }


# --- collections ----------------------------------------------------------------------------------------------------


def about_collection(release: Release) -> Fields:
    """What a collection is and rests on."""
    settled = release.settlement
    assert isinstance(settled, Collected)
    variance = next(note for note in release.notes if isinstance(note, Variance))
    return {
        "survey": release.source.dataset,
        "version": release.source.version,
        "manifest": release.source.manifest,
        "guarantee": tell_guarantee(release, "en"),
        "accepted": settled.accepted,
        "refused": sum(settled.refused.values()),
        "answered_in_clear": settled.in_clear,
        "level": float(release.level or Decimal(0)),
        "variance": VARIANCES[variance.counts].en,
    }


def _of_collection(release: Release, language: str) -> Fields:
    settled, asked = release.settlement, release.asked
    assert isinstance(settled, Collected)
    return {
        **about_collection(release),
        "differentially_private": release.guarantee.differentially_private,
        "claim": _claim(release)["claim"],
        "verified": asked["verified"],
        "by": list(_by(release)),
        "estimators": {name: str(phrase) for name, phrase in ESTIMATORS.items()},
        "recommended": "ratio_count" if asked["sampled"] else "estimate",
        "refused_by_reason": dict(settled.refused),
        "warnings": warnings(release),
        "poisoning": [
            {
                "question": note.question,
                "statistic": note.statistic,
                "one_false_report_moves_at_most": note.reach,
            }
            for note in release.notes
            if isinstance(note, FalseReports)
        ],
        "notes": _notes(release, language),
    }


def _by(release: Release) -> Sequence[str]:
    by = release.asked["by"]
    assert isinstance(by, tuple)
    return by


def _estimates(release: Release, language: str) -> list[Fields]:
    from discreet.present.long_list import list_columns

    columns, by, about = list_columns(release, language), _by(release), about_collection(release)
    names = [column.name for column in columns]
    lines = zip(*(column.values for column in columns), strict=True)
    return [_estimate(dict(zip(names, line, strict=True)), by, about) for line in lines]


def _estimate(line: Fields, by: Sequence[str], about: Mapping[str, object]) -> Fields:
    first = {name: line[name] for name in ("question", "statistic", "category", "label")}
    left = {name: line[name] for name in line if name not in (*first, *by, *about)}
    return {**first, "groups": {name: line[name] for name in by}, **left}
