"""Random requests about associations, and laws that hold after each request."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    import httpx2

Request = tuple[str, str, Any]

SUBJECTS = ["common", ":.c:t-value"]
RESOURCES = {"t": "r-t", "u": "r-u"}
TYPES = ["key", "value"]


def create_schema_text(number: int) -> str:
    field = {"name": f"f{number}", "type": "int", "default": 0}
    return json.dumps({"type": "record", "name": "R", "fields": [field] * (number > 0)})


def _resource(name: str, *associations: dict[str, Any], with_id_of: str = "") -> dict[str, Any]:
    named = {"resourceName": name, "resourceNamespace": "c", "resourceId": RESOURCES[with_id_of or name]}
    return named | {"associations": list(associations)}


_registered = st.builds(
    lambda subject, number, reference: (
        "POST",
        f"/subjects/{subject}/versions",
        {"schema": create_schema_text(number)}
        | ({"references": [{"name": "x", "subject": reference, "version": 1}]} if reference else {}),
    ),
    st.sampled_from(SUBJECTS),
    st.integers(0, 2),
    st.none() | st.sampled_from(SUBJECTS),
)
_owned = st.builds(
    lambda name, kind, number: (
        "POST",
        "/associations",
        _resource(name, {"associationType": kind, "schema": {"schema": create_schema_text(number)}}),
    ),
    st.sampled_from(sorted(RESOURCES)),
    st.sampled_from(TYPES),
    st.integers(0, 2),
)
_used = st.builds(
    lambda put, name, with_id_of, kind, subject: (
        "PUT" if put else "POST",
        f"/associations/resources/{RESOURCES[with_id_of or name]}" if put else "/associations",
        _resource(name, {"associationType": kind, "subject": subject}, with_id_of=with_id_of),
    ),
    st.booleans(),
    st.sampled_from(sorted(RESOURCES)),
    st.sampled_from(["", "", "", *sorted(RESOURCES)]),
    st.sampled_from(TYPES),
    st.sampled_from(SUBJECTS),
)
_unbound = st.builds(
    lambda name, cascade: ("DELETE", f"/associations/resources/{RESOURCES[name]}?cascadeLifecycle={cascade}", None),
    st.sampled_from(sorted(RESOURCES)),
    st.booleans(),
)
_deleted = st.builds(
    lambda subject, version, permanent: ("DELETE", f"/subjects/{subject}{version}?permanent={permanent}", None),
    st.sampled_from(SUBJECTS),
    st.sampled_from(["", "/versions/1", "/versions/latest"]),
    st.booleans(),
)

#: A request; most sequences create, change and remove associations, and some are rejected.
requests: st.SearchStrategy[Request] = st.one_of(_registered, _owned, _used, _unbound, _deleted)


#: Requests to begin with: a topic that owns its subject, or one that uses the subject of another.
initial_requests: st.SearchStrategy[list[Request]] = st.sampled_from(
    [
        [
            (
                "POST",
                "/associations",
                _resource("t", {"associationType": "value", "schema": {"schema": create_schema_text(0)}}),
            )
        ],
        [
            ("POST", "/subjects/common/versions", {"schema": create_schema_text(0)}),
            ("POST", "/associations", _resource("t", {"associationType": "value", "subject": "common"})),
        ],
        [
            ("POST", "/subjects/:.c:t-value/versions", {"schema": create_schema_text(0)}),
            ("POST", "/associations", _resource("u", {"associationType": "key", "subject": ":.c:t-value"})),
        ],
    ]
)


def send_request(http: httpx2.Client, request: Request, index: int = 0) -> int:
    """Send a request, which may be rejected but must not fail.

    Args:
        http: the service.
        request: method, path and body.
        index: part of the names of subjects and topics, so that requests with different indexes are independent.
    """
    method, path, body = request
    names = {":.c:": f":.c{index}:", "common": f"common{index}", "r-t": f"r-t{index}", "r-u": f"r-u{index}"}
    request_text = json.dumps([path, body]).replace('"c"', f'"c{index}"')
    for name, other in names.items():
        request_text = request_text.replace(name, other)
    path, body = json.loads(request_text)
    status = http.request(method, path, json=body).status_code
    assert status < 500, (request, status)
    return status


def list_associations(http: httpx2.Client, index: int = 0) -> list[dict[str, Any]]:
    """List the associations of an index."""
    associations: list[dict[str, Any]] = http.get(f"/associations/resources/c{index}/-").json()
    return associations


def check_laws(http: httpx2.Client, index: int = 0) -> int:
    """Assert the laws, and return the number of associations."""
    associations_listed = list_associations(http, index)
    by_subject, by_resource = defaultdict(list), defaultdict(list)
    names_by_id = defaultdict(set)
    for association in associations_listed:
        names_by_id[association["resourceId"]].add(association["resourceName"])
        by_subject[association["subject"]].append(association["lifecycle"])
        by_resource[association["resourceNamespace"], association["resourceName"]].append(association)
    for subject, lifecycles in by_subject.items():
        assert "STRONG" not in lifecycles or lifecycles == ["STRONG"], f"{subject} has an owner and another association"
        versions = http.get(f"/subjects/{subject}/versions").json()
        assert isinstance(versions, list), f"{subject} has an association but no live version"
        if lifecycles == ["STRONG"]:
            referrers = [
                http.get(f"/subjects/{subject}/versions/{version}/referencedby").json() for version in versions
            ]
            assert not any(referrers), f"{subject} has an owner and is referenced by a schema"
    for resource, associations in by_resource.items():
        assert len({association["associationType"] for association in associations}) == len(associations), (
            f"{resource} has two of one type"
        )
        assert len({association["lifecycle"] for association in associations}) == 1, f"{resource} has two lifecycles"
        assert len({association["resourceId"] for association in associations}) == 1, f"{resource} has two ids"
    for resource_id, names in names_by_id.items():
        assert len(names) == 1, f"the id {resource_id} belongs to several resources: {names}"
    return len(associations_listed)
