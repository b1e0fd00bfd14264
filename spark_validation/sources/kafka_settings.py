"""Properties of Kafka clients, from the file of ``--broker-config``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.broker import SERVERS, read_properties
from contractlog.compatibility.errors import UsageError

__all__ = ["NO_SETTINGS", "KafkaSettings", "read_settings", "require_shared_file"]

KafkaSettings = Mapping[str, Any]
NO_SETTINGS: Final[KafkaSettings] = {}


def require_shared_file(config: Path | None) -> Path | None:
    """Return the absolute path of a properties file, which workers read again.

    Raises:
        UsageError: the file is not a regular file, such as a pipe, which can be read only once.
    """
    if config is not None and not config.is_file():
        raise UsageError(
            f"--broker-config: `{config}` is not a regular file. Spark workers read it again: write it to a file "
            "that they can read at the same path."
        )
    return None if config is None else config.absolute()


def read_settings(config: Path | None) -> KafkaSettings:
    """Return the properties in a file, without the broker addresses.

    Raises:
        UsageError: the file cannot be read on this machine.
    """
    if config is None:
        return NO_SETTINGS
    try:
        properties = read_properties(config)
    except UsageError as error:
        raise UsageError(f"{error} (each Spark worker reads this file itself, at the same path)") from None
    return {name: value for name, value in properties.items() if name not in SERVERS}
