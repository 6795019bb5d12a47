"""What models, mechanisms and their variants are called, in the reader's language; tables hold their codes."""

from __future__ import annotations

import re
from typing import Final

from discreet.catalogue import Numeral, Phrase, language, localise, say

__all__ = ["mechanism_of", "tell_basis", "tell_mechanism", "tell_model", "tell_pair", "tell_selection", "tell_variant"]

# What is not listed is the name of an algorithm, and the same in every language.
_MODELS: Final = {
    "central": Phrase("central"),
    "table": Phrase("table"),
    "shuffle": Phrase("shuffle"),
    "local": Phrase("local"),
    "hybrid": Phrase("hybrid"),
    "naive": Phrase("naive"),
}
_MECHANISMS: Final = {
    **_MODELS,
    "single-message": Phrase("single-message"),
    "multi-message": Phrase("multi-message"),
    "vector-sum": Phrase("vector-sum"),
    "gaussian": Phrase("gaussian"),
    "calibrated": Phrase("calibrated"),
    "automatic": Phrase("automatic"),
    "sampling": Phrase("sampling"),
    "split": Phrase("split"),
    "or": Phrase("or"),
    "missing public": Phrase("missing public"),
    "missing category": Phrase("missing category"),
    "counts by total": Phrase("counts by total"),
    "counts by ratio": Phrase("counts by ratio"),
}
_BASES: Final = {
    "reports": Phrase("reports"),
    "estimate": Phrase("estimate"),
    "corrected": Phrase("corrected"),
    "unchanged": Phrase("unchanged"),
}
_WORDS: Final = re.compile(r"missing \w+|counts by \w+|[a-z]+(?:-[a-z]+)*")
_CLEAR: Final = re.compile(r"(?P<share>[\d.]+)% in clear(?:, (?P<who>.+ times as often))?(?P<strata>, as strata)?")
_SELECTION: Final = re.compile(r"(?P<column>.+?) (?P<sign>[=>]) (?P<values>.+), (?P<times>[\d.]+) times as often")


def tell_model(model: str) -> str:
    """'central', or of a study of an earlier version 'local oue'."""
    family, _, rest = model.partition(" ")
    return f"{_MODELS.get(family, family)} {rest}".rstrip()


def tell_mechanism(mechanism: str) -> str:
    """'grr or subset (automatic)', '30% in clear, as strata'."""
    clear = _CLEAR.fullmatch(mechanism)
    if clear is None:
        return _WORDS.sub(lambda found: str(_MECHANISMS.get(found[0], found[0])), mechanism)
    parts = [say("{share}% in clear", share=Numeral(clear["share"]))]
    parts += [tell_selection(clear["who"])] if clear["who"] else []
    parts += [say("as strata")] if clear["strata"] else []
    return ", ".join(parts)


def tell_selection(words: str) -> str:
    """Who answers in clear more or less often: 'smoking = 1 or 2, 0.4 times as often'."""
    found = _SELECTION.fullmatch(words)
    if found is None:
        return words
    above = found["sign"] == ">"
    values = localise(found["values"], language()) if above else found["values"].replace(" or ", say(" or "))
    who = f"{found['column']} {found['sign']} {values}"
    return say("{who}, {times} times as often", who=who, times=Numeral(found["times"]))


def tell_pair(model: str, mechanism: str) -> str:
    """A model and its mechanism side by side: 'shuffle single-message'."""
    if not mechanism:
        return tell_model(model)
    return say("{model} {mechanism}", model=tell_model(model), mechanism=tell_mechanism(mechanism))


def tell_basis(basis: str) -> str:
    """What a score was made from."""
    return str(_BASES.get(basis, basis))


def tell_variant(variant: str) -> str:
    """A model's variant for readers, without what is so by default: 'local (numbers by laplace)'."""
    words = variant.split(" ")
    if words[0] == "hybrid":
        return f"{tell_model('hybrid')} ({tell_mechanism(mechanism_of(variant))})"
    if words[0] != "local" or len(words) < 3:
        return tell_pair(words[0], " ".join(words[1:]))
    categories, numbers, *rest = words[1:]
    lines = [say("categories by {randomiser}", randomiser=categories)] if categories != "automatic" else []
    lines += [say("numbers by {randomiser}", randomiser=numbers)] if numbers != "automatic" else []
    lines += [say("ε split")] if "split" in rest else []
    lines += [say("counts by ratio")] if "ratio" in rest else []
    lines += [say("missing answers protected")] if rest[-2:] == ["missing", "category"] else []
    return f"{tell_model('local')} ({', '.join(lines)})" if lines else tell_model("local")


def mechanism_of(variant: str) -> str:
    """What the results call a hybrid, from its variant: '30% in clear'."""
    return variant.removeprefix("hybrid ").partition(" local ")[0]
