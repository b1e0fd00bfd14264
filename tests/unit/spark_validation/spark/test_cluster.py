from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.spark.cluster import SparkCluster, copy_wheel

URL = "spark://127.0.0.1:7077"


def _make_wheel(file: Path, name: str) -> Path:
    with ZipFile(file, "w") as archive:
        archive.writestr(name, "")
    return file


def test_a_wheel_is_sent_under_a_name_that_spark_imports_from(tmp_path: Path) -> None:
    wheel = _make_wheel(tmp_path / "contractlog-1-py3-none-any.whl", "contractlog/spark_validation/__init__.py")
    assert SparkCluster(URL, wheel).wheel == wheel
    copy = copy_wheel(wheel, tmp_path)
    assert copy.name == "contractlog-1-py3-none-any.zip"
    assert copy.read_bytes() == wheel.read_bytes()


def test_other_files_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "text.whl").write_text("text")
    for file, words in [
        (tmp_path / "missing.whl", "cannot be read"),
        (tmp_path / "text.whl", "cannot be read"),
        (_make_wheel(tmp_path / "other.whl", "other/__init__.py"), "is not a wheel of contractlog"),
    ]:
        with pytest.raises(UsageError, match=words):
            SparkCluster(URL, file)


@pytest.mark.parametrize("verb", ["audit", "unused"])
def test_a_wheel_without_a_cluster_is_a_usage_error(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--registry", "http://127.0.0.1:1", "--bootstrap-servers", "127.0.0.1:1"]
    assert main([verb, "t", *place, "--wheel", "contractlog.whl"]) == 2
    assert "--wheel is for the workers of a cluster" in capsys.readouterr().err
