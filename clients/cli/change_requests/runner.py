"""Implementation of ``contractlog change``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.change_requests.display import LIST_FORMAT, print_list, print_request
from contractlog.clients.cli.change_requests.proposal import build_change, build_source, build_waiver
from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.cli.output import print_json, print_message
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.identifiers import qualify_subject

__all__ = ["run"]

_MAX_PAGES: Final = 100
_Body = Mapping[str, Any]


def run(options: Namespace) -> int:
    """Carry out the action, print the change request, and return the exit code."""
    context = select_context(options)
    if getattr(options, "subject", None) is not None:
        options.subject = qualify_subject(options.subject, context)
    with connect(options) as registry:
        if options.action == "list":
            return _list(registry, options)
        request = _ACTIONS[options.action](registry, options)
    print_request(options, request)
    if options.action in {"open", "waive", "show", "approve"} and request["status"] == "open":
        print_message(_describe_next_step(request))
    return exit_codes.CLEAN


def _describe_next_step(request: _Body) -> str:
    merge = registry_command("change merge", request["id"])
    if not request.get("approvals_missing"):
        return f"no approval is missing: {merge}"
    approve = registry_command("change approve", request["id"])
    return f"owners approve it: {approve} --revision {request['revision']}; then: {merge}"


def _open(registry: Registry, options: Namespace) -> _Body:
    change, source = build_change(options, registry), build_source(options)
    if options.update is not None:
        return registry.update_change_request(
            options.update, options.subject, change, options.reason, source=source, days=options.days
        )
    return registry.open_change_request(options.subject, change, options.reason, source=source, days=options.days)


def _waive(registry: Registry, options: Namespace) -> _Body:
    return registry.open_change_request(options.subject, build_waiver(options), options.reason)


def _show(registry: Registry, options: Namespace) -> _Body:
    return registry.change_request(options.number)


def _approve(registry: Registry, options: Namespace) -> _Body:
    return registry.approve_change_request(options.number, options.revision)


def _comment(registry: Registry, options: Namespace) -> _Body:
    return registry.comment_on_change_request(options.number, options.text)


def _merge(registry: Registry, options: Namespace) -> _Body:
    return registry.merge_change_request(options.number)


def _close(registry: Registry, options: Namespace) -> _Body:
    return registry.close_change_request(options.number)


_ACTIONS: Final[dict[str, Callable[[Registry, Namespace], _Body]]] = {
    "open": _open,
    "waive": _waive,
    "show": _show,
    "approve": _approve,
    "comment": _comment,
    "merge": _merge,
    "close": _close,
}


def _list(registry: Registry, options: Namespace) -> int:
    requests: list[_Body] = []
    before: int | None = None
    for _ in range(_MAX_PAGES):
        page = registry.change_requests(subject=options.subject, status=options.status, before=before)
        requests += page["change_requests"]
        before = page.get("next")
        if before is None:
            break
    if options.format == "json":
        print_json({"format": LIST_FORMAT, "change_requests": requests})
    else:
        print_list(requests)
    return exit_codes.CLEAN
