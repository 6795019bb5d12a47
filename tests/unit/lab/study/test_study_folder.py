"""The folder of a study: true rows are closed to others, and gone when nobody works with them."""

from __future__ import annotations

from pathlib import Path

from discreet.lab.study.execution.study_folder import StudyFolder

KEY = {"config_hash": "a" * 64, "versions": {"discreet": "1"}}


def test_rows_that_a_crash_left_behind_go_with_the_next_run(tmp_path: Path) -> None:
    folder = StudyFolder.claim(tmp_path / "out", KEY, overwrite=False)
    left = folder.path / ".rows-crashed"
    left.mkdir()
    (left / "rows.parquet").write_text("true rows")
    with folder.rows() as scratch:
        assert not left.exists()
        assert scratch.stat().st_mode & 0o077 == 0
        (scratch / "rows.parquet").write_text("true rows")
    assert list(folder.path.glob(".rows-*")) == []
