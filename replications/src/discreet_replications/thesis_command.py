"""`discreet reproduce thesis`: the benchmark on local sensitivity, checked, run, audited. Never a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Phrase, numeral, say
from discreet.cli import Format, FormatOption, UnusedWorkspace, show_json, show_note, show_progress, show_table

if TYPE_CHECKING:
    from discreet_replications.thesis.data.arff import KidneyReading
    from discreet_replications.thesis.thesis_reproduction import ThesisReproduction

__all__ = ["show_thesis", "thesis"]

_INTERRUPTED = 130


def thesis(
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder with the kidney and diabetes files; breast needs none."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the results; new, or its own.")
    ] = Path("reproduction-thesis"),
    runs: Annotated[int, typer.Option(metavar="N", help="Answers to each query; the thesis had 100.")] = 100,
    epsilons: Annotated[str, typer.Option(metavar="LIST", help="The values of ε.")] = "0.01,0.1",
    sample_sizes: Annotated[
        str, typer.Option(metavar="LIST", help="How many rows are generated to look at.")
    ] = "10000,100000",
    epochs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Length of each training. Default: 300, and 5 for diabetes."),
    ] = None,
    no_gan: Annotated[bool, typer.Option("--no-gan", help="Leave out what needs a trained generator.")] = False,
    audit_samples: Annotated[int, typer.Option(metavar="N", help="Answers on each side of an audit.")] = 2_000,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Repeat the thesis' 26 queries by every strategy, check what it prints, and audit what each promises."""
    from discreet_replications.thesis.setting import ThesisSetting
    from discreet_replications.thesis.thesis_reproduction import reproduce_thesis

    setting = ThesisSetting.read(
        epsilons=epsilons,
        sample_sizes=sample_sizes,
        runs=runs,
        epochs=epochs,
        gan=not no_gan,
        audit_samples=audit_samples,
    )
    try:
        with show_progress() as text:
            done = reproduce_thesis(out, data=data, setting=setting, progress=text, note=show_note)
    except KeyboardInterrupt:
        show_note(
            say(
                "Interrupted. Generators that were trained are kept in {folder}; run the same command again.",
                folder=out,
            )
        )
        raise typer.Exit(_INTERRUPTED) from None
    if output is Format.JSON:
        show_json(done.to_dict())
    else:
        show_thesis(done)


def show_thesis(done: "ThesisReproduction") -> None:
    """Everything that came out, on the screen."""
    _show_check(done)
    _show_columns(done)
    _show_clipping(done)
    _show_verdict(done)
    _show_shortfalls(done)
    _show_scales(done)
    _show_timings(done)
    _show_patients(done)
    _show_audit(done)


def _show_check(done: "ThesisReproduction") -> None:
    from discreet_replications.wording import tell_printed

    check = done.checks[0]
    show_table(
        _title_check(check.reading),
        [
            ("", "right"),
            (say("query"), "left"),
            (say("printed"), "right"),
            (say("here"), "right"),
            (say("sensitivity printed"), "right"),
            (say("here"), "right"),
        ],
        [
            [
                str(line.query.number),
                line.query.name,
                tell_printed(line.query.result),
                numeral(float(line.truth.result), ".8g") + ("" if line.result_matches else "*"),
                tell_printed(line.query.sensitivity),
                numeral(float(line.truth.thesis_sensitivity), ".5g") + ("" if line.sensitivity_matches else "*"),
            ]
            for line in check.lines
        ],
        footer=[say("* printed otherwise"), "", *done.notes, ""],
    )


def _title_check(reading: "KidneyReading | None") -> str:
    match reading:
        case None:
            return say("Appendix A of the thesis, checked.")
        case "thesis":
            return say("Appendix A of the thesis, checked; kidney in its thesis reading.")
    return say("Appendix A of the thesis, checked; kidney in its clean reading.")


