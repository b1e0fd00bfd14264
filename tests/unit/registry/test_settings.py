"""Settings come from arguments, the environment or defaults, in this order."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.settings import URL_VARIABLES, Security
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level
from contractlog.registry.settings import PREFIX, Settings, find_misspelled_variables
from contractlog.registry.storage.engines import mask_url, parse_url


def test_arguments_go_before_the_environment_and_that_before_the_defaults() -> None:
    environment = {
        "CONTRACTLOG_PORT": "1",
        "CONTRACTLOG_HOST": "h",
        "CONTRACTLOG_LEVEL": "full",
        "CONTRACTLOG_CACHE_BYTES": "",
    }
    found = Settings.from_environment(environment, port=2, host=None)
    assert found == Settings(port=2, host="h", level=Level.FULL)


@pytest.mark.parametrize("member", [one.name for one in fields(Settings) if one.type != "str"])
def test_unreadable_settings_are_named(member: str) -> None:
    with pytest.raises(UsageError, match=PREFIX + member.upper()):
        Settings.from_environment({PREFIX + member.upper(): "many"})


def test_arguments_are_parsed_like_environment_variables() -> None:
    given = {"level": "full", "workers": "2", "body_seconds": 3, "access_log": "yes", "response_profile": "7.6"}
    environment = {PREFIX + name.upper(): str(value) for name, value in given.items()}
    assert Settings(**given) == Settings.from_environment(environment)  # type: ignore[arg-type]
    assert Settings(level="FULL").level is Level.FULL  # type: ignore[arg-type]
    assert Settings(users_file=Path("users.toml")).users_file == "users.toml"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("member", "value", "takes"),
    [
        ("level", "FULLISH", "one of NONE, BACKWARD, BACKWARD_TRANSITIVE, FORWARD"),
        ("level", None, "one of NONE, BACKWARD"),
        ("log_format", 1, "one of text, json"),
        ("port", 99999, "a number from 0 to 65535"),
        ("port", True, "a whole number"),
        ("max_body_bytes", -1, "a number from 1"),
        ("body_seconds", float("nan"), "a number from 0.1"),
        ("body_seconds", float("inf"), "a number from 0.1"),
        ("workers", 1.5, "a whole number"),
        ("access_log", "maybe", "true or false"),
        ("cluster_id", 7, "a string"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(member: str, value: Any, takes: str) -> None:
    with pytest.raises(UsageError, match=f"^{member} cannot be `?{value}`?: it takes {takes}"):
        Settings(**{member: value})


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        (
            "CONTRACTLOG_MAX_BODY_BYTE",
            ["nothing reads CONTRACTLOG_MAX_BODY_BYTE: is CONTRACTLOG_MAX_BODY_BYTES meant?"],
        ),
        ("CONTRACTLOG_LEVLE", ["nothing reads CONTRACTLOG_LEVLE: is CONTRACTLOG_LEVEL meant?"]),
        ("CONTRACTLOG_QQQ", ["nothing reads CONTRACTLOG_QQQ: docs/operating.md lists the settings"]),
        *((PREFIX + one.name.upper(), []) for one in fields(Settings)),
        *((f"CONTRACTLOG_REGISTRY_{one.name.upper()}", []) for one in fields(Security)),
        *((one, []) for one in URL_VARIABLES),
        ("CONTRACTLOG_SOURCE_PASSWORD", []),
        ("CONTRACTLOG_BOOTSTRAP_SERVERS", []),
        ("CONTRACTLOG_BROKER_CONFIG", []),
        ("CONTRACTLOG_TRACEBACK", []),
        ("CONTRACTLOG_SERVICE_HOST", []),
    ],
)
def test_a_variable_that_nothing_reads_is_told_with_the_nearest_one(variable: str, told: list[str]) -> None:
    assert list(find_misspelled_variables({variable: "5", "PATH": "/bin"})) == told


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("sqlite:///contractlog.db", "sqlite:///contractlog.db"),
        ("postgres://me:a/b@host:5432/registry", "postgres://me:***@host:5432/registry"),
        ("postgresql+psycopg://me@host/r?b=1&a=2&password=x", "postgresql+psycopg://me@host/r?b=1&a=2&password=***"),
    ],
)
def test_a_database_url_is_shown_as_it_was_typed_but_for_its_passwords(typed: str, shown: str) -> None:
    assert mask_url(typed) == shown
    parse_url(typed)
