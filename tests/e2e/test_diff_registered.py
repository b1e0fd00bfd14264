"""``contractlog diff`` agrees with the registry about registered versions."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import Reference, SchemaDraft

pytestmark = pytest.mark.e2e
ITEM = {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}]}


def order(*fields: str) -> str:
    described = [{"name": "item", "type": "Item"}, *({"name": name, "type": "long"} for name in fields)]
    return json.dumps({"type": "record", "name": "Order", "fields": described})


def test_registered_versions_are_told_alike_here_and_there(
    registry_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from contractlog.clients import Registry

    with Registry(registry_url) as registry:
        registry.register("item", SchemaDraft(json.dumps(ITEM)))
        registry.set_level("NONE")
        leaning = (Reference("Item", "item", 1),)
        for text in (order("id"), order("id", "total")):
            registry.register("orders:value", SchemaDraft(text, references=leaning))
    asked = {"earlier": "orders:value:1", "later": "orders:value:latest", "level": "FULL", "policy": "STRICT"}
    told = httpx2.get(f"{registry_url}/contractlog/v1/diff", params=asked, timeout=60).json()
    code = main(
        ["diff", "orders:value:1", "orders:value:2", "--level", "FULL", "--format", "json", "--registry", registry_url]
    )
    assert code == exit_codes.FINDINGS
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("subject") == "orders:value"
    (change,) = printed.pop("changes")
    assert (change["risk"], change["text"]) == ("breaking", "field `total` added without a default")
    assert printed == told
    assert printed["findings"]

    file = tmp_path / "orders-value.avsc"
    file.write_text(json.dumps(ITEM))
    assert main(["diff", "item:latest", str(file), "--registry", registry_url]) == exit_codes.CLEAN
    assert ": none (only the layout changed)" in capsys.readouterr().out
    assert main(["diff", "item:7", str(file), "--registry", registry_url]) == exit_codes.USAGE
    assert "Version 7 not found." in capsys.readouterr().err
    assert main(["diff", "item:latest", "nowhere.avsc", "--registry", registry_url]) == exit_codes.USAGE
