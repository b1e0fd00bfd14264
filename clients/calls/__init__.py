"""One function per endpoint of the registry: each describes a request and how its answer is read; nothing is sent.

Every call may be repeated when its answer was lost, but for deletions: a second one answers that the thing is gone.
"""

from __future__ import annotations

from contractlog.clients.calls.call import Call, SubjectLike, VersionLike
from contractlog.clients.calls.compatibility import CompatibilityAnswer, check
from contractlog.clients.calls.conformance import conformance, publish_conformance
from contractlog.clients.calls.levels import delete_level, level, policy, set_level, set_policy
from contractlog.clients.calls.modes import mode, set_mode
from contractlog.clients.calls.references import MAX_REFERENCED, referenced
from contractlog.clients.calls.schemas import by_id, types, versions_of_id
from contractlog.clients.calls.service import contexts
from contractlog.clients.calls.subjects import (
    delete_subject,
    delete_version,
    lookup,
    referenced_by,
    register,
    subjects,
    version,
    versions,
)

__all__ = [
    "MAX_REFERENCED",
    "Call",
    "CompatibilityAnswer",
    "SubjectLike",
    "VersionLike",
    "by_id",
    "check",
    "conformance",
    "contexts",
    "delete_level",
    "delete_subject",
    "delete_version",
    "level",
    "lookup",
    "mode",
    "policy",
    "publish_conformance",
    "referenced",
    "referenced_by",
    "register",
    "set_level",
    "set_mode",
    "set_policy",
    "subjects",
    "types",
    "version",
    "versions",
    "versions_of_id",
]
