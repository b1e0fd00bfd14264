"""Paths are routed as they were sent."""

from __future__ import annotations

import doctest

import pytest

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.registry.http import context_paths, path_values
from contractlog.registry.http.context_paths import move_context
from contractlog.registry.http.path_values import decode_segment, parse_subject


def test_the_examples_hold() -> None:
    assert doctest.testmod(context_paths).failed == 0
    assert doctest.testmod(path_values).failed == 0


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"/", "/"),
        (b"", "/"),
        (b"/config/", "/config"),
        (b"/subjects/a%2Fb/versions", "/subjects/a%2Fb/versions"),
        (b"/subjects/a%252Fb", "/subjects/a%252Fb"),
        (b"/subjects/caf\xc3\xa9", "/subjects/caf%C3%A9"),
        (b"/contexts", "/contexts"),
        (b"/contexts/.eu/config", "/config/%3A.eu%3A"),
        (b"/contexts/:.eu:/mode/a", "/mode/%3A.eu%3Aa"),
        (b"/contexts/eu/subjects/a%2Fb", "/subjects/%3A.eu%3Aa%2Fb"),
        (b"/contexts/.eu/subjects/:.us:a", "/subjects/:.us:a"),
        (b"/contexts/.eu/compatibility/subjects/a/versions", "/compatibility/subjects/%3A.eu%3Aa/versions"),
        (b"/contexts/:.:/subjects/a", "/subjects/a"),
        (b"/contexts/:.:/config", "/config"),
        (b"/contexts/.eu/", "/contexts/.eu"),
        (b"/contexts/.eu/subjects/:*:a", "/subjects/:*:a"),
        (
            b"/contexts/.eu/dek-registry/v1/keks/k/deks/a/versions/1",
            "/dek-registry/v1/keks/k/deks/%3A.eu%3Aa/versions/1",
        ),
        (b"/contexts/.eu/subjects/config/versions", "/subjects/%3A.eu%3Aconfig/versions"),
        (b"/contexts/.eu/subjects/subjects", "/subjects/%3A.eu%3Asubjects"),
        (b"/contexts/.eu/associations/subjects/a", "/associations/subjects/%3A.eu%3Aa"),
        (b"/contexts/.eu/schemas/types", "/schemas/types"),
    ],
)
def test_a_path_is_routed_with_its_context_and_its_encoding(raw: bytes, path: str) -> None:
    assert move_context(raw, b"")[0] == path


def test_a_context_in_front_goes_into_the_query_too() -> None:
    assert move_context(b"/contexts/.eu/schemas/ids/1", b"subject=a&x=1") == (
        "/schemas/ids/1",
        b"x=1&subject=%3A.eu%3Aa",
    )
    assert move_context(b"/contexts/.eu/subjects", b"") == ("/subjects", b"subjectPrefix=%3A.eu%3A")
    assert move_context(b"/contexts/.eu/schemas", b"subjectPrefix=:*:a") == (
        "/schemas",
        b"subjectPrefix=%3A%2A%3Aa",
    )
    assert move_context(b"/contexts/.eu/keks", b"subjectPrefix=a&subjectPrefix=b") == (
        "/keks",
        b"subjectPrefix=%3A.eu%3Aa&subjectPrefix=%3A.eu%3Ab",
    )
    assert move_context(b"/contexts/.eu/associations", b"context=.us&dryRun=true", "POST") == (
        "/associations",
        b"dryRun=true&context=%3A.eu%3A",
    )
    assert move_context(b"/contexts/.eu/associations/resources/r", b"", "GET") == ("/associations/resources/r", b"")
    twice = b"key=a&value=1&key=b&value=2"
    assert move_context(b"/contexts/.eu/subjects/s/metadata", twice) == ("/subjects/%3A.eu%3As/metadata", twice)


def test_a_context_holds_no_colon() -> None:
    with pytest.raises(BadRequest):
        move_context(b"/contexts/a:b/subjects", b"")


def test_names_that_are_not_utf8_or_cannot_be_stored_are_rejected() -> None:
    with pytest.raises(BadRequest):
        decode_segment("%ff")
    for text in ("a\0b", f":.{'x' * 255}:a"):
        with pytest.raises(InvalidSubject):
            parse_subject(text)
