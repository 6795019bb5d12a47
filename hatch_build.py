"""Compiles the catalogues of other languages while a wheel is built, or an editable installation is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LOCALE = Path(__file__).parent / "src" / "discreet" / "catalogue" / "locale"


def compile_catalogues(locale: Path = LOCALE) -> list[Path]:
    """Write the `.mo` beside each `.po`, whole or not at all. English needs none: sentences stand in it."""
    written = []
    for source in sorted(set(locale.glob("*/LC_MESSAGES/*.po")) - set(locale.glob("en/*/*"))):
        with source.open("rb") as stream:
            catalogue = read_po(stream)
        compiled, partial = source.with_suffix(".mo"), source.with_suffix(f".{os.getpid()}.partial")
        with partial.open("wb") as stream:
            write_mo(stream, catalogue)
        partial.replace(compiled)
        written.append(compiled)
    return written


class CatalogueHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Called by hatchling."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        files = compile_catalogues(root / "src" / "discreet" / "catalogue" / "locale")
        build_data["artifacts"] += [file.relative_to(root).as_posix() for file in files]
