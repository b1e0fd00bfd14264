"""Change requests on a terminal and as JSON."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from contractlog.clients.cli.output import print_json, print_result, print_table
from contractlog.contracts.audit.time_text import describe_time

__all__ = ["LIST_FORMAT", "print_list", "print_request"]

FORMAT: Final = "contractlog.change/1"
LIST_FORMAT: Final = "contractlog.change-list/1"
_MAX_TEXT_LENGTH: Final = 400  #: of a value
_MAX_CELL_LENGTH: Final = 80  #: of a cell of the list
_MAX_LISTED: Final = 20  #: reasons, clients and datasets


def print_list(requests: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each change request."""
    names = ("status", "kind", "subject", "author", "reason")
    rows = [(each["id"], *(_shorten(str(each[name]), _MAX_CELL_LENGTH) for name in names)) for each in requests]
    print_table(("NUMBER", "STATUS", "KIND", "SUBJECT", "AUTHOR", "REASON"), rows)


def print_request(options: Namespace, request: Mapping[str, Any]) -> None:
    """Print a change request in the requested format."""
    if options.format == "json":
        print_json({"format": FORMAT, **request})
        return
    facts = list(_list_facts(request))
    print_table(("FACT", "VALUE"), [(name, _shorten(str(value), _MAX_TEXT_LENGTH)) for name, value in facts])
    if any(len(str(value)) > _MAX_TEXT_LENGTH for _, value in facts):
        print_result(f"… long values are cut off; read all: contractlog change show {request['id']} --format json")
    for comment in request.get("comments") or ():
        print_result(f"{comment.get('author')}, {describe_time(comment.get('at'))}: {comment.get('text')}")


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _list_proposal(change: Mapping[str, Any], author: object) -> Iterator[tuple[str, object]]:
    """Yield what exactly is proposed: owners approve all of it."""
    yield from _list_schema(change.get("schema") or {})
    if change.get("normalize"):
        yield "normalize", "yes"
    if (deletion := change.get("deletion")) is not None:
        version = deletion.get("version")
        versions = "all versions" if version is None else f"version {version}"
        yield "deletes", f"{versions}, {'permanently' if deletion.get('permanent') else 'can be undone'}"
    if (waiver := change.get("waiver")) is not None:
        user = waiver.get("user") or author
        yield "waiver", f"changes of kind {waiver.get('kind')} by {user} for {waiver.get('days')} days"
    for member in ("config", "mode"):
        if (settings := change.get(member)) is not None:
            yield member, json.dumps(settings, ensure_ascii=False)


def _list_schema(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield each member of a proposed version, with a line for each rule, property and tagged path."""
    for member, value in schema.items():
        if member == "ruleSet":
            for kind, rules in (value or {}).items():
                for rule in rules if isinstance(rules, list) else [rules]:
                    yield f"rules: {kind}", _format_member(rule)
        elif member == "metadata":
            for kind, parts in (value or {}).items():
                for name, part in parts.items() if isinstance(parts, dict) else [(kind, parts)]:
                    yield f"metadata: {kind}", f"{name}: {_format_member(part)}"
        elif value not in (None, []):
            yield member, _format_member(value)


def _format_member(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list_facts(request: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield "number", request["id"]
    yield "status", request["status"]
    yield "change", f"{request.get('kind')} of {request.get('subject')}, revision {request.get('revision')}"
    yield from _list_proposal(request.get("change") or {}, request.get("author"))
    yield "author", request.get("author")
    yield "reason", request.get("reason")
    source = request.get("source") or {}
    yield from ((member, source[member]) for member in ("commit", "url") if source.get(member))
    evidence, reaches = request.get("evidence") or {}, request.get("reaches") or {}
    if "compatible" in evidence:
        yield "compatible", "yes" if evidence["compatible"] else "no"
    for reason in (evidence.get("reasons") or ())[:_MAX_LISTED]:
        yield "finding", reason
    difference = evidence.get("difference") or {}
    for finding in (difference.get("findings") or ())[:_MAX_LISTED]:
        yield "difference", finding.get("detail")
    for member in ("clients", "topics", "downstream"):
        if names := (reaches.get(member) or ())[:_MAX_LISTED]:
            yield f"reaches {member}", ", ".join(map(str, names))
    yield "approvals", ", ".join(request.get("approvals") or ()) or "none"
    if request.get("approvals_missing"):
        yield "missing", f"{request['approvals_missing']} by its owners: {', '.join(request.get('owners') or ())}"
    yield "expires", describe_time(request.get("expires_at"))
