"""Two environments, of which the first has five versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import options as cli_options
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference
from contractlog.registry.testing import Registries

from support.environments import MANIFEST, MONEY, NOTE, ORDER, Environments, draft, more


@pytest.fixture
def environments(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Environments]:
    apps = {name: registries.make({}) for name in ("dev", "prod")}

    def connect(url: str, **settings: Any) -> Registry:
        return Registry(app=apps[url.removeprefix("http://")], **settings)

    monkeypatch.setattr(cli_options, "Registry", connect)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    (tmp_path / "orders-value.avsc").write_text(json.dumps(ORDER))
    (tmp_path / "Money.avsc").write_text(json.dumps(MONEY))
    servers = list(apps.values())
    environments = Environments(apps, tmp_path, capsys)
    with environments.dev as dev, environments.prod:
        dev.register("unrelated-value", draft("string"))
        dev.register("orders-value", draft(more(MONEY, NOTE)))
        dev.set_level(Level.NONE, "orders-value")
        dev.register("Money", draft(MONEY))
        dev.register("orders-value", draft(ORDER, Reference("Money", "Money", 1)))
        dev.register("Money", draft(more(MONEY, NOTE)))
        dev.register("orders-value", draft(more(ORDER, NOTE), Reference("Money", "Money", 2)))
        yield environments
    for app in servers:
        app.state.close()
