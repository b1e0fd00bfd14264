"""The registry that the verbs meet: contractlog's own, one with users, and one with the reference's endpoints only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry, Security
from contractlog.clients.transport import ASGIApp
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.testing import Registries

from support.limited_servers import imitate_release, remove_extensions
from support.operations import LINE, NOTE, Run, order, runner


@pytest.fixture
def app(registries: Registries) -> Iterator[Any]:
    made = registries.make({})
    yield made
    made.state.close()


@pytest.fixture
def registry(app: Any) -> Iterator[Registry]:
    """A client of the registry that the verbs meet."""
    with Registry(app=app) as client:
        yield client


@pytest.fixture
def run(app: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(app, monkeypatch, capsys)


@pytest.fixture
def run_plain(app: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb against a server without contractlog's own endpoints."""
    return runner(remove_extensions(app), monkeypatch, capsys)


@pytest.fixture(params=["contractlog", "plain"])
def run_anywhere(
    request: pytest.FixtureRequest, app: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a verb against both kinds of server, one after the other."""
    return runner(app if request.param == "contractlog" else remove_extensions(app), monkeypatch, capsys)


@pytest.fixture
def old(registries: Registries) -> Iterator[ASGIApp]:
    """A server with what release 5.5 of the reference has."""
    app = registries.make({"response_profile": Profile.FIVE})
    yield imitate_release(app, Profile.FIVE)
    app.state.close()


@pytest.fixture
def run_old(old: ASGIApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(old, monkeypatch, capsys)


@pytest.fixture
def run_as_reader(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Run a verb as a user who may only read ``orders-*``, in a registry with ``orders-value``."""
    file = tmp_path / "users.toml"
    secret = "secret"  # noqa: S105 - of a registry in memory
    password = HashedPassword.of(secret, n=2, r=1, p=1)
    users = {"reader": (["orders-*"], []), "writer": ([], ["orders-*"]), "ci": ([], ["*"])}
    file.write_text("".join(format_entry(name, password, *permitted) for name, permitted in users.items()))
    app = registries.make({"users_file": str(file)})
    with Registry(app=app, security=Security(user="ci", password=secret)) as registry:
        registry.register("orders-value", order())
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "reader")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", secret)
    yield runner(app, monkeypatch, capsys)
    app.state.close()


@pytest.fixture
def orders(registry: Registry) -> Registry:
    """The registry with two versions of ``orders-value``, the first of them referenced, and another context."""
    registry.register("orders-value", order())
    registry.register("orders-value", order(NOTE))
    registry.register("lines-value", LINE)
    registry.register(":.eu:orders-value", order())
    return registry
