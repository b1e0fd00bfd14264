"""Which Kafka cluster a verb means; nothing here speaks to one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.errors import UsageError

__all__ = ["BOOTSTRAP_VARIABLE", "bootstrap_servers", "named_servers"]

BOOTSTRAP_VARIABLE: Final = "CONTRACTLOG_BOOTSTRAP_SERVERS"


def named_servers(option: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the broker that ``--bootstrap-servers`` names, else the environment; None when neither does."""
    return option or (os.environ if environ is None else environ).get(BOOTSTRAP_VARIABLE) or None


def bootstrap_servers(option: str | None, environ: Mapping[str, str] | None = None, *, instead: str = "") -> str:
    """Return the broker that ``--bootstrap-servers`` names, else the environment.

    Args:
        option: what ``--bootstrap-servers`` says.
        environ: in place of the process's own.
        instead: what else would do, as the end of the sentence.

    Raises:
        UsageError: neither names one.
    """
    named = named_servers(option, environ)
    if named is None:
        raise UsageError(f"name the broker: --bootstrap-servers HOST:PORT, or set {BOOTSTRAP_VARIABLE}{instead}")
    return named
