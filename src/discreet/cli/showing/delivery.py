"""A release as a command gives it: on the screen in the format asked for, or in a file."""

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from discreet.catalogue import Numeral, language, localise, numeral, say
from discreet.cli.options import ReleaseFormat
from discreet.cli.screen import show_columns, show_estimates, show_note, show_pairs, show_table
from discreet.cli.showing.coded_words import word
from discreet.cli.showing.details import tell_cover, tell_neighbours, tell_sentences
from discreet.errors import PathInvalid, legible
from discreet.guarantees import text
from discreet.results import (
    NOTHING,
    Accounted,
    Amount,
    BoundsUsed,
    CappedWeights,
    Charged,
    Collected,
    FalseReports,
    FewReports,
    Left,
    Marked,
    Quality,
    Release,
    ReleaseKind,
    SizeTooSmall,
    Unbounded,
    ends_of,
    parts_of,
)

if TYPE_CHECKING:
    from decimal import Decimal

    from discreet.results import Figure, Statistic

__all__ = ["choose_format", "deliver", "show_release", "write_draft"]

_MOST_LINES: Final = 600


def choose_format(given: ReleaseFormat | None, out: Path | None) -> ReleaseFormat:
    """The format that was named, else that of the file's name, else a table for people."""
    from discreet.present import infer_format

    if given is not None:
        return given
    return ReleaseFormat.TABLE if out is None else ReleaseFormat(infer_format(out))


def deliver(
    release: Release, chosen: ReleaseFormat, out: Path | None, lang: str, *, meaning: str = "", details: bool = False
) -> None:
    """Write the file, or show the release; `meaning` says what its figures are, where their names do not.

    With `details`, what is the same for every answer is explained where people read it.
    """
    if out is not None:
        release.save(out, format=chosen, language=lang)
        for line in (release.title.text(lang), *tell_promise(release), *([meaning] if meaning else [])):
            typer.echo(line)
        typer.echo(say("wrote {file}", file=out))
    elif chosen is ReleaseFormat.TABLE:
        show_release(release, lang, details=details)
        if meaning:
            typer.echo(meaning)
    elif chosen is ReleaseFormat.JSON:
        from discreet.present import fields, write_parts

        sys.stdout.writelines(write_parts({**fields(release, lang), **({"meaning": meaning} if meaning else {})}))
    else:
        from discreet.present import text_parts

        sys.stdout.writelines(text_parts(release, chosen, lang))
        if meaning:
            show_note(meaning)


def write_draft(file: Path, text: str, *, overwrite: bool) -> None:
    """Write a file for a person to go on with; one that is there stays, unless it may be replaced."""
    from discreet.files import write_whole
    from discreet.paths import tell_reason

    if file.exists() and not overwrite:
        raise PathInvalid(
            say("'{file}' exists. Name another file, or replace it with --overwrite.", file=file), path=str(file)
        )
    try:
        write_whole(file, text, durable=False)
    except OSError as error:
        raise PathInvalid(
            say("'{file}' cannot be written: {reason}.", file=file, reason=tell_reason(error)), path=str(file)
        ) from None


def show_release(release: Release, lang: str, *, details: bool = False) -> None:
    """A release for people: its figures as a table, then what they mean."""
    match release.kind:
        case ReleaseKind.QUERY:
            _show_answer(release, lang, details=details)
        case ReleaseKind.UNPROVEN:
            _show_unproven(release)
        case ReleaseKind.WORKLOAD:
            _show_workload(release, lang, details=details)
        case ReleaseKind.LOCAL:
            _show_collection(release, lang)
        case ReleaseKind.LINKED:
            from discreet.present import text_parts

            sys.stdout.writelines(text_parts(release, ReleaseFormat.TABLE, lang))
        case _:
            _show_figures(release, lang, details=details)


# --- what is promised and charged -----------------------------------------------------------------------------------


