"""The client's address behind trusted proxies, in both forms of IPv4 addresses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from contractlog.compatibility.errors import UsageError
from contractlog.registry.http.trusted_proxies import parse_proxies


def find_client(proxies: str, peer: str, forwarded: str) -> str:
    """Return the client's address as the server finds it."""
    scopes: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        scopes.append(scope)

    scope: Any = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    middleware: Any = ProxyHeadersMiddleware(app, parse_proxies(proxies))
    asyncio.run(middleware(scope, None, None))
    return str(scopes[0]["client"][0])


@pytest.mark.parametrize("proxies", ["127.0.0.1,10.0.0.0/8", "::ffff:127.0.0.1, ::ffff:10.0.0.0/104"])
@pytest.mark.parametrize("peer", ["127.0.0.1", "::ffff:127.0.0.1", "10.9.8.7"])
@pytest.mark.parametrize("last", ["10.0.0.1", "::ffff:10.0.0.1", "::FFFF:0a00:0001", "[::ffff:10.0.0.1]:80"])
def test_an_ipv4_address_of_a_trusted_proxy_is_recognized_in_both_forms(proxies: str, peer: str, last: str) -> None:
    assert find_client(proxies, peer, f"7.7.7.7, {last}") == "7.7.7.7"


@pytest.mark.parametrize("address", ["::ffff:11.0.0.1", "11.0.0.1", "::a00:1", "2001:db8::a00:1"])
def test_other_addresses_are_not_those_of_a_trusted_proxy(address: str) -> None:
    assert find_client("127.0.0.1,10.0.0.0/8", "127.0.0.1", f"7.7.7.7, {address}") == address
    assert find_client("127.0.0.1,10.0.0.0/8", address, "7.7.7.7") == address


@pytest.mark.parametrize("text", ["::ffff:0:0/96", "::/80", "0.0.0.0/0"])
def test_all_ipv4_addresses_are_not_trusted_in_either_form(text: str) -> None:
    with pytest.raises(UsageError, match="any client could then impersonate"):
        parse_proxies(text)
