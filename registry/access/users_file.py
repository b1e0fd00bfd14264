"""File of users: TOML, reloaded when it changes.

A user has a name, permissions to read and write, and a password hash made by ``contractlog users add``; users without
a password authenticate with a client certificate.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from contractlog.compatibility.errors import Unauthorized
from contractlog.registry.access.certificate_names import (
    AlternativeName,
    ClientCertificate,
    SubjectName,
    parse_alternative_name,
    parse_certificate_subject,
)
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.permissions import KeyPermissions, Permissions, explain_pattern_mistake
from contractlog.registry.access.reloaded_file import ReloadedFile

__all__ = [
    "User",
    "Users",
    "UsersFile",
    "check_name",
    "parse_users",
]

_MEMBERS: Final = frozenset({"break_glass", "password", "read", "read_keys", "write", "write_keys"})
_MAX_NAME_LENGTH: Final = 256


@dataclass(frozen=True, slots=True)
class User:
    """A user, with permissions and password hash."""

    name: str
    permissions: Permissions
    password: HashedPassword | None = None


@dataclass(frozen=True, slots=True)
class Users:
    """All users of a file."""

    by_name: Mapping[str, User] = field(default_factory=dict)
    #: users by certificate name: a whole subject, an alternative name, else a common name
    by_certificate: Mapping[SubjectName | AlternativeName | str, User] = field(default_factory=dict)

    @classmethod
    def of(cls, by_name: Mapping[str, User]) -> Self:
        """Build the index by certificate name.

        Raises:
            ValueError: a user's name is not a valid certificate name, or two users have the same one.
        """
        by_certificate: dict[SubjectName | AlternativeName | str, User] = {}
        for name, user in by_name.items():
            key = _certificate_name(user)
            if key in by_certificate:
                raise ValueError(f"users `{by_certificate[key].name}` and `{name}` name the same certificate")
            by_certificate[key] = user
        return cls(by_name, by_certificate)

    def find_by_certificate(self, certificate: ClientCertificate) -> User | None:
        """Return the user of a certificate: by whole subject, else alternative name, else common name.

        Raises:
            Unauthorized: it has several common names, or alternative names of several users.
        """
        common_name = certificate.common_name
        user = self.by_certificate.get(certificate.subject)
        if user is not None:
            return user
        users = {
            matching_user.name: matching_user
            for name in certificate.alternative_names
            if (matching_user := self.by_certificate.get(name))
        }
        if len(users) > 1:
            raise Unauthorized(
                "The client certificate has alternative names of several users, so it identifies no user: "
                "present a certificate with those of one"
            )
        return next(iter(users.values()), None) or self.by_certificate.get(common_name or "")


def parse_users(text: str) -> Users:
    """Parse the text of a file.

    Raises:
        ValueError: it is not TOML, or an entry is invalid.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if document.keys() - {"users"}:
        raise ValueError(f"it holds `{min(document.keys() - {'users'})}`; users are tables [users.NAME]")
    users = document.get("users", {})
    if not isinstance(users, dict) or not all(isinstance(members, dict) for members in users.values()):
        raise ValueError("users are tables [users.NAME]")
    return Users.of({name: _parse_user(name, members) for name, members in users.items()})


def _parse_user(name: str, members: Mapping[str, Any]) -> User:
    unknown = members.keys() - _MEMBERS
    if unknown:
        raise ValueError(f"user `{name}` has `{min(unknown)}`; there are {', '.join(sorted(_MEMBERS))}")
    password = members.get("password")
    try:
        check_name(name, password=password is not None)
        hashed = None if password is None else HashedPassword.parse(str(password))
    except ValueError as error:
        raise ValueError(f"user `{name}`: {error}") from None
    keys = KeyPermissions.of(
        _parse_key_patterns(name, members, "read_keys"), _parse_key_patterns(name, members, "write_keys")
    )
    read, write = _parse_patterns(name, members, "read"), _parse_patterns(name, members, "write")
    break_glass = _parse_patterns(name, members, "break_glass")
    return User(name, Permissions.of(read, write, keys, break_glass), hashed)


def _parse_key_patterns(name: str, members: Mapping[str, Any], member: str) -> list[str]:
    patterns = members.get(member, [])
    if not isinstance(patterns, list) or not all(isinstance(item, str) and item for item in patterns):
        raise ValueError(f'user `{name}`: {member} is a list of KEK names such as ["pii-*"], or ["*"] for every KEK')
    for pattern in patterns:
        if "*" in pattern[:-1]:
            raise ValueError(f"user `{name}`: {member}: `{pattern}` has a star before its end")
    return patterns


def _parse_patterns(name: str, members: Mapping[str, Any], member: str) -> list[str]:
    patterns = members.get(member, [])
    if not isinstance(patterns, list) or not all(isinstance(item, str) and item for item in patterns):
        raise ValueError(f'user `{name}`: {member} is a list such as ["orders-*", ":.eu:*"], or ["*"] for everything')
    for pattern in patterns:
        mistaken = explain_pattern_mistake(pattern)
        if mistaken is not None:
            raise ValueError(f"user `{name}`: {member}: {mistaken}")
    return patterns


def check_name(name: str, *, password: bool) -> str:
    """Return a name if a user may have it.

    Args:
        name: of a user, of a certificate's subject, or one of its alternative names.
        password: whether the user has one.

    Raises:
        ValueError: it is empty, too long, or contains a control character; or it contains a colon, which HTTP cannot
            carry in a user name, and is not a certificate name without a password.
    """
    if not name or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise ValueError(f"a name has 1 to {_MAX_NAME_LENGTH} printable characters")
    if parse_alternative_name(name) is not None:
        if password:
            raise ValueError(f"`{name}` is a name of a certificate, so it has no password")
        return name
    subject = parse_certificate_subject(name)
    if ":" in name and (password or subject is None):
        raise ValueError(
            "a name has no colon, unless it is of a certificate: dns:NAME, uri:NAME, email:NAME, ip:ADDRESS"
        )
    return name


def _certificate_name(user: User) -> SubjectName | AlternativeName | str:
    return parse_alternative_name(user.name) or parse_certificate_subject(user.name) or user.name


class UsersFile(ReloadedFile[Users]):
    """The users of a file; checked for changes every second.

    If a changed file is invalid, the previous users stay in force, and an error is logged.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(path, parse_users, "users", clock)

    @property
    def users(self) -> Users:
        """The current users."""
        return self.content