def tell_promise(release: Release) -> list[str]:
    """The charge, the guarantee and every warning."""
    from discreet.present import say_left, tell_charge

    lines, settled = [], release.settlement
    if isinstance(settled, Accounted):
        lines.append(say("charged {paid}", paid=tell_charge(release, language())))
    elif not isinstance(settled, Collected):
        lines.append(_tell_charged(release, _paid(release), settled.left))
        lines += [] if settled.left.more is None else [say_left(settled.left)]
    lines.append(_tell_protection(release))
    # What was not found comes before the figures, and warnings of a bootstrap are among its notes.
    return [*lines, *_say([note for note in release.notes if note.warns and not isinstance(note, BoundsUsed)])]


def _tell_charged(release: Release, paid: str, left: Left) -> str:
    return say(
        "charged {paid}; epsilon {yours} remains for you, {all} for population '{population}'",
        paid=paid,
        yours=_epsilon(left.analyst),
        all=_epsilon(left.population),
        population=release.claim.population,
    )


def _tell_protection(release: Release) -> str:
    from discreet.present import say_neighbours, say_unit, tell_guarantee

    return say(
        "guarantee: {guarantee}; protects {unit}; neighbours: {neighbours}",
        guarantee=tell_guarantee(release, language()),
        unit=say_unit(release.claim, language()),
        neighbours=word(say_neighbours(release)),
    )


def _paid(release: Release) -> str:
    from discreet.present import say_replay, tell_charge

    settled = release.settlement
    if isinstance(settled, Charged) and settled.replayed:
        return say_replay(settled.analyst)
    return tell_charge(release, language())


def _epsilon(amount: Amount) -> str:
    return amount.to_dict().get("epsilon", "0")


def _interval(level: "Decimal | None") -> str:
    return say("{level} interval", level=Numeral(f"{level or 0:%}".replace(".00%", "%")))


# --- answers --------------------------------------------------------------------------------------------------------


def _show_answer(release: Release, lang: str, *, details: bool) -> None:
    """Labels, values with as many decimals as their intervals bear, and what it all means."""
    headings, columns, gone = _answer_columns(release, lang)
    notice = " ".join(_say([note for note in release.notes if isinstance(note, BoundsUsed) and note.warns]))
    show_columns(notice, headings, columns, footer=_answer_footer(release, gone, details=details))


def _answer_columns(release: Release, lang: str) -> tuple[list[tuple[str, str]], list[list[str]], set[str]]:
    keys = {heading.name: heading for heading in release.headings}
    statistics = {item.name: item for item in release.statistics}
    headings: list[tuple[str, str]] = []
    columns: list[list[str]] = []
    gone: set[str] = set()
    for name in release.columns:
        values = list(chain.from_iterable(parts_of(release.listed_rows.columns[name])))
        if name in keys:
            named = keys[name].labels(lang)
            headings.append((name, "left"))
            texts = {
                item: NOTHING.text(lang) if item is None else named.get(str(item), legible(str(item)))
                for item in set(values)
            }
            columns.append([texts[value] for value in values])
            continue
        both = ends_of(release.listed_intervals.columns[name])
        ends = list(zip(*(chain.from_iterable(parts_of(end)) for end in both), strict=True))
        headings += [(name, "right"), (_interval(release.level), "right")]
        gone |= {name} if None in values else set()
        columns += show_estimates(values, ends, decimals=_decimals(statistics[name]))
    return headings, columns, gone


def _decimals(statistic: "Statistic") -> int | None:
    return None if statistic.step is None else len(statistic.step.partition(".")[2])


def _answer_footer(release: Release, gone: set[str], *, details: bool) -> list[str]:
    from discreet.present import CAPPED, say_accuracy, say_left

    settled = release.settlement
    assert isinstance(settled, Charged)
    left = settled.left
    aims = [(item.measure, noise.aim) for item in release.mechanisms.value if item.by is None for noise in item.noise]
    return [
        _tell_charged(release, _paid_now(settled), left),
        *([] if left.more is None else [say_left(left)]),
        _tell_protection(release),
        *([tell_neighbours(release)] if details else []),
        say("intervals: {cover}", cover=tell_cover(release, details=details)),
        *(
            [say("weights: {bias}", bias=CAPPED)]
            if any(isinstance(note, CappedWeights) for note in release.notes)
            else []
        ),
        *(
            say(
                "{measure}: {accuracy}",
                measure=measure,
                accuracy=say_accuracy(level=aim.level, rows=aim.rows, depth=aim.depth, side=aim.side),
            )
            for measure, aim in aims
            if aim is not None
        ),
        *_say([note for note in release.notes if isinstance(note, BoundsUsed) and note.found]),
        *_say([note for note in release.notes if isinstance(note, SizeTooSmall) and note.output in gone]),
        *_say([note for note in release.notes if isinstance(note, Unbounded)]),
    ]


