"""How often anybody may ask: counted together by all who serve, and kept so that nobody can be read from it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from discreet.errors import TooManyRequests
from discreet.people import Bucket
from tests.conformance.people.people_office import OpenOffice, OpenOffices, in_processes

A_MINUTE = Bucket("ben", 3, 60)


def room(office: OpenOffice, *buckets: Bucket) -> int:
    """For how many requests there is room now; they are taken."""
    for found in range(100):
        try:
            office.people.limits.take(*buckets)
        except TooManyRequests:
            return found
    raise AssertionError("no end")


def test_a_bucket_has_room_for_so_many_in_so_many_seconds(office: OpenOffice) -> None:
    assert room(office, A_MINUTE) == 3
    assert room(office, Bucket("eve", 1, 60)) == 1
    office.clock.forward(seconds=40)
    with pytest.raises(TooManyRequests) as refused:
        office.people.limits.take(A_MINUTE)
    seconds = refused.value.fields["seconds"]
    assert isinstance(seconds, int)
    assert 18 <= seconds <= 21
    office.clock.forward(seconds=seconds)
    assert room(office, A_MINUTE) == 3


def test_processes_count_together(office: OpenOffice, open_office: OpenOffices, folder: Path) -> None:
    office.people.limits.take(A_MINUTE)
    assert room(open_office(office.clock), A_MINUTE) == 2
    assert room(office, A_MINUTE) == 0
    told = in_processes(folder, *[["count", "together", "25", "20"]] * 3)
    assert sum(map(int, told)) == 25


def test_threads_count_together(office: OpenOffice) -> None:
    start = Barrier(6)

    def take(_: int) -> int:
        start.wait()
        return room(office, Bucket("all", 20, 600))

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(take, range(6))) == 20


def test_a_full_bucket_counts_in_no_other(office: OpenOffice) -> None:
    assert room(office, A_MINUTE) == 3
    for _ in range(5):
        with pytest.raises(TooManyRequests):
            office.people.limits.take(Bucket("eve", 2, 60), A_MINUTE)
    assert room(office, Bucket("eve", 2, 60)) == 2


def test_one_key_with_two_spans_is_two_buckets(office: OpenOffice) -> None:
    assert room(office, A_MINUTE) == 3
    assert room(office, Bucket("ben", 3, 3_600)) == 3


def test_a_bucket_for_nothing_and_no_bucket(office: OpenOffice) -> None:
    office.people.limits.take()
    assert room(office, Bucket("none", 0, 60)) == 0


def test_nobody_can_be_read_from_what_is_kept(office: OpenOffice) -> None:
    keys = ["address:192.0.2.7/32", "person:ben", "x" * 10_000, "\0\ud800é"]
    for key in keys:
        assert room(office, Bucket(key, 1, 60)) == 1
    names = [str(name) for (name,) in office.vandalise("SELECT bucket FROM counts")]
    assert len(set(names)) == 4
    assert {len(name) for name in names} == {64}
    import hashlib

    plain = {hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() for key in keys}
    assert not plain & set(names), "an address could be found again by trying them all"


def test_what_is_out_of_date_is_swept(open_office: OpenOffices) -> None:
    first = open_office()
    for number in range(20):
        first.people.limits.take(Bucket(str(number), 1, 60))
    first.clock.forward(seconds=61)
    open_office(first.clock).people.limits.take(A_MINUTE)
    assert len(first.vandalise("SELECT bucket FROM counts")) == 1


def test_a_clock_that_is_put_back_locks_nobody_out(office: OpenOffice) -> None:
    assert room(office, A_MINUTE) == 3
    office.clock.forward(days=-1)
    assert room(office, A_MINUTE) == 3
