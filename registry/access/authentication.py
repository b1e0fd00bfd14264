"""Who somebody is, by a password or a client's certificate."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from contractlog.compatibility.errors import Overloaded, Unauthorized
from contractlog.registry.access.actor import Caller
from contractlog.registry.access.certificate_names import ClientCertificate
from contractlog.registry.access.passwords import DECOY
from contractlog.registry.access.rights import EVERYTHING, NOTHING
from contractlog.registry.access.users import Users, UsersFile

__all__ = ["Authentication"]

_BASIC: Final = b"basic"
_KEPT: Final = 10_000  #: credentials that were checked, right ones and wrong ones
_WAITING: Final = 100  #: checks that may wait; a password costs a tenth of a second or two of a processor
_THREADS: Final = 2


class Authentication:
    """Checks credentials; each once, until the file of users changes.

    Of credentials that were checked only a keyed hash is kept, under a key that lives as long as the process.
    """

    def __init__(self, file: UsersFile | None) -> None:
        self._file = file
        self._key = os.urandom(32)
        self._kept: OrderedDict[bytes, Caller | None] = OrderedDict()
        self._generation = 0
        self._checking: dict[bytes, asyncio.Future[Caller | None]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="contractlog-passwords")

    def known(self, header: bytes) -> Caller | None:
        """Return whom credentials stand for that were checked before; None where they have to be checked.

        Raises:
            Unauthorized: they stand for nobody.
        """
        self._current()
        key = self._key_of(header)
        if key not in self._kept:
            return None
        return _somebody(self._kept[key])

    async def by_password(self, header: bytes) -> Caller:
        """Return whom the value of an ``Authorization`` header stands for.

        Raises:
            Unauthorized: nobody.
            Overloaded: too many others are being checked.
        """
        users = self._current()
        key = self._key_of(header)
        return _somebody(self._kept[key] if key in self._kept else await self._checked(key, header, users))

    def _current(self) -> Users:
        """Return the users as they are now; what was checked by others before them is forgotten."""
        if self._file is None:
            raise Unauthorized
        users = self._file.users
        if self._generation != self._file.generation:
            self._generation = self._file.generation
            self._kept.clear()
        return users

    def _key_of(self, header: bytes) -> bytes:
        return hashlib.blake2b(header, key=self._key, digest_size=32).digest()

    async def _checked(self, key: bytes, header: bytes, users: Users) -> Caller | None:
        """Check credentials on a thread; whoever comes with the same ones meanwhile waits for the same check."""
        checking = self._checking.get(key)
        if checking is None:
            if len(self._checking) >= _WAITING:
                raise Overloaded
            checking = asyncio.get_running_loop().run_in_executor(self._threads, _caller, header, users)
            self._checking[key] = checking
            checking.add_done_callback(partial(self._remember, key, self._generation))
        return await asyncio.shield(checking)

    def _remember(self, key: bytes, generation: int, done: asyncio.Future[Caller | None]) -> None:
        self._checking.pop(key, None)
        if done.cancelled() or done.exception() is not None or generation != self._generation:
            return
        self._kept[key] = done.result()
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def by_certificate(self, certificate: ClientCertificate) -> Caller:
        """Return whom a certificate stands for, which the listener has verified; strangers have no rights.

        Raises:
            Unauthorized: it could stand for several.
        """
        user = Users().certified(certificate) if self._file is None else self._file.users.certified(certificate)
        if user is not None:
            return Caller(user.name, user.rights)
        return Caller(certificate.text, EVERYTHING if self._file is None else NOTHING)


def _somebody(caller: Caller | None) -> Caller:
    if caller is None:
        raise Unauthorized
    return caller


def _caller(header: bytes, users: Users) -> Caller | None:
    name, password = _credentials(header)
    user = users.by_name.get(name)
    if user is None or user.password is None:
        DECOY.matches(password)
        return None
    return Caller(user.name, user.rights) if user.password.matches(password) else None


def _credentials(header: bytes) -> tuple[str, str]:
    scheme, _, text = header.partition(b" ")
    try:
        if scheme.lower() != _BASIC:
            raise Unauthorized
        name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise Unauthorized from None
    return name, password
