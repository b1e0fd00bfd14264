"""Older releases over HTTP: the life of a folder against a registry behind a proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.registry.http.release_profiles import Profile

from support.gate import NOTE, TOTAL, Gate, order, told
from support.operations import LINE
from support.operations import order as draft
from support.registry import serve_in_thread
from support.release_proxy import proxy_release

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("release", [Profile.SEVEN, Profile.FIVE])
def test_a_folder_is_pulled_changed_checked_planned_and_applied(release: Profile, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'registry.db'}"
    with (
        serve_in_thread(database, CONTRACTLOG_RESPONSE_PROFILE=release.value) as served,
        proxy_release(served, release) as (url, rejected),
        Registry(url) as registry,
    ):
        registry.register("orders-value", draft())
        registry.register("lines-value", LINE)
        gate = Gate(tmp_path, url)
        told(gate.run("pull", "--all", "--out", "schemas"), exit_codes.CLEAN)
        told(gate.run("plan", "schemas", "--exit-code"), exit_codes.CLEAN)
        name = gate.put("schemas/orders-value.avsc", order(TOTAL))
        assert f"{name}: incompatible with version 1" in told(gate.run("check", "schemas"), exit_codes.FINDINGS)
        told(gate.run("apply", "schemas"), exit_codes.FINDINGS)
        assert registry.versions("orders-value") == [1]

        gate.put("schemas/orders-value.avsc", order(NOTE))
        output = told(gate.run("check", "schemas"), exit_codes.CLEAN)
        assert "does not show permissions: whether you may register here is not known" in output
        told(gate.run("diff", "orders-value:1", name), exit_codes.CLEAN)
        told(gate.run("plan", "schemas", "--out", "plan.json"), exit_codes.CLEAN)
        told(gate.run("apply", "--plan", "plan.json"), exit_codes.CLEAN)
        assert registry.versions("orders-value") == [1, 2]
        assert registry.version("lines-value", "latest").references[0].version == 2
        assert told(gate.run("plan", "schemas", "--exit-code"), exit_codes.CLEAN) == ""
        assert any("/contractlog/" in each for each in rejected), "the commands tried the extensions, and went on"
