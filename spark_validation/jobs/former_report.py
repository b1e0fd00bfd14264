"""The report of the former audit of a folder, with which a new one is compared."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import jsonschema_rs
import orjson

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.contracts.audit.report import AuditReport
from contractlog.spark_validation.jobs.result_folder import REPORT

__all__ = ["read_former_report"]

MAX_BYTES: Final = 512 * 2**20


def read_former_report(folder: Path) -> AuditReport | None:
    """Return the report in a folder; None if there is none that this release can compare."""
    try:
        report = orjson.loads(read_bounded_file(folder / REPORT, MAX_BYTES))
    except (OSError, ValueError):
        return None
    return cast("AuditReport", report) if _report_validator().is_valid(report) else None


@cache
def _report_validator() -> Any:
    schema = json.loads((files("contractlog.contracts.audit") / "report.schema.json").read_text())
    return jsonschema_rs.validator_for(schema)
