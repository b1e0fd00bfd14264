"""Java Avro, interpreter and generated code agree, except for documented differences.

The long part runs the full size; ``python -m support.avro_codec_comparison`` prints what it met.
"""

from __future__ import annotations

from random import Random

import pytest

from support.avro_codec_comparison import KNOWN_DIFFERENCES, compare_codecs
from support.java_avro import JavaProcess

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def test_there_are_at_most_ten_classes_of_difference() -> None:
    assert len(KNOWN_DIFFERENCES) <= 10


@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_bytes_and_values_are_javas(java_avro: JavaProcess, count: int) -> None:
    proof = compare_codecs(java_avro, Random(count), count)  # noqa: S311 - the same pairs in every run
    assert proof.unassigned == {}
    assert proof.counts["pairs"] >= count
    assert proof.counts["same bytes"] > 0.9 * count
    assert proof.counts["same value"] > 0.65 * count
    assert proof.counts["read by neither"] > 0.05 * count
    assert (
        proof.counts["written by generated code"] > 0.5 * count
    )  # a branch that is named is written by the interpreter
    assert proof.counts["read by generated code"] > 0.7 * count
