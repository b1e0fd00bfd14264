"""Credentials and TLS settings for the source registry of an import, export or verification."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from contractlog.clients.cli.broker import read_text
from contractlog.clients.settings import Address, Security
from contractlog.compatibility.errors import UsageError

__all__ = ["SourceAccess", "add_access_options", "read_access", "reject_unused_access"]

_PREFIX: Final = "CONTRACTLOG_SOURCE_"
_TOKEN: Final = re.compile(r"[!-~]+")
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([ -~]*)")
#: Flags and variables with their metavar and help; the values are paths or names, never secrets.
_MEMBERS: Final = {
    "user": ("NAME", "user name"),
    "password_file": ("FILE", "the password, on the first line"),
    "token_file": ("FILE", "a bearer token, on the first line, in place of name and password"),
    "ca": ("FILE", "the CA (PEM) of its certificate, else those of the system"),
    "certificate": ("FILE", "client certificate (PEM)"),
    "key": ("FILE", "its key, if it is not in the same file"),
}


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """Credentials, TLS settings and headers for requests to a live registry."""

    security: Security = field(default_factory=Security)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def add_access_options(parser: ArgumentParser) -> None:
    """Add ``--source-…``; ``read_access`` reads them."""
    group = parser.add_argument_group(
        "access to the source registry",
        "each also as CONTRACTLOG_SOURCE_USER, _CA, …; the secrets themselves as CONTRACTLOG_SOURCE_PASSWORD, _TOKEN "
        "and _KEY_PASSWORD",
    )
    for member, (shown, words) in _MEMBERS.items():
        group.add_argument(f"--source-{member.replace('_', '-')}", metavar=shown, help=words)
    group.add_argument(
        "--source-header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="header of each request, as required by a gateway; may be repeated",
    )


def read_access(options: Namespace, url: str, environ: Mapping[str, str] | None = None) -> SourceAccess | None:
    """Read ``--source-…``, then ``CONTRACTLOG_SOURCE_…``; None if nothing is set.

    Raises:
        UsageError: a file cannot be read, a password has no name, or both a name and a token are given.
    """
    environment = os.environ if environ is None else environ
    given = {
        member: getattr(options, f"source_{member}") or environment.get(_PREFIX + member.upper()) for member in _MEMBERS
    }
    password = _read_secret("password", given["password_file"], environment)
    token = _read_secret("token", given["token_file"], environment)
    key_password = environment.get(f"{_PREFIX}KEY_PASSWORD") or None
    headers = dict(map(_parse_header, options.source_header))
    named = given["user"] is not None or Address.parse(url)[0].user is not None
    if password is not None and not named:
        raise UsageError("a password without a name: give --source-user NAME, or set CONTRACTLOG_SOURCE_USER")
    if token is not None:
        if named:
            raise UsageError("give the source a name and password or a token, not both")
        headers["Authorization"] = f"Bearer {token}"
    if not any((*given.values(), password, token, key_password, headers)):
        return None
    security = Security(
        user=given["user"],
        password=password,
        ca=given["ca"],
        certificate=given["certificate"],
        key=given["key"],
        key_password=key_password,
    )
    return SourceAccess(security, headers)


def reject_unused_access(options: Namespace, live: str) -> None:
    """Reject flags of ``add_access_options`` if no live registry is read.

    Raises:
        UsageError: one of them is given.
    """
    given = [f"source_{member}" for member in (*_MEMBERS, "header") if getattr(options, f"source_{member}")]
    if given:
        raise UsageError(f"--{given[0].replace('_', '-')} needs a live registry as the source, and {live} is not given")


def _read_secret(member: str, file: str | None, environment: Mapping[str, str]) -> str | None:
    if file is None:
        secret = environment.get(_PREFIX + member.upper()) or None
        where = f"{_PREFIX}{member.upper()}"
    else:
        secret, where = _read_first_line(file, f"--source-{member}-file"), f"`{file}`"
    if secret is not None and member == "token" and not _TOKEN.fullmatch(secret):
        raise UsageError(f"{where} holds no bearer token: it is one word of printable ASCII characters")
    return secret


def _read_first_line(file: str, flag: str) -> str:
    line = read_text(file, flag).partition("\n")[0].removesuffix("\r")  # other characters are part of the secret
    if not line:
        raise UsageError(f"{flag}: the first line of `{file}` is empty")
    return line


def _parse_header(text: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(text)
    if match is None:
        raise UsageError("--source-header takes 'NAME: VALUE'")
    return match[1], match[2].strip()
