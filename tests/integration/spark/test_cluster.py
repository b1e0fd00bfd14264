"""A failing task on Spark ends all tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.errors import Unreachable
from contractlog.contracts.audit.report import PARTS
from contractlog.spark_validation.expectations import AuditExpectations, PartExpectation
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource, RangeSource
from contractlog.spark_validation.spark_audit import audit_ranges
from contractlog.spark_validation.spark_tasks import TASK_WORK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def test_a_source_that_is_gone_is_told_without_asking_it_for_every_range(spark: SparkSession, tmp_path: Path) -> None:
    class Gone(ArchiveSource):
        def read(self, offsets: OffsetRange) -> Iterator[Any]:
            (self.folder / f"asked-{offsets.start}").touch()
            time.sleep(1)
            raise Unreachable("the broker is gone")

        def open(self, ranges: Sequence[OffsetRange]) -> AbstractContextManager[RangeSource]:
            return nullcontext(self)

    source, violations = Gone(tmp_path), tmp_path / "violations"
    violations.mkdir()
    expectations = AuditExpectations({("t", part): PartExpectation(audited=False) for part in PARTS}, {}, {})
    ranges = [OffsetRange("t", 0, start, start + TASK_WORK) for start in range(0, 64 * TASK_WORK, TASK_WORK)]
    with pytest.raises(Unreachable, match="the broker is gone"):
        audit_ranges(spark, source, ranges, expectations, violations)
    assert len(list(tmp_path.glob("asked-*"))) < 32
