"""Pseudonyms and secret coins are HMAC-SHA256, whoever computes it."""

from __future__ import annotations

import hmac

import numpy as np
import pyarrow as pa
import pytest

from discreet.linkage.agreements.agreement import IdType
from discreet.linkage.offices.link_ids import pseudonyms_of, secret_words

KEY = bytes(range(32))


def told(message: bytes) -> bytes:
    return hmac.digest(KEY, message, "sha256")[:16]


@pytest.mark.parametrize("count", [0, 1, 3, 5_000])
def test_a_pseudonym_is_the_digest_of_type_and_id(count: int) -> None:
    ids = pa.array(np.arange(count, dtype=np.int64) * 7 - 20)
    found = pseudonyms_of(ids, kind=IdType.INTEGER, key=KEY)
    assert found.shape == (count, 2)
    expected = [told(b"discreet-linked-1|integer|%d" % number) for number in ids.to_pylist()]
    assert [row.astype(">u8").tobytes() for row in found] == expected


def test_texts_of_every_length_and_letter_keep_their_order() -> None:
    texts = ["é", "a|b", "x" * 300, "H1", "", "'; --", "\x01"]
    column = pa.chunked_array([pa.array(texts)[:3], pa.array(texts)[3:]])
    found = pseudonyms_of(column, kind=IdType.TEXT, key=KEY)
    expected = [told(b"discreet-linked-1|text|" + text.encode()) for text in texts]
    assert [row.astype(">u8").tobytes() for row in found] == expected


def test_coins_follow_their_label() -> None:
    ids, label = pa.array([1, 2]), b"coin\n\x00\xff"
    found = secret_words(ids, key=KEY, label=label)
    assert found.astype(">u8").tobytes() == told(label + b"1")[:8] + told(label + b"2")[:8]
