"""Two registries, as the environments of a manifest, and the verb ``promote`` run in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import Reference, SchemaDraft

MANIFEST = """
[environments.dev]
registry = "http://dev"
[environments.prod]
registry = "http://prod"
[environments.staging]
registry = "http://dev"
context = ".staging"
"""
MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
NOTE = {"name": "note", "type": "string", "default": ""}


def draft(schema: Any, *references: Reference) -> SchemaDraft:
    return SchemaDraft(json.dumps(schema), references=references)


def more(schema: dict[str, Any], *fields: Any) -> dict[str, Any]:
    return {**schema, "fields": [*schema["fields"], *fields]}


class Environments:
    """The registries of both environments, and the verb run in a folder with the manifest."""

    def __init__(self, apps: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.apps, self.folder, self.capsys = apps, folder, capsys
        self.dev, self.prod = (Registry(app=apps[name]) for name in ("dev", "prod"))

    def promote(self, *arguments: str, target: str = "prod") -> tuple[int, str, str]:
        code = main(["promote", "dev", target, *arguments])
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err

    def history(self, registry: Registry, subject: str) -> list[tuple[int, int, str | None]]:
        versions = (registry.version(subject, number) for number in registry.versions(subject))
        return [(int(each.version or 0), each.schema_id, each.guid) for each in versions]
