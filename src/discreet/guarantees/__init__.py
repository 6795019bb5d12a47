"""What a release may claim: frozen guarantee types with exact parameters, and the budget they are spent from.

Conversions that never tighten, composition and group privacy, and what ε means as a belief.
Stands on the standard library alone; nothing here touches data, noise or files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.guarantees.belief import BeliefSolution, posterior, solve
    from discreet.guarantees.budget import Balance, Budget, PopulationTerms
    from discreet.guarantees.composition import group
    from discreet.guarantees.conversions import largest_rho, smallest_epsilon, zcdp_to_approx, zcdp_within
    from discreet.guarantees.enclosures import DIGITS, exp_down, exp_up, ln_down, ln_up
    from discreet.guarantees.numbers import (
        GRID,
        LARGEST,
        ExactLike,
        ceil_to_grid,
        exact,
        floor_to_grid,
        from_units,
        shown,
        text,
        to_units,
    )
    from discreet.guarantees.parameters import Language, as_given, check_name, checked, name_request
    from discreet.guarantees.renyi import ORDERS, allowed_loss, pure_loss
    from discreet.guarantees.types import (
        ZCDP,
        ApproxDP,
        BootstrapDP,
        CentralGuarantee,
        Guarantee,
        LocalDP,
        Neighbours,
        PureDP,
        ShuffleDP,
        Unit,
        Unproven,
    )
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "DIGITS",
    "GRID",
    "LARGEST",
    "ORDERS",
    "ZCDP",
    "ApproxDP",
    "Balance",
    "BeliefSolution",
    "BootstrapDP",
    "Budget",
    "CentralGuarantee",
    "ExactLike",
    "Guarantee",
    "Language",
    "LocalDP",
    "Neighbours",
    "PopulationTerms",
    "PureDP",
    "ShuffleDP",
    "Unit",
    "Unproven",
    "allowed_loss",
    "as_given",
    "ceil_to_grid",
    "check_name",
    "checked",
    "exact",
    "exp_down",
    "exp_up",
    "floor_to_grid",
    "from_units",
    "group",
    "largest_rho",
    "ln_down",
    "ln_up",
    "name_request",
    "posterior",
    "pure_loss",
    "shown",
    "smallest_epsilon",
    "solve",
    "text",
    "to_units",
    "zcdp_to_approx",
    "zcdp_within",
]
