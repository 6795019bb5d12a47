"""Files as streams: formats, encodings, limits, and hostile files."""

from __future__ import annotations

import gzip
import random
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalogue import FRENCH, speaking
from discreet.errors import ExtraMissing, FileRefused, UsageError
from discreet.sources import csv_source
from discreet.sources.source import DataSource, FileLimits, choose_columns, open_source


def source(tmp_path: Path, content: str | bytes, name: str = "x.csv", **options: Any) -> DataSource:
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source(file, **options)


def columns(opened: DataSource, *names: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in opened.batches(list(names)):
        for name in names:
            found[name] += batch.column(name).to_pylist()
    return found


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, line_end: str) -> None:
    text = line_end.join([delimiter.join(row) for row in (["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"])])
    assert columns(source(tmp_path, text), "a", "c") == {"a": ["1", "4"], "c": ["3", "6"]}


@pytest.mark.parametrize(
    ("name", "why"), [("absent.csv", "is not a regular file"), ("folder.csv", "holds no Parquet file")]
)
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileRefused, match=why):
        open_source(tmp_path / name)


def test_names_are_cleaned(tmp_path: Path) -> None:
    opened = source(tmp_path, '\ufeff a ;"b ";\tc\n1;2;3\n')
    assert opened.names == ("a", "b", "c")
    assert columns(opened, "b", "a") == {"b": ["2"], "a": ["1"]}


def test_a_header_in_quotes_may_hold_anything(tmp_path: Path) -> None:
    opened = source(tmp_path, '"a;b","c\nd"\n1,2\n')
    assert opened.names == ("a;b", "c\nd")
    assert columns(opened, "c\nd") == {"c\nd": ["2"]}


def test_quoted_newlines_and_quotes(tmp_path: Path) -> None:
    assert columns(source(tmp_path, 'a,b\n"x\ny","say ""hi"""\n5" pipe,z\n'), "a", "b") == {
        "a": ["x\ny", '5" pipe'],
        "b": ['say "hi"', "z"],
    }


def test_the_delimiter_may_be_given(tmp_path: Path) -> None:
    assert source(tmp_path, "a;b,c\n1;2,3\n", delimiter=",").names == ("a;b", "c")
    with pytest.raises(UsageError, match="delimiter"):
        source(tmp_path, "a,b\n", delimiter="x")


def test_encodings(tmp_path: Path) -> None:
    text = "ville,n\nMontréal,1\n"
    with pytest.raises(FileRefused, match="--encoding latin-1"):
        columns(source(tmp_path, text.encode("latin-1")), "ville")
    for encoding in ("latin-1", "cp1252", "utf-16"):
        opened = source(tmp_path, text.encode(encoding), encoding=encoding)
        assert columns(opened, "ville") == {"ville": ["Montréal"]}
    with pytest.raises(FileRefused, match="try another --encoding"):
        columns(source(tmp_path, text.encode() + b"\x00", encoding="utf-16"), "ville")
    with pytest.raises(UsageError, match="encoding must be one of"):
        source(tmp_path, text, encoding="rot13")


def test_gzip(tmp_path: Path) -> None:
    assert columns(source(tmp_path, gzip.compress(b"a,b\n1,2\n"), "x.csv.gz"), "b") == {"b": ["2"]}
    with pytest.raises(FileRefused, match="damaged gzip"):
        columns(source(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-20], "x.csv.gz"), "b")
    with pytest.raises(FileRefused, match="damaged gzip"):
        source(tmp_path, b"not gzip at all", "x.csv.gz")


