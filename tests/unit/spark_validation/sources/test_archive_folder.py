"""Archives are local folders or addresses of object stores, and no address shows or takes credentials."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.archive_folder import hide_parameters, open_archive, parse_location


@pytest.mark.parametrize("text", ["lake", "/lake/archive", "a:b"])
def test_other_texts_are_local_paths(text: str) -> None:
    assert parse_location(text) == Path(text)


@pytest.mark.parametrize(
    "address",
    [
        "s3://lake/archive",
        "gs://lake",
        "abfs://c@account/a",
        "abfss://container@account.dfs.core.windows.net/a",
        "hdfs://node/a",
    ],
)
def test_addresses_of_object_stores_stay_texts(address: str) -> None:
    assert parse_location(address) == address
    assert hide_parameters(f"{address}?region=x&endpoint_override=y") == address


@pytest.mark.parametrize(
    "address",
    [
        "s3://user:secret@lake/archive",
        "s3://secret@lake",
        "abfss://:secret@account/c/a",
        "abfs://c:secret@account/a",
        "s3://AKIA:SECRET/PW@lake/x",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UsageError, match="AWS_SECRET_ACCESS_KEY") as refused:
        parse_location(address)
    assert "secret@" not in str(refused.value).lower()
    assert "PW" not in str(refused.value)


def test_another_kind_of_address_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"http:// is not an address of an archive: use a folder, or s3://, gs://"):
        parse_location("http://lake/archive")


def test_an_address_with_one_slash_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"s3:/… is not an address of an archive: write s3://BUCKET/FOLDER"):
        parse_location("s3:/lake/archive")


def test_a_parameter_that_is_unknown_is_named() -> None:
    with pytest.raises(UsageError, match=r"s3://lake/a cannot be opened: .*'what'"):
        open_archive("s3://lake/a?what=1")


def test_a_staged_file_is_hidden_until_it_is_published(tmp_path: Path) -> None:
    folder = open_archive(tmp_path)
    staged = folder.stage_file("topic=t", "label")
    staged.write_bytes(b"content")
    assert folder.list_files("t") == []
    folder.publish_file(staged, "topic=t/a.parquet")
    assert folder.list_files("t") == [f"{tmp_path}/topic=t/a.parquet"]
    assert folder.read_file("topic=t/a.parquet", 7) == b"content"
    assert folder.read_file("topic=t/b.parquet", 7) is None
    with pytest.raises(OSError, match="larger") as too_large:
        folder.read_file("topic=t/a.parquet", 6)
    assert too_large.value.errno == errno.EFBIG


def _link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("missing"))


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (os.mkfifo, "a.parquet is not a regular file"),
        (_link_to_a_device, "a.parquet is not a regular file"),
        (_link_to_nothing, "a.parquet cannot be read: No such file or directory"),
    ],
)
def test_what_is_not_a_regular_file_is_an_error_not_left_out(
    tmp_path: Path, create: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "topic=t" / "day=1"
    folder.mkdir(parents=True)
    create(folder / "a.parquet")
    create(folder / "_a.parquet")
    with pytest.raises(UsageError, match=message):
        open_archive(tmp_path).list_files("t")


def test_a_link_to_a_file_is_read_and_one_to_a_folder_is_an_error(tmp_path: Path) -> None:
    folder, outside = tmp_path / "topic=t", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "a.parquet").write_bytes(b"content")
    (folder / "a.parquet").symlink_to(outside / "a.parquet")
    assert open_archive(tmp_path).list_files("t") == [f"{folder}/a.parquet"]
    (folder / "day=1").symlink_to(outside)
    with pytest.raises(UsageError, match="day=1 is a link to a folder"):
        open_archive(tmp_path).list_files("t")
