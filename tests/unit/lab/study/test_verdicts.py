"""Verdicts are computed: other data, another sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.catalogue import speaking
from discreet.lab.study.findings.advice import Recommendation, choose, percent, setting_of
from discreet.lab.study.findings.series_names import tell_mechanism, tell_variant
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series
from discreet.lab.study.findings.verdicts import (
    judge_coverage,
    order_chance,
    query_verdict,
    reference_epsilon,
    suggest,
    summarise,
)

GROUPS = ("North", "South", "East", "West", "Centre", "Coast")
TRUTH = np.array([1000.0, 800.0, 600.0, 400.0, 200.0, 50.0])
CENTRAL, LOCAL, SHUFFLE = Series("central", "laplace"), Series("local", "grr"), Series("shuffle", "multi-message")
NAIVE = Series("naive", "local")


def _panel(error: float, *, truth: np.ndarray = TRUTH, theory: bool = True, shift: float = 0.0) -> QueryPanel:
    """Errors of one size everywhere; two runs that lie so much above the truth."""
    estimates = np.repeat((truth + shift)[:, None], 2, axis=1)
    expected = np.full(truth.size, error) if theory else None
    return QueryPanel(truth, estimates, estimates - 2 * error, estimates + 2 * error, expected)


def _asked(panels: Mapping[tuple[Series, float], QueryPanel], *, statistic: str = "count") -> Asked:
    epsilons = tuple(sorted({epsilon for _, epsilon in panels}, reverse=True))
    truth = next(iter(panels.values())).truth
    return Asked("smoking=1", "Daily smokers", statistic, GROUPS, truth, epsilons, panels)


def _findings(*asked: Asked) -> Findings:
    held = {(Series("central", ""), 1.0): (95, 100), (Series("local", ""), 1.0): (60, 100)}
    return Findings(Path(), {"config": {"level": "0.95", "runs": 2}}, "", asked, held, (), (), (), ())


def test_the_order_is_sure_under_small_errors_and_lost_under_large_ones() -> None:
    assert order_chance(_panel(1.0)) == 1.0
    assert order_chance(_panel(5000.0)) < 0.05
    middle = order_chance(_panel(100.0))
    assert 0.1 < middle < 0.95
    assert middle == order_chance(_panel(100.0))


def test_without_theory_the_order_is_that_of_the_runs() -> None:
    panel = _panel(1.0, theory=False)
    assert order_chance(panel) == 1.0
    swapped = panel.estimates.copy()
    swapped[0, 1] = 0.0
    assert order_chance(QueryPanel(TRUTH, swapped, panel.low, panel.high, None)) == 0.5


def test_one_group_has_no_order() -> None:
    assert math.isnan(order_chance(_panel(1.0, truth=np.array([5.0]))))


def test_sentences_follow_the_data() -> None:
    good = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})
    bad = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(300.0)})
    told = [" ".join(query_verdict(one, epsilon=1.0, level=0.95)) for one in (good, bad)]
    assert "off by 0.21% under central and 0.42% under local" in told[0]
    assert "off by 0.21% under central and 62% under local" in told[1]
    assert "No group drowns" in told[0]
    assert "under local 6 of 6 (Coast, Centre, West, East and 2 more)" in told[1]
    assert "choose local: it is accurate enough, and respondents need not trust anybody" in told[0]
    assert "choose central: it alone is accurate enough" in told[1]


def test_the_top_five_are_named_in_order() -> None:
    told = query_verdict(_asked({(CENTRAL, 1.0): _panel(1.0)}), epsilon=1.0, level=0.95)
    assert any(
        sentence.startswith("The top five groups (North, South, East, West, Centre) stay in order at ε = 1")
        and "central: probability above 99%, 2 of 2 runs" in sentence
        for sentence in told
    )


def test_the_smallest_epsilon_that_serves_is_found_for_each_model() -> None:
    panels = {(LOCAL, 3.0): _panel(20.0), (LOCAL, 1.0): _panel(45.0), (LOCAL, 0.5): _panel(400.0)}
    told = " ".join(query_verdict(_asked(panels), epsilon=1.0, level=0.95))
    assert "below 10%: local ε = 1; below 5%: local ε = 3" in told
    nothing = " ".join(query_verdict(_asked({(LOCAL, 1.0): _panel(500.0)}), epsilon=1.0, level=0.95))
    assert "local no ε studied is enough" in nothing


def test_least_trust_is_preferred_among_models_that_serve() -> None:
    panels = {(CENTRAL, 1.0): _panel(1.0), (SHUFFLE, 1.0): _panel(2.0), (LOCAL, 1.0): _panel(300.0)}
    assert choose([_asked(panels)], epsilon=1.0).series == "central"
    panels[LOCAL, 1.0] = _panel(3.0)
    assert choose([_asked(panels)], epsilon=1.0).series == "local"
    none = {(CENTRAL, 1.0): _panel(200.0), (LOCAL, 1.0): _panel(300.0)}
    choice = choose([_asked(none)], epsilon=1.0)
    assert choice.series is None
    assert choice.why.startswith("the best, central, is off by 42%")


def test_what_no_command_runs_is_never_advised() -> None:
    """The shuffle has protocols and no command; who answers in clear has no ε."""
    hybrid = Series("hybrid", "30% in clear")
    for series in (SHUFFLE, hybrid):
        alone = choose([_asked({(series, 1.0): _panel(1.0)})], epsilon=1.0)
        assert alone.series is None
        assert alone.why == "no command runs a model of this study"
    panels = {(CENTRAL, 1.0): _panel(3.0), (SHUFFLE, 1.0): _panel(2.0), (hybrid, 1.0): _panel(1.0)}
    told = summarise(replace(_findings(_asked(panels)), hybrids=(_asked(panels),)))
    assert any(one.startswith("At ε = 1 choose central: ") for one in told)
    assert not any("choose shuffle" in one or "choose hybrid" in one for one in told)
    assert any("No command runs a protocol of the shuffle" in one and "--clear" in one for one in told)
    assert any("discreet query for central" in one for one in told)


def _attacked(success: float, baseline: float = 0.4, *, mechanism: str = "grr") -> dict[str, object]:
    return {
        "model": "local", "mechanism": mechanism, "column": "smoking", "epsilon": 1.0, "success_after": success,
        "baseline": baseline,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("success", "baseline", "advised"),
    [
        (0.98, 0.4, False),  # nearly everybody is found
        (0.92, 0.8, False),  # nine in ten, and more than half of what the group leaves open
        (0.66, 0.4, False),  # a quarter more than without a report
        (0.62, 0.4, True),
        (0.95, 0.95, True),  # the group tells it, not the report
        (0.95, 0.94, True),
    ],
)
def test_local_is_not_advised_where_the_attack_finds_too_much(success: float, baseline: float, advised: bool) -> None:
    asked = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})
    findings = replace(_findings(asked), linkage=(_attacked(success, baseline),))
    found = choose([asked], epsilon=1.0, setting=setting_of(findings))
    assert found.series == ("local" if advised else "central")
    assert (f"right for {success:.0%} of those whom the linkage attack finds" in found.why) is not advised
    assert "tried no linkage attack" not in found.why
    assert "tried no linkage attack" in choose([asked], epsilon=1.0).why
    alone = _asked({(LOCAL, 1.0): _panel(2.0)})
    choice = choose([alone], epsilon=1.0, setting=setting_of(findings))
    assert (choice.series is None) is not advised


def test_reports_that_were_not_attacked_count_as_what_epsilon_allows() -> None:
    """Sets and hashes are linked too: odds of 2 to 3 become at most e^ε times as much, for those who were asked."""
    asked = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})
    findings = replace(_findings(asked), linkage=(_attacked(math.nan, mechanism="oue"),))

    def advised(notes: dict[str, str]) -> str | None:
        variants = [{"model": "local", "variant": "local", "notes": {"1": notes}}]
        info = {**findings.info, "variants": variants}
        return choose([asked], epsilon=1.0, setting=setting_of(replace(findings, info=info))).series

    assert advised({"epsilon of a report": "1", "columns asked": "1 of 1"}) == "local"  # 64%
    assert advised({"epsilon of a report": "2", "columns asked": "1 of 1"}) == "central"  # 83%
    assert advised({"epsilon of a report": "2", "columns asked": "1 of 6"}) == "local"


def test_local_is_not_advised_untried_where_a_report_nearly_tells_the_answer() -> None:
    """Without static columns nothing is attacked; at ε = 10 a report is the answer itself."""
    asked = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})

    def advise(spent: str) -> Recommendation:
        variants = [{"model": "local", "variant": "local", "notes": {"1": {"epsilon of a report": spent}}}]
        findings = replace(_findings(asked), info={**_findings(asked).info, "variants": variants})
        return choose([asked], epsilon=1.0, setting=setting_of(findings))

    assert advise("2.1").series == "local"  # 89%
    assert advise("2.3").series == "central"
    assert "tried no linkage attack on it, and whoever knows" in advise("10").why
    assert "right for 100%" in advise("10").why


def test_variants_of_local_are_attacked_and_advised_apart() -> None:
    weak, strong = (Series("local", f"grr ({name})") for name in ("laplace", "piecewise"))
    asked = _asked({(weak, 1.0): _panel(1.0), (strong, 1.0): _panel(2.0)})
    info = {"config": {"level": "0.95", "models": [{"model": "local"}] * 2}}
    rows = (_attacked(0.98, mechanism="grr (laplace)"), _attacked(0.5, mechanism="grr (piecewise)"))
    setting = setting_of(replace(_findings(asked), info=info, linkage=rows))
    assert choose([asked], epsilon=1.0, setting=setting).series == "local (piecewise)"


def test_advice_goes_by_what_a_respondent_loses_in_total() -> None:
    asked = _asked({(CENTRAL, epsilon): _panel(1.0) for epsilon in (4.0, 1.0, 0.5)})
    spent = {"columns": ["a", "b", "c"], "config": {"level": "0.95", "epsilon_is": "per-column"}}
    findings = replace(_findings(asked), info=spent)
    told = summarise(findings)
    assert any(
        one.startswith("At ε = 0.5 and 1 for each of 3 columns, 1.5 and 3 in total for a respondent, choose central")
        for one in told
    )
    assert any("12 in total for a respondent, choose none of them: a respondent would lose more" in one for one in told)
    total = replace(findings, info={**spent, "config": {"level": "0.95", "epsilon_is": "total"}})
    assert any(one.startswith("At ε = 0.5, 1 and 4 choose central") for one in summarise(total))


def test_a_recipe_for_comparison_is_never_chosen() -> None:
    panels = {(NAIVE, 1.0): _panel(0.1, theory=False), (LOCAL, 1.0): _panel(300.0)}
    assert choose([_asked(panels)], epsilon=1.0).series is None


def test_a_biased_randomiser_is_never_chosen_and_its_reason_is_told() -> None:
    clip, laplace = Series("local", "clip"), Series("local", "laplace")
    panels = {(clip, 1.0): _panel(1.0), (laplace, 1.0): _panel(300.0)}
    asked = _asked(panels)
    assert choose([asked], epsilon=1.0).series is None
    told = " ".join(summarise(_findings(asked)))
    assert "comparison only are off by: local (clip) 0.21%" in told
    assert "clip, modulo and abs are biased" in told
    assert "naive" not in told
    for mechanism in ("abs", "modulo split", "grr (clip)", "grr split (automatic, abs)"):
        assert Series("local", mechanism).compared_only, mechanism
    assert not Series("local", "grr (automatic)").compared_only
    assert not Series("local", "bounded-laplace").compared_only


def test_a_figure_that_no_model_shows_does_not_decide_and_is_named() -> None:
    """Two refusals in a province of thousands say nothing about models."""
    panels = {(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(300.0)}
    rare = replace(_asked({key: _panel(900.0) for key in panels}), label="Refusal")
    choice = choose([_asked(panels), rare], epsilon=1.0)
    assert choice.series == "central"
    assert "no model shows it well enough at this ε: “Refusal”" in choice.why


def test_a_variant_must_serve_every_figure_to_be_chosen() -> None:
    one, other = (_asked({(CENTRAL, 1.0): _panel(1.0), (local, 1.0): _panel(2.0)}) for local in (LOCAL, SHUFFLE))
    assert choose([one, other], epsilon=1.0).series == "central"
    names = [Series("local", f"{mechanism} (automatic)") for mechanism in ("grr", "subset")]
    rival = Series("local", "oue")
    both = [_asked({(name, 1.0): _panel(2.0), (rival, 1.0): _panel(300.0)}) for name in names]
    assert choose(both, epsilon=1.0).series == "local (automatic)"


def test_groups_too_small_for_a_protocol_are_not_taken_for_exact() -> None:
    panel = _panel(1.0)
    assert panel.expected is not None
    expected = panel.expected.copy()
    expected[[0, 1, 2, 3]] = math.nan
    estimates = panel.estimates.copy()
    estimates[[0, 1, 2, 3]] = math.nan
    small = QueryPanel(TRUTH, estimates, panel.low, panel.high, expected)
    assert order_chance(small) == 0.0
    assert math.isinf(small.typical())
    assert choose([_asked({(SHUFFLE, 1.0): small})], epsilon=1.0).series is None


def test_means_that_are_not_shown_are_not_taken_for_good_ones() -> None:
    """Theory tells how far a mean of so small a group would be off; most releases show none."""
    panel = _panel(1.0)
    estimates = panel.estimates.copy()
    estimates[:4, 0] = math.nan
    assert math.isfinite(QueryPanel(TRUTH, estimates, panel.low, panel.high, panel.expected).typical())
    estimates[:4] = math.nan
    hidden = QueryPanel(TRUTH, estimates, panel.low, panel.high, panel.expected)
    assert math.isinf(hidden.typical())
    assert choose([_asked({(CENTRAL, 1.0): hidden})], epsilon=1.0).series is None


def test_groups_that_hardly_differ_are_told_so() -> None:
    truth = np.array([170.0, 170.1, 170.2, 170.3, 170.4, 170.5])
    asked = _asked({(CENTRAL, 1.0): _panel(1.7, truth=truth)}, statistic="mean")
    choice = choose([asked], epsilon=1.0)
    assert choice.series is None
    assert "the groups lie closer together than the noise" in choice.why
    assert "the best, central, is off by 1%" in choice.why


def test_the_price_of_a_large_epsilon_is_told() -> None:
    asked = _asked({(LOCAL, 6.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})
    row = {**_attacked(0.98), "epsilon": 6.0}
    findings = replace(_findings(asked), linkage=(row,), info={"columns": ["a", "b"], "config": {"level": "0.95"}})
    told = summarise(findings)
    assert any("by a factor of up to 7.4 at ε = 2 in total (2 columns) and 162,755 at ε = 12" in one for one in told)
    assert any("at ε = 6: the best guess at smoking is right for 98% of those" in one for one in told)
    weak = replace(findings, linkage=({**row, "success_after": 0.45},))
    assert not any("the best guess" in one for one in summarise(weak))


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("local automatic automatic missing public", "local"),
        ("local automatic clip sampling missing public", "local (numbers by clip)"),
        ("local grr automatic split missing category", "local (categories by grr, ε split, missing answers protected)"),
        ("local automatic automatic sampling ratio missing public", "local (counts by ratio)"),
        ("hybrid 30% in clear, as strata local automatic automatic missing public", "hybrid (30% in clear, as strata)"),
        ("shuffle single-message", "shuffle single-message"),
    ],
)
def test_variants_are_told_without_what_is_usual(variant: str, words: str) -> None:
    assert tell_variant(variant) == words


def test_means_must_also_be_told_apart() -> None:
    """An error of 1% is small, but not when the groups differ by 0.1%."""
    truth = np.array([170.0, 170.1, 170.2, 170.3, 170.4, 170.5])
    panels = {(LOCAL, 1.0): _panel(1.7, truth=truth), (CENTRAL, 1.0): _panel(0.01, truth=truth)}
    asked = _asked(panels, statistic="mean")
    assert choose([asked], epsilon=1.0).series == "central"
    assert "the error under local hides that" in " ".join(query_verdict(asked, epsilon=1.0, level=0.95))


def test_coverage_below_the_promise_is_said() -> None:
    short = _panel(1.0, shift=10.0)
    told = " ".join(query_verdict(_asked({(CENTRAL, 1.0): short}), epsilon=1.0, level=0.95))
    assert "central 0.0% (too seldom)" in told


@pytest.mark.parametrize(
    ("held", "number", "words"),
    [
        (951, 1000, "as promised"),
        (935, 1000, "within chance"),
        (9390, 10_000, "too seldom"),
        (900, 1000, "too seldom"),
        (14, 18, "within chance"),
        (11, 18, "too seldom"),
        (0, 3, "too seldom"),
        (0, 1, "within chance"),
    ],
)
def test_coverage_is_judged_by_chance(held: int, number: int, words: str) -> None:
    assert judge_coverage(held, number, 0.95) == words


def test_one_epsilon_that_falls_short_is_named_though_the_others_make_up_for_it() -> None:
    """Pooled over mechanisms or ε, a shortfall could pass for a promise kept."""
    single, multi = Series("shuffle", "single-message"), Series("shuffle", "multi-message")
    held = {
        (single, 0.6): (880, 1000),
        (single, 5.0): (960, 1000),
        (multi, 0.6): (990, 1000),
        (multi, 5.0): (990, 1000),
    }
    panels = {(CENTRAL, 1.0): _panel(1.0)}
    told = summarise(replace(_findings(_asked(panels)), coverage=held))
    promises = next(sentence for sentence in told if "intervals hold the truth" in sentence)
    assert "shuffle (multi-message) 99.0% (as promised)" in promises
    assert "shuffle (single-message) 92.0% (too seldom, 88.0% at ε = 0.6)" in promises


def test_the_summary_speaks_of_every_model_and_merges_equal_advice() -> None:
    panels = {
        (series, epsilon): _panel(error / epsilon)
        for series, error in ((CENTRAL, 1.0), (SHUFFLE, 2.0), (LOCAL, 300.0))
        for epsilon in (0.5, 1.0, 2.0)
    }
    panels[NAIVE, 1.0] = _panel(1.0, theory=False, shift=500.0)
    told = summarise(_findings(_asked(panels)))
    assert told[0].startswith("At ε = 1, in the typical group: central gives counts to within 0.21%")
    assert sum("choose" in sentence for sentence in told) == 1
    assert any(sentence.startswith("At ε = 0.5, 1 and 2 choose central") for sentence in told)
    assert any("local 60.0% (too seldom, 60.0% at ε = 1)" in sentence for sentence in told)
    assert any("comparison only are off by: naive 104%" in sentence for sentence in told)


def test_the_epsilon_nearest_to_one_is_spoken_of() -> None:
    assert reference_epsilon([5.99, 3.0, 1.0, 0.8]) == 1.0
    assert reference_epsilon([8.0, 0.5]) == 0.5


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0001, "less than 0.1%"), (0.0123, "1.2%"), (0.25, "25%"), (12.0, "1,200%"), (math.nan, "unknown")],
)
def test_shares_are_told_with_two_figures(share: float, words: str) -> None:
    assert percent(share) == words


def test_a_category_that_nobody_has_is_no_error() -> None:
    empty = _asked({(CENTRAL, 1.0): _panel(1.0, truth=np.zeros(6))})
    good = _asked({(CENTRAL, 1.0): _panel(1.0)})
    told = summarise(_findings(good, empty))
    assert told[0] == "At ε = 1, in the typical group: central gives counts to within 0.21%."
    assert "unknown" not in " ".join(told)
    assert "no group has a true value" in choose([empty], epsilon=1.0).why
    bad = _asked({(CENTRAL, 1.0): _panel(300.0)})
    assert "the best, central, is off by 62%" in choose([bad, empty], epsilon=1.0).why


def test_the_suggested_choice_is_the_smallest_epsilon_at_which_a_model_is_advised() -> None:
    counts = _asked({(CENTRAL, e): _panel(10.0 / e) for e in (0.1, 1.0, 2.0)})
    assert suggest(_findings(counts)).startswith("Suggested choice: central at ε = 1. This is the strongest protection")
    means = replace(_asked({(LOCAL, e): _panel(10.0 / e) for e in (0.1, 1.0, 2.0)}, statistic="mean"), name="m")
    mixed = {"columns": ["a", "b"], "config": {"level": "0.95", "epsilon_is": "per-column"}}
    told = suggest(replace(_findings(counts, means), info=mixed))
    assert "central at ε = 1 (2 in total) for counts; local at ε = 1 (2 in total) for means" in told
    hopeless = replace(_asked({(LOCAL, 1.0): _panel(900.0)}, statistic="mean"), name="m")
    assert "central at ε = 1 for counts; none for means" in suggest(_findings(counts, hopeless))
    assert suggest(_findings(hopeless)).startswith("No choice can be suggested")
    assert suggest(_findings()) == ""


def test_verdicts_are_given_in_french_too_and_name_models_in_it() -> None:
    single = Series("shuffle", "single-message")
    panels = {(CENTRAL, 0.5): _panel(10.0), (LOCAL, 0.5): _panel(300.0), (single, 0.5): _panel(20.0)}
    with speaking("fr"):
        findings = _findings(_asked(panels))
        told = " ".join([suggest(findings), *summarise(findings)])
        assert "Choix suggéré : le modèle central à ε = 0,5." in plain(told)
        assert "le modèle mélange rend les effectifs à 4,2 % près" in plain(told)
        assert not re.search(r"\b(the|of|under|keeps|choose)\b", told)
        assert single.label == "mélange (un message)"
    assert single.label == "shuffle (single-message)"


def test_what_the_attack_found_holds_in_any_language() -> None:
    """The setting knows models by their codes: advice in French weighs what was found while English was spoken."""
    asked = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(2.0)})
    setting = setting_of(replace(_findings(asked), linkage=(_attacked(0.98),)))
    with speaking("fr"):
        assert choose([asked], epsilon=1.0, setting=setting).series == "central"


@pytest.mark.parametrize(
    ("mechanism", "english", "french"),
    [
        ("grr or subset (automatic)", "grr or subset (automatic)", "grr ou subset (automatique)"),
        ("12.5% in clear, as strata", "12.5% in clear, as strata", "12,5 % en clair, en strates"),
        (
            "30% in clear, local = 1 or 2, 0.4 times as often",
            "30% in clear, local = 1 or 2, 0.4 times as often",
            "30 % en clair, local = 1 ou 2 : 0,4 fois la fréquence des autres",
        ),
        (
            "30% in clear, table > 2.5, 2 times as often",
            "30% in clear, table > 2.5, 2 times as often",
            "30 % en clair, table > 2,5 : 2 fois la fréquence des autres",
        ),
        ("piecewise split", "piecewise split", "piecewise réparti"),
    ],
)
def test_mechanisms_are_told_from_their_codes(mechanism: str, english: str, french: str) -> None:
    assert tell_mechanism(mechanism) == english
    with speaking("fr"):
        assert plain(tell_mechanism(mechanism)) == french


def plain(text: str) -> str:
    """Without the spaces and apostrophes of print."""
    return text.replace("\u202f", " ").replace("\u00a0", " ").replace("’", "'")
