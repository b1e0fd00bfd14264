"""Authenticator of callers, by password or by client certificate."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import Overloaded, Unauthorized
from contractlog.registry.access.certificate_names import ClientCertificate
from contractlog.registry.access.current_caller import Principal
from contractlog.registry.access.passwords import DECOY, HashedPassword
from contractlog.registry.access.permissions import ALL_PERMISSIONS, NO_PERMISSIONS
from contractlog.registry.access.users_file import User, Users, UsersFile
from contractlog.registry.http.password_check_queue import PasswordCheckQueue
from contractlog.registry.http.password_failure_limits import FailureLimits, list_networks, parse_network

__all__ = ["Authenticator"]

_BASIC: Final = b"basic"
_MAX_VERIFIED: Final = 10_000  #: verified credentials that are cached
_MAX_REJECTED: Final = 10_000  #: rejected ones; cached apart, so that they never evict verified ones

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Verified:
    """Verified credentials, with the user's entry in the file at the time of the check."""

    user: User
    caller: Principal


@dataclass(frozen=True, slots=True)
class _Rejected:
    """Rejected credentials, and the password hash that they were compared with."""

    name: str
    password: HashedPassword | None


class Authenticator:
    """Checks credentials once, and again only after their user's password has changed or been removed.

    Of credentials that were checked only a keyed hash is stored; the key lives as long as the process.
    """

    def __init__(self, file: UsersFile | None, limits: FailureLimits | None = None) -> None:
        self._file = file
        self._limits = limits or FailureLimits()
        self._key = os.urandom(32)
        self._verified: BoundedCache[bytes, _Verified] = BoundedCache(_MAX_VERIFIED)
        self._rejected: BoundedCache[bytes, _Rejected] = BoundedCache(_MAX_REJECTED)
        self._checks: PasswordCheckQueue[_Verified | _Rejected] = PasswordCheckQueue()
        self._running: dict[bytes, Future[_Verified | _Rejected]] = {}

    @property
    def version(self) -> object:
        """An object that is replaced when users change: until then, credentials have the same caller."""
        return None if self._file is None else self._file.users

    def check_cached_credentials(self, header: bytes) -> Principal | None:
        """Return the caller of cached credentials; None if they are not cached and need a password check.

        Raises:
            Unauthorized: they are cached as rejected.
        """
        users = self._users()
        key = self._key_of(header)
        verified = self._verified.touch(key)
        if verified is not None:
            return self._current_caller(key, verified, users)
        refused = self._rejected.touch(key)
        if refused is None:
            return None
        user = users.by_name.get(refused.name)
        if (None if user is None else user.password) != refused.password:
            self._rejected.drop(key)  # the user's password has changed since, or was added since
            return None
        raise Unauthorized

    def _current_caller(self, key: bytes, verified: _Verified, users: Users) -> Principal | None:
        """Return the caller with current permissions; None if the user's password has changed since the check."""
        user = users.by_name.get(verified.user.name)
        if user is verified.user:
            return verified.caller
        if user is None or user.password != verified.user.password:
            self._verified.drop(key)
            return None
        again = _Verified(user, Principal(user.name, user.permissions))
        self._verified.put(key, again)
        return again.caller

    async def by_password(self, header: bytes, address: str) -> Principal:
        """Return the caller that the value of an ``Authorization`` header authenticates.

        Args:
            header: the value.
            address: IP address of the client.

        Raises:
            Unauthorized: the credentials are wrong.
            TooManyFailures: too many wrong passwords came from the address, in all or for this name.
            Overloaded: too many other checks are waiting.
        """
        users = self._users()
        name, password = _parse_credentials(header)
        network = parse_network(address)
        key = self._key_of(header)
        checking = self._running.get(key)
        if checking is None:
            checking = self._begin(key, name, network, partial(_check_password, name, password, users))
        result = await asyncio.shield(asyncio.wrap_future(checking))
        caller = None if isinstance(result, _Rejected) else self._current_caller(key, result, self._users())
        if caller is None:
            raise Unauthorized
        self._limits.note_success(network, name)
        return caller

    def note_success(self, address: str) -> None:
        """Record that credentials which were verified earlier arrived from an address."""
        self._limits.note_address(parse_network(address))

    def _begin(
        self, key: bytes, name: str, network: str, work: Callable[[], _Verified | _Rejected]
    ) -> Future[_Verified | _Rejected]:
        """Begin a check; requests with the same credentials that arrive meanwhile wait for the same one."""
        self._limits.begin(network, name)
        try:
            trusted = self._limits.has_succeeded(network)
            checking = self._checks.submit(list_networks(network), work, trusted=trusted)
        except Overloaded:
            self._limits.end(network, name, succeeded=None)
            raise
        self._running[key] = checking
        checking.add_done_callback(partial(self._end, key, name, network))
        return checking

    def _end(self, key: bytes, name: str, network: str, done: Future[_Verified | _Rejected]) -> None:
        """Cache the result of a check; runs on the thread of the check."""
        result = None if done.cancelled() or done.exception() is not None else done.result()
        self._limits.end(network, name, succeeded=None if result is None else isinstance(result, _Verified))
        if isinstance(result, _Verified):
            self._verified.put(key, result)
        elif result is not None:
            self._rejected.put(key, result)
        self._running.pop(key, None)

    def _users(self) -> Users:
        if self._file is None:
            raise Unauthorized
        return self._file.users

    def _key_of(self, header: bytes) -> bytes:
        return hashlib.blake2b(header, key=self._key, digest_size=32).digest()

    def by_certificate(self, certificate: ClientCertificate) -> Principal:
        """Return the caller of a certificate that the listener has verified.

        A certificate of no user has no permissions, or all of them where there is no users file.

        Raises:
            Unauthorized: the certificate could stand for several users.
        """
        user = (
            Users().find_by_certificate(certificate)
            if self._file is None
            else self._file.users.find_by_certificate(certificate)
        )
        if user is not None:
            return Principal(user.name, user.permissions)
        return Principal(certificate.text, ALL_PERMISSIONS if self._file is None else NO_PERMISSIONS)


def _check_password(name: str, password: str, users: Users) -> _Verified | _Rejected:
    user = users.by_name.get(name)
    if user is None or user.password is None:
        DECOY.matches(password)
        return _Rejected(name, None)
    if user.password.matches(password):
        return _Verified(user, Principal(user.name, user.permissions))
    return _Rejected(name, user.password)


def _parse_credentials(header: bytes) -> tuple[str, str]:
    scheme, _, text = header.partition(b" ")
    try:
        if scheme.lower() != _BASIC:
            raise Unauthorized
        name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise Unauthorized from None
    return name, password
