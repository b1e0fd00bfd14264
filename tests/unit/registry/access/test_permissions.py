"""Rights by subject prefix, and which right a request needs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.errors import Denied
from contractlog.compatibility.names import Subject
from contractlog.registry.access.permissions import (
    ALL_PERMISSIONS,
    NO_PERMISSIONS,
    Permission,
    Permissions,
    SubjectPattern,
)
from contractlog.registry.http.openapi_file import build_document
from contractlog.registry.http.route_permissions import is_public_path, require_permission

names = st.text("ab-:.*é", max_size=6)
subjects = st.builds(Subject, st.sampled_from([".", ".eu", ".eu2"]), names)


@given(subjects)
def test_everything_covers_everything_and_nothing_nothing(subject: Subject) -> None:
    for operation in Permission:
        assert ALL_PERMISSIONS.permits(operation, subject)
        assert not NO_PERMISSIONS.permits(operation, subject)


@given(subjects, st.integers(0, 6))
def test_a_prefix_covers_what_begins_so_in_its_context_alone(subject: Subject, length: int) -> None:
    start = subject.name[:length]
    pattern = SubjectPattern.parse(f":{subject.context}:{start}*")
    assert pattern.covers(subject)
    assert not pattern.covers(Subject(".other", subject.name))
    assert pattern.covers(Subject(subject.context, "x" + subject.name)) == ("x" + subject.name).startswith(start)


@given(subjects, st.sampled_from([".", ".eu", None]), names)
def test_who_may_do_it_to_all_may_do_it_to_each(subject: Subject, context: str | None, start: str) -> None:
    for text in ("*", "a*", ":.eu:*", ":*:a*", "ab", ":.eu:b*"):
        rights = Permissions.of([text], [])
        if rights.permits_all(Permission.READ, context, start) and subject.name.startswith(start):
            assert context not in {None, subject.context} or rights.permits(Permission.READ, subject)


def test_who_may_write_may_read() -> None:
    rights = Permissions.of([], ["orders-*"])
    assert rights.permits(Permission.READ, Subject.parse("orders-value"))
    assert not rights.permits(Permission.WRITE, Subject.parse("users-value"))
    assert not Permissions.of(["orders-*"], []).permits(Permission.WRITE, Subject.parse("orders-value"))


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
    ("GET", "/contractlog/v1/graph/orders-value"),
    ("GET", "/contractlog/v1/permissions/orders-value"),
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
    ("GET", "/something/new", "*"),
    ("POST", "/something/new", "*"),
    ("PATCH", "/subjects/orders-value", "orders-value"),
]
SOMEBODY = Permissions.of(["orders-*"], ["pay-*"])


def ask(rights: Permissions, method: str, target: str) -> None:
    path, _, query = target.partition("?")
    require_permission(rights, method, path, query.encode())


@pytest.mark.parametrize(("method", "target"), ALLOWED)
def test_what_a_right_covers_is_allowed(method: str, target: str) -> None:
    ask(SOMEBODY, method, target)
    ask(ALL_PERMISSIONS, method, target)
    with pytest.raises(Denied):
        ask(NO_PERMISSIONS, method, target)


@pytest.mark.parametrize(("method", "target", "subject"), REFUSED)
def test_what_no_right_covers_is_refused_by_name(method: str, target: str, subject: str) -> None:
    with pytest.raises(Denied) as refused:
        ask(SOMEBODY, method, target)
    operation = (
        "Read"
        if method == "GET" or target.startswith(("/compat", "/subjects/users", "/contractlog/v1/check"))
        else "Write"
    )
    assert refused.value.message == f"User is denied operation {operation} on Subject: {subject}"
    ask(ALL_PERMISSIONS, method, target)


#: What is sent with POST and only asks.
QUESTIONS = {
    "/",
    "/subjects/{subject}",
    "/compatibility/subjects/{subject}/versions",
    "/compatibility/subjects/{subject}/versions/{version}",
    "/associations:batchGet",
    "/contractlog/v1/lookup",
    "/contractlog/v1/check",
    "/contractlog/v1/diff",
}


def test_whatever_the_service_answers_needs_a_right_and_who_only_reads_changes_nothing() -> None:
    reader = Permissions.of(["*"], [])
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
            if method == "GET" or (method == "POST" and path in QUESTIONS):
                ask(reader, method, target)
            else:
                with pytest.raises(Denied):
                    ask(reader, method, target)
    assert asked > 50
