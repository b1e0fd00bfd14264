"""Calls of the registry's API: one function per endpoint, without I/O.

Each returns a ``Call``, which describes the request and parses the response.

Every call may be retried when its response was lost, except deletions (the second one would fail, as there is nothing
left to delete), ``derive`` and ``change_many``.
"""

from __future__ import annotations

from contractlog.clients.calls.associations import (
    associations_by_resource_id,
    associations_by_resource_name,
    associations_of_many,
    associations_of_subject,
    bind,
    change_many,
    ensure_bound,
    unbind,
)
from contractlog.clients.calls.call import Call, ResponseBody, SubjectLike, VersionLike
from contractlog.clients.calls.compatibility import CompatibilityAnswer, check
from contractlog.clients.calls.config import (
    config,
    delete_config,
    delete_level,
    delete_mode,
    level,
    mode,
    policy,
    set_config,
    set_level,
    set_mode,
    set_policy,
)
from contractlog.clients.calls.conformance import conformance, publish_conformance
from contractlog.clients.calls.references import MAX_REFERENCED, referenced
from contractlog.clients.calls.schemas import (
    by_guid,
    by_id,
    ids_of_guid,
    schemas,
    subjects_of_id,
    text_of_id,
    types,
    versions_of_id,
)
from contractlog.clients.calls.service import (
    answers,
    clusters,
    contexts,
    delete_context,
    deployment,
    live,
    metrics,
    ready,
    server_version,
    started,
)
from contractlog.clients.calls.subjects import delete_subject, latest_with_metadata, lookup, register, subjects
from contractlog.clients.calls.versions import delete_version, derive, referenced_by, text_of_version, version, versions

__all__ = [
    "MAX_REFERENCED",
    "Call",
    "CompatibilityAnswer",
    "ResponseBody",
    "SubjectLike",
    "VersionLike",
    "answers",
    "associations_by_resource_id",
    "associations_by_resource_name",
    "associations_of_many",
    "associations_of_subject",
    "bind",
    "by_guid",
    "by_id",
    "change_many",
    "check",
    "clusters",
    "config",
    "conformance",
    "contexts",
    "delete_config",
    "delete_context",
    "delete_level",
    "delete_mode",
    "delete_subject",
    "delete_version",
    "deployment",
    "derive",
    "ensure_bound",
    "ids_of_guid",
    "latest_with_metadata",
    "level",
    "live",
    "lookup",
    "metrics",
    "mode",
    "policy",
    "publish_conformance",
    "ready",
    "referenced",
    "referenced_by",
    "register",
    "schemas",
    "server_version",
    "set_config",
    "set_level",
    "set_mode",
    "set_policy",
    "started",
    "subjects",
    "subjects_of_id",
    "text_of_id",
    "text_of_version",
    "types",
    "unbind",
    "version",
    "versions",
    "versions_of_id",
]
