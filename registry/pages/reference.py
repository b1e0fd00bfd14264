"""The page that shows the API to people: made from the same description as ``openapi.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

__all__ = ["reference"]

Operation = tuple[str, str, dict[str, Any]]  # method, path, what openapi says


def reference(document: dict[str, Any]) -> str:
    """Write the page."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation.get("tags", ["others"])[0], []).append((method.upper(), path, operation))
    return "".join(_page(document["info"], groups))


def _page(info: dict[str, Any], groups: dict[str, list[Operation]]) -> Iterator[str]:
    title, count = escape(info["title"]), sum(map(len, groups.values()))
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}: its API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="docs.css"></head>\n<body><header>'
        f"<h1>{title}</h1><p>{escape(info['description']).replace('`', '')}</p>"
        f"<p>Release {escape(info['version'])} answers {count} kinds of requests. "
        'For programs: <a href="openapi.json">openapi.json</a>.</p><nav aria-label="Groups"><ul>'
    )
    yield from (f'<li><a href="#{escape(name)}">{escape(name)}</a> ({len(one)})</li>' for name, one in groups.items())
    yield "</ul></nav></header>\n<main>"
    for name, operations in groups.items():
        yield f'\n<section aria-labelledby="{escape(name)}"><h2 id="{escape(name)}">{escape(name)}</h2>'
        for operation in operations:
            yield from _operation(*operation)
        yield "</section>"
    yield "</main></body></html>\n"


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    words = operation.get("description") or operation.get("summary", "")
    first, _, rest = words.partition("\n\n")
    yield (
        f'\n<details id="{escape(operation["operationId"])}"><summary><b>{method}</b> <code>{escape(path)}</code> '
        f'<span>{escape(first)}</span></summary><div class="box">'
    )
    yield from (f"<p>{escape(paragraph)}</p>" for paragraph in rest.split("\n\n") if paragraph)
    yield from _table(
        "Parameters",
        ("name", "in", "takes"),
        [(one["name"], one["in"], _kind(one.get("schema", {}))) for one in operation.get("parameters", ())],
    )
    body = operation.get("requestBody", {}).get("content", {})
    yield from _table("Body", ("media type", "holds"), [(kind, _kind(one["schema"])) for kind, one in body.items()])
    answers = operation.get("responses", {})
    yield from _table("Answers", ("status", "means"), [(status, one["description"]) for status, one in answers.items()])
    yield "</div></details>"


def _table(caption: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield f"<table><caption>{caption}</caption><thead><tr>"
    yield from (f'<th scope="col">{head}</th>' for head in heads)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
    yield "</tbody></table>"


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    return str(schema.get("type") or schema.get("const") or "anything")
