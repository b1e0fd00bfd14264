"""Errors of the rules ENCRYPT and ENCRYPT_PAYLOAD; no message contains keys, secrets or values."""

from __future__ import annotations

from typing import Any

from contractlog.serdes.errors import RuleError

__all__ = [
    "DekNotFound",
    "EncryptionFailed",
    "EncryptionRegistryError",
    "InvalidEncryptionParameter",
    "KekMismatch",
    "KekNotFound",
    "KeyUnwrapFailed",
    "KmsUnavailable",
    "Undecryptable",
    "ValueNotEncryptable",
]


class EncryptionFailed(RuleError):
    """Base class: a value was neither encrypted nor decrypted."""

    template = "{detail}"

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        super().__init__(self.template.format_map(facts) if message is None else message, **facts)


class InvalidEncryptionParameter(EncryptionFailed):
    """A parameter of the rule is absent or not valid."""

    template = "the parameter {parameter} is not valid: {detail}"


class KekNotFound(EncryptionFailed):
    """The registry has no live KEK of this name."""

    template = "the KEK {kek} does not exist or was deleted. {hint}"


class KekMismatch(EncryptionFailed):
    """The KEK is not the one that the rule requires."""

    template = "the KEK {kek} has the {member} {actual}, but the rule requires {expected}"


class DekNotFound(EncryptionFailed):
    """The registry has no DEK that can decrypt the value."""

    template = "version {version} of the DEK of {subject} under the KEK {kek} does not exist or was deleted"


class KmsUnavailable(EncryptionFailed):
    """The key management service did not wrap or unwrap a DEK."""

    template = "the KMS of the KEK {kek} cannot be used: {detail}"


class KeyUnwrapFailed(EncryptionFailed):
    """No key of the KMS unwraps the DEK: another key wrapped it."""

    template = "no KMS key of the KEK {kek} unwraps version {version} of the DEK of {subject}: another key wrapped it"


class EncryptionRegistryError(EncryptionFailed):
    """The registry did not return or store a key; its error is the cause."""

    template = "the registry failed on the {key}: {detail}"


class Undecryptable(EncryptionFailed):
    """The value cannot be decrypted with its DEK."""

    template = "the value of {subject} cannot be decrypted: {detail}"


class ValueNotEncryptable(EncryptionFailed):
    """Only texts and bytes can be encrypted."""

    template = "a value of the type {field_type} cannot be encrypted: tag fields of the types string and bytes only"
