"""Impact of a change: fetches of a client and a published audit, with a real service and command."""

from __future__ import annotations

import json

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.report import AuditReport
from contractlog.spark_validation.jobs.audit_job import publish

from support.audits import create_audit, use
from support.gate import TOTAL, Gate, order, told

pytestmark = pytest.mark.e2e

WAIVER = """
[[waivers]]
subject = "{subject}"
check = "DATA_UNREADABLE"
reason = "nobody reads the records of version 1"
by = "ana@example.com"
until = 2999-01-01
"""


def test_a_change_that_passes_its_level_and_cannot_read_records_fails_until_it_is_waived(
    gate: Gate, server: Registry
) -> None:
    first = server.register(gate.subject, SchemaDraft(order())).schema_id
    second = server.register(gate.subject, SchemaDraft(order({**TOTAL, "default": 0.0}))).schema_id
    with Registry(gate.url, headers={"X-Contractlog-Client": "billing"}) as consumer:
        consumer.text_of_id(first)
    entry = create_audit(gate.topic, use(first, 1_200, gate.subject, 1), use(second, 1_800, gate.subject, 2))
    report: AuditReport = {"topics": [entry]}  # type: ignore[typeddict-item]
    assert publish(server, report) == 1  # as `contractlog audit --publish`

    name = gate.put("{}-value.avsc", order(TOTAL))
    output = told(gate.run("check", name), exit_codes.FINDINGS)
    assert f"{name}:9:5  at /fields/1  DATA_UNREADABLE" in output
    assert f"1,200 of 3,000 (40 %) records of topic `{gate.topic}`, as of the audit of " in output
    assert "`billing` reads version 1 (last on " in output
    body = json.loads(gate.run("check", name, "--format", "json").stdout)["files"][0]
    assert (body["outcome"], body["impact"]["client_count"]) == ("data_unreadable", 1)
    told(gate.run("apply", name), exit_codes.FINDINGS)
    assert server.versions(gate.subject) == [1, 2]

    gate.put("contractlog.toml", WAIVER.format(subject=gate.subject))
    assert "which is waived by the manifest" in told(gate.run("check", name), exit_codes.CLEAN)
    told(gate.run("apply", name), exit_codes.CLEAN)
    assert server.versions(gate.subject) == [1, 2, 3]
