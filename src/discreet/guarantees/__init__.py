"""What a release may claim: frozen guarantee types with exact parameters, and the budget they are spent from.

Conversions that never tighten, composition and group privacy, and what ε means as a belief.
Stands on the standard library alone; nothing here touches data, noise or files.
"""

from discreet.guarantees.belief import BeliefSolution, epsilon_for, odds_ratio, posterior, solve
from discreet.guarantees.budget import Budget, PopulationTerms
from discreet.guarantees.composition import compose, group, parallel, post_process
from discreet.guarantees.conversions import (
    add_remove_to_replace_one,
    approx_to_zcdp,
    local_to_pure,
    pure_to_approx,
    pure_to_zcdp,
    replace_one_to_add_remove,
    to_approx,
    zcdp_to_approx,
    zcdp_within,
)
from discreet.guarantees.numbers import GRID, LARGEST, ExactLike, ceil_to_grid, exact, floor_to_grid, text
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

__all__ = [
    "GRID",
    "LARGEST",
    "ZCDP",
    "ApproxDP",
    "BeliefSolution",
    "BootstrapDP",
    "Budget",
    "CentralGuarantee",
    "ExactLike",
    "Guarantee",
    "LocalDP",
    "Neighbours",
    "PopulationTerms",
    "PureDP",
    "ShuffleDP",
    "Unit",
    "Unproven",
    "add_remove_to_replace_one",
    "approx_to_zcdp",
    "ceil_to_grid",
    "compose",
    "epsilon_for",
    "exact",
    "floor_to_grid",
    "group",
    "local_to_pure",
    "odds_ratio",
    "parallel",
    "post_process",
    "posterior",
    "pure_to_approx",
    "pure_to_zcdp",
    "replace_one_to_add_remove",
    "solve",
    "text",
    "to_approx",
    "zcdp_to_approx",
    "zcdp_within",
]
