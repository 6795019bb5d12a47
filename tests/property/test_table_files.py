"""Whatever a label says, it survives in the file, and no spreadsheet can run it."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from fractions import Fraction
from xml.etree import ElementTree

from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.guarantees.types import PureDP
from discreet.present.formats.xlsx import to_xlsx
from discreet.results import Figure, Heading, KeyFace, Labels, Quality, Release
from discreet.results.notes import MeasuredMargin, StrategyUsed
from tests.releases import make_release, render_text

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)

words = st.text(min_size=1, max_size=30).filter(str.strip)
labels = st.one_of(words, st.tuples(st.sampled_from("=+-@\t\r\n'\"_"), words).map("".join))


def make_labelled(label: str) -> Release:
    """A table whose title, key, category and a note's sentence begin with the label."""
    labels = Labels(label, label)
    heading = Heading("key", labels, KeyFace("key", codes=("=1",), labels=(labels,)))
    figure = Figure(("=1",), (), -1, -1.5, -2, 0, Quality.GOOD)
    noted = StrategyUsed("laplace", (MeasuredMargin(("key",), residual=False, share=Fraction(1)),), label, Fraction(1))
    return make_release([heading], [figure], guarantee=PureDP(epsilon=1), title=labels, notes=(noted,))


def decode(text: str) -> str:
    """Undo the escapes that spreadsheets use for characters XML cannot hold."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)


def replaced(label: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", label)


@settings(deadline=None)
@given(labels)
@example("_x000D_")
@example("\r=1+1")
@example("\x00\x1f\ufffe")
def test_labels_survive_in_a_workbook_and_are_never_formulas(label: str) -> None:
    with zipfile.ZipFile(io.BytesIO(to_xlsx(make_labelled(label), "en"))) as archive:
        strings = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
        styles = ElementTree.fromstring(archive.read("xl/styles.xml")).find(f"{SHEET}cellXfs")
        sheets = [ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{place}.xml")) for place in (1, 2, 3)]
    assert styles is not None
    assert replaced(label) in [decode(one.findtext(f"{SHEET}t", "")) for one in strings]
    for sheet in sheets:
        assert not list(sheet.iter(f"{SHEET}f"))
        texts = [cell for cell in sheet.iter(f"{SHEET}c") if cell.get("t") == "s"]
        assert texts
        assert all(styles[int(cell.get("s", "0"))].get("quotePrefix") == "1" for cell in texts)


@given(labels)
@example("\r")
@example("a\rb")
@example("\n|")
def test_labels_survive_in_csv_and_are_never_formulas(label: str) -> None:
    if not label.strip():
        label += "x"
    head, line = csv.reader(io.StringIO(render_text(make_labelled(label), "csv", "en"), newline=""))
    cells = dict(zip(head, line, strict=True))
    # An apostrophe may stand wherever a spreadsheet would begin to read anew; nothing else is changed.
    assert cells["key_label"].replace("'", "") == label.replace("'", "")
    assert cells["value"] == "-1"
    assert not any(cell.startswith(tuple("=+-@\t\r\n")) and not NUMBER.fullmatch(cell) for cell in line)
