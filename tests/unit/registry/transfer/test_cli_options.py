"""Options for source and broker; no secret has to be on the command line."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from contractlog.clients.settings import Security
from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.registry.transfer.cli_options import add_access_options, read_access
from contractlog.registry.transfer.rest_source import SourceAccess, run_concurrently

URL = "https://old:8081"


def options(*argv: str) -> Namespace:
    parser = ArgumentParser()
    add_access_options(parser)
    return parser.parse_args(argv)


def test_flags_go_before_the_environment_and_files_before_variables(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("from a file\nthe rest is a note\n")
    environ = {
        "CONTRACTLOG_SOURCE_USER": "ann",
        "CONTRACTLOG_SOURCE_PASSWORD": "from the environment",
        "CONTRACTLOG_SOURCE_CA": "ca.pem",
        "CONTRACTLOG_SOURCE_CERTIFICATE": "me.pem",
        "CONTRACTLOG_SOURCE_KEY": "me.key",
        "CONTRACTLOG_SOURCE_KEY_PASSWORD": "of the key",
    }
    members = {name.removeprefix("CONTRACTLOG_SOURCE_").lower(): value for name, value in environ.items()}
    assert read_access(options(), URL, environ) == SourceAccess(Security(**members))
    given = options("--source-user", "bob", "--source-password-file", str(secret), "--source-ca", "other.pem")
    found = read_access(given, URL, environ)
    assert found is not None
    assert (found.security.user, found.security.password, found.security.ca) == ("bob", "from a file", "other.pem")
    assert read_access(options(), URL, {}) is None


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", "\nnote"])
@pytest.mark.parametrize("secret", ["a\rb", "a\x0bb\x0c", "a\x85b", "a\u2028b", "a\0", " a ", "\ufeffa"])
def test_a_password_in_a_file_is_every_byte_of_its_first_line(tmp_path: Path, secret: str, end: str) -> None:
    file = tmp_path / "password"
    file.write_bytes((secret + end).encode())
    found = read_access(options("--source-user", "ann", "--source-password-file", str(file)), URL, {})
    assert found is not None
    assert found.security.password == secret


def test_a_token_and_headers_are_sent_and_shown_nowhere(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abc.def\n")
    given = options("--source-token-file", str(token), "--source-header", "target-sr-cluster: lsrc-1")
    found = read_access(given, URL, {})
    assert found is not None
    assert found.headers == {"Authorization": "Bearer abc.def", "target-sr-cluster": "lsrc-1"}
    assert "abc" not in repr(found)
    password = read_access(options("--source-user", "ann"), URL, {"CONTRACTLOG_SOURCE_PASSWORD": "hunter2"})
    assert "hunter2" not in repr(password)


@pytest.mark.parametrize(
    ("argv", "environ", "told"),
    [
        ((), {"CONTRACTLOG_SOURCE_PASSWORD": "p"}, "pass --source-user NAME"),
        (("--source-user", "a"), {"CONTRACTLOG_SOURCE_TOKEN": "t"}, "not both"),
        (("--source-password-file", "nowhere"), {}, "`nowhere` cannot be read: No such file or directory"),
        ((), {"CONTRACTLOG_SOURCE_TOKEN": "two words"}, "CONTRACTLOG_SOURCE_TOKEN contains no bearer token"),
        (("--source-header", "no colon"), {}, "--source-header takes 'NAME: VALUE'"),
        (("--source-header", "a: b\r\nc: d"), {}, "--source-header takes 'NAME: VALUE'"),
    ],
)
def test_contradictory_options_are_rejected(argv: tuple[str, ...], environ: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        read_access(options(*argv), URL, environ)
    assert "two words" not in str(refused.value)


def test_of_many_questions_the_first_failure_is_told_as_it_was_raised() -> None:
    async def fails() -> None:
        raise Unreachable("gone")

    async def waits() -> None:
        await asyncio.sleep(60)

    with pytest.raises(Unreachable, match="gone"):
        asyncio.run(run_concurrently([waits(), fails(), waits()]))
