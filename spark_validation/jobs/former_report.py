"""The report of the former audit of a folder, with which a new one is compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import jsonschema_rs
import orjson

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import AuditReport
from contractlog.spark_validation.jobs.result_folder import REPORT

__all__ = ["read_former_report"]

MAX_BYTES: Final = 512 * 2**20


def read_former_report(folder: Path, *, print_line: Callable[[str], None] | None = None) -> AuditReport | None:
    """Return the report in a folder; None if there is none that this release can compare.

    Args:
        folder: the folder of an audit's results.
        print_line: is called with a sentence if there is a report that cannot be used.
    """
    problem = "it is of another release of contractlog, or damaged"
    try:
        report = orjson.loads(read_bounded_file(folder / REPORT, MAX_BYTES))
        if _report_validator().is_valid(report):
            return cast("AuditReport", report)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        problem = escape_line(str(error))
    if print_line is not None:
        print_line(f"nothing is compared with the former report, {escape_line(str(folder / REPORT))}: {problem}")
    return None


@cache
def _report_validator() -> Any:
    schema = json.loads((files("contractlog.contracts.audit") / "report.schema.json").read_text())
    return jsonschema_rs.validator_for(schema)
