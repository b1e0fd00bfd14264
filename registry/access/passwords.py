"""Passwords as they are kept: scrypt, with the parameters and the salt beside the hash."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Final, Self

__all__ = ["DECOY", "HashedPassword"]

_SCHEME: Final = "scrypt"
_N, _R, _P = 2**14, 8, 5
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_MOST_BYTES: Final = 256 * 1024 * 1024
_PARTS: Final = 6


@dataclass(frozen=True, slots=True)
class HashedPassword:
    """What is kept of a password."""

    n: int
    r: int
    p: int
    salt: bytes
    hash: bytes

    @classmethod
    def of(cls, password: str, *, salt: bytes | None = None, n: int = _N, r: int = _R, p: int = _P) -> Self:
        """Hash a password with a new salt."""
        salt = os.urandom(_SALT_BYTES) if salt is None else salt
        return cls(n, r, p, salt, _scrypt(password, salt, n, r, p))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``scrypt$n$r$p$salt$hash``.

        Raises:
            ValueError: it is nothing of the kind.
        """
        parts = text.split("$")
        if len(parts) != _PARTS or parts[0] != _SCHEME:
            raise ValueError("a password is kept as scrypt$n$r$p$salt$hash; `contractlog users add` makes it")
        try:
            n, r, p = map(int, parts[1:4])
            salt, hashed = (base64.b64decode(part, validate=True) for part in parts[4:])
        except (ValueError, binascii.Error):
            raise ValueError("its numbers or its base64 cannot be read") from None
        if n < 2 or n & (n - 1) or r < 1 or p < 1 or 128 * n * r > _MOST_BYTES or len(hashed) != _HASH_BYTES:  # noqa: PLR2004
            raise ValueError("its parameters are out of range")
        return cls(n, r, p, salt, hashed)

    def __str__(self) -> str:
        salt, hashed = (base64.b64encode(part).decode() for part in (self.salt, self.hash))
        return f"{_SCHEME}${self.n}${self.r}${self.p}${salt}${hashed}"

    def matches(self, password: str) -> bool:
        """Whether this is the password; takes as long for a wrong one."""
        return hmac.compare_digest(_scrypt(password, self.salt, self.n, self.r, self.p), self.hash)


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=2 * _MOST_BYTES, dklen=_HASH_BYTES)


#: Nobody's password: it is tried for users that there are not, so that an answer takes as long.
DECOY: Final = HashedPassword(_N, _R, _P, bytes(_SALT_BYTES), bytes(_HASH_BYTES))
