"""The words of the report that do not follow from the figures: what is protected, how verdicts are computed, terms."""

from __future__ import annotations

from typing import Final

from discreet.catalogue import Phrase, say
from discreet.lab.study.findings.study_findings import Findings

__all__ = ["GLOSSARY", "HOW_CLEAR", "HOW_COMPUTED", "HOW_SIZED", "tell_protected", "tell_unprotected"]

HOW_COMPUTED: Final = Phrase(
    "Errors are those that theory expects of one release, and the measured mean of the runs for what has no theory. "
    "The typical group is the one in the middle when groups are sorted by relative error. Probabilities come from "
    "2,000 simulated releases with normal errors of the expected size, drawn from a fixed seed; beside them stands how "
    "often the study's own runs agree. A model is accurate enough for a set of figures when the typical error is "
    "within 10% in each of them and, for means, below the spread between groups; a group drowns when its error is "
    "above 25%. Only what a command can run is advised; local not where the linkage attack guesses an answer right for "
    "nine in ten of those whom it finds (unless the group's commonest answer does nearly as well), or for a quarter "
    "more of them than without a report, nor, where no attack was tried, where one report could turn even odds into "
    "nine in ten; and nothing where a respondent loses more than ε = 10 in total. Intervals are judged as if they were "
    "independent: a shortfall that promised ones would show once in a thousand studies or oftener is within chance."
)

HOW_SIZED: Final = Phrase(
    "In each run this many respondents were drawn at random, the same for every model; their weights were raised so "
    "that they stand for everyone. Errors are those of the protection, measured against the true figures of the "
    "respondents drawn; beside them stands how far those lie from the figures of all, which protection does not "
    "change."
)

HOW_CLEAR: Final = Phrase(
    "In a hybrid collection some respondents answer in clear and the others with local protection; the estimates are "
    "those of discreet local estimate --clear. People choose for themselves. Where the choice depends on the answer, "
    "those in clear differ from the others, and taking both groups for samples of one population is biased, however "
    "many answer and whatever its intervals say. As strata, two parts of a whole, nothing is taken for anything else. "
    "Whoever answers in clear has no protection, so no hybrid is advised."
)

GLOSSARY: Final = (
    (
        Phrase("ε (epsilon)"),
        Phrase(
            "The strength of protection, smaller is stronger. Whatever someone believes about a person, a result with "
            "ε changes the odds of that belief by a factor of e^ε at most: 2.7 at ε = 1, 20 at ε = 3."
        ),
    ),
    (
        Phrase("Central model"),
        Phrase(
            "A trusted office holds the true answers, computes the figures and adds noise to them. Most accurate; "
            "needs that trust."
        ),
    ),
    (
        Phrase("Local model"),
        Phrase(
            "Every respondent's answer is made random before it leaves them; nobody ever holds the true answers. Needs "
            "no trust; the noise of all respondents adds up."
        ),
    ),
    (
        Phrase("Shuffle model"),
        Phrase(
            "Answers are protected a little by each respondent and then mixed by a service, so that nobody knows whose "
            "is whose. Lies between the other two. No command of Discreet runs it yet: it is shown for comparison."
        ),
    ),
    (
        Phrase("Interval"),
        Phrase(
            "A range around an estimate that holds the figure without noise with the promised probability. It covers "
            "privacy noise only, unless it says more."
        ),
    ),
)


def tell_protected(findings: Findings) -> list[str]:
    """What the compared models promise, in this setting."""
    variants = [str(item.get("variant")) for item in findings.info.get("variants") or []]
    gaussian = say("Gaussian noise keeps ε but for a chance of δ; Laplace noise keeps it always.")
    tables = any(item.startswith("table") for item in variants)
    trusted = (
        say(
            "Central and table: the office that holds the data is trusted. Local: nobody is. Shuffle: the mixing "
            "service is trusted to mix and not to tell who sent what."
        )
        if tables
        else say(
            "Central: the office that holds the data is trusted. Local: nobody is. Shuffle: the mixing service is "
            "trusted to mix and not to tell who sent what."
        )
    )
    return [
        _tell_unit(findings, tables=tables),
        say(
            "Local, single-message and vector-sum reports hide what one respondent answered, never that they took part "
            "(neighbours: replace-one). Under replace-one the central model needs up to twice the noise."
        ),
        trusted,
        *([gaussian] if any(item.startswith(("central gaussian", "table gaussian")) for item in variants) else []),
        _tell_cost(findings),
    ]


def _tell_unit(findings: Findings, *, tables: bool) -> str:
    neighbours = str(findings.fact("neighbours") or "add-remove")
    whose = say("Central, table and multi-message figures") if tables else say("Central and multi-message figures")
    if neighbours == "add-remove":
        return say(
            "The unit is one respondent. {figures} hide whether one respondent is in the data at all, or what they "
            "answered there (neighbours: add-remove).",
            figures=whose,
        )
    return say(
        "The unit is one respondent. {figures} hide what one respondent answered; that they took part may be known "
        "(neighbours: replace-one).",
        figures=whose,
    )


def tell_unprotected(findings: Findings) -> list[str]:
    """What no ε of this study covers."""
    static = [str(name) for name in findings.fact("static") or []]
    variants = [str(item.get("variant")) for item in findings.info.get("variants") or []]
    lines = []
    if static:
        lines.append(
            say(
                "Static columns ({columns}) stay in clear wherever rows leave. Whoever is unique on them can be found "
                "again; only the answers are protected.",
                columns=", ".join(static),
            )
        )
    if any(item.startswith("shuffle") or item.endswith("missing public") for item in variants):
        lines.append(
            say(
                "Under local and shuffle, whoever has no answer to a question sends no report on it, so that is no "
                "secret. In the local model, missing: category hides it too."
            )
        )
    if findings.info.get("share_of_weight_cut") is not None:
        lines.append(say("Survey weights are treated as public. Each is capped, and figures are about capped weights."))
    if any(item.startswith("hybrid") for item in variants):
        lines.append(say("Whoever answers in clear in a hybrid collection gives the answer away: no ε covers it."))
    lines += [
        say("Averages over the runs serve this study alone: releasing several runs of one figure costs ε each time."),
        say(
            "The noise here comes from a seed. Whoever knows the seed can subtract it, so no figure of this report may "
            "be released."
        ),
    ]
    if any(item.startswith("naive") for item in variants):
        lines.append(
            say(
                "Recipes named naive are shown for comparison; the ε they state is not proved, and some recipes "
                "exceed it."
            )
        )
    return lines


def _tell_cost(findings: Findings) -> str:
    number = len(findings.fact("columns") or [])
    if str(findings.fact("epsilon_is") or "per-column") == "total":
        return say("Each ε here is the total for a respondent over all {number} protected columns.", number=number)
    if number < 2:
        return say("Each ε here is spent on one column, which is the whole cost to a respondent.")
    return say(
        "Each ε here is spent on every column anew: {number} columns at ε = 1 each cost a respondent {number} in "
        "total. Set epsilon_is to total to compare models at one cost for all columns.",
        number=number,
    )
