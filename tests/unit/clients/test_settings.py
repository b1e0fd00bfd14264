"""Which registry is meant."""

from __future__ import annotations

from contractlog.clients.settings import DEFAULT_URL, Address, registry_url


def test_the_argument_goes_before_the_environment_and_ours_before_the_shared_variable() -> None:
    both = {"CONTRACTLOG_REGISTRY_URL": "http://ours", "SCHEMA_REGISTRY_URL": "http://shared"}
    assert registry_url("http://given", both) == "http://given"
    assert registry_url(None, both) == "http://ours"
    assert registry_url(None, {"SCHEMA_REGISTRY_URL": "http://shared"}) == "http://shared"
    assert registry_url(None, {"CONTRACTLOG_REGISTRY_URL": ""}) == DEFAULT_URL


def test_credentials_stand_apart_and_stay_out_of_the_repr() -> None:
    (address,) = Address.parse("https://me:s%3Acret@[::1]:8081/base/")
    assert (address.url, address.user, address.password) == ("https://[::1]:8081/base", "me", "s:cret")
    assert "cret" not in repr(address)


def test_several_registries_are_separated_by_commas() -> None:
    assert [address.url for address in Address.parse("http://a, http://b:1")] == ["http://a", "http://b:1"]
