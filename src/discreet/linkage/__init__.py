"""Linked counts between agencies: what a request costs each person, and what becomes of a service that keeps to it.

A holder draws a sample, a registry counts a property in it, a researcher gets the noisy count. The core imports nothing
of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.linkage.accounts import Accounts
    from discreet.linkage.envelopes import EnvelopeHeader, EnvelopeKind, Role, open_envelope, seal_envelope
    from discreet.linkage.exhaustion import Exhaustion, forecast_exhaustion
    from discreet.linkage.repeated_requests import DifferencingAttack, attack_once_more
    from discreet.linkage.tariff import LinkedKind, Tariff
    from discreet.linkage.tradeoff import Tradeoff, weigh
    from discreet.linkage.tradeoff_figures import draw_tradeoff
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "Accounts",
    "DifferencingAttack",
    "EnvelopeHeader",
    "EnvelopeKind",
    "Exhaustion",
    "LinkedKind",
    "Role",
    "Tariff",
    "Tradeoff",
    "attack_once_more",
    "draw_tradeoff",
    "forecast_exhaustion",
    "open_envelope",
    "seal_envelope",
    "weigh",
]
