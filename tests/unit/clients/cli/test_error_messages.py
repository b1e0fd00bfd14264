"""Messages about a registry name its URL and the credentials that it rejected."""

from __future__ import annotations

import pytest

from contractlog.clients.cli.error_messages import error_message
from contractlog.compatibility.errors import Forbidden, RegistryError, Unauthorized, Unreachable, UnreadableResponse

URL = "http://registry:8081"


@pytest.mark.parametrize(
    ("argument", "environment", "words"),
    [
        ("http://me:secret@registry:8081", {}, "rejected user `me` and the password, both taken from the URL"),
        (
            "http://me:secret@registry:8081",
            {"CONTRACTLOG_REGISTRY_USER": "you", "CONTRACTLOG_REGISTRY_PASSWORD": "secret"},
            "rejected user `me` and the password, both taken from the URL",
        ),
        (
            "http://me:secret@another:8081",
            {"CONTRACTLOG_REGISTRY_USER": "you", "CONTRACTLOG_REGISTRY_PASSWORD": "secret"},
            "rejected user `you` and the password; check CONTRACTLOG_REGISTRY_USER and CONTRACTLOG_REGISTRY_PASSWORD",
        ),
        (URL, {"CONTRACTLOG_REGISTRY_USER": "you"}, "rejected user `you`, for which no password was set: set"),
        (URL, {"CONTRACTLOG_REGISTRY_TOKEN": "secret"}, "rejected the token; check CONTRACTLOG_REGISTRY_TOKEN"),
        (URL, {}, "needs credentials: set CONTRACTLOG_REGISTRY_USER and CONTRACTLOG_REGISTRY_PASSWORD"),
    ],
)
def test_rejected_credentials_are_named_by_where_they_came_from_and_never_shown(
    argument: str, environment: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    message = error_message(Unauthorized(url=URL), ["pull", "--registry", argument])
    assert message.startswith(f"the registry at {URL} {words}")
    assert "secret" not in message


def test_an_environment_of_the_manifest_does_not_have_the_credentials_of_the_variable_with_the_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://me:secret@registry:8081")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "you")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", "secret")
    assert "user `me` and the password, both taken from the URL" in error_message(Unauthorized(url=URL), [])
    for arguments in (["--environment", "dev"], ["--environment=dev"]):
        assert "user `you` and the password; check" in error_message(Unauthorized(url=URL), arguments)


def test_a_certificate_that_is_not_trusted_is_no_reason_to_start_a_registry() -> None:
    for reason, advised in (("certificate verify failed", False), ("Connection refused", True)):
        told = error_message(Unreachable("m", url="https://r", reason=reason), [])
        assert reason in told
        assert ("contractlog serve" in told) == advised


@pytest.mark.parametrize(("status", "advised"), [(502, True), (503, True), (504, True), (200, False), (404, False)])
def test_a_proxy_that_answers_for_the_registry_is_named(status: int, *, advised: bool) -> None:
    error = UnreadableResponse("the response to GET /subjects is HTML", url=URL, status=status)
    message = error_message(error, [])
    assert "the response to GET /subjects is HTML" in message
    assert ("try again later" in message) == advised
    assert message.endswith("check the URL given with --registry or CONTRACTLOG_REGISTRY_URL")


def test_an_environment_is_named_with_its_url_and_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"url": URL, "environment": "prod"}
    unreachable = error_message(Unreachable("m", reason="Connection refused", **facts), ["dev", "prod"])
    assert unreachable.endswith(
        "or correct the URL of the environment `prod` in the manifest, which CONTRACTLOG_REGISTRY_URL_PROD replaces"
    )
    assert "--registry" not in unreachable
    assert "`prod` alone: with the ending _PROD)" in error_message(Unauthorized(**facts), [])
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER_PROD", "ana")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", "secret")
    assert error_message(Unauthorized(**facts), []).endswith(
        "rejected user `ana` and the password; check CONTRACTLOG_REGISTRY_USER_PROD and CONTRACTLOG_REGISTRY_PASSWORD"
    )


def test_variables_that_are_not_sent_to_an_environment_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Unauthorized(url=URL, environment="prod")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://another:8081")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "you")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", "secret")
    assert error_message(error, []).endswith(
        "needs credentials: set CONTRACTLOG_REGISTRY_USER_PROD and CONTRACTLOG_REGISTRY_PASSWORD_PROD, or "
        "CONTRACTLOG_REGISTRY_TOKEN_PROD"
    )
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_TOKEN_PROD", "secret")
    assert error_message(error, []).endswith("rejected the token; check CONTRACTLOG_REGISTRY_TOKEN_PROD")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER_PROD", "ana")
    assert error_message(error, []).endswith(
        "rejected user `ana`, for which no password was set: set CONTRACTLOG_REGISTRY_PASSWORD_PROD"
    )
    assert "user `ana`" in error_message(error, ["--registry", URL])


@pytest.mark.parametrize(
    ("subject", "described"),
    [
        ("s", "`s`"),
        ("*", "all subjects"),
        (":*:*", "all subjects"),
        (":.eu:", "all subjects of the context `.eu`"),
        (":.eu:*", "all subjects of the context `.eu`"),
        (":.:*", "all subjects of the context `.`"),
        ("orders-*", "all subjects `orders-*`"),
    ],
)
def test_a_missing_permission_is_described_with_the_user(
    subject: str, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RegistryError.of(403, f"User is denied operation Write on Subject: {subject}")
    error.facts["url"] = URL
    way_out = f"has no permission to write {described}: ask an operator of the registry"
    assert error_message(error, []) == f"the user {way_out}"
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "ana")
    assert error_message(error, []) == f"user `ana` {way_out}"


def test_a_proxy_that_forbids_the_access_is_named() -> None:
    error = Forbidden("the registry responded with 403 to GET /subjects", url=URL, uncoded=True)
    message = error_message(error, [])
    assert message.startswith(
        f"{URL} rejected the request: the registry responded with 403 to GET /subjects, with a response"
    )
    assert "a proxy in front of it may forbid the access" in message
