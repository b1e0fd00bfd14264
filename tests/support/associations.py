"""Requests about associations in any order, and the laws that hold after each of them."""

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


def schema(number: int) -> str:
    field = {"name": f"f{number}", "type": "int", "default": 0}
    return json.dumps({"type": "record", "name": "R", "fields": [field] * (number > 0)})


def _resource(name: str, *associations: dict[str, Any]) -> dict[str, Any]:
    named = {"resourceName": name, "resourceNamespace": "c", "resourceId": RESOURCES[name]}
    return named | {"associations": list(associations)}


_registered = st.builds(
    lambda subject, number, reference: (
        "POST",
        f"/subjects/{subject}/versions",
        {"schema": schema(number)}
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
        _resource(name, {"associationType": kind, "schema": {"schema": schema(number)}}),
    ),
    st.sampled_from(sorted(RESOURCES)),
    st.sampled_from(TYPES),
    st.integers(0, 2),
)
_used = st.builds(
    lambda put, name, kind, subject: (
        "PUT" if put else "POST",
        f"/associations/resources/{RESOURCES[name]}" if put else "/associations",
        _resource(name, {"associationType": kind, "subject": subject}),
    ),
    st.booleans(),
    st.sampled_from(sorted(RESOURCES)),
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

#: One request; most sequences of them bind, evolve, are refused and let go.
requests: st.SearchStrategy[Request] = st.one_of(_registered, _owned, _used, _unbound, _deleted)


#: How a place may begin: with a topic that owns its subject, or with one that uses another's.
openings: st.SearchStrategy[list[Request]] = st.sampled_from(
    [
        [("POST", "/associations", _resource("t", {"associationType": "value", "schema": {"schema": schema(0)}}))],
        [
            ("POST", "/subjects/common/versions", {"schema": schema(0)}),
            ("POST", "/associations", _resource("t", {"associationType": "value", "subject": "common"})),
        ],
        [
            ("POST", "/subjects/:.c:t-value/versions", {"schema": schema(0)}),
            ("POST", "/associations", _resource("u", {"associationType": "key", "subject": ":.c:t-value"})),
        ],
    ]
)


def send(http: httpx2.Client, request: Request, place: int = 0) -> int:
    """Send a request; whatever it is, the service answers by its rules.

    Args:
        http: the service.
        request: what is asked.
        place: requests of different places never meet: their subjects and topics have other names.
    """
    method, path, body = request
    names = {":.c:": f":.c{place}:", "common": f"common{place}", "r-t": f"r-t{place}", "r-u": f"r-u{place}"}
    text = json.dumps([path, body]).replace('"c"', f'"c{place}"')
    for name, other in names.items():
        text = text.replace(name, other)
    path, body = json.loads(text)
    status = http.request(method, path, json=body).status_code
    assert status < 500, (request, status)
    return status


def bound(http: httpx2.Client, place: int = 0) -> list[dict[str, Any]]:
    """List the associations of a place."""
    found: list[dict[str, Any]] = http.get(f"/associations/resources/c{place}/-").json()
    return found


def check(http: httpx2.Client, place: int = 0) -> int:
    """Assert the laws, and return how many associations there are."""
    listed = bound(http, place)
    by_subject, by_resource = defaultdict(list), defaultdict(list)
    for one in listed:
        by_subject[one["subject"]].append(one["lifecycle"])
        by_resource[one["resourceNamespace"], one["resourceName"]].append(one)
    for subject, lifecycles in by_subject.items():
        assert "STRONG" not in lifecycles or lifecycles == ["STRONG"], f"{subject} belongs to one and serves another"
        versions = http.get(f"/subjects/{subject}/versions").json()
        assert isinstance(versions, list), f"{subject} is bound, and has no live version"
        if lifecycles == ["STRONG"]:
            leaning = [http.get(f"/subjects/{subject}/versions/{one}/referencedby").json() for one in versions]
            assert not any(leaning), f"{subject} belongs to a topic, and a schema leans on it"
    for resource, held in by_resource.items():
        assert len({one["associationType"] for one in held}) == len(held), f"{resource} has two of one type"
        assert len({one["lifecycle"] for one in held}) == 1, f"{resource} has two lifecycles"
        assert len({one["resourceId"] for one in held}) == 1, f"{resource} has two ids"
    return len(listed)
