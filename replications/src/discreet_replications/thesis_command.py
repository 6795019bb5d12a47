"""`discreet reproduce thesis`: the benchmark on local sensitivity, checked, run, audited. Never a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import Format, FormatOption, UnusedWorkspace, show_json, show_note, show_progress, show_table

if TYPE_CHECKING:
    from discreet_replications.thesis.thesis_reproduction import ThesisReproduction

__all__ = ["thesis"]

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
        show_note(f"Interrupted. Generators that were trained are kept in {out}; run the same command again.")
        raise typer.Exit(_INTERRUPTED) from None
    if output is Format.JSON:
        show_json(done.to_dict())
        return
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
    check = done.checks[0]
    show_table(
        "Appendix A of the thesis, checked" + (f"; kidney in its {check.reading} reading." if check.reading else "."),
        [
            ("", "right"),
            ("query", "left"),
            ("printed", "right"),
            ("here", "right"),
            ("sensitivity printed", "right"),
            ("here", "right"),
        ],
        [
            [
                str(line.query.number),
                line.query.name,
                line.query.result,
                f"{float(line.truth.result):.8g}" + ("" if line.result_matches else "*"),
                line.query.sensitivity,
                f"{float(line.truth.thesis_sensitivity):.5g}" + ("" if line.sensitivity_matches else "*"),
            ]
            for line in check.lines
        ],
        footer=["* printed otherwise", "", *done.notes, ""],
    )


def _show_columns(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.data.printed_columns import CAPTIONS
    from discreet_replications.thesis.pages.page_sections import column_cells, column_heads, tell_columns

    found = [number for number in CAPTIONS if any(line.printed.table == number for line in done.columns)]
    for number in found:
        lines = [line for line in done.columns if line.printed.table == number]
        heads = [("column", "left"), *((head, "right") for head in column_heads(lines[0].printed.dataset))]
        footer = ["", *(tell_columns(done) if number == found[-1] else []), ""]
        show_table(f"{CAPTIONS[number]}.", heads, [column_cells(line) for line in lines], footer=footer)


def _show_shortfalls(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.page_sections import LOW_HEADS
    from discreet_replications.thesis.shortfalls import ALLOWED

    if not done.shortfalls:
        return
    sides = ("left", *["right"] * 5)
    show_table(
        f"Sensitivities that come out too low; the thesis allows {ALLOWED:.3%} below its own.",
        [(head.lower(), side) for head, side in zip(LOW_HEADS, sides, strict=True)],
        [item.cells() for item in done.shortfalls],
        footer=[""],
    )


def _show_scales(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.thesis.scales import QUERY

    epsilons = dict.fromkeys(line.epsilon for line in done.scales)
    by_sensitivity: dict[int, list[str]] = {}
    for line in done.scales:
        by_sensitivity.setdefault(line.sensitivity, [f"{line.sensitivity:,}"]).append(tell_figure(line.error.mean))
    show_table(
        f"Figure 1: mean error of {QUERY.name} by the sensitivity; the exact answer is {done.scales[0].truth:,}.",
        [("sensitivity", "right"), *((f"ε = {epsilon}", "right") for epsilon in epsilons)],
        list(by_sensitivity.values()),
        footer=[""],
    )


def _show_timings(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_figure

    if not done.timings:
        return
    heads = ("Table 8 printed", "here", "Table 9 printed", "here", "kept")
    rows = []
    for item in done.timings:
        figures = (item.printed[0], item.whole, item.printed[1], item.warm, item.kept)
        rows.append([item.method.name, item.epsilon, *("–" if f is None else tell_figure(f.mean) for f in figures)])
    show_table(
        "Tables 8 and 9: mean seconds to an answer; kept: rows are generated once and what is needed of them is kept.",
        [("strategy", "left"), ("ε", "right"), *((head, "right") for head in heads)],
        rows,
        footer=[*dict.fromkeys(f"Without a figure (–): {item.why}" for item in done.timings if item.why), ""],
    )


def _show_clipping(done: "ThesisReproduction") -> None:
    moved = [item for item in done.foreseen if item.clipped_rows]
    show_table(
        "What the public ranges clip; the other queries lose nothing.",
        [("query", "left"), ("range", "left"), ("rows clipped", "right"), ("bias", "right")],
        [
            [
                item.query.name,
                f"{item.range.low} to {item.range.high}",
                f"{item.clipped_rows:,}",
                f"{item.bias:.2%}".replace("-", "−"),
            ]
            for item in moved
        ],
        footer=[""],
    )


def _show_verdict(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.methods import LEFT_OUT
    from discreet_replications.thesis.pages.thesis_words import tell_figure
    from discreet_replications.thesis.verdict import printed_for

    epsilons = done.records.epsilons
    found = {(score.method, score.epsilon): score for score in done.verdict.scores}
    rows = []
    for method in done.records.methods:
        scores = [found[method, epsilon] for epsilon in epsilons]
        means = (
            cell
            for item in scores
            for cell in (tell_figure(item.mean), "" if item.printed is None else tell_figure(item.printed))
        )
        rows.append([method.name, f"ε, {method.terms}" if scores[0].proven else "none", *means])
    for method, _ in done.records.skipped:
        lines = [printed_for(method, epsilon, done.records.queries) for epsilon in epsilons]
        cells = (cell for item in lines for cell in ("left out", "" if item is None else tell_figure(item)))
        rows.append([method.name, "none", *cells])
    heads = [(f"{what} ε = {epsilon}", "right") for epsilon in epsilons for what in ("", "printed")]
    show_table(
        f"Verdict: mean relative error over {len(done.records.queries)} queries, {done.setting.runs} runs.",
        [("strategy", "left"), ("guarantee", "left"), *((head.strip(), side) for head, side in heads)],
        rows,
        footer=["", *done.verdict.sentences, LEFT_OUT, ""],
    )


def _show_patients(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_figure

    if not done.patient_scores:
        return
    show_table(
        "With the patient as unit, up to 40 stays each: mean relative error.",
        [("strategy", "left"), ("ε", "right"), ("diabetes", "right"), ("all queries", "right"), ("queries", "right")],
        [
            [item.method.name, item.epsilon, tell_figure(item.diabetes), tell_figure(item.overall), str(item.queries)]
            for item in done.patient_scores
        ],
        footer=[""],
    )


def _show_audit(done: "ThesisReproduction") -> None:
    from discreet_replications.thesis.pages.thesis_words import tell_audit

    show_table(
        "Audit: what answers alone show, 99.9% confidence.",
        [("neighbours", "left"), ("strategy", "left"), ("claimed", "right"), ("at least", "right"), ("", "left")],
        [
            [
                item.pair.name,
                item.strategy,
                f"{item.result.claimed:g}",
                f"{item.result.lower_bound:.3f}",
                "refuted" if item.result.refuted else "",
            ]
            for item in done.audit
        ],
        footer=[
            "",
            *tell_audit(done.audit),
            "",
            *(f"{name}: {file}" for name, file in done.files.items()),
            "A study, not a release.",
        ],
    )
