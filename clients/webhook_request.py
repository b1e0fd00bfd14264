"""Requests to webhooks: public addresses unless others are allowed, no redirects, a time limit."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from contractlog.clients.settings import create_system_tls_context

__all__ = ["MAX_URL", "is_allowed_url", "is_public", "post_to_webhook"]

MAX_URL: Final = 2_000  #: characters
_SECONDS: Final = 10.0  #: time limit of a request
_NAT64: Final = IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_RESERVED: Final = (IPv6Network("3fff::/20"), IPv4Network("192.0.0.0/24"))  #: unknown to earlier releases of Python
_PORTS: Final = {"https": 443, "http": 80}


def is_allowed_url(text: str, *, private: bool) -> bool:
    """Return whether a URL has a host and no user, and has TLS unless ``private``."""
    url = _split_url(text)
    has_scheme = url.scheme == "https" or (url.scheme == "http" and private)
    return bool(url.hostname) and url.username is None and len(text) <= MAX_URL and has_scheme


def post_to_webhook(url: str, content: bytes, headers: Mapping[str, str], *, private: bool, option: str) -> str:
    """Post to a webhook; return what went wrong, empty if nothing did.

    The text names the host only, because the path of a URL may be secret.

    Args:
        url: as ``is_allowed_url`` allows.
        content: the body.
        headers: of the request.
        private: whether the host may have a private address.
        option: which allows private addresses, for the text.
    """
    import httpx2  # noqa: PLC0415 - slow to import, and only needed for webhooks

    from contractlog.clients.blocking_deadline import TimeLimit  # noqa: PLC0415 - needs httpx2

    parts = _split_url(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    try:
        address = _resolve(host, port, private=private, option=option)
        # The connection goes to the address that was checked, and not to what the name means a moment later.
        literal = f"[{address}]" if ":" in address else address
        target = parts._replace(netloc=f"{literal}:{port}").geturl()
        limit = TimeLimit()
        verify = create_system_tls_context(trust_env=False)
        with httpx2.Client(timeout=_SECONDS, follow_redirects=False, trust_env=False, verify=verify) as client:
            limit.apply_to(client)
            request = client.build_request(
                "POST",
                target,
                content=content,
                headers={**headers, "Host": parts.netloc},
                extensions={"sni_hostname": host},
            )
            with limit.within(_SECONDS):
                response = client.send(request, stream=True)  # the body is not read
                response.close()
    except (httpx2.HTTPError, OSError, ValueError) as error:
        return f"the webhook of {host} failed: {str(error) or type(error).__name__}"
    return "" if response.is_success else f"the webhook of {host} responded with status {response.status_code}"


def _resolve(host: str, port: int, *, private: bool, option: str) -> str:
    """Return an address of a host.

    Raises:
        OSError: there is none, or it is private and may not be used.
    """
    addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not private and not all(map(is_public, addresses)):
        raise OSError(f"{host} has a private address; {option} allows that")
    return addresses[0]


def is_public(address: str) -> bool:
    """Return whether an address is public, and the IPv4 address that it embeds for NAT64 or 6to4."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            embedded = IPv4Address(ip.packed[-4:])
        if embedded is not None:
            return embedded.is_global and not embedded.is_multicast
        if ip not in _GLOBAL_UNICAST:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _RESERVED)


def _split_url(text: str) -> SplitResult:
    """Split a URL; one that cannot be split has no host."""
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError:
        return urlsplit("")
    return url
