"""Formats of texts that rules check: e-mail addresses, hosts and networks, URIs, UUIDs."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

__all__ = ["is_email", "is_hostname", "is_ipv4", "is_ipv6", "is_uri", "is_uri_reference", "is_uuid"]

_MAX_HOST: Final = 253
_MAX_LABEL: Final = 63
_MAX_MAILBOX: Final = 64
_MAX_ADDRESS: Final = 254
_MAX_URI: Final = 65_536
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
_ATOMS: Final = re.compile(r"[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*")


def is_hostname(text: str) -> bool:
    """Return true for a host name whose last label is not only digits."""
    if len(text) > _MAX_HOST or not text:
        return False
    labels = text.removesuffix(".").split(".")
    return all(len(label) <= _MAX_LABEL and _LABEL.fullmatch(label) for label in labels) and not labels[-1].isdigit()


def is_email(text: str) -> bool:
    """Return true for a plain address, ``name@host``."""
    mailbox, separator, host = text.partition("@")
    return (
        bool(separator)
        and len(text) <= _MAX_ADDRESS
        and len(mailbox) <= _MAX_MAILBOX
        and _ATOMS.fullmatch(mailbox) is not None
        and is_hostname(host)
    )


def is_ipv4(text: str) -> bool:
    """Return true for an address such as ``192.0.2.1``."""
    try:
        IPv4Address(text.strip() and text)
    except AddressValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    """Return true for an address such as ``2001:db8::1``."""
    try:
        IPv6Address(text.strip() and text)
    except AddressValueError:
        return False
    return True


def is_uri(text: str) -> bool:
    """Return true for a URI with scheme, authority and path."""
    try:
        parts = urlsplit(text[:_MAX_URI])
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc and parts.path)


def is_uri_reference(text: str) -> bool:
    """Return true for a URI or a relative reference; a fragment needs scheme and path."""
    try:
        parts = urlsplit(text[:_MAX_URI])
    except ValueError:
        return False
    return bool(parts.scheme and parts.path) or not parts.fragment


def is_uuid(text: str) -> bool:
    """Return true for 32 hexadecimal digits, with or without hyphens, braces or ``urn:uuid:``."""
    if len(text) > _MAX_LABEL:
        return False
    try:
        UUID(text)
    except ValueError:
        return False
    return True
