"""``serve`` warns about listeners that are reachable from other machines without users or TLS."""

from __future__ import annotations

import pytest

from contractlog.registry.cli import _exposure_warnings
from contractlog.registry.settings import Settings

USERS, CLIENTS, TLS = {"users_file": "u"}, {"tls_client_ca": "c"}, {"tls_certificate": "t"}
OPEN, CLEAR = "everyone who can reach port 8081 of", "so others can read passwords"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "registry.example"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, [OPEN, CLEAR]), (USERS, [CLEAR]), (TLS, [OPEN]), (USERS | TLS, []), (CLIENTS | TLS, [])],
)
def test_each_thing_that_is_missing_is_named(host: str, given: dict[str, str], expected: list[str]) -> None:
    warnings = list(_exposure_warnings(Settings(**given), host, 8081))  # type: ignore[arg-type]
    assert len(warnings) == len(expected)
    for warning, words in zip(warnings, expected, strict=True):
        assert words in warning
        assert host in warning


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.1.1", "::1"])
def test_listeners_for_this_machine_need_no_warning(host: str) -> None:
    assert list(_exposure_warnings(Settings(), host, 8081)) == []
