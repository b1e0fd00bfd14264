"""Operations of the registry's API: one function per endpoint, without I/O.

Each returns a ``Call``, which describes the request and parses the response, or ``Pages`` of them. Both clients have a
method made from each function (``method_factories.py``), so its documentation is that of the method. The functions for
contractlog's own endpoints are in ``extensions.py``.

Every call may be retried when its response was lost, except deletions (the second one would fail, as there is nothing
left to delete), ``derive`` and ``change_associations``.
"""

from __future__ import annotations

from contractlog.clients.calls.associations import (
    associations_by_resource_id,
    associations_by_resource_name,
    associations_of_many,
    associations_of_subject,
    bind,
    change_associations,
    ensure_bound,
    unbind,
)
from contractlog.clients.calls.call import Call, CallSequence, Pages, ResponseBody, SubjectLike, VersionLike
from contractlog.clients.calls.config_and_mode import (
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
from contractlog.clients.calls.contexts import contexts, delete_context
from contractlog.clients.calls.extensions import conformance, conformance_history, publish_conformance
from contractlog.clients.calls.schemas import (
    MAX_REFERENCED,
    CompatibilityResult,
    by_guid,
    by_id,
    check,
    each_schema,
    ids_of_guid,
    referenced,
    schemas,
    subjects_of_id,
    text_of_id,
    types,
    versions_of_id,
)
from contractlog.clients.calls.service import (
    clusters,
    deployment,
    live,
    metrics,
    ping,
    ready,
    server_version,
    started,
)
from contractlog.clients.calls.subjects import (
    delete_subject,
    delete_version,
    derive,
    each_subject,
    latest_with_metadata,
    lookup,
    referenced_by,
    register,
    subjects,
    text_of_version,
    version,
    versions,
)

__all__ = [
    "MAX_REFERENCED",
    "Call",
    "CallSequence",
    "CompatibilityResult",
    "Pages",
    "ResponseBody",
    "SubjectLike",
    "VersionLike",
    "associations_by_resource_id",
    "associations_by_resource_name",
    "associations_of_many",
    "associations_of_subject",
    "bind",
    "by_guid",
    "by_id",
    "change_associations",
    "check",
    "clusters",
    "config",
    "conformance",
    "conformance_history",
    "contexts",
    "delete_config",
    "delete_context",
    "delete_level",
    "delete_mode",
    "delete_subject",
    "delete_version",
    "deployment",
    "derive",
    "each_schema",
    "each_subject",
    "ensure_bound",
    "ids_of_guid",
    "latest_with_metadata",
    "level",
    "live",
    "lookup",
    "metrics",
    "mode",
    "ping",
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
