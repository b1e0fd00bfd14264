"""Trusted proxies: those whose ``X-Forwarded-For`` gives a client's address."""

from __future__ import annotations

import ipaddress
from typing import Final

from contractlog.compatibility.errors import UsageError

__all__ = ["parse_proxies"]

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")  #: IPv4 addresses in the form of IPv6


def parse_proxies(text: str) -> list[str]:
    """Parse addresses and networks, separated by commas; IPv4 addresses are returned in both forms.

    A socket for IPv4 and IPv6 has clients such as ``::ffff:10.0.0.1``, and proxies write them into the header.

    Raises:
        UsageError: an item is neither, or is a network of all addresses: any client could then impersonate another.

    >>> parse_proxies("127.0.0.1, 10.0.0.0/8")
    ['127.0.0.1/32', '::ffff:7f00:1/128', '10.0.0.0/8', '::ffff:a00:0/104']
    """
    networks: list[str] = []
    for item in filter(None, map(str.strip, text.split(","))):
        try:
            network = ipaddress.ip_network(item)
        except ValueError as error:
            raise UsageError(f"--trusted-proxies cannot contain `{item}`: {error}") from None
        if network.prefixlen == 0 or (isinstance(network, ipaddress.IPv6Network) and network.supernet_of(_MAPPED)):
            raise UsageError(f"--trusted-proxies cannot contain `{item}`: any client could then impersonate another")
        networks += map(str, _both_forms(network))
    return networks


def _both_forms(network: _Network) -> list[_Network]:
    """Return a network, and the same addresses in the other form if they are of IPv4."""
    first = int(network.network_address)
    if isinstance(network, ipaddress.IPv4Network):
        mapped = (int(_MAPPED.network_address) + first, _MAPPED.prefixlen + network.prefixlen)
        return [network, ipaddress.IPv6Network(mapped)]
    if network.subnet_of(_MAPPED):
        plain = (first - int(_MAPPED.network_address), network.prefixlen - _MAPPED.prefixlen)
        return [network, ipaddress.IPv4Network(plain)]
    return [network]
