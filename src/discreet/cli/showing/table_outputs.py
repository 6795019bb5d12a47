"""Where a table goes: files, each in the format that its name tells, and drawings of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import say
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.cli.options import ReleaseFormat
    from discreet.results import Release
    from discreet.tables import Formed

__all__ = ["TableOutOption", "TableOutputs"]

_DRAWN: Final = ("heat-map", "bars")

TableOutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="FILE|heat-map=FILE.svg|bars=FILE.svg",
        help="Write to this file; its name says the format. Or draw the table. Repeatable.",
    ),
]


class TableOutputs:
    """What `--out` and `--format` ask for; without a file the table is shown."""

    def __init__(self, words: Sequence[str], format: "ReleaseFormat | None") -> None:
        from discreet.cli.showing.delivery import choose_format

        drawings, files = list[tuple[str, Path]](), list[Path]()
        for word in words:
            kind, equals, path = word.partition("=")
            if equals and kind in _DRAWN and path:
                drawings.append((kind, Path(path)))
            elif equals and not set("./\\") & set(kind):
                raise UsageError(
                    say(
                        "--out takes FILE, heat-map=FILE.svg or bars=FILE.svg; received {word!a}. A file of that name "
                        "is written as ./NAME.",
                        word=word[:40],
                    )
                )
            else:
                files.append(Path(word))
        if format is not None and len(files) > 1:
            raise UsageError(say("--format goes with one file; leave it out, and each name tells its format."))
        self._drawings = drawings
        paths: Sequence[Path | None] = files or (None,)
        self._files = [(path, choose_format(format, path)) for path in paths]

    def check(self, formed: "Formed | None") -> None:
        """What would stop a file from being written is said before anything is charged.

        Of a table that a server forms, keys and size are not known before.
        """
        from discreet.present import check_output, check_picture

        for path, format in self._files:
            if formed is None:
                check_output(path, format=format)
                continue
            layout = formed.layout()
            figures = sum(layout.count(margin) for margin in layout.margins)
            check_output(path, format=format, sizes=layout.sizes, figures=figures, headings=formed.headings)
        for _, path in self._drawings:
            check_picture(path)
        named = [path for path, _ in self._files if path is not None] + [path for _, path in self._drawings]
        if len({path.resolve() for path in named}) < len(named):
            raise UsageError(say("each --out must name a different file."))

    def write(self, released: "Release", lang: str, *, details: bool = False) -> None:
        """Write every file and drawing, or show the table; with `details` it is explained too."""
        from discreet.cli.screen import show_note
        from discreet.cli.showing.delivery import deliver
        from discreet.present import draw_bars, draw_heat_map, write_picture

        (first, format), *others = self._files
        deliver(released, format, first, lang, details=details)
        for path, format in others:
            assert path is not None
            released.save(path, format=format, language=lang)
            typer.echo(say("wrote {file}", file=path))
        for kind, path in self._drawings:
            write_picture({"heat-map": draw_heat_map, "bars": draw_bars}[kind](released, lang), path)
            show_note(say("wrote {file}", file=path))
