"""What goes wrong with many records at a time, beyond what every part can name.

ContractlogError
└── SparkFailed        Spark ended our job with an error that is none of ours: ``reason``, ``log``
"""

from __future__ import annotations

from typing import Final

from py4j.protocol import Py4JNetworkError

from contractlog.compatibility.errors import ContractlogError

__all__ = ["SparkFailed"]

_ANNOUNCED: Final = "An error occurred while calling"
_TRACEBACK: Final = "Traceback (most recent call last):"
_LONGEST: Final = 300


class SparkFailed(ContractlogError):
    """Spark ended a job with an error that is none of ours; exit code 2."""

    template = "the audit's Spark job failed: {reason} (Spark's own log: {log})"

    @classmethod
    def of(cls, error: Exception, log: str = "where the session writes it") -> SparkFailed:
        """Tell what Spark, Java or a worker raised in a sentence."""
        return cls(reason=_sentence(error), log=log)

    def logged_in(self, log: str) -> SparkFailed:
        """Return the same failure, with where Spark's log is."""
        return type(self)(reason=self.facts["reason"], log=log)


def _sentence(error: Exception) -> str:
    """Return the line of an error that says most: a worker's own exception, else what Java said first."""
    if isinstance(error, OSError | Py4JNetworkError):
        return f"its Java process has gone away ({error})"
    head, _, raised = str(error).rpartition(_TRACEBACK)
    lines = [line for line in raised.splitlines() if line.strip() and not (head and line.startswith(" "))]
    telling = [line.removeprefix(": ").strip() for line in lines if not line.startswith(_ANNOUNCED)]
    said = (telling or lines or [type(error).__name__])[0]
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} …"
