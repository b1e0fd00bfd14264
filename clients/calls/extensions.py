"""Extensions of contractlog: audits, the change log, search, differences, graphs and batch requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

from contractlog.clients.calls.call import (
    Call,
    Pages,
    PathParameter,
    ResponseBody,
    SubjectLike,
    VersionLike,
    parse_version,
    query_parameters,
)
from contractlog.clients.calls.schemas import CompatibilityResult
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import RegistryError, UnreadableResponse
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.contracts.audit.report import Part, PublishedAudit, TopicPart
from contractlog.contracts.lineage.edges import Evidence

__all__ = [
    "changes",
    "check_many",
    "conformance",
    "conformance_history",
    "contract",
    "contract_consumers",
    "contract_versions",
    "contracts",
    "delete_contract",
    "difference",
    "each_change",
    "each_hit",
    "each_lineage_edge",
    "effective_settings",
    "fetches",
    "graph",
    "lineage",
    "lineage_edges",
    "lookup_many",
    "permissions",
    "publish_conformance",
    "publish_lineage",
    "put_contract",
    "search",
    "usage",
]

_EXTENSION_PATH: Final = ("contractlog", "v1")
_GLOBAL_SETTINGS: Final = ":.:"
_EDGES_PER_PAGE: Final = 1_000
_MAX_EMPTY_PAGES: Final = 1_000  #: one after the other


def conformance(topic: str, *, part: Part | None = None) -> Call[list[TopicPart]]:
    """Return the newest audit of each part of a topic.

    Raises:
        ConformanceNotFound: no audit was published.
    """
    return Call("GET", (*_EXTENSION_PATH, "conformance", PathParameter(topic)), list, query_parameters(part=part))


def conformance_history(topic: str, *, part: Part | None = None, limit: int = 100) -> Call[list[PublishedAudit]]:
    """Return the verdicts and counts of the stored audits of a topic, newest first.

    Raises:
        ConformanceNotFound: no audit was published.
        InvalidQuery: the limit is not from 1 to 1,000.
    """
    path = (*_EXTENSION_PATH, "conformance", PathParameter(topic), "history")
    return Call("GET", path, list, query_parameters(part=part, limit=limit))


def publish_conformance(topic: str, entry: TopicPart) -> Call[Mapping[str, Any]]:
    """Record the audit of one part of a topic; return it with the time of its recording."""
    return Call("POST", (*_EXTENSION_PATH, "conformance", PathParameter(topic)), dict, body=entry)


def contract(topic: str, version: VersionLike | None = None) -> Call[ResponseBody]:
    """Return a version of the contract of a topic, by default the newest one.

    The member ``document`` is the contract.

    Raises:
        ContractNotFound: there is none.
    """
    path = (*_EXTENSION_PATH, "contracts", PathParameter(topic))
    return Call("GET", path if version is None else (*path, "versions", PathParameter(str(version))), dict)


def contracts(*, after: str | None = None, limit: int | None = None) -> Call[ResponseBody]:
    """Return a page of the newest versions of contracts, by topic, without their documents.

    Args:
        after: `next` of the page before.
        limit: maximum number of contracts.
    """
    return Call("GET", (*_EXTENSION_PATH, "contracts"), dict, query_parameters(after=after, limit=limit))


def contract_versions(topic: str) -> Call[list[int]]:
    """Return the numbers of the versions of a contract, lowest first.

    Raises:
        ContractNotFound: there is none.
    """
    return Call("GET", (*_EXTENSION_PATH, "contracts", PathParameter(topic), "versions"), list)


def contract_consumers(topic: str) -> Call[ResponseBody]:
    """Return who consumes a topic, by version of its contract: clients, records, and data made from it.

    Raises:
        ContractNotFound: the topic has no contract.
    """
    return Call("GET", (*_EXTENSION_PATH, "contracts", PathParameter(topic), "consumers"), dict)


def put_contract(topic: str, document: Mapping[str, Any], *, expected: int | None = None) -> Call[ResponseBody]:
    """Store a contract as the next version, if it differs from the newest one; return what is stored.

    Args:
        topic: the topic.
        document: the contract, in ODCS 3.0, 3.1 or 3.2.
        expected: the newest version, 0 for none; any if it is None.

    Raises:
        InvalidContract: it is not valid, or its status may not follow the present one.
        ContractMismatch: it describes another schema than the newest version of the topic's subject.
        ContractMoved: the newest version is not the expected one.
    """
    path = (*_EXTENSION_PATH, "contracts", PathParameter(topic))
    return Call("PUT", path, dict, query_parameters(expected=expected), body=document)


def delete_contract(topic: str) -> Call[list[int]]:
    """Delete the contract of a topic; return the numbers of its versions.

    Raises:
        ContractNotFound: there is none.
    """
    return Call("DELETE", (*_EXTENSION_PATH, "contracts", PathParameter(topic)), list)


def lineage(
    topic: str,
    *,
    direction: Literal["upstream", "downstream", "both"] | None = None,
    depth: int | None = None,
    field: str | None = None,
    at: str | None = None,
    evidence: Evidence | None = None,
) -> Call[ResponseBody]:
    """Return the lineage around a topic: nodes and edges.

    Args:
        topic: name of the topic.
        direction: sources of the topic, what was made from it, or both.
        depth: maximum number of steps.
        field: only the lineage of this field of the topic.
        at: the edges of this time (RFC 3339), instead of the present.
        evidence: only edges with this kind of evidence.

    Raises:
        InvalidQuery: a parameter is not valid.
    """
    return Call(
        "GET",
        (*_EXTENSION_PATH, "lineage", PathParameter(topic)),
        partial(_parse_page, "edges"),
        query_parameters(direction=direction, depth=depth, field=field, at=at, evidence=evidence),
    )


def lineage_edges(
    *,
    at: str | None = None,
    evidence: Evidence | None = None,
    topic_prefix: str | None = None,
    after: int | None = None,
    limit: int | None = None,
) -> Call[ResponseBody]:
    """Return a page of all lineage edges.

    Args:
        at: the edges of this time (RFC 3339), instead of the present.
        evidence: only edges with this kind of evidence.
        topic_prefix: only edges from or to a topic whose name begins so; rejected by registries of earlier releases.
        after: ``next`` of the previous page.
        limit: maximum number of edges.
    """
    return Call(
        "GET",
        (*_EXTENSION_PATH, "lineage"),
        partial(_parse_edges_after, after or 0),
        query_parameters(at=at, evidence=evidence, topicPrefix=topic_prefix, after=after, limit=limit),
    )


def each_lineage_edge(
    *, at: str | None = None, evidence: Evidence | None = None, topic_prefix: str | None = None
) -> Pages[ResponseBody]:
    """Iterate over all lineage edges; the parameters are those of ``lineage_edges``.

    Raises:
        UnreadableResponse: the pages do not end.
    """
    after: int | None = None
    empty_pages = 0
    while True:
        response = yield lineage_edges(
            at=at, evidence=evidence, topic_prefix=topic_prefix, after=after, limit=_EDGES_PER_PAGE
        )
        yield response["edges"]
        after = response.get("next")
        if after is None:
            return
        empty_pages = 0 if response["edges"] else empty_pages + 1
        _require_end(empty_pages)


def publish_lineage(events: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Call[ResponseBody]:
    """Store the lineage that an OpenLineage event states, or each event of a list.

    Raises:
        InvalidLineage: an event is not valid.
        TooManyEdges: a dataset would have too many edges.
        Denied: the caller may not write a dataset that an event states sources of.
    """
    body = events if isinstance(events, Mapping) else list(events)
    return Call("POST", (*_EXTENSION_PATH, "lineage"), dict, body=body)


def changes(since: int | Literal["latest"] = 0, *, limit: int | None = None, wait: float = 0) -> Call[ResponseBody]:
    """Return the changes after number ``since``; wait up to ``wait`` seconds if there are none yet.

    Raises:
        ChangesAhead: ``since`` is after the end of the change log; the database may have been restored.
    """
    return Call(
        "GET",
        (*_EXTENSION_PATH, "changes"),
        partial(_parse_page, "changes"),
        query_parameters(since=since, limit=limit, wait=wait or None),
    )


def each_change(since: int = 0, *, page: int = 500) -> Pages[ResponseBody]:
    """Iterate over the changes after number ``since``, to the current end of the change log.

    Raises:
        UnreadableResponse: the pages do not end.
    """
    while True:
        response = yield changes(since, limit=page)
        yield response["changes"]
        if not response["changes"]:
            return
        since = _require_advance(since, response["next"])


def search(
    *,
    field: str | None = None,
    type: str | None = None,  # noqa: A002 - as it is sent
    tag: str | None = None,
    property: str | None = None,  # noqa: A002 - as it is sent
    prefix: bool = False,
    after: str | None = None,
    limit: int | None = None,
) -> Call[ResponseBody]:
    """Return a page of matches of these terms in the latest live versions."""
    terms = {"field": field, "type": type, "tag": tag, "property": property}
    return Call(
        "GET",
        (*_EXTENSION_PATH, "search"),
        partial(_parse_page, "hits"),
        query_parameters(**terms, match="prefix" if prefix else None, after=after, limit=limit),
    )


def each_hit(
    *,
    field: str | None = None,
    type: str | None = None,  # noqa: A002 - as it is sent
    tag: str | None = None,
    property: str | None = None,  # noqa: A002 - as it is sent
    prefix: bool = False,
) -> Pages[ResponseBody]:
    """Iterate over all matches of these terms in the latest live versions.

    Raises:
        UnreadableResponse: the pages do not end.
    """
    after: str | None = None
    empty_pages = 0
    while True:
        response = yield search(field=field, type=type, tag=tag, property=property, prefix=prefix, after=after)
        yield response["hits"]
        following = response.get("next")
        if following is None:
            return
        empty_pages = 0 if response["hits"] else empty_pages + 1
        _require_end(empty_pages)
        if following == after:
            raise UnreadableResponse(f"the page after `{after}` is followed by itself")
        after = following


def difference(
    earlier: tuple[SubjectLike, VersionLike],
    later: tuple[SubjectLike, VersionLike] | SchemaDraft,
    *,
    level: Level | None = None,
    policy: Policy | None = None,
) -> Call[ResponseBody]:
    """Return the changes from one version to another, or to a draft for the same subject."""
    path, options = (*_EXTENSION_PATH, "diff"), {"level": level, "policy": policy}
    if isinstance(later, SchemaDraft):
        return Call("POST", path, dict, query_parameters(earlier=_version_name(earlier), **options), later.body())
    return Call(
        "GET", path, dict, query_parameters(earlier=_version_name(earlier), later=_version_name(later), **options)
    )


def graph(
    subject: SubjectLike,
    *,
    version: VersionLike | None = None,
    direction: Literal["both", "references", "referencedby"] = "both",
    depth: int | None = None,
) -> Call[ResponseBody]:
    """Return the direct and indirect dependencies and dependents of a subject."""
    query = query_parameters(version=version, direction=direction, depth=depth)
    return Call("GET", (*_EXTENSION_PATH, "graph", PathParameter(subject)), dict, query)


def permissions(subject: SubjectLike) -> Call[ResponseBody]:
    """Return whether the caller may read and write a subject."""
    return Call("GET", (*_EXTENSION_PATH, "permissions", PathParameter(subject)), _parse_permissions)


def effective_settings(scope: SubjectLike = _GLOBAL_SETTINGS) -> Call[ResponseBody]:
    """Return the config and the mode in force for a subject or context, and the scope of each setting.

    The member ``sources`` has a scope by the name of the setting: the subject, ``:.eu:`` for a context, ``:.:`` for
    the global settings, ``:.__GLOBAL:`` for those of every context, or None for the server's default.
    """
    return Call("GET", (*_EXTENSION_PATH, "settings", PathParameter(scope)), _parse_settings)


def lookup_many(
    schemas: Iterable[tuple[SubjectLike, SchemaDraft]], *, normalize: bool = False, deleted: bool = False
) -> Call[list[RegisteredSchema | RegistryError]]:
    """Return for each schema the version with its content, or an error; at most 500 per call."""
    requests = list(schemas)
    members = [
        {"subject": str(subject), **draft.body(), "normalize": normalize, "deleted": deleted}
        for subject, draft in requests
    ]

    def read(body: Any) -> list[RegisteredSchema | RegistryError]:
        results = zip(body["results"], requests, strict=True)
        return [_parse_error(result) or parse_version(result, draft=draft) for result, (_, draft) in results]

    return Call("POST", (*_EXTENSION_PATH, "lookup"), read, body={"schemas": members})


def check_many(
    schemas: Iterable[tuple[SubjectLike, SchemaDraft]],
) -> Call[list[CompatibilityResult | RegistryError]]:
    """Check each schema as if the compatible ones before it were registered; at most 500 per call."""
    members = [{"subject": str(subject), **draft.body()} for subject, draft in schemas]

    def read(body: Any) -> list[CompatibilityResult | RegistryError]:
        return [_parse_error(result) or CompatibilityResult.from_body(result) for result in body["results"]]

    return Call("POST", (*_EXTENSION_PATH, "check"), read, body={"schemas": members})


def fetches(
    schema_id: int | None = None,
    *,
    subject: SubjectLike | None = None,
    days: int | None = None,
    limit: int | None = None,
) -> Call[list[ResponseBody]]:
    """Return which clients fetched an id, or the schemas of a subject's versions, and on which day."""
    query = query_parameters(id=schema_id, subject=subject, days=days, limit=limit)
    return Call("GET", (*_EXTENSION_PATH, "fetches"), lambda body: list(body["fetches"]), query)


