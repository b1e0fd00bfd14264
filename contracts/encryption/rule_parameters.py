"""Names of the parameters of the rules ENCRYPT and ENCRYPT_PAYLOAD, and where their values are."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.data_contract import Metadata, Rule

__all__ = [
    "ALGORITHM",
    "ALTERNATE_KEY_IDS",
    "DEFAULT_ALGORITHM",
    "ENCRYPTION_RULES",
    "EXPIRY_DAYS",
    "KEK_NAME",
    "KMS_KEY_ID",
    "KMS_TYPE",
    "find_parameter",
]

KEK_NAME: Final = "encrypt.kek.name"
KMS_TYPE: Final = "encrypt.kms.type"
KMS_KEY_ID: Final = "encrypt.kms.key.id"
ALGORITHM: Final = "encrypt.dek.algorithm"
EXPIRY_DAYS: Final = "encrypt.dek.expiry.days"
ALTERNATE_KEY_IDS: Final = "encrypt.alternate.kms.key.ids"
DEFAULT_ALGORITHM: Final = "AES256_GCM"
ENCRYPTION_RULES: Final = frozenset({"ENCRYPT", "ENCRYPT_PAYLOAD"})  #: types of rules


def find_parameter(rule: Rule, metadata: Metadata | None, name: str) -> str | None:
    """Return a parameter of a rule, else the property of the schema's metadata of this name, else None."""
    value = rule.params.get(name)
    return value if value is not None or metadata is None else metadata.properties.get(name)