def _paid_now(settled: Charged) -> str:
    from discreet.present import say_replay

    if settled.replayed:
        return say_replay(settled.analyst)
    epsilon = _epsilon(settled.charge)
    if not settled.charge.delta:
        return say("epsilon {epsilon}", epsilon=epsilon)
    return say("epsilon {epsilon} and delta {delta}", epsilon=epsilon, delta=text(settled.charge.delta))


def _say(notes: Sequence[object]) -> list[str]:
    from discreet.present import say_message
    from discreet.results import Note

    return [say_message(note)[1].text(language()) for note in notes if isinstance(note, Note)]


def _show_unproven(release: Release) -> None:
    from discreet.present import STORED, tell_guarantee

    settled, [row] = release.settlement, release.rows
    assert isinstance(settled, Marked)
    [(name, value)] = row.items()
    footer = [
        say("guarantee: {guarantee}", guarantee=tell_guarantee(release, language())),
        say(
            "strategy {strategy}; nothing charged; marker: event {event} of the ledger",
            strategy=release.asked["strategy"],
            event=settled.marker,
        ),
        *([str(STORED)] if settled.replayed else []),
        *_say([note for note in release.notes if note.warns]),
    ]
    show_table("", [(name, "right")], [[_write_value(value)]], footer=footer)


def _write_value(value: object) -> str:
    """A value as it is stored, with the comma of the reader's language."""
    return localise(str(value), language()) if isinstance(value, int | float) else str(value)


def _show_workload(release: Release, lang: str, *, details: bool) -> None:
    from discreet.present import say_left, tell_guarantee

    settled = release.settlement
    assert isinstance(settled, Charged)
    for name, answer in release.parts.items():
        typer.echo(say("{name}:", name=name))
        _show_answer(answer, lang, details=details)
        typer.echo("")
    amounts = {name: amount for name, amount in settled.charge.to_dict().items() if amount != "0"}
    paid = ", ".join(f"{name} {localise(amount, language())}" for name, amount in amounts.items())
    paid = paid or say("nothing (stored answers, the same as before)")
    promise = tell_guarantee(release, language())
    typer.echo(say("charged together: {paid} ({guarantee})", paid=paid, guarantee=promise))
    typer.echo(say_left(settled.left))


# --- tables ---------------------------------------------------------------------------------------------------------


