"""Paths are routed as they were sent."""

from __future__ import annotations

import doctest

import pytest

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.registry.http import path_normalization
from contractlog.registry.http.path_normalization import decode_segment, normalize_target, parse_subject


def test_the_examples_hold() -> None:
    assert doctest.testmod(path_normalization).failed == 0


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
    assert normalize_target(raw, b"")[0] == path


def test_a_context_in_front_goes_into_the_query_too() -> None:
    assert normalize_target(b"/contexts/.eu/schemas/ids/1", b"subject=a&x=1") == (
        "/schemas/ids/1",
        b"x=1&subject=%3A.eu%3Aa",
    )
    assert normalize_target(b"/contexts/.eu/subjects", b"") == ("/subjects", b"subjectPrefix=%3A.eu%3A")
    assert normalize_target(b"/contexts/.eu/schemas", b"subjectPrefix=:*:a") == (
        "/schemas",
        b"subjectPrefix=%3A%2A%3Aa",
    )
    assert normalize_target(b"/contexts/.eu/keks", b"subjectPrefix=a&subjectPrefix=b") == (
        "/keks",
        b"subjectPrefix=%3A.eu%3Aa&subjectPrefix=%3A.eu%3Ab",
    )
    assert normalize_target(b"/contexts/.eu/associations", b"context=.us&dryRun=true", "POST") == (
        "/associations",
        b"dryRun=true&context=%3A.eu%3A",
    )
    assert normalize_target(b"/contexts/.eu/associations/resources/r", b"", "GET") == ("/associations/resources/r", b"")
    twice = b"key=a&value=1&key=b&value=2"
    assert normalize_target(b"/contexts/.eu/subjects/s/metadata", twice) == ("/subjects/%3A.eu%3As/metadata", twice)


def test_a_context_holds_no_colon() -> None:
    with pytest.raises(BadRequest):
        normalize_target(b"/contexts/a:b/subjects", b"")


def test_names_that_are_not_utf8_or_cannot_be_stored_are_rejected() -> None:
    with pytest.raises(BadRequest):
        decode_segment("%ff")
    for text in ("a\0b", f":.{'x' * 255}:a"):
        with pytest.raises(InvalidSubject):
            parse_subject(text)
