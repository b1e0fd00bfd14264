"""Counts of the failures of generated code, by schema."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable
from typing import Final

__all__ = ["GENERATED_CODE_FAILURES", "FailureCounts"]

MAX_COUNTED: Final = 1_000  #: schemas; failures of further ones are neither counted nor logged
_LOG: Final = logging.getLogger("contractlog.serdes")


class FailureCounts:
    """Number of failures of generated code by schema."""

    def __init__(self, capacity: int = MAX_COUNTED) -> None:
        self._capacity = capacity
        self._counts: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def count(self, key: Hashable) -> int:
        """Return the number of failures of the code with this key."""
        return self._counts.get(key, 0)

    def add(self, key: Hashable, schema_name: str, error: Exception) -> None:
        """Count a failure, and log the first one of a key."""
        with self._lock:
            count = self._counts.get(key, 0)
            if not count and len(self._counts) >= self._capacity:
                return
            self._counts[key] = count + 1
        if not count:
            _LOG.warning(
                "the code generated for the Avro schema %s raised %s; such records are handled by the interpreter, "
                "at lower speed",
                schema_name,
                type(error).__name__,
            )


GENERATED_CODE_FAILURES: Final = FailureCounts()