def test_a_bomb_is_refused_while_it_unpacks(tmp_path: Path) -> None:
    bomb = gzip.compress(b"a,b\n" + b"0,0\n" * 5_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(FileRefused, match="unpacks to far more"):
        columns(source(tmp_path, bomb, "x.csv.gz"), "a")
    plain = gzip.compress(b"a,b\n" + b"0,0\n" * 1_000)
    with pytest.raises(FileRefused, match="unpacks to far more"):
        columns(source(tmp_path, plain, "x.csv.gz", limits=FileLimits(expanded_bytes=1_000)), "a")


@pytest.mark.slow
def test_a_bomb_is_refused_where_it_swells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when all that its size would allow has been unpacked."""
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = (
        packed.compress(b"a,b\n") + b"".join(packed.compress(b"0,0\n" * 250_000) for _ in range(200)) + packed.flush()
    )
    padded = bomb + gzip.compress(random.Random(1).randbytes(2_000_000))  # the size alone would allow ten times as much
    unpacked = 0
    inner = gzip.GzipFile.read

    def read(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        nonlocal unpacked
        data = inner(self, size)
        unpacked += len(data)
        return data

    monkeypatch.setattr(gzip.GzipFile, "read", read)
    with pytest.raises(FileRefused, match="unpacks to far more"):
        columns(source(tmp_path, padded, "x.csv.gz"), "a")
    assert unpacked < 64 * 2**20


@pytest.mark.slow
def test_what_was_read_ahead_is_not_used_once_the_limit_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (row, row * 7919) for row in range(3_000_000))
    opened = source(tmp_path, text, "x.csv", limits=FileLimits(expanded_bytes=len(text) - 1))
    passed = threading.Event()
    inner = csv_source._Utf8Stream.read

    def read(self: csv_source._Utf8Stream, size: int) -> bytes:
        try:
            return inner(self, size)
        finally:
            if self.refused is not None:
                passed.set()

    monkeypatch.setattr(csv_source._Utf8Stream, "read", read)

    def use(batches: Iterator[Any]) -> None:
        while not passed.wait(0.3):  # Arrow reads only so far ahead
            next(batches)
        next(batches)
        pytest.fail("what was read before was used all the same")

    with pytest.raises(FileRefused, match="unpacks to far more"):
        use(iter(opened.batches(["a"])))


def test_a_dictionary_is_measured_before_it_is_written_out(tmp_path: Path) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 60_000, pa.int32()), pa.array(["x" * 100_000]))
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": long}), file)
    assert file.stat().st_size < 500_000
    with pytest.raises(FileRefused, match="unpacks to far more"):
        columns(open_source(file), "a")
    with pytest.raises(FileRefused, match="unpacks to"):
        columns(open_source(file, limits=FileLimits(expanded_bytes=10**7)), "a")


def test_a_statistics_file_says_what_it_unpacks_to(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    file = tmp_path / "x.zsav"
    pyreadstat.write_sav(pandas.DataFrame({"a": ["x" * 100] * 2_000}), str(file), compress=True)
    assert open_source(file).names == ("a",)
    with pytest.raises(FileRefused, match="unpacks to"):
        open_source(file, limits=FileLimits(expanded_bytes=100_000))


def test_ragged_rows_are_counted_and_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="has 2 rows with another number of fields than its header, which has 2"):
        columns(source(tmp_path, "a,b\n1,2\n3\n4,5,6\n7,8\n"), "a")
    with pytest.raises(FileRefused, match="at least 10,000 rows"):
        columns(source(tmp_path, "a,b\n" + "1\n" * 10_500), "a")


def test_an_open_quote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused):
        columns(source(tmp_path, 'a,b\n"1,2\n' + "3,4\n" * 2_000_000), "a")


def test_limits_before_parsing(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="the limit is 10"):
        source(tmp_path, "a,b\n1,2\n3,4\n", limits=FileLimits(file_bytes=10))
    with pytest.raises(FileRefused, match="6,000 columns; the limit is 5,000"):
        source(tmp_path, ",".join(f"c{i}" for i in range(6_000)) + "\n")
    with pytest.raises(FileRefused, match="is empty"):
        source(tmp_path, "")
    with pytest.raises(FileRefused, match="is in none of these formats"):
        source(tmp_path, "x", "x.xlsx")
    with pytest.raises(FileRefused, match="first line longer than"):
        source(tmp_path, "a" * 2_000_000)
    with pytest.raises(FileRefused, match="is not text"):
        source(tmp_path, b"a\0b,c\n1,2\n")


def test_columns_must_be_there_once(tmp_path: Path) -> None:
    opened = source(tmp_path, "person_id,Age,x,x,left\n1,2,3,4,5\n")
    assert choose_columns(opened, ["person_id"]) == ("Age", "x", "x", "left")
    with pytest.raises(FileRefused, match=r"'person_idd' \(did you mean 'person_id'\?\), 'age' \(did you mean 'Age'"):
        choose_columns(opened, ["person_idd", "age"])
    with pytest.raises(FileRefused, match="more than one column named 'x'"):
        choose_columns(opened, ["x"])


def write_parquet(file: Path, **values: Any) -> Path:
    pq.write_table(pa.table(values), file)
    return file


def test_parquet_keeps_its_own_types(tmp_path: Path) -> None:
    file = write_parquet(
        tmp_path / "x.parquet",
        n=pa.array([1, None], pa.int16()),
        f=pa.array([1.5, None], pa.float32()),
        t=pa.array(["a", None]).dictionary_encode(),
        d=pa.array(["1.50", None]).cast(pa.decimal128(5, 2)),
        b=pa.array([b"xy", None], pa.binary()),
        day=pa.array([0, None], pa.date32()),
        unasked=pa.array([[1], [2]]),
    )
    opened = open_source(file)
    assert columns(opened, "n", "f", "t", "d", "b", "day") == {
        "n": [1, None],
        "f": [1.5, None],
        "t": ["a", None],
        "d": ["1.50", None],
        "b": ["xy", None],
        "day": ["1970-01-01", None],
    }
    with pytest.raises(FileRefused, match="nested column, 'unasked'"):
        columns(opened, "unasked")


@pytest.mark.parametrize("group", [100_000, 2_000_000])
def test_what_was_read_of_a_parquet_file_is_let_go(tmp_path: Path, group: int) -> None:
    numbers = pa.array(memoryview(random.Random(1).randbytes(16_000_000)).cast("q"))
    pq.write_table(pa.table({"n": numbers}), tmp_path / "x.parquet", row_group_size=group, use_dictionary=False)
    assert len(numbers) == 2_000_000
    held = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() for _ in open_source(tmp_path / "x.parquet").batches(["n"]))
    assert most - held < 8_000_000


def test_parquet_that_lies(tmp_path: Path) -> None:
    bad = tmp_path / "x.parquet"
    bad.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(FileRefused, match="cannot be read as Parquet"):
        open_source(bad)
    file = write_parquet(tmp_path / "y.parquet", t=pa.array([b"\xff\xfe"], pa.binary()))
    with pytest.raises(FileRefused, match="neither a number nor UTF-8 text"):
        columns(open_source(file), "t")
    unchecked = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    file = write_parquet(tmp_path / "z.parquet", t=unchecked)
    with pytest.raises(FileRefused, match="neither a number nor UTF-8 text"):
        columns(open_source(file), "t")
    file = write_parquet(tmp_path / "many.parquet", t=pa.array([1] * 100))
    with pytest.raises(FileRefused, match="100 rows; the limit is 50"):
        open_source(file, limits=FileLimits(rows=50))
    cut = tmp_path / "cut.parquet"
    data = write_parquet(tmp_path / "big.parquet", t=pa.array(range(100_000))).read_bytes()
    cut.write_bytes(data[:1000] + b"\0" * (len(data) // 2) + data[1000 + len(data) // 2 :])
    with pytest.raises(FileRefused, match="Parquet"):
        columns(open_source(cut), "t")


def test_statistics_packages(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="pyreadstat writes its files from polars or pandas frames")
    import pyreadstat

    frame = polars.DataFrame(
        {"id": [1.0, 2.0, 3.0], "sex": [1.0, 2.0, 9.0], "name": ["a", "é", ""], "w": [1.5, None, 3.25]}
    )
    labels = {"sex": {1: "Male", 2: "Female", 9: "Not stated"}}
    pyreadstat.write_sav(
        frame, str(tmp_path / "x.sav"), variable_value_labels=labels, missing_ranges={"sex": [9]},
        column_labels={"sex": "Sex of person"},
    )  # fmt: skip
    pyreadstat.write_dta(frame, str(tmp_path / "x.dta"), variable_value_labels=labels)
    pyreadstat.write_xport(frame, str(tmp_path / "x.xpt"))
    for name in ("x.sav", "x.dta", "x.xpt"):
        found = columns(open_source(tmp_path / name), "id", "sex", "name", "w")
        assert found["id"] == [1.0, 2.0, 3.0]
        assert found["sex"] == [1.0, 2.0, 9.0]
        assert found["name"][:2] == ["a", "é"]
        assert found["w"] == [1.5, None, 3.25]
    notes = open_source(tmp_path / "x.sav").notes("sex")
    assert notes.label == "Sex of person"
    assert notes.labels == {"1": "Male", "2": "Female", "9": "Not stated"}
    assert notes.missing == ("9",)


@pytest.mark.parametrize("rows", [1, 2, 4, 5])
def test_statistics_packages_are_read_to_the_last_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    polars = pytest.importorskip("polars", reason="pyreadstat writes its files from polars or pandas frames")
    import pyreadstat

    monkeypatch.setattr("discreet.sources.stat_source._CHUNK_ROWS", 2)
    pyreadstat.write_sav(polars.DataFrame({"id": [float(row) for row in range(rows)]}), str(tmp_path / "x.sav"))
    assert columns(open_source(tmp_path / "x.sav"), "id")["id"] == list(range(rows))


def test_labelled_codes_within_a_range_of_missing_values_are_missing(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="pyreadstat writes its files from polars or pandas frames")
    import pyreadstat

    pyreadstat.write_sav(
        polars.DataFrame({"age": [40.0, 997.0]}), str(tmp_path / "x.sav"),
        variable_value_labels={"age": {0: "Under one", 997: "Refused", 998: "Not stated"}},
        missing_ranges={"age": [{"lo": 990, "hi": 999}]},
    )  # fmt: skip
    assert open_source(tmp_path / "x.sav").notes("age").missing == ("997", "998")


def test_a_damaged_statistics_file(tmp_path: Path) -> None:
    for name in ("x.sav", "x.dta", "x.sas7bdat", "x.xpt", "x.por"):
        with pytest.raises(FileRefused, match="cannot be read as"):
            source(tmp_path, b"garbage" * 500, name)


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(ExtraMissing, match="formats"):
        source(tmp_path, b"x" * 100, "x.sav")


def test_refusals_show_no_values(tmp_path: Path) -> None:
    with pytest.raises(FileRefused) as refused:
        columns(source(tmp_path, "a,b\nsecretvalue,2\nsecretvalue\n"), "a")
    assert "secretvalue" not in str(refused.value)


def test_a_refusal_from_the_thread_that_reads_is_in_the_language_of_the_caller(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,2\n" % number for number in range(600_000)))[:-2_000]
    opened = source(tmp_path, packed, "x.csv.gz")
    with speaking(FRENCH), pytest.raises(FileRefused, match="est un fichier gzip endommagé"):
        columns(opened, "a")
    with pytest.raises(FileRefused, match="is a damaged gzip file"):
        columns(opened, "a")
