"""Errors of audits, beyond those shared by all packages.

ContractlogError
└── SparkFailed        Spark ended our job with an error outside this package: ``reason``, ``log``
"""

from __future__ import annotations

from typing import Final

from py4j.protocol import Py4JNetworkError

from contractlog.compatibility.errors import ContractlogError

__all__ = ["SparkFailed"]

_PY4J_PREFIX: Final = "An error occurred while calling"
_TRACEBACK: Final = "Traceback (most recent call last):"
_LONGEST: Final = 300


class SparkFailed(ContractlogError):
    """Spark ended a job with an error that was not raised by contractlog; exit code 2."""

    template = "the audit's Spark job failed: {reason} (Spark's own log: {log})"

    @classmethod
    def of(cls, error: Exception, log: str = "where the session writes it") -> SparkFailed:
        """Return the failure for an exception raised by Spark, Java or a worker."""
        return cls(reason=_describe_error(error), log=log)

    def logged_in(self, log: str) -> SparkFailed:
        """Return the same failure with the path of Spark's log."""
        return type(self)(reason=self.facts["reason"], log=log)


def _describe_error(error: Exception) -> str:
    """Return the most informative line of an error: a worker's own exception, else Java's first line."""
    if isinstance(error, OSError | Py4JNetworkError):
        return f"its Java process has gone away ({error})"
    head, _, raised = str(error).rpartition(_TRACEBACK)
    lines = [line for line in raised.splitlines() if line.strip() and not (head and line.startswith(" "))]
    telling = [line.removeprefix(": ").strip() for line in lines if not line.startswith(_PY4J_PREFIX)]
    said = (telling or lines or [type(error).__name__])[0]
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} …"
