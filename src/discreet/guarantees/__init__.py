"""What a release may claim: frozen guarantee types with exact parameters, and the budget they are spent from.

Conversions that never tighten, composition and group privacy, and what ε means as a belief.
Stands on the standard library alone; nothing here touches data, noise or files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.guarantees.belief import BeliefSolution, epsilon_for, odds_ratio, posterior, solve
    from discreet.guarantees.budget import Budget, PopulationTerms
    from discreet.guarantees.composition import compose, group, parallel, post_process
    from discreet.guarantees.conversions import (
        add_remove_to_replace_one,
        largest_rho,
        replace_one_to_add_remove,
        smallest_epsilon,
        to_approx,
        zcdp_to_approx,
        zcdp_within,
    )
    from discreet.guarantees.enclosures import DIGITS, exp_down, exp_up, ln_down, ln_up
    from discreet.guarantees.implications import approx_to_zcdp, local_to_pure, pure_to_approx, pure_to_zcdp
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
    from discreet.guarantees.parameters import Language, as_given, checked
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
    "add_remove_to_replace_one",
    "allowed_loss",
    "approx_to_zcdp",
    "as_given",
    "ceil_to_grid",
    "checked",
    "compose",
    "epsilon_for",
    "exact",
    "exp_down",
    "exp_up",
    "floor_to_grid",
    "from_units",
    "group",
    "largest_rho",
    "ln_down",
    "ln_up",
    "local_to_pure",
    "odds_ratio",
    "parallel",
    "post_process",
    "posterior",
    "pure_loss",
    "pure_to_approx",
    "pure_to_zcdp",
    "replace_one_to_add_remove",
    "shown",
    "smallest_epsilon",
    "solve",
    "text",
    "to_approx",
    "to_units",
    "zcdp_to_approx",
    "zcdp_within",
]
