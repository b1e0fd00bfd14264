"""DEKs are wrapped with the configuration of the client, whatever the registry gives."""

from __future__ import annotations

from contractlog.clients.calls.encryption_keys import Kek
from contractlog.serdes.rules.encryption.kek_wrapper import KekWrapper


def test_the_configuration_comes_before_properties_that_a_registry_gives() -> None:
    kek = Kek("pii", "local-kms", "x", kms_props={"secret": "of the registry"})
    wrapped = KekWrapper(kek, {"secret": "of the client"}).wrap(b"0" * 16)
    own = KekWrapper(Kek("pii", "local-kms", "x"), {"secret": "of the client"})
    assert own.unwrap(wrapped, subject="s", version=1) == b"0" * 16
