"""The permission that each request needs."""

from __future__ import annotations

import re

import pytest
from fastapi import APIRouter

from contractlog.compatibility.errors import Denied, KeyDenied
from contractlog.registry.access.permissions import ALL_PERMISSIONS, NO_PERMISSIONS, KeyPermissions, Permissions
from contractlog.registry.features.routers import ROUTERS
from contractlog.registry.http.openapi_file import build_document
from contractlog.registry.http.route_permissions import PUBLIC, RoutePermissions, is_public_path

#: What somebody may do who reads ``orders-*`` and writes ``pay-*``, and what not.
ALLOWED = [
    ("GET", "/"),
    ("GET", "/schemas/ids/1"),
    ("GET", "/schemas/types"),
    ("GET", "/contractlog/v1/docs"),
    ("GET", "/contractlog/v1/docs.css"),
    ("GET", "/schemas/guids/x"),
    ("GET", "/subjects/orders-value/versions/latest"),
    ("GET", "/subjects/orders%2Dvalue/versions"),
    ("POST", "/subjects/orders-value"),
    ("POST", "/compatibility/subjects/orders-value/versions/latest"),
    ("POST", "/subjects/pay-value/versions"),
    ("POST", "/subjects/pay-value/versions/1/tags"),
    ("DELETE", "/subjects/pay-value"),
    ("GET", "/config/orders-value"),
    ("GET", "/config"),
    ("PUT", "/config/pay-value"),
    ("DELETE", "/mode/pay-value"),
    ("GET", "/subjects?subjectPrefix=orders-v"),
    ("GET", "/schemas?subjectPrefix=pay-"),
    ("GET", "/associations/resources/-/anything?resourceType=topic"),
    ("GET", "/associations/subjects/users-value"),
    ("POST", "/associations:batchGet"),
    ("POST", "/associations"),
    ("GET", "/contractlog/v1/conformance/orders"),
    ("POST", "/contractlog/v1/conformance/pay"),
    ("GET", "/contractlog/v1/contracts"),
    ("GET", "/contractlog/v1/contracts/orders/versions/1"),
    ("PUT", "/contractlog/v1/contracts/pay"),
    ("GET", "/contractlog/v1/lineage"),
    ("GET", "/contractlog/v1/lineage/orders"),
    ("POST", "/contractlog/v1/lineage"),
    ("GET", "/dek-registry/v1/keks"),
    ("POST", "/dek-registry/v1/keks"),
    ("GET", "/dek-registry/v1/keks/pii-eu/deks/orders-value"),
    ("POST", "/dek-registry/v1/keks/pay/deks/orders-value"),
    ("GET", "/contractlog/v1/graph/orders-value"),
    ("GET", "/contractlog/v1/permissions/orders-value"),
    ("GET", "/contractlog/v1/settings/orders-value"),
]
REFUSED = [
    ("GET", "/subjects", ":*:*"),
    ("GET", "/subjects?subjectPrefix=", ":*:*"),
    ("GET", "/subjects?subjectPrefix=orders-&subjectPrefix=", ":*:*"),
    ("GET", "/subjects?subjectPrefix=:.eu:orders-", ":.eu:orders-*"),
    ("GET", "/schemas", "*"),
    ("GET", "/subjects/users-value/versions", "users-value"),
    ("GET", "/subjects/%3A.eu%3Aorders-value/versions", ":.eu:orders-value"),
    ("POST", "/subjects/users-value", "users-value"),
    ("POST", "/subjects/orders-value/versions", "orders-value"),
    ("DELETE", "/subjects/orders-value/versions/1", "orders-value"),
    ("POST", "/compatibility/subjects/users-value/versions", "users-value"),
    ("GET", "/contractlog/v1/settings/users-value", "users-value"),
    ("GET", "/contractlog/v1/settings/%3A.eu%3A", ":.eu:"),
    ("PUT", "/config", "*"),
    ("PUT", "/config/orders-value", "orders-value"),
    ("PUT", "/mode/%3A.eu%3A", ":.eu:"),
    ("PUT", "/mode/%3A.__GLOBAL%3A", "*"),
    ("DELETE", "/contexts/.eu", ":.eu:"),
    ("GET", "/contractlog/v1/changes", "*"),
    ("GET", "/contractlog/v1/search?q=x", "*"),
    ("POST", "/contractlog/v1/check", "*"),
    ("POST", "/contractlog/v1/import", "*"),
    ("POST", "/contractlog/v1/conformance/orders", "orders-value"),
    ("GET", "/contractlog/v1/lineage/users", "users-value"),
    ("PUT", "/contractlog/v1/contracts/orders", "orders-value"),
    ("DELETE", "/contractlog/v1/contracts/orders", "orders-value"),
    ("GET", "/something/new", "*"),
    ("POST", "/something/new", "*"),
    ("PATCH", "/subjects/orders-value", "orders-value"),
]
PERMISSIONS = RoutePermissions(ROUTERS)
SOMEBODY = Permissions.of(["orders-*"], ["pay-*"], KeyPermissions.of(["pii-*"], ["pay"]))


def ask(rights: Permissions, method: str, target: str) -> None:
    path, _, query = target.partition("?")
    PERMISSIONS.require(rights, method, path, query.encode())


