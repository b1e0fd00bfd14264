"""Selection of the registry's address."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import calls
from contractlog.clients.retry_and_failover import Attempt
from contractlog.clients.settings import DEFAULT_URL, RegistryAddress, Security, registry_url
from contractlog.clients.transport import Transport
from contractlog.compatibility.errors import UsageError


def test_the_argument_goes_before_the_environment_and_ours_before_the_shared_variable() -> None:
    both = {"CONTRACTLOG_REGISTRY_URL": "http://ours", "SCHEMA_REGISTRY_URL": "http://shared"}
    assert registry_url("http://given", both) == "http://given"
    assert registry_url(None, both) == "http://ours"
    assert registry_url(None, {"SCHEMA_REGISTRY_URL": "http://shared"}) == "http://shared"
    assert registry_url(None, {"CONTRACTLOG_REGISTRY_URL": ""}) == DEFAULT_URL


def test_credentials_stand_apart_and_stay_out_of_the_repr() -> None:
    (address,) = RegistryAddress.parse("https://me:s%3Acret@[::1]:8081/base/")
    assert (address.url, address.user, address.password) == ("https://[::1]:8081/base", "me", "s:cret")
    assert "cret" not in repr(address)


@pytest.mark.parametrize(
    "url", ["http://me:s3cret/x@host", "http://me:s3cret?x@host", "http://me:123/s3cret@host", "http://[s3cret@host"]
)
def test_a_password_that_is_not_encoded_is_no_part_of_the_error(url: str) -> None:
    with pytest.raises(UsageError, match="%2F") as refused:
        RegistryAddress.parse(url)
    assert "s3cret" not in str(refused.value)


def test_several_registries_are_separated_by_commas() -> None:
    assert [address.url for address in RegistryAddress.parse("http://a, http://b:1")] == ["http://a", "http://b:1"]


def test_credentials_and_authorities_come_from_the_environment() -> None:
    names = {"USER": "me", "PASSWORD": "s3cret", "CA": "ca.pem", "CERTIFICATE": "", "KEY_PASSWORD": "k3y"}
    found = Security.from_environment({f"CONTRACTLOG_REGISTRY_{name}": value for name, value in names.items()})
    assert (found.user, found.password, found.ca) == ("me", "s3cret", "ca.pem")
    assert (found.certificate, found.key, found.key_password) == (None, None, "k3y")
    assert "3" not in repr(found)


def test_nothing_is_set_up_where_nothing_is_named() -> None:
    assert Security.from_environment({}) == Security()
    assert Security().tls_context() is None


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.pem"):
        Security(ca=str(tmp_path / "nowhere.pem")).tls_context()
    (tmp_path / "text.pem").write_text("no certificate")
    for security in (Security(ca=str(tmp_path / "text.pem")), Security(certificate=str(tmp_path / "text.pem"))):
        with pytest.raises(UsageError, match=r"text\.pem"):
            security.tls_context()


def test_credentials_in_the_url_go_before_the_others() -> None:
    for url, sent in (("http://me:mine@r", ("me", "mine")), ("http://r", ("other", "theirs"))):
        known = {"CONTRACTLOG_REGISTRY_USER": "other", "CONTRACTLOG_REGISTRY_PASSWORD": "theirs"}
        transport = Transport(url, security=Security.from_environment(known))
        request = transport.build_request(calls.subjects(), Attempt(0, 0, 1.0))
        assert request["auth"] == sent
        transport.close()


@pytest.mark.parametrize("member", ["ca", "certificate", "key"])
def test_a_device_is_no_certificate(tmp_path: Path, member: str) -> None:
    (tmp_path / "me.pem").write_text("PRIVATE KEY")
    files = {"certificate": str(tmp_path / "me.pem")} | {member: "/dev/zero"}
    with pytest.raises(UsageError, match=r"cannot be used \(.*/dev/zero.*\): it is not a regular file"):
        Security(**files).tls_context()  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["hunter2", "-----BEGIN PRIVATE KEY-----\nhunter2\n" + 300 * "x"])
def test_a_key_that_is_no_file_is_not_printed(tmp_path: Path, key: str) -> None:
    (tmp_path / "me.pem").touch()
    for security in (Security(certificate=str(tmp_path / "me.pem"), key=key), Security(certificate=f"\n{key}")):
        with pytest.raises(UsageError) as error:
            security.tls_context()
        assert "hunter2" not in str(error.value)
