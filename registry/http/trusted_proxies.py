"""Trusted proxies: those whose ``X-Forwarded-For`` gives a client's address."""

from __future__ import annotations

import ipaddress

from contractlog.compatibility.errors import UsageError

__all__ = ["parse_proxies"]


def parse_proxies(text: str) -> list[str]:
    """Parse addresses and networks, separated by commas.

    Raises:
        UsageError: an item is neither, or is a network of all addresses, with which any client could fake its address.

    >>> parse_proxies("127.0.0.1, 10.0.0.0/8")
    ['127.0.0.1', '10.0.0.0/8']
    """
    items = [part.strip() for part in text.split(",") if part.strip()]
    for item in items:
        try:
            network = ipaddress.ip_network(item)
        except ValueError as error:
            raise UsageError(f"--trusted-proxies cannot have `{item}`: {error}") from None
        if network.prefixlen == 0:
            raise UsageError(f"--trusted-proxies cannot have `{item}`: every client could pretend to be another one")
    return items
