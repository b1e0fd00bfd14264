"""Change requests for protected subjects, their approvals, and waivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contractlog.clients.calls.call import Call, PathParameter, ResponseBody, SubjectLike, query_parameters

__all__ = [
    "approve_change_request",
    "change_request",
    "change_requests",
    "close_change_request",
    "comment_on_change_request",
    "merge_change_request",
    "open_change_request",
    "update_change_request",
    "waivers",
]

_PATH: Final = ("contractlog", "v1", "change-requests")


def open_change_request(
    subject: SubjectLike,
    change: Mapping[str, Any],
    reason: str,
    *,
    source: Mapping[str, str] | None = None,
    days: int | None = None,
) -> Call[ResponseBody]:
    """Open a change request for a subject, or for the settings of a context.

    Args:
        subject: or a context, such as ``:.eu:``.
        change: one of the members ``schema``, ``deletion``, ``config``, ``mode`` and ``waiver``.
        reason: why the change is needed.
        source: its origin, with the members ``commit`` and ``url``.
        days: until it expires.

    Raises:
        InvalidChangeRequest: the change is not valid, or would change nothing.
    """
    return Call("POST", _PATH, _parse_request, body=_body(subject, change, reason, source, days), repeatable=False)


def update_change_request(
    number: int,
    subject: SubjectLike,
    change: Mapping[str, Any],
    reason: str,
    *,
    source: Mapping[str, str] | None = None,
    days: int | None = None,
) -> Call[ResponseBody]:
    """Replace the proposal of the caller's own change request; its approvals are deleted.

    Raises:
        ApprovalDenied: the caller is not its author.
        ChangeRequestEnded: it is merged, closed or expired.
    """
    body = _body(subject, change, reason, source, days)
    return Call("PUT", _request_path(number), _parse_request, body=body, repeatable=False)


def change_requests(
    *,
    subject: SubjectLike | None = None,
    status: str | None = None,
    before: int | None = None,
    limit: int | None = None,
) -> Call[ResponseBody]:
    """Return a page of change requests, the newest first; ``next`` is ``before`` of the next page."""
    query = query_parameters(subject=subject, status=status, before=before, limit=limit)
    return Call("GET", _PATH, _parse_list, query)


def change_request(number: int) -> Call[ResponseBody]:
    """Return a change request with its evidence, approvals and comments.

    Raises:
        ChangeRequestNotFound: there is none.
    """
    return Call("GET", _request_path(number), _parse_request)


def approve_change_request(number: int, revision: int) -> Call[ResponseBody]:
    """Approve a revision of a change request.

    Raises:
        ApprovalDenied: the caller is its author, or no owner of the subject.
        ChangeRequestMoved: it has another revision.
    """
    return Call("POST", (*_request_path(number), "approvals"), _parse_request, body={"revision": revision})


def comment_on_change_request(number: int, text: str) -> Call[ResponseBody]:
    """Add a comment to an open change request."""
    return Call("POST", (*_request_path(number), "comments"), _parse_request, body={"text": text}, repeatable=False)


def merge_change_request(number: int) -> Call[ResponseBody]:
    """Make the change exactly as it was approved.

    Raises:
        ApprovalsMissing: it has too few approvals.
        ChangeRequestMoved: the subject or its settings have changed since it was checked.
    """
    return Call("POST", (*_request_path(number), "merge"), _parse_request, repeatable=False)


def close_change_request(number: int) -> Call[ResponseBody]:
    """Close a change request without making the change."""
    return Call("POST", (*_request_path(number), "close"), _parse_request, repeatable=False)


def waivers(*, subject: SubjectLike | None = None, limit: int | None = None) -> Call[list[ResponseBody]]:
    """Return the waivers that have not expired."""
    query = query_parameters(subject=subject, limit=limit)
    return Call("GET", ("contractlog", "v1", "waivers"), lambda body: list(body["waivers"]), query)


def _request_path(number: int) -> tuple[str, ...]:
    return (*_PATH, PathParameter(number))


def _body(
    subject: SubjectLike,
    change: Mapping[str, Any],
    reason: str,
    source: Mapping[str, str] | None,
    days: int | None,
) -> dict[str, Any]:
    body = {"subject": str(subject), "change": dict(change), "reason": reason, "source": source, "days": days}
    return {name: value for name, value in body.items() if value is not None}


def _parse_request(body: Any) -> ResponseBody:
    if not isinstance(body["id"], int) or not isinstance(body["status"], str):
        raise TypeError("a change request has a number and a status")
    return dict(body)


def _parse_list(body: Any) -> ResponseBody:
    if not isinstance(body["change_requests"], list):
        raise TypeError("`change_requests` is a list")
    return dict(body)