def _show_figures(release: Release, lang: str, *, details: bool) -> None:
    """One line for each figure: its keys, the published value, its interval and quality; margins last."""
    from discreet.present import Writing

    figures = release.statistic.figures
    shown: Sequence[Figure] = figures[:_MOST_LINES]
    rated = any(figure.low is not None or figure.quality is Quality.PUBLIC for figure in shown)
    decimals = Writing.of(release.statistic, lang).decimals
    values, intervals = show_estimates(
        [figure.value for figure in shown], [(figure.low, figure.high) for figure in shown], decimals=decimals
    )
    columns = [[release.label(figure, index, lang) for figure in shown] for index in range(len(release.headings))]
    headings = [(heading.name, "left") for heading in release.headings] + [(say("value"), "right")]
    intervals = ["–" if item.low is item.high is None else lines for item, lines in zip(shown, intervals, strict=True)]
    columns.append(values)
    if rated:
        headings += [(_interval(release.level), "right"), (say("quality"), "left")]
        columns += [intervals, [word(figure.quality) for figure in shown]]
    left = len(figures) - len(shown)
    footer = [
        *([say("… and {left:,} more figures; --out writes them all.", left=left)] if left else []),
        *_table_footer(release, details=details),
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    show_table(release.title.text(lang), headings, rows, footer=footer)


def _table_footer(release: Release, *, details: bool) -> list[str]:
    """What was charged, what is promised, and what to mind when reading the figures."""
    from discreet.present import list_messages, say_basis, tell_calibration

    noted = {sentence.text(language()) for _, sentence in list_messages(release)}
    lines = [line for line in tell_promise(release) if line not in noted]
    lines += [tell_neighbours(release)] if details else []
    if release.calibration is not None:
        met = [say("calibrated to {totals}", totals=tell_calibration(release, language()))]
    else:
        met = []
    basis = say("quality is judged by {basis}", basis=word(say_basis(release.basis)))
    return [*lines, *tell_sentences(release, details=details), *met, basis]


# --- collections ----------------------------------------------------------------------------------------------------


def _show_collection(release: Release, lang: str) -> None:
    """A collection for people: one table for each question."""
    from discreet.present import ESTIMATORS, about_collection, say_message, tell_guarantee
    from discreet.results import Estimator, Variance

    settled = release.settlement
    assert isinstance(settled, Collected)
    said = {
        "guarantee": tell_guarantee(release, language()),
        "level": numeral(float(release.level or 0), ""),
        "variance": " ".join(_say([note for note in release.notes if isinstance(note, Variance)])),
    }
    pairs = [(word(name), said.get(name, str(value))) for name, value in about_collection(release).items()]
    pairs += [
        (say("refused: {reason}", reason=word(reason)), numeral(count)) for reason, count in settled.refused.items()
    ]
    pairs += [
        (heading.text(language()), sentence.text(language()))
        for note in release.notes
        if isinstance(note, Estimator)
        for heading, sentence in [say_message(note)]
    ]
    pairs.append((say("adjusted"), str(ESTIMATORS["adjusted"])))
    show_pairs(release.title.text(lang), pairs)
    for part in release.parts.values():
        _show_question(part, lang, sampled=bool(release.asked["sampled"]))
    poisoning = [note for note in release.notes if isinstance(note, FalseReports)]
    show_pairs("\n" + say("Poisoning"), [(note.question, _say([note])[0]) for note in poisoning])
    for note in release.notes:
        if isinstance(note, FewReports):
            show_note(say("Warning: {warning}", warning=_say([note])[0]))


def _show_question(part: Release, lang: str, *, sampled: bool) -> None:
    title, interval = f"\n{part.title.text(lang)}", _interval(part.level)
    forms = {item.name: item for item in part.statistics}
    keys = [
        (heading.name, "left", [heading.label(figure.codes[index], lang) for figure in part.statistic.figures])
        for index, heading in enumerate(part.headings)
    ]
    opening = [(say("answer") if name == "category" else name, side, cells) for name, side, cells in keys]
    if "mean" in forms:
        _show_forms(title, [*opening, *_form(say("mean"), interval, forms["mean"])])
        return
    shares = _form(say("share %"), interval, forms["share"], times=100)
    _show_forms(title, [*opening, *shares, *_form(say("count"), interval, forms["ratio_count"])])
    beside = _form(say("adjusted"), interval, forms["adjusted"], decimals=0)
    if sampled:
        beside += _form(say("total"), interval, forms["estimate"])
        title = say("The same counts, adjusted (not negative, adding up, biased) and as totals (which err more)")
    else:
        title = say("The same counts, adjusted (not negative, adding up, biased)")
    _show_forms(f"\n{title}", [*opening, *beside])


def _form(
    name: str, interval: str, statistic: "Statistic", *, times: int = 1, decimals: int | None = None
) -> list[tuple[str, str, list[str]]]:
    """Two columns: figures, and their intervals."""
    figures = [
        tuple(None if item is None else times * item for item in (figure.value, figure.low, figure.high))
        for figure in statistic.figures
    ]
    values, intervals = show_estimates(
        [figure[0] for figure in figures], [figure[1:] for figure in figures], decimals=decimals
    )
    lines = [
        shown if figure[0] is not None or figure[1] is not None else "–"
        for shown, figure in zip(intervals, figures, strict=True)
    ]
    return [(name, "right", values), (interval, "right", lines)]


def _show_forms(title: str, columns: Sequence[tuple[str, str, list[str]]]) -> None:
    show_columns(title, [(name, side) for name, side, _ in columns], [cells for _, _, cells in columns])
