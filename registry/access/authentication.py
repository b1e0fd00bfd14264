"""Authentication of callers, by password or by client certificate."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from contractlog.compatibility.errors import Overloaded, Unauthorized
from contractlog.registry.access.actor import Caller
from contractlog.registry.access.certificate_names import ClientCertificate
from contractlog.registry.access.failure_limits import FailureLimits, network_of
from contractlog.registry.access.password_checks import PasswordChecks
from contractlog.registry.access.passwords import DECOY, HashedPassword
from contractlog.registry.access.rights import EVERYTHING, NOTHING
from contractlog.registry.access.users import User, Users, UsersFile

__all__ = ["Authentication"]

_BASIC: Final = b"basic"
_MOST_VERIFIED: Final = 10_000  #: verified credentials that are cached
_MOST_REFUSED: Final = 10_000  #: rejected ones; cached apart, so that they never evict verified ones

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Verified:
    """Verified credentials, with the user's entry in the file at the time of the check."""

    user: User
    caller: Caller


@dataclass(frozen=True, slots=True)
class _Refused:
    """Rejected credentials, and the password hash that they were compared with."""

    name: str
    password: HashedPassword | None


class _Recent(Generic[V]):
    """Results of past checks by credentials; evicts the least recently used. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[bytes, V] = OrderedDict()

    def get(self, key: bytes) -> V | None:
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: bytes, value: V) -> None:
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            if len(self._found) > self._most:
                self._found.popitem(last=False)

    def drop(self, key: bytes) -> None:
        with self._lock:
            self._found.pop(key, None)

    def __len__(self) -> int:
        return len(self._found)


class Authentication:
    """Checks credentials once, and again only after their user's password has changed or been removed.

    Of credentials that were checked only a keyed hash is stored; the key lives as long as the process.
    """

    def __init__(self, file: UsersFile | None, limits: FailureLimits | None = None) -> None:
        self._file = file
        self._limits = limits or FailureLimits()
        self._key = os.urandom(32)
        self._verified: _Recent[_Verified] = _Recent(_MOST_VERIFIED)
        self._refused: _Recent[_Refused] = _Recent(_MOST_REFUSED)
        self._checks: PasswordChecks[_Verified | _Refused] = PasswordChecks()
        self._checking: dict[bytes, Future[_Verified | _Refused]] = {}

    def known(self, header: bytes) -> Caller | None:
        """Return the caller of credentials that were checked before; None if they need a check.

        Raises:
            Unauthorized: they were rejected.
        """
        users = self._users()
        key = self._key_of(header)
        verified = self._verified.get(key)
        if verified is not None:
            return self._still(key, verified, users)
        refused = self._refused.get(key)
        if refused is None:
            return None
        user = users.by_name.get(refused.name)
        if (None if user is None else user.password) != refused.password:
            self._refused.drop(key)  # the user's password has changed since, or was added since
            return None
        raise Unauthorized

    def _still(self, key: bytes, verified: _Verified, users: Users) -> Caller | None:
        """Return the caller with current permissions; None if the user's password has changed since the check."""
        user = users.by_name.get(verified.user.name)
        if user is verified.user:
            return verified.caller
        if user is None or user.password != verified.user.password:
            self._verified.drop(key)
            return None
        again = _Verified(user, Caller(user.name, user.rights))
        self._verified.put(key, again)
        return again.caller

    async def by_password(self, header: bytes, address: str) -> Caller:
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
        name, password = _credentials(header)
        network = network_of(address)
        key = self._key_of(header)
        checking = self._checking.get(key)
        if checking is None:
            checking = self._begin(key, name, network, partial(_check, name, password, users))
        found = await asyncio.shield(asyncio.wrap_future(checking))
        caller = None if isinstance(found, _Refused) else self._still(key, found, self._users())
        if caller is None:
            raise Unauthorized
        self._limits.note_success(network, name)
        return caller

    def note_success(self, address: str) -> None:
        """Record that credentials which were verified earlier arrived from an address."""
        self._limits.note_address(network_of(address))

    def _begin(
        self, key: bytes, name: str, network: str, work: Callable[[], _Verified | _Refused]
    ) -> Future[_Verified | _Refused]:
        """Begin a check; requests with the same credentials that arrive meanwhile wait for the same one."""
        self._limits.begin(network, name)
        try:
            trusted = self._limits.has_succeeded(network)
            checking = self._checks.submit(network, work, trusted=trusted)
        except Overloaded:
            self._limits.end(network, name, succeeded=None)
            raise
        self._checking[key] = checking
        checking.add_done_callback(partial(self._end, key, name, network))
        return checking

    def _end(self, key: bytes, name: str, network: str, done: Future[_Verified | _Refused]) -> None:
        """Cache the result of a check; runs on the thread of the check."""
        found = None if done.cancelled() or done.exception() is not None else done.result()
        self._limits.end(network, name, succeeded=None if found is None else isinstance(found, _Verified))
        if isinstance(found, _Verified):
            self._verified.put(key, found)
        elif found is not None:
            self._refused.put(key, found)
        self._checking.pop(key, None)

    def _users(self) -> Users:
        if self._file is None:
            raise Unauthorized
        return self._file.users

    def _key_of(self, header: bytes) -> bytes:
        return hashlib.blake2b(header, key=self._key, digest_size=32).digest()

    def by_certificate(self, certificate: ClientCertificate) -> Caller:
        """Return the caller of a certificate that the listener has verified.

        A certificate of no user has no permissions, or all of them where there is no file of users.

        Raises:
            Unauthorized: the certificate could stand for several users.
        """
        user = Users().certified(certificate) if self._file is None else self._file.users.certified(certificate)
        if user is not None:
            return Caller(user.name, user.rights)
        return Caller(certificate.text, EVERYTHING if self._file is None else NOTHING)


def _check(name: str, password: str, users: Users) -> _Verified | _Refused:
    user = users.by_name.get(name)
    if user is None or user.password is None:
        DECOY.matches(password)
        return _Refused(name, None)
    if user.password.matches(password):
        return _Verified(user, Caller(user.name, user.rights))
    return _Refused(name, user.password)


def _credentials(header: bytes) -> tuple[str, str]:
    scheme, _, text = header.partition(b" ")
    try:
        if scheme.lower() != _BASIC:
            raise Unauthorized
        name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise Unauthorized from None
    return name, password
