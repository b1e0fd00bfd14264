"""Sizes of pages are those that Arrow has written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contractlog.spark_validation.sources.parquet_pages import HEADER_BYTES, read_page_size


@pytest.mark.parametrize("size", [0, 1, 100, 300_000, 5_000_000])
def test_the_size_of_a_dictionary_is_that_of_its_values(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [b"x" * size] * 3}), file, compression="zstd", dictionary_pagesize_limit=2**28)
    column = pq.ParquetFile(file).metadata.row_group(0).column(0)
    header = file.read_bytes()[column.dictionary_page_offset :][:HEADER_BYTES]
    assert read_page_size(header) == size + 4  # after its length


@pytest.mark.parametrize("header", [b"", b"\x15", b"\x15\x04", b"\x15\x04\x25\x01", b"\x15\x04\x15" + b"\xff" * 9])
def test_another_form_has_no_size(header: bytes) -> None:
    assert read_page_size(header) is None
