"""Limits on wrong passwords: by address, and by address and name together.

Never by name alone: else anybody could lock a user out from everywhere. A check that has not ended counts as a failure
until it has, so that many at once get no further than many one after the other.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from contractlog.compatibility.errors import TooManyFailures

__all__ = ["ADDRESS_FAILURES", "NAME_FAILURES", "FailureLimits", "network_of"]

ADDRESS_FAILURES: Final = 100  #: wrong passwords from one address in ``_WINDOW_SECONDS``
NAME_FAILURES: Final = 10  #: wrong passwords for one name from one address
_WINDOW_SECONDS: Final = 60.0
_MOST_KEYS: Final = 20_000  #: addresses and names that are remembered, the least recently used are dropped
_IPV6_PREFIX: Final = 64  #: what a single customer of a network has
_LONGEST_ADDRESS: Final = 64
_LOG: Final = logging.getLogger("contractlog.registry.access")

_Key = tuple[str, bytes]  #: an address, and the hash of a name; empty for the address itself


@dataclass(slots=True)
class _Bucket:
    """Failures that drain away at an even pace."""

    limit: int
    failures: float = 0.0
    running: int = 0
    counted_at: float = 0.0
    logged_at: float = -math.inf

    def drain(self, now: float) -> None:
        self.failures = max(0.0, self.failures - (now - self.counted_at) * self.limit / _WINDOW_SECONDS)
        self.counted_at = now

    @property
    def seconds_left(self) -> float:
        """After which one more check is allowed; 0 where it is now."""
        return max(0.0, self.failures + self.running + 1 - self.limit) * _WINDOW_SECONDS / self.limit


@lru_cache(4096)
def network_of(address: str) -> str:
    """Return what counts as one address: of IPv6 the first 64 bits, because a client has all that begin so.

    >>> network_of("2001:db8:1:2:3::4"), network_of("::ffff:10.0.0.1"), network_of("10.0.0.1")
    ('2001:db8:1:2::/64', '10.0.0.1', '10.0.0.1')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ascii(address[:_LONGEST_ADDRESS])
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), _IPV6_PREFIX), strict=False))


class FailureLimits:
    """Counts wrong passwords, and remembers where right ones came from. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[_Key, _Bucket] = OrderedDict()
        self._succeeded: OrderedDict[_Key, None] = OrderedDict()

    def has_succeeded(self, address: str) -> bool:
        """Whether a right password came from an address."""
        return (address, b"") in self._succeeded

    def begin(self, address: str, name: str) -> None:
        """Count a check that begins.

        Raises:
            TooManyFailures: there were too many wrong passwords. A name with which this address succeeded before is not
                held to the limit of the address, which others may share.
        """
        both, alone = _key(address, name), (address, b"")
        with self._lock:
            now = self._clock()
            held_to = [self._bucket(both, now)]
            if both not in self._succeeded:
                held_to.append(self._bucket(alone, now))
            seconds = max(one.seconds_left for one in held_to)
            if seconds > 0:
                for one in held_to:
                    _log(one, address, now)
                raise TooManyFailures(seconds=math.ceil(seconds))
            for key in (both, alone):
                self._bucket(key, now).running += 1

    def end(self, address: str, name: str, *, succeeded: bool | None) -> None:
        """Count what a check found; None where it found nothing, because it was not made."""
        both, alone = _key(address, name), (address, b"")
        with self._lock:
            now = self._clock()
            for key in (both, alone):
                bucket = self._bucket(key, now)
                bucket.running = max(0, bucket.running - 1)
                if succeeded is False:
                    bucket.failures += 1
            if succeeded:
                self._bucket(both, now).failures = 0.0
                self._note_success(both, alone)

    def note_success(self, address: str, name: str) -> None:
        """Remember that a right password came from an address, which was checked for another."""
        with self._lock:
            self._note_success(_key(address, name), (address, b""))

    def note_address(self, address: str) -> None:
        """Remember that a right password came from an address; cheap where it is remembered already."""
        if not self.has_succeeded(address):
            with self._lock:
                self._note_success((address, b""))

    def _note_success(self, *keys: _Key) -> None:
        for key in keys:
            self._succeeded[key] = None
            self._succeeded.move_to_end(key)
        while len(self._succeeded) > _MOST_KEYS:
            self._succeeded.popitem(last=False)

    def _bucket(self, key: _Key, now: float) -> _Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(NAME_FAILURES if key[1] else ADDRESS_FAILURES, counted_at=now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        bucket.drain(now)
        return bucket


def _key(address: str, name: str) -> _Key:
    return address, hashlib.blake2b(
        name.encode(), digest_size=16
    ).digest()  # names may be long, and are kept for a while


def _log(bucket: _Bucket, address: str, now: float) -> None:
    """Log that an address is refused, once in a while; not the name, which may be a mistyped password."""
    if bucket.seconds_left > 0 and now - bucket.logged_at >= _WINDOW_SECONDS:
        bucket.logged_at = now
        _LOG.warning("%d wrong passwords in a minute from %s: further ones are refused for now", bucket.limit, address)
