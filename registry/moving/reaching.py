"""How the registry and the broker that a move reads are reached: names, passwords, certificates, properties."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE
from contractlog.clients.settings import Address, Security
from contractlog.compatibility.errors import UsageError
from contractlog.serdes.broker import add_broker

__all__ = ["Access", "Brokers", "access_of", "add_access", "add_brokers", "brokers_of", "unused_access"]

_PREFIX: Final = "CONTRACTLOG_SOURCE_"
_PROPERTIES_VARIABLE: Final = "CONTRACTLOG_BROKER_CONFIG"
_PROPERTY: Final = re.compile(r"([A-Za-z0-9_.]+)\s*=\s*(.*)")
_SERVERS: Final = "bootstrap.servers"
_TOKEN: Final = re.compile(r"[!-~]+")
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([ -~]*)")
#: What a file of secrets may give, by flag and variable; all are paths or names, none is a secret on a command line.
_MEMBERS: Final = {
    "user": ("NAME", "who asks it"),
    "password_file": ("FILE", "the password, on the first line"),
    "token_file": ("FILE", "a bearer token, on the first line, in place of name and password"),
    "ca": ("FILE", "the CA (PEM) of its certificate, else those of the system"),
    "certificate": ("FILE", "our own certificate (PEM)"),
    "key": ("FILE", "its key, where it is not in the same file"),
}


@dataclass(frozen=True, slots=True)
class Access:
    """How a live registry is asked."""

    security: Security = field(default_factory=Security)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Brokers:
    """A Kafka cluster: where it is, and what its client is told beside."""

    servers: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)


def add_access(parser: ArgumentParser) -> None:
    """Add ``--source-…``; ``access_of`` reads them."""
    group = parser.add_argument_group(
        "how the live registry that is read is asked",
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
        help="sent with each request, such as a gateway asks for; may be repeated",
    )


def access_of(options: Namespace, url: str, environ: Mapping[str, str] | None = None) -> Access | None:
    """Read ``--source-…``, then ``CONTRACTLOG_SOURCE_…``; None where nothing of it is set.

    Raises:
        UsageError: a file cannot be read, or two ways to say who asks are given.
    """
    known = os.environ if environ is None else environ
    given = {member: getattr(options, f"source_{member}") or known.get(_PREFIX + member.upper()) for member in _MEMBERS}
    password = _secret("password", given["password_file"], known)
    token = _secret("token", given["token_file"], known)
    key_password = known.get(f"{_PREFIX}KEY_PASSWORD") or None
    headers = dict(map(_header, options.source_header))
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
    return Access(security, headers)


def unused_access(options: Namespace, live: str) -> None:
    """Refuse flags of ``add_access`` where no registry is asked.

    Raises:
        UsageError: one of them is given.
    """
    given = [f"source_{member}" for member in (*_MEMBERS, "header") if getattr(options, f"source_{member}")]
    if given:
        raise UsageError(f"--{given[0].replace('_', '-')} tells how a live registry is asked, and {live} is not given")


def _secret(member: str, file: str | None, known: Mapping[str, str]) -> str | None:
    if file is None:
        secret = known.get(_PREFIX + member.upper()) or None
        where = f"{_PREFIX}{member.upper()}"
    else:
        secret, where = _first_line(file, f"--source-{member}-file"), f"`{file}`"
    if secret is not None and member == "token" and not _TOKEN.fullmatch(secret):
        raise UsageError(f"{where} holds no bearer token: it is one word of printable ASCII characters")
    return secret


def _first_line(file: str, flag: str) -> str:
    line = _text(file, flag).partition("\n")[0].removesuffix("\r")  # other characters are part of the secret
    if not line:
        raise UsageError(f"{flag}: the first line of `{file}` is empty")
    return line


def _text(file: str, flag: str) -> str:
    try:
        return Path(file).read_bytes().decode()  # as it is: a text file would read `\r` as the end of a line
    except OSError as error:
        raise UsageError(f"{flag}: `{file}` cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{flag}: `{file}` is no text in UTF-8") from None


def _header(text: str) -> tuple[str, str]:
    found = _HEADER.fullmatch(text)
    if found is None:
        raise UsageError("--source-header takes 'NAME: VALUE'")
    return found[1], found[2].strip()


def add_brokers(parser: ArgumentParser) -> None:
    """Add ``--bootstrap-servers`` and ``--broker-config``; ``brokers_of`` reads them."""
    add_broker(parser)
    parser.add_argument(
        "--broker-config",
        metavar="FILE",
        help="properties of librdkafka, one `name=value` on a line: security.protocol, sasl.username, … "
        f"(else {_PROPERTIES_VARIABLE})",
    )


def brokers_of(options: Namespace, environ: Mapping[str, str] | None = None) -> Brokers:
    """Read which Kafka cluster is meant, and how it is reached.

    Raises:
        UsageError: nothing names a broker, or the file cannot be read.
    """
    known = os.environ if environ is None else environ
    file = options.broker_config or known.get(_PROPERTIES_VARIABLE)
    properties = _properties(file) if file else {}
    beside = properties.pop(_SERVERS, None)
    servers = options.bootstrap_servers or beside or known.get(BOOTSTRAP_VARIABLE)
    if not servers:
        raise UsageError(
            f"name the broker: --bootstrap-servers HOST:PORT, {_SERVERS} in --broker-config FILE, "
            f"or set {BOOTSTRAP_VARIABLE}"
        )
    return Brokers(servers, properties)


def _properties(file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(_text(file, "--broker-config").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _PROPERTY.fullmatch(text)
        if match is None:  # what the line says may be a secret
            raise UsageError(f"--broker-config: line {number} of `{file}` is no `name=value`")
        found[match[1]] = match[2]
    return found
