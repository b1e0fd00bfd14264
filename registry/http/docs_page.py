"""HTML page of the API documentation, from the same document as ``openapi.yaml``, and its stylesheet."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["read_stylesheet", "render_page"]

_CODE: Final = re.compile(r"`{1,2}([^`]+)`{1,2}")
_MAX_SHOWN_BOUND: Final = 10**12  #: larger bounds are not shown: they mean nothing to a reader
_PACKAGE: Final = "contractlog.registry.http"  #: of the folder ``templates``

Operation = tuple[str, str, dict[str, Any]]  # method, path, OpenAPI operation


def read_stylesheet() -> str:
    """Return the stylesheet of the page."""
    return files(_PACKAGE).joinpath("templates/docs_page.css").read_text("utf-8")


def render_page(document: dict[str, Any]) -> str:
    """Return the page as HTML."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation.get("tags", ["others"])[0], []).append((method.upper(), path, operation))
    template = _environment().get_template("docs_page.html")
    return template.render(
        info=document["info"], groups=groups, bodies=document.get("components", {}).get("schemas", {})
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader  # noqa: PLC0415 - the page is rare, and the service starts without

    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"bounds": _format_bounds, "json": json.dumps, "prose": _format_prose}
    return environment


def _format_bounds(schema: dict[str, Any]) -> str:
    minimum, maximum = schema["minimum"], schema["maximum"]
    return f"{minimum:,g} to {maximum:,g}" if maximum < _MAX_SHOWN_BOUND else str(minimum)


def _format_prose(text: str) -> Markup:
    """Return text as HTML, with code between backticks."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja2

    return Markup(_CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S704 - escaped
