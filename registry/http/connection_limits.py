"""Limits on open connections: in all, which leaves descriptors for the database, and per address."""

from __future__ import annotations

import logging
import math
import resource
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from contractlog.registry.http.password_failure_limits import parse_network

__all__ = ["ConnectionLimits", "raise_descriptor_limit"]

_LOG: Final = logging.getLogger("contractlog.registry.http.connection_limits")
_MIN_RESERVED: Final = 64  #: descriptors for the database, files and the event loop
_MAX_RESERVED: Final = 256
_MAX_DESCRIPTORS: Final = 1_048_576  #: if the system has no limit
_SILENT_SECONDS: Final = 60.0  #: between two messages


def raise_descriptor_limit() -> int:
    """Raise the soft limit on open files of this process to the hard one; return the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError):  # macOS has a lower limit than it says
            return soft
        return wanted
    return _MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class ConnectionLimits:
    """Counts open connections; call it on the event loop.

    Args:
        descriptors: files that the process may open.
        clock: seconds.
    """

    def __init__(self, descriptors: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        reserved = min(_MAX_RESERVED, max(_MIN_RESERVED, descriptors // 4))
        self.maximum = max(1, descriptors - reserved)
        self.maximum_per_address = max(1, self.maximum // 2)
        self._open: Counter[str] = Counter()
        self._count = 0
        self._clock = clock
        self._silent_until = -math.inf

    def enter(self, address: str) -> bool:
        """Count a connection of a client; return False if it has to be closed, which is logged once a minute."""
        network = parse_network(address)
        if self._count >= self.maximum:
            self._log(
                f"connections are refused: {self.maximum} are open, and the process may open few more files; "
                "raise its hard limit on open files (`ulimit -Hn`)"
            )
            return False
        if self._open[network] >= self.maximum_per_address:
            self._log(f"connections of {network} are refused: it has {self._open[network]} open, half of all")
            return False
        self._open[network] += 1
        self._count += 1
        return True

    def leave(self, address: str) -> None:
        """Forget a connection."""
        network = parse_network(address)
        self._open[network] -= 1
        self._count -= 1
        if self._open[network] <= 0:
            del self._open[network]

    def _log(self, message: str) -> None:
        if self._clock() >= self._silent_until:
            self._silent_until = self._clock() + _SILENT_SECONDS
            _LOG.warning(message)
