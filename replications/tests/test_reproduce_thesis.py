"""The thesis' benchmark from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import Run
from tests.places import SHARED

pytestmark = pytest.mark.long

SHORT = ("--no-gan", "--runs", "2", "--audit-samples", "100")


def test_breast_alone_is_compared_without_a_folder(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    told = run("reproduce", "thesis", *SHORT).out
    assert "10/10 without kidney" in told
    assert "kidney is left out" in told
    assert "10 of 26 queries could be asked" in told
    assert "none was wanted (--no-gan)" in told
    assert "A study, not a release." in told
    assert (tmp_path / "reproduction-thesis" / "thesis.html").is_file()


def test_wrong_calls_are_told_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    assert run("reproduce", "thesis", "--data", "nowhere", code=2).err.startswith("PathInvalid")
    assert "epsilons" in run("reproduce", "thesis", "--epsilons", "0", code=2).err
    assert "sample sizes" in run("reproduce", "thesis", "--sample-sizes", "many", code=2).err
    assert "runs" in run("reproduce", "thesis", "--runs", "0", code=2).err
    told = run("reproduce", "thesis", "--audit-samples", "1", "--lang", "fr", code=2).err
    assert "l’échantillon d’un audit doit être compris entre 100 et 1\u202f000\u202f000" in told
    (tmp_path / "kidney_uci.arff").write_text("@data\n1,2\n")
    assert "lacks the attributes" in run("reproduce", "thesis", "--data", ".", code=1).err
    assert not (tmp_path / "reproduction-thesis").exists()


@pytest.mark.skipif(
    not all((SHARED / name).is_file() for name in ("kidney_uci.arff", "diabetes130.csv.gz")),
    reason="the thesis' kidney and diabetes files are not at hand",
)
def test_everything_is_compared_with_the_data(run: Run) -> None:
    found = run("reproduce", "thesis", "--data", str(SHARED), *SHORT, "--format", "json").json()
    assert [check["score"] for check in found["checks"]] == ["26/26", "24/26"]
    assert len(found["clipping"]) == 26
    assert found["absent"] == []
    scores = {(score["strategy"], score["epsilon"]): score for score in found["verdict"]["scores"]}
    # Two runs of 26 queries: the mean is near its expectation of .5, and far from the printed .8372.
    assert scores["public", "0.01"]["queries"] == 26
    assert scores["public", "0.01"]["differentially_private"]
    assert [target["printed" if "printed" in target else "thesis"] for target in found["verdict"]["targets"]] == [
        0.8372,
        0.0818,
    ]
    assert {score["queries"] for score in found["patients"]} == {25}