@pytest.mark.parametrize(("method", "target"), ALLOWED)
def test_permitted_requests_are_allowed(method: str, target: str) -> None:
    ask(SOMEBODY, method, target)
    ask(ALL_PERMISSIONS, method, target)
    with pytest.raises(Denied):
        ask(NO_PERMISSIONS, method, target)


@pytest.mark.parametrize(("method", "target", "subject"), REFUSED)
def test_missing_permissions_are_named(method: str, target: str, subject: str) -> None:
    with pytest.raises(Denied) as refused:
        ask(SOMEBODY, method, target)
    operation = (
        "Read"
        if method == "GET" or target.startswith(("/compat", "/subjects/users", "/contractlog/v1/check"))
        else "Write"
    )
    assert refused.value.message == f"User is denied operation {operation} on Subject: {subject}"
    ask(ALL_PERMISSIONS, method, target)


@pytest.mark.parametrize(
    ("method", "target", "key"),
    [
        ("GET", "/keks/other", "Read on Key: other"),
        ("GET", "/keks/pii/deks", "Read on Key: pii"),
        ("PUT", "/keks/pii-eu", "Write on Key: pii-eu"),
        ("POST", "/keks/pii-eu/test", "Write on Key: pii-eu"),
        ("POST", "/keks/pii-eu/deks/pay-value", "Write on Key: pii-eu"),
        ("DELETE", "/keks/pii-eu/deks/pay-value/versions/1", "Write on Key: pii-eu"),
    ],
)
def test_encryption_keys_have_a_permission_of_their_own(method: str, target: str, key: str) -> None:
    for rights in (SOMEBODY, Permissions.of(["*"], ["*"], KeyPermissions.of(["pii-*"], ["pay"]))):
        with pytest.raises(KeyDenied) as refused:
            ask(rights, method, f"/dek-registry/v1{target}")
        assert refused.value.message == f"User is denied operation {key}"
    ask(ALL_PERMISSIONS, method, f"/dek-registry/v1{target}")


#: What is sent with POST and only asks.
QUESTIONS = {
    "/",
    "/subjects/{subject}",
    "/compatibility/subjects/{subject}/versions",
    "/compatibility/subjects/{subject}/versions/{version}",
    "/associations:batchGet",
    "/contractlog/v1/lookup",
    "/contractlog/v1/check",
    "/contractlog/v1/usage",
    "/contractlog/v1/diff",
}


#: Changes that owners of the subject may make, which the service requires: they need no write permission.
BY_OWNERS = {f"/contractlog/v1/change-requests/{{request}}/{action}" for action in ("approvals", "comments", "close")}


#: Changes whose subject is not in the path: the service requires write on it, and names it in its error.
BY_WRITERS = {"/contractlog/v1/change-requests", "/contractlog/v1/change-requests/{request}/merge"}


def test_every_route_needs_a_permission_and_read_permissions_change_nothing() -> None:
    reader = Permissions.of(["*"], [], KeyPermissions.of(["*"], []))
    asked = 0
    for path, operations in build_document()["paths"].items():
        if is_public_path(path):
            continue
        target = re.sub(r"{\w+}", "x", path)
        for method in (one.upper() for one in operations if one in {"get", "post", "put", "delete", "patch"}):
            asked += 1
            ask(ALL_PERMISSIONS, method, target)
            with pytest.raises(Denied):
                ask(NO_PERMISSIONS, method, target)
            if method == "GET" or (method == "POST" and path in QUESTIONS | BY_OWNERS | BY_WRITERS):
                ask(reader, method, target)
            else:
                with pytest.raises(Denied):
                    ask(reader, method, target)
    assert asked > 50


def test_a_route_without_a_permission_is_rejected_at_the_start() -> None:
    router = APIRouter()
    router.add_api_route("/new", lambda: None)
    with pytest.raises(TypeError, match="/new declares no permission"):
        RoutePermissions([router])


def test_public_routes_are_those_that_need_no_authentication() -> None:
    for route in (one for router in ROUTERS for one in router.routes):
        assert (route.endpoint.required_permission is PUBLIC) == is_public_path(route.path)  # type: ignore[attr-defined]


#: Requests that no route answers: somebody who may read or write there learns so, others are refused.
PERMITTED_WITHOUT_ROUTE = [
    ("PUT", "/subjects/pay-value"),
    ("GET", "/subjects/orders-value/unknown"),
    ("GET", "/dek-registry/v1/unknown"),
    ("GET", "/schemas/ids"),
    ("PUT", "/associations/unknown"),
    ("HEAD", "/subjects/orders-value/versions"),
]
REFUSED_WITHOUT_ROUTE = [
    ("PUT", "/subjects/orders-value"),
    ("GET", "/subjects/users-value/unknown"),
    ("PATCH", "/config/pay-value"),
    ("GET", "/contractlog/v1"),
]


def test_requests_without_a_route_are_refused_to_those_without_the_right() -> None:
    for method, target in PERMITTED_WITHOUT_ROUTE:
        ask(SOMEBODY, method, target)
    for method, target in REFUSED_WITHOUT_ROUTE:
        ask(ALL_PERMISSIONS, method, target)
        with pytest.raises(Denied):
            ask(SOMEBODY, method, target)
