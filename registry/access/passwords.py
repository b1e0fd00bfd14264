"""Password hashes: scrypt, stored with their parameters and salt.

scrypt begins with HMAC-SHA-256, which pads short keys with NUL bytes and hashes long ones: by itself it does not
distinguish a password from the same with a NUL byte appended. Its input therefore is the password's SHA-512, which is
exactly as long as that HMAC's block. Hashes of the older scheme remain valid, but match no password that ends with NUL.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Final, Self

__all__ = ["DECOY", "HashedPassword"]

_SCHEME: Final = "scrypt-sha512"
_OLDER_SCHEME: Final = "scrypt"  #: without the SHA-512
_N, _R, _P = 2**14, 8, 5
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_MAX_MEMORY_BYTES: Final = 256 * 1024 * 1024
_PARTS: Final = 6


@dataclass(frozen=True, slots=True)
class HashedPassword:
    """A password hash, with its parameters and salt."""

    n: int
    r: int
    p: int
    salt: bytes
    hash: bytes
    older: bool = False  #: whether the scheme is ``scrypt``

    @classmethod
    def of(cls, password: str, *, salt: bytes | None = None, n: int = _N, r: int = _R, p: int = _P) -> Self:
        """Hash a password, by default with a new salt."""
        salt = os.urandom(_SALT_BYTES) if salt is None else salt
        return cls(n, r, p, salt, _scrypt(password, salt, n, r, p))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``scrypt-sha512$n$r$p$salt$hash``, or ``scrypt$…`` as written by earlier releases.

        Raises:
            ValueError: the text has another form, or its parameters are out of range.
        """
        parts = text.split("$")
        if len(parts) != _PARTS or parts[0] not in {_SCHEME, _OLDER_SCHEME}:
            raise ValueError(f"a password is written as {_SCHEME}$n$r$p$salt$hash; `contractlog users add` makes it")
        try:
            n, r, p = map(int, parts[1:4])
            salt, hashed = (base64.b64decode(part, validate=True) for part in parts[4:])
        except (ValueError, binascii.Error):
            raise ValueError("its numbers or its base64 cannot be read") from None
        if n < 2 or n & (n - 1) or r < 1 or p < 1 or 128 * n * r > _MAX_MEMORY_BYTES or len(hashed) != _HASH_BYTES:  # noqa: PLR2004
            raise ValueError("its parameters are out of range")
        return cls(n, r, p, salt, hashed, older=parts[0] == _OLDER_SCHEME)

    def __str__(self) -> str:
        salt, hashed = (base64.b64encode(part).decode() for part in (self.salt, self.hash))
        return f"{_OLDER_SCHEME if self.older else _SCHEME}${self.n}${self.r}${self.p}${salt}${hashed}"

    def matches(self, password: str) -> bool:
        """Return True if the password is correct; a wrong one takes as long."""
        equal = hmac.compare_digest(_scrypt(password, self.salt, self.n, self.r, self.p, older=self.older), self.hash)
        return equal and not (self.older and password.endswith("\0"))


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int, *, older: bool = False) -> bytes:
    secret = password.encode()
    if not older:
        secret = hashlib.sha512(secret).digest()
    return hashlib.scrypt(secret, salt=salt, n=n, r=r, p=p, maxmem=2 * _MAX_MEMORY_BYTES, dklen=_HASH_BYTES)


#: Nobody's password: checked for names without one, so that the response time does not reveal which names exist.
DECOY: Final = HashedPassword(_N, _R, _P, bytes(_SALT_BYTES), bytes(_HASH_BYTES))
