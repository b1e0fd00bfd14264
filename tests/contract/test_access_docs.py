"""``docs/access.md`` contains every setting of the server and the clients about access."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from contractlog.clients.settings import Security
from contractlog.registry.settings import PREFIX, Settings

PAGE = (Path(__file__).parent.parent.parent / "docs" / "access.md").read_text()
SERVER = [
    PREFIX + one.name.upper()
    for one in fields(Settings)
    if one.name.startswith(("tls_", "allowed_"))
    or one.name in {"users_file", "anonymous_reads", "metrics_token", "trusted_proxies"}
]
CLIENT = [f"CONTRACTLOG_REGISTRY_{one.name.upper()}" for one in fields(Security)]


@pytest.mark.parametrize("variable", SERVER + CLIENT)
def test_each_variable_is_described(variable: str) -> None:
    assert f"`{variable}`" in PAGE
