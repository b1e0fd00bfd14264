"""URL joining and splitting that never fails; an invalid URL leads nowhere."""

from __future__ import annotations

from typing import NamedTuple
from urllib import parse

__all__ = ["SplitUrl", "urldefrag", "urljoin"]


class SplitUrl(NamedTuple):
    """A URL without its fragment, and the fragment."""

    url: str
    fragment: str


def urljoin(base: str, address: str) -> str:
    """Resolve a URL against a base; if either is invalid, return it unchanged.

    >>> urljoin("http://a/b", "c"), urljoin("http://[", "c"), urljoin("http://a/b", "http://[")
    ('http://a/c', 'c', 'http://[')
    """
    try:
        return parse.urljoin(base, address)
    except ValueError:
        return address


def urldefrag(address: str) -> SplitUrl:
    """Split a URL from its fragment.

    >>> urldefrag("http://a/b#/c"), urldefrag("http://[#/c")
    (SplitUrl(url='http://a/b', fragment='/c'), SplitUrl(url='http://[', fragment='/c'))
    """
    try:
        url, fragment = parse.urldefrag(address)
    except ValueError:
        url, _, fragment = address.partition("#")
    return SplitUrl(url, fragment)
