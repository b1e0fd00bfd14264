"""Writer of ``openapi.yaml``: ``python -m contractlog.registry.http.openapi_file``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings

__all__ = ["build_document", "render_yaml"]


def build_document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    app = create_app(Settings(database_url="sqlite://"))
    try:
        return app.openapi()
    finally:
        app.state.close()


def render_yaml() -> str:
    """Return the text of ``openapi.yaml``."""
    head = "# Written by `python -m contractlog.registry.http.openapi_file`; a test compares it with the app."
    return "\n".join([head, *_yaml_lines(build_document())]) + "\n"


def _yaml_lines(value: Any, indent: str = "") -> Iterator[str]:
    """Write block style with JSON scalars, a subset of YAML that all parsers read alike."""
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for key, item in pairs:
        head = "-" if key is None else f"{_key(key)}:"
        if isinstance(item, dict | list) and item:
            yield f"{indent}{head}"
            yield from _yaml_lines(item, indent + "  ")
        else:
            yield f"{indent}{head} {json.dumps(item, ensure_ascii=False)}"


def _key(key: Any) -> str:
    text = str(key)
    return text if text.replace("_", "").isalpha() else json.dumps(text)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "openapi.yaml").write_text(render_yaml())