def usage(subjects: Iterable[SubjectLike], *, days: int | None = None) -> Call[list[ResponseBody | RegistryError]]:
    """Return the clients and the topics of each subject by version; at most 500 subjects per call."""
    names = [str(subject) for subject in subjects]

    def read(body: Any) -> list[ResponseBody | RegistryError]:
        results = zip(body["results"], names, strict=True)
        return [_parse_error(result) or dict(result) for result, _ in results]

    return Call("POST", (*_EXTENSION_PATH, "usage"), read, query_parameters(days=days), {"subjects": names})


def _parse_edges_after(after: int, body: Any) -> ResponseBody:
    page = _parse_page("edges", body)
    if page.get("next") is not None:
        _require_advance(after, page["next"])
    return page


def _require_advance(after: int, following: Any) -> int:
    """Return the number after which the next page begins, if it is above that of this page.

    Raises:
        UnreadableResponse: it is not, so that the pages would never end.
    """
    if not isinstance(following, int) or isinstance(following, bool) or following <= after:
        raise UnreadableResponse(f"`next` is {following!r}, which is not a number above {after}")
    return following


def _require_end(empty_pages: int) -> None:
    if empty_pages > _MAX_EMPTY_PAGES:
        raise UnreadableResponse(f"{empty_pages:,} pages without items, and no last one")


def _parse_page(member: str, body: Any) -> ResponseBody:
    if not isinstance(body[member], list):
        raise TypeError(f"`{member}` is a list")
    return dict(body)


def _parse_permissions(body: Any) -> ResponseBody:
    if not isinstance(body["user"], str) or not all(isinstance(body[name], bool) for name in ("read", "write")):
        raise TypeError("permissions have a name and two booleans")
    return dict(body)


def _parse_settings(body: Any) -> ResponseBody:
    if not isinstance(body["config"], dict) or not isinstance(body["mode"], str):
        raise TypeError("settings have a config and a mode")
    if not all(source is None or isinstance(source, str) for source in body["sources"].values()):
        raise TypeError("the source of a setting is a scope or null")
    return dict(body)


def _version_name(version: tuple[SubjectLike, VersionLike]) -> str:
    return f"{version[0]}:{version[1]}"


def _parse_error(member: Mapping[str, Any]) -> RegistryError | None:
    code = member.get("error_code")
    return None if code is None else RegistryError.of(int(code), str(member.get("message") or ""))
