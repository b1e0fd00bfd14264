"""The system's trusted authorities are loaded only for connections that may use TLS."""

from __future__ import annotations

import ssl

import pytest

from contractlog.clients import Registry


def trusted(url: str, **options: object) -> object:
    with Registry(url, **options) as registry:  # type: ignore[arg-type]
        return registry._transport.verify


def trusts_system(context: object) -> bool:
    assert isinstance(context, ssl.SSLContext)
    return context.verify_mode is ssl.CERT_REQUIRED and context.cert_store_stats()["x509_ca"] > 0


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_authorities_are_not_loaded_for_plain_http() -> None:
    found = trusted("http://one:8081,http://two:8081")
    assert isinstance(found, ssl.SSLContext)
    assert found.verify_mode is ssl.CERT_REQUIRED
    assert found.check_hostname
    assert found.cert_store_stats() == {"x509": 0, "crl": 0, "x509_ca": 0}


@pytest.mark.parametrize("url", ["https://one", "http://one:8081,https://two"])
def test_the_system_s_authorities_are_trusted_where_a_url_is_secured(url: str) -> None:
    assert trusts_system(trusted(url))


def test_the_system_s_authorities_are_trusted_where_there_is_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert trusts_system(trusted("http://one", proxy="https://proxy:3128"))
    monkeypatch.setenv("HTTP_PROXY", "https://proxy:3128")
    assert trusts_system(trusted("http://one"))