def _show_columns(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.data.printed_columns import CAPTIONS
    from discreet_replications.thesis.pages.page_sections import column_cells, column_heads, tell_columns

    found = [number for number in CAPTIONS if any(line.printed.table == number for line in done.columns)]
    for number in found:
        lines = [line for line in done.columns if line.printed.table == number]
        heads = [(say("column"), "left"), *((head, "right") for head in column_heads(lines[0].printed.dataset))]
        footer = ["", *(tell_columns(done) if number == found[-1] else []), ""]
        show_table(f"{CAPTIONS[number]}.", heads, [column_cells(line) for line in lines], footer=footer)


def _show_shortfalls(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.page_sections import LOW_HEADS
    from discreet_replications.thesis.shortfalls import ALLOWED

    if not done.shortfalls:
        return
    sides = ("left", *["right"] * 5)
    show_table(
        say("Sensitivities that come out too low; the thesis allows {allowed:.3%} below its own.", allowed=ALLOWED),
        [(str(head).lower(), side) for head, side in zip(LOW_HEADS, sides, strict=True)],
        [item.cells() for item in done.shortfalls],
        footer=[""],
    )


def _show_scales(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.thesis.scales import QUERY
    from discreet_replications.wording import tell_epsilon

    epsilons = dict.fromkeys(line.epsilon for line in done.scales)
    by_sensitivity: dict[int, list[str]] = {}
    for line in done.scales:
        by_sensitivity.setdefault(line.sensitivity, [numeral(line.sensitivity)]).append(tell_figure(line.error.mean))
    show_table(
        say(
            "Figure 1: mean error of {query} by the sensitivity; the exact answer is {answer:,}.",
            query=QUERY.name,
            answer=done.scales[0].truth,
        ),
        [(say("sensitivity"), "right"), *((tell_epsilon(epsilon), "right") for epsilon in epsilons)],
        list(by_sensitivity.values()),
        footer=[""],
    )


def _show_timings(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.page_sections import tell_untimed
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.wording import tell_printed

    if not done.timings:
        return
    heads = (say("Table 8 printed"), say("here"), say("Table 9 printed"), say("here"), say("kept"))
    rows = []
    for item in done.timings:
        figures = (item.printed[0], item.whole, item.printed[1], item.warm, item.kept)
        rows.append(
            [
                item.method.label,
                tell_printed(item.epsilon),
                *("–" if f is None else tell_figure(f.mean) for f in figures),
            ]
        )
    show_table(
        say(
            "Tables 8 and 9: mean seconds to an answer; kept: rows are generated once and what is needed of them is "
            "kept."
        ),
        [(say("strategy"), "left"), ("ε", "right"), *((head, "right") for head in heads)],
        rows,
        footer=[*tell_untimed(done), ""],
    )


def _show_clipping(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_page import clipping_cells

    show_table(
        say("What the public ranges clip; the other queries lose nothing."),
        [(say("query"), "left"), (say("range"), "left"), (say("rows clipped"), "right"), (say("bias"), "right")],
        [clipping_cells(item) for item in done.foreseen if item.clipped_rows],
        footer=[""],
    )


def _show_verdict(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.methods import LEFT_OUT
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.thesis.verdict import printed_for
    from discreet_replications.wording import NO_GUARANTEE, OMITTED, tell_epsilon, tell_word

    epsilons, none = done.records.epsilons, tell_word(NO_GUARANTEE)
    found = {(score.method, score.epsilon): score for score in done.verdict.scores}
    rows = []
    for method in done.records.methods:
        scores = [found[method, epsilon] for epsilon in epsilons]
        means = (
            cell
            for item in scores
            for cell in (tell_figure(item.mean), "" if item.printed is None else tell_figure(item.printed))
        )
        rows.append([method.label, f"ε, {method.terms}" if scores[0].proven else none, *means])
    for method, _ in done.records.skipped:
        lines = [printed_for(method, epsilon, done.records.queries) for epsilon in epsilons]
        cells = (cell for item in lines for cell in (tell_word(OMITTED), "" if item is None else tell_figure(item)))
        rows.append([method.label, none, *cells])
    printed = Phrase("printed {epsilon}")
    heads = [(text, "right") for at in map(tell_epsilon, epsilons) for text in (at, str(printed.about(epsilon=at)))]
    show_table(
        say(
            "Verdict: mean relative error over {queries} queries, {runs} runs.",
            queries=len(done.records.queries),
            runs=done.setting.runs,
        ),
        [(say("strategy"), "left"), (say("guarantee"), "left"), *heads],
        rows,
        footer=["", *done.verdict.sentences, str(LEFT_OUT), ""],
    )


def _show_patients(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.wording import tell_printed

    if not done.patient_scores:
        return
    show_table(
        say("With the patient as unit, up to 40 stays each: mean relative error."),
        [
            (say("strategy"), "left"),
            ("ε", "right"),
            ("diabetes", "right"),
            (say("all queries"), "right"),
            (say("queries"), "right"),
        ],
        [
            [
                item.method.label,
                tell_printed(item.epsilon),
                tell_figure(item.diabetes),
                tell_figure(item.overall),
                str(item.queries),
            ]
            for item in done.patient_scores
        ],
        footer=[""],
    )


def _show_audit(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_audit
    from discreet_replications.wording import tell_files

    show_table(
        say("Audit: what answers alone show, 99.9% confidence."),
        [
            (say("neighbours"), "left"),
            (say("strategy"), "left"),
            (say("claimed"), "right"),
            (say("at least"), "right"),
            ("", "left"),
        ],
        [
            [
                item.pair.label,
                item.strategy,
                numeral(item.result.claimed, "g"),
                numeral(item.result.lower_bound, ".3f"),
                say("refuted") if item.result.refuted else "",
            ]
            for item in done.audit
        ],
        footer=[
            "",
            *tell_audit(done.audit),
            "",
            *tell_files(done.files),
            say("A study, not a release."),
        ],
    )
