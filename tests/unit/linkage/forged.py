"""Samples as a holder could make them who obeys nothing but the format, and counts without noise to check them by."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.linkage import AskedGroup, CountRequest, DrawnSample, EnvelopeKind, LinkedKind
from discreet.linkage.offices import registry_desk
from discreet.linkage.offices.link_ids import pseudonyms_of
from tests.unit.linkage.three_offices import ThreeOffices

__all__ = ["cells_of", "counters_of", "exhaust", "forge", "forged_sample", "silence", "ticket_for"]


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers without noise, and a closing rule without noise."""

    def none(entropy: object, *, scale: Fraction, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(registry_desk, "discrete_laplace_array", none)
    monkeypatch.setattr(registry_desk, "discrete_laplace", lambda entropy, *, scale: 0)


def ticket_for(
    offices: ThreeOffices, property: str = "francophone", kind: str = "count", scale: int = 30, groups: int = 1
) -> CountRequest:
    """A request of the researcher's own making, with a ticket that holds."""
    names = [AskedGroup(f"g{place}", "age >= 0", Decimal(1)) for place in range(groups)] if groups > 1 else []
    asked = offices.researcher.ask(property=property, kind=LinkedKind(kind), scale=scale, where=None, groups=names)
    opened = offices.holder.study.unseal(asked.envelope, EnvelopeKind.REQUEST)
    return CountRequest.from_bytes(opened.body)


def forged_sample(
    offices: ThreeOffices,
    ids: Sequence[int | str],
    request: CountRequest,
    /,
    *,
    labels: Sequence[int] = (),
    **changed: Any,
) -> DrawnSample:
    """A sample of just these ids, in this order and as often as they stand there."""
    terms, key = offices.signed.agreement.terms, offices.holder.study.secret("link")
    column = pa.array(list(ids), type=pa.int64() if terms.ids == "integer" else pa.string())
    fields: dict[str, Any] = {
        "request": request.request,
        "draw": secrets.token_hex(16),
        "scale": request.scale,
        "charge": request.charge,
        "groups": len(request.groups),
        "ticket": request.ticket,
        "pseudonyms": pseudonyms_of(column, kind=terms.ids, key=key),
        "group_of": np.array(list(labels) or [0] * len(ids), dtype=np.uint8),
    }
    return DrawnSample(**{**fields, **changed})


def forge(
    offices: ThreeOffices,
    ids: Sequence[int | str],
    request: CountRequest | None = None,
    /,
    *,
    labels: Sequence[int] = (),
    asked: dict[str, Any] | None = None,
    **changed: Any,
) -> bytes:
    """The envelope of a forged sample, signed by the holder."""
    request = request or ticket_for(offices, **(asked or {}))
    sample = forged_sample(offices, ids, request, labels=labels, **changed)
    return offices.holder.study.seal(EnvelopeKind.SAMPLE, sample.to_bytes(), request=sample.request)


def cells_of(offices: ThreeOffices, ids: Sequence[int | str], labels: Sequence[int] = (), **asked: Any) -> list[Any]:
    """What the registry answers to a forged sample, group by group as the sample numbers them."""
    from discreet.linkage import NoisyAnswer

    count = max(labels, default=0) + 1
    answer = offices.registry.count(
        forge(offices, ids, labels=labels, asked={**asked, **({"groups": count} if count > 1 else {})})
    ).answer
    opened = offices.researcher.study.unseal(answer, EnvelopeKind.ANSWER)
    found = NoisyAnswer.from_bytes(opened.body).cells
    assert found is not None
    return [list(group) for group in found]


def counters_of(offices: ThreeOffices, property: str = "francophone") -> list[int]:
    """What every unit has paid, in the registry's order."""
    desk = offices.registry
    with desk.hold(desk.pool(offices.signed.agreement.terms.property(property))) as book:
        found: list[int] = book.accounts.counters.tolist()
    return found


def exhaust(offices: ThreeOffices, ids: Sequence[int | str], property: str = "francophone") -> None:
    """Ask for these people until their accounts have no room for anything."""
    terms = offices.signed.agreement.terms
    kind = "count" if terms.property(property).single else "histogram"
    for scale in sorted(terms.scales):
        charge = terms.charge(terms.property(property), LinkedKind(kind), scale)
        for _ in range((terms.tariff.cap - max(counters_of(offices, property))) // charge):
            offices.registry.count(forge(offices, ids, asked={"property": property, "kind": kind, "scale": scale}))


def write(path: Path, lines: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
