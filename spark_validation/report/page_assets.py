"""Parts that HTML pages share: style and script with their hashes, embedded JSON, escaped texts."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any, Final, TypeVar, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["embed_json", "escape_strings", "make_environment", "read_asset", "source_hash"]

T = TypeVar("T")

_OUTSIDE_SCRIPTS: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def make_environment() -> Environment:
    """Return an environment for the templates of pages; pages add their filters."""
    return Environment(
        loader=PackageLoader("contractlog.spark_validation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def escape_strings(value: T) -> T:
    """Return a JSON value with the unprintable characters of its texts escaped."""
    result: Any = value
    if isinstance(value, str):
        result = escape_line(value)
    elif isinstance(value, list):
        result = [escape_strings(item) for item in value]
    elif isinstance(value, dict):
        result = {escape_strings(key): escape_strings(item) for key, item in value.items()}
    return cast("T", result)


def embed_json(value: object) -> Markup:
    r"""Write a JSON value for a script element that is data: no text in it can end the element.

    >>> print(embed_json({"topic": "<!--"}))
    {"topic":"\u003c!--"}
    """
    written = json.dumps(value, separators=(",", ":"))
    return Markup(written.translate(_OUTSIDE_SCRIPTS))  # noqa: S704 - has no character with a meaning in HTML


def source_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy permits an embedded style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def read_asset(name: str) -> str:
    """Read a style or a script of a page."""
    return (files(__package__) / "templates" / name).read_text("utf-8").strip()
