"""Paths are routed as they were sent."""

from __future__ import annotations

import doctest

import pytest

from contractlog.compatibility.errors import BadRequest, InvalidSubject
from contractlog.registry import paths
from contractlog.registry.paths import decode, routed, subject_of


def test_the_examples_hold() -> None:
    assert doctest.testmod(paths).failed == 0


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
        (b"/contexts/:.:/subjects/a", "/subjects/%3A.%3Aa"),
        (b"/contexts/.eu/schemas/types", "/schemas/types"),
    ],
)
def test_a_path_is_routed_with_its_context_and_its_encoding(raw: bytes, path: str) -> None:
    assert routed(raw, b"")[0] == path


def test_a_context_in_front_goes_into_the_query_too() -> None:
    assert routed(b"/contexts/.eu/schemas/ids/1", b"subject=a&x=1") == ("/schemas/ids/1", b"subject=%3A.eu%3Aa&x=1")
    assert routed(b"/contexts/.eu/subjects", b"") == ("/subjects", b"subjectPrefix=%3A.eu%3A")


def test_a_context_holds_no_colon() -> None:
    with pytest.raises(BadRequest):
        routed(b"/contexts/a:b/subjects", b"")


def test_what_is_no_utf8_or_fits_no_database_is_refused() -> None:
    with pytest.raises(BadRequest):
        decode("%ff")
    for text in ("a\0b", f":.{'x' * 255}:a"):
        with pytest.raises(InvalidSubject):
            subject_of(text)
