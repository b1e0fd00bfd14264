"""The life of a folder of schemas against servers that have less than ours: pull, change, check, plan, apply.

Releases of the reference are our own service in their response profile, without the endpoints that they lack, and
Apicurio Registry is our own service with its answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.testing import Registries

from support.limited_servers import imitate_release
from support.operations import LINE, NOTE, order, runner

BREAKING = '{"name":"total","type":"double"}'


@pytest.fixture(params=[Profile.SEVEN, Profile.FIVE, "apicurio"])
def server(registries: Registries, request: pytest.FixtureRequest) -> Iterator[ASGIApp]:
    if request.param == "apicurio":
        yield request.getfixturevalue("apicurio_responses")
        return
    app = registries.make({"response_profile": request.param})
    yield imitate_release(app, request.param)
    app.state.close()


def test_a_folder_is_pulled_changed_checked_planned_and_applied(
    server: ASGIApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner(server, monkeypatch, capsys)
    registry = Registry(app=server)
    registry.register("orders-value", order())
    registry.register("lines-value", LINE)
    assert run("pull", "--all", "--out", str(tmp_path)).code == exit_codes.CLEAN
    folder = str(tmp_path)
    assert run("plan", folder, "--exit-code").code == exit_codes.CLEAN
    ran = run("check", folder)
    assert (ran.code, ran.out.count("registered already, as version 1")) == (exit_codes.CLEAN, 2)

    file = tmp_path / "orders-value.avsc"
    file.write_text(order(BREAKING).text)
    ran = run("check", folder)
    assert ran.code == exit_codes.FINDINGS
    assert "incompatible with version 1 of `orders-value` at level BACKWARD" in ran.out
    assert run("apply", folder).code == exit_codes.FINDINGS
    assert registry.versions("orders-value") == [1]

    file.write_text(order(NOTE).text)
    ran = run("check", folder)
    assert ran.code == exit_codes.CLEAN
    assert "does not show permissions: whether you may register here is not known" in ran.out
    assert run("diff", "orders-value:1", str(file)).code == exit_codes.CLEAN
    saved = tmp_path / "saved.plan"
    assert run("plan", folder, "--out", str(saved)).code == exit_codes.CLEAN
    ran = run("apply", "--plan", str(saved))
    assert (ran.code, registry.versions("orders-value")) == (exit_codes.CLEAN, [1, 2])
    assert registry.version("lines-value", "latest").references[0].version == 2
    ran = run("plan", folder, "--exit-code")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "")
    assert run("diff", "orders-value:1", "orders-value:2").code == exit_codes.CLEAN
