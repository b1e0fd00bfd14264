from __future__ import annotations

from pathlib import Path

from pyspark.accumulators import Accumulator

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import ArchiveSource
from contractlog.spark_validation.spark.audit_tasks import AuditTask
from contractlog.spark_validation.spark.tasks import TaskSignals, _ErrorList


def test_a_worker_that_does_not_share_the_folder_of_the_results_says_so(tmp_path: Path) -> None:
    errors: Accumulator[list[ContractlogError]] = Accumulator(1, [], _ErrorList())
    signals = TaskSignals(None, errors)
    task = AuditTask(
        ArchiveSource(tmp_path), None, tmp_path / "audit" / "violations.parquet", None, EvidenceOptions(), signals
    )
    (error,) = task([[OffsetRange("t", 0, 0, 10)]])
    assert isinstance(error, UsageError)
    assert f"does not have {tmp_path / 'audit'}, the folder for results" in str(error)
    assert errors.value == [error]
