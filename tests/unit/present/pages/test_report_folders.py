"""A report is written into a folder that is new, or its own; what others keep is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.errors import PathInvalid
from discreet.present.pages.report_folders import check_folder

FILES = ("results.json", "page.html")


def check(folder: Path) -> None:
    check_folder(folder, kind="farms", results="results.json", files=FILES)


def test_new_folders_empty_ones_and_its_own_may_be_written(tmp_path: Path) -> None:
    check(tmp_path / "new")
    check(tmp_path)
    (tmp_path / "results.json").write_text(json.dumps({"reproduction": "farms"}))
    (tmp_path / "page.html").write_text("")
    check(tmp_path)


@pytest.mark.parametrize(
    ("results", "beside"),
    [
        (json.dumps({"reproduction": "farms"}), "thesis.docx"),
        (json.dumps({"reproduction": "survey"}), "page.html"),
        (json.dumps(["farms"]), "page.html"),
        ("{", "page.html"),
        (None, "page.html"),
    ],
)
def test_what_others_keep_is_left_alone(tmp_path: Path, results: str | None, beside: str) -> None:
    if results is not None:
        (tmp_path / "results.json").write_text(results)
    (tmp_path / beside).write_text("mine")
    with pytest.raises(PathInvalid, match="holds something else"):
        check(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("mine")
    with pytest.raises(PathInvalid, match="holds something else"):
        check(tmp_path / "report")
