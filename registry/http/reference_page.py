"""HTML page of the API documentation, from the same document as ``openapi.yaml``, and its stylesheet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

__all__ = ["CSS", "render_page"]

CSS: Final = """\
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d0d7de; --tint: #f6f8fa;
  --accent: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ec; --quiet: #a3acb6; --line: #3a424b;
  --tint: #1d232a; --accent: #79b8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
header, main, footer { max-width: 64rem; margin: 0 auto; padding: 16px; }
h1 { font-size: 32px; line-height: 1.2; margin: 16px 0 8px; }
h2 { font-size: 24px; margin: 40px 0 8px; }
h3 { font-size: 15px; margin: 16px 0 0; }
p { max-width: 75ch; margin: 8px 0; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 16px; top: 8px; background: var(--paper); padding: 8px; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 8px 16px; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); }
summary { padding: 8px 0; cursor: pointer; display: flex; gap: 8px; flex-wrap: wrap; align-items: baseline; }
summary::before { content: "+"; font: 600 13px/1.5 ui-monospace, monospace; color: var(--quiet); }
details[open] > summary::before { content: "\\2212"; }
summary b { min-width: 4.5em; font: 600 13px/1.5 ui-monospace, monospace; }
summary span { color: var(--quiet); }
.box { overflow-x: auto; background: var(--tint); padding: 0 16px 8px; margin-bottom: 16px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
caption { text-align: left; font-weight: 600; padding: 16px 0 4px; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-top: 1px solid var(--line); }
@media print { details { break-inside: avoid; } }
"""

_CODE: Final = re.compile(r"`{1,2}([^`]+)`{1,2}")
_MAX_SHOWN_BOUND: Final = 10**12  #: larger bounds are not shown: they mean nothing to a reader

Operation = tuple[str, str, dict[str, Any]]  # method, path, OpenAPI operation


def render_page(document: dict[str, Any]) -> str:
    """Return the page as HTML."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation.get("tags", ["others"])[0], []).append((method.upper(), path, operation))
    return "".join(_page(document["info"], groups, document.get("components", {}).get("schemas", {})))


def _page(info: dict[str, Any], groups: dict[str, list[Operation]], bodies: dict[str, dict[str, Any]]) -> Iterator[str]:
    title, count = escape(info["title"]), sum(map(len, groups.values()))
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}: its API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="docs.css"></head>\n<body>'
        '<a class="skip" href="#requests">To the requests</a><header>'
        f"<h1>{title}</h1><p>{_prose(info['description'])}</p>"
        f"<p>Release {escape(info['version'])} answers {count} kinds of requests. "
        'For programs: <a href="openapi.json">openapi.json</a>.</p><nav aria-label="Groups"><ul>'
    )
    yield from (f'<li><a href="#{escape(name)}">{escape(name)}</a> ({len(one)})</li>' for name, one in groups.items())
    yield '<li><a href="#bodies">bodies</a></li></ul></nav></header>\n<main id="requests">'
    for name, operations in groups.items():
        yield f'\n<section aria-labelledby="{escape(name)}"><h2 id="{escape(name)}">{escape(name)}</h2>'
        for operation in operations:
            yield from _operation(*operation)
        yield "</section>"
    yield '\n<section aria-labelledby="bodies"><h2 id="bodies">bodies</h2>'
    for name, schema in bodies.items():
        yield from _body(name, schema)
    yield "</section></main></body></html>\n"


def _body(name: str, schema: dict[str, Any]) -> Iterator[str]:
    words = str(schema.get("description", "")).partition("\n\n")[0]
    yield (
        f'\n<details id="{_anchor(name)}"><summary><code>{escape(name)}</code> <span>{_prose(words)}</span></summary>'
        '<div class="box">'
    )
    needed = schema.get("required", ())
    members = [
        (
            f"<code>{escape(member)}</code>",
            _describe_type(kind),
            "required" if member in needed else "optional",
        )
        for member, kind in schema.get("properties", {}).items()
    ]
    yield from _table(f"Members of {escape(name)}", ("name", "type", ""), members) if members else ("<p>Any.</p>",)
    yield "</div></details>"


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    words = operation.get("description") or operation.get("summary", "")
    first, _, rest = words.partition("\n\n")
    yield (
        f'\n<details id="{escape(operation["operationId"])}"><summary><b>{method}</b> <code>{escape(path)}</code> '
        f'<span>{_prose(first)}</span></summary><div class="box">'
    )
    yield from (f"<p>{_prose(paragraph)}</p>" for paragraph in rest.split("\n\n") if paragraph)
    yield from _table(
        "Parameters",
        ("name", "in", "values", "meaning"),
        [
            (
                f"<code>{escape(one['name'])}</code>",
                one["in"],
                _describe_values(one.get("schema", {})),
                _prose(one.get("description", "")),
            )
            for one in operation.get("parameters", ())
        ],
    )
    body = operation.get("requestBody", {}).get("content", {})
    yield from _table(
        "Body", ("media type", "type"), [(kind, _describe_type(one["schema"])) for kind, one in body.items()]
    )
    answers = operation.get("responses", {})
    yield from _table(
        "Responses",
        ("status", "meaning", "body"),
        [(status, _prose(one["description"]), _body_types(one)) for status, one in answers.items()],
    )
    yield "</div></details>"


def _body_types(answer: dict[str, Any]) -> str:
    return " or ".join(
        {_describe_type(one["schema"]): None for one in answer.get("content", {}).values() if "schema" in one}
    )


def _table(caption: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Write a table; cells are already HTML."""
    if not rows:
        return
    yield f"<table><caption>{caption}</caption><thead><tr>"
    yield from (f'<th scope="col">{head}</th>' if head else "<td></td>" for head in heads)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody></table>"


def _describe_values(schema: dict[str, Any]) -> str:
    """Describe the values of a parameter, with bounds and default."""
    bounds = [schema[name] for name in ("minimum", "maximum") if name in schema]
    words = escape(", ".join(map(str, schema.get("enum", ())))) or _describe_type(schema)
    if len(bounds) > 1:
        words += f" from {bounds[0]:,g} to {bounds[1]:,g}" if bounds[1] < _MAX_SHOWN_BOUND else f" from {bounds[0]}"
    default = schema.get("default")
    return words if default in (None, "") else f"{words}; else {escape(json.dumps(default))}"


def _describe_type(schema: dict[str, Any]) -> str:
    """Describe the type of a value; bodies become links to their description."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f'<a href="#{_anchor(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_describe_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return escape(", ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {}))}"
    return escape(str(schema.get("type") or schema.get("const") or "anything"))


def _anchor(name: str) -> str:
    return f"body-{escape(name)}"


def _prose(text: str) -> str:
    """Return text as HTML, with code between backticks."""
    return _CODE.sub(r"<code>\1</code>", escape(text))
