"""Limits on wrong passwords: per address, and per address and name together.

There is no limit per name alone: with one, anybody could lock a user out from everywhere. A running check counts as a
failure until it ends, so that checks in parallel allow no more attempts than checks in sequence.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import TooManyFailures

__all__ = ["ADDRESS_FAILURES", "NAME_FAILURES", "FailureLimits", "list_networks", "parse_network"]

ADDRESS_FAILURES: Final = 100  #: wrong passwords from one address within ``_WINDOW_SECONDS``
NAME_FAILURES: Final = 10  #: wrong passwords for one name from one address within ``_WINDOW_SECONDS``
_WINDOW_SECONDS: Final = 60.0
_MAX_KEYS: Final = 20_000  #: addresses and names that are tracked; the least recently used are evicted
_IPV6_PREFIX: Final = 64  #: prefix length that providers give to a single customer
#: prefix lengths of networks that one client may have as a whole: of an IPv6 customer, of a provider; by version
_WIDER_PREFIXES: Final = {4: (16, 24), 6: (32, 48)}
_NO_ADDRESS: Final = "no address"  #: the key of all clients whose proxy sends something else
_LOG: Final = logging.getLogger("contractlog.registry.access")

_Key = tuple[str, bytes]  #: an address, and the hash of a name; no hash for the address as a whole


@dataclass(slots=True)
class _Bucket:
    """Leaky bucket: failures drain at a constant rate."""

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
        """Seconds until another check is allowed; 0 if one is allowed now."""
        return max(0.0, self.failures + self.running + 1 - self.limit) * _WINDOW_SECONDS / self.limit


@lru_cache(4096)
def parse_network(address: str) -> str:
    """Return the key of a client address; for IPv6 its /64 network, as one client has the whole of it.

    Whatever is no address has one key: a client could make up any number of such texts.

    >>> parse_network("2001:db8:1:2:3::4"), parse_network("::ffff:10.0.0.1"), parse_network("10.0.0.1")
    ('2001:db8:1:2::/64', '10.0.0.1', '10.0.0.1')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return _NO_ADDRESS
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), _IPV6_PREFIX), strict=False))


@lru_cache(4096)
def list_networks(key: str) -> tuple[str, ...]:
    """Return the networks that contain a key of ``parse_network``, widest first, and the key.

    >>> list_networks("10.1.2.3"), list_networks("2001:db8:1:2::/64")[:2]
    (('10.1.0.0/16', '10.1.2.0/24', '10.1.2.3'), ('2001:db8::/32', '2001:db8:1::/48'))
    """
    if key == _NO_ADDRESS:
        return (key,)
    network = ipaddress.ip_network(key)
    return (*(str(network.supernet(new_prefix=prefix)) for prefix in _WIDER_PREFIXES[network.version]), key)


class FailureLimits:
    """Counts wrong passwords, and records the addresses of correct ones. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: BoundedCache[_Key, _Bucket] = BoundedCache(_MAX_KEYS)
        self._succeeded: BoundedCache[_Key, bool] = BoundedCache(_MAX_KEYS)

    def has_succeeded(self, address: str) -> bool:
        """Return True if a correct password has come from an address."""
        return (address, b"") in self._succeeded

    def begin(self, address: str, name: str) -> None:
        """Count a check that begins.

        Raises:
            TooManyFailures: there were too many wrong passwords. A name with which this address has succeeded before is
                exempt from the limit of the address, which other clients may share.
        """
        address_and_name, alone = _key(address, name), (address, b"")
        with self._lock:
            now = self._clock()
            buckets = [self._bucket(address_and_name, now)]
            if address_and_name not in self._succeeded:
                buckets.append(self._bucket(alone, now))
            seconds = max(bucket.seconds_left for bucket in buckets)
            if seconds > 0:
                for bucket in buckets:
                    _log_rejection(bucket, address, now)
                raise TooManyFailures(seconds=math.ceil(seconds))
            for key in (address_and_name, alone):
                self._bucket(key, now).running += 1

    def end(self, address: str, name: str, *, succeeded: bool | None) -> None:
        """Count the result of a check; None for a check that was never made."""
        address_and_name, alone = _key(address, name), (address, b"")
        with self._lock:
            now = self._clock()
            for key in (address_and_name, alone):
                bucket = self._bucket(key, now)
                bucket.running = max(0, bucket.running - 1)
                if succeeded is False:
                    bucket.failures += 1
            if succeeded:
                self._bucket(address_and_name, now).failures = 0.0
                self._note_success(address_and_name, alone)

    def note_success(self, address: str, name: str) -> None:
        """Record that a correct password came from an address; the check itself was begun by another request."""
        with self._lock:
            self._note_success(_key(address, name), (address, b""))

    def note_address(self, address: str) -> None:
        """Record that a correct password came from an address; cheap if that is recorded already."""
        if not self.has_succeeded(address):
            with self._lock:
                self._note_success((address, b""))

    def _note_success(self, *keys: _Key) -> None:
        for key in keys:
            self._succeeded.put(key, value=True)

    def _bucket(self, key: _Key, now: float) -> _Bucket:
        bucket = self._buckets.touch(key)
        if bucket is None:
            bucket = self._buckets.put(key, _Bucket(NAME_FAILURES if key[1] else ADDRESS_FAILURES, counted_at=now))
        bucket.drain(now)
        return bucket


def _key(address: str, name: str) -> _Key:
    return address, hashlib.blake2b(
        name.encode(), digest_size=16
    ).digest()  # names may be long, and are stored for a while


def _log_rejection(bucket: _Bucket, address: str, now: float) -> None:
    """Log, at most once per window, that an address is rejected.

    The name is left out, as it may be a mistyped password.
    """
    if bucket.seconds_left > 0 and now - bucket.logged_at >= _WINDOW_SECONDS:
        bucket.logged_at = now
        _LOG.warning("%d wrong passwords in a minute from %s: further ones are rejected for now", bucket.limit, address)
