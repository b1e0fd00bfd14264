"""Permissions by subject prefix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.permissions import (
    ALL_PERMISSIONS,
    NO_PERMISSIONS,
    Permission,
    Permissions,
    SubjectPattern,
)

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
def test_permissions_for_all_subjects_include_each_subject(subject: Subject, context: str | None, start: str) -> None:
    for text in ("*", "a*", ":.eu:*", ":*:a*", "ab", ":.eu:b*"):
        rights = Permissions.of([text], [])
        if rights.permits_all(Permission.READ, context, start) and subject.name.startswith(start):
            assert context not in {None, subject.context} or rights.permits(Permission.READ, subject)


def test_write_permissions_include_reading() -> None:
    rights = Permissions.of([], ["orders-*"])
    assert rights.permits(Permission.READ, Subject.parse("orders-value"))
    assert not rights.permits(Permission.WRITE, Subject.parse("users-value"))
    assert not Permissions.of(["orders-*"], []).permits(Permission.WRITE, Subject.parse("orders-value"))


def test_a_context_as_a_whole_is_permitted_only_if_each_of_its_subjects_is() -> None:
    context = Subject(".eu", "")
    assert Permissions.of([], [":.eu:*"]).permits(Permission.WRITE, context)
    for pattern in (":.eu:", ":.eu:a*", ":.e:*"):
        assert not Permissions.of([], [pattern]).permits(Permission.WRITE, context)
