"""Addresses in schemas, joined and parted without ever failing: one that is none leads nowhere, and breaks nothing."""

from __future__ import annotations

from typing import NamedTuple
from urllib import parse

__all__ = ["Parted", "urldefrag", "urljoin"]


class Parted(NamedTuple):
    """An address, and the place inside what it leads to."""

    url: str
    fragment: str


def urljoin(base: str, address: str) -> str:
    """Read an address against a base; where one of them is none, it stays as it is.

    >>> urljoin("http://a/b", "c"), urljoin("http://[", "c"), urljoin("http://a/b", "http://[")
    ('http://a/c', 'c', 'http://[')
    """
    try:
        return parse.urljoin(base, address)
    except ValueError:
        return address


def urldefrag(address: str) -> Parted:
    """Part an address from its fragment.

    >>> urldefrag("http://a/b#/c"), urldefrag("http://[#/c")
    (Parted(url='http://a/b', fragment='/c'), Parted(url='http://[', fragment='/c'))
    """
    try:
        url, fragment = parse.urldefrag(address)
    except ValueError:
        url, _, fragment = address.partition("#")
    return Parted(url, fragment)
