"""Parameters of the rules ENCRYPT and ENCRYPT_PAYLOAD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.contracts.encryption.rule_parameters import (
    ALGORITHM,
    EXPIRY_DAYS,
    KEK_NAME,
    KMS_KEY_ID,
    KMS_TYPE,
)
from contractlog.serdes.rules.context import RuleContext
from contractlog.serdes.rules.encryption.errors import InvalidEncryptionParameter

__all__ = ["EncryptionParameters"]

_MAX_DAYS: Final = 100_000


@dataclass(frozen=True, slots=True)
class EncryptionParameters:
    """Keys of a rule: parameters of the rule, else properties of the schema's metadata."""

    kek_name: str
    subject: str
    kms_type: str | None  #: for creating the KEK; an existing one must have it
    kms_key_id: str | None
    algorithm: DekAlgorithm
    expiry_days: int  #: age at which a DEK is replaced; 0: never, and ciphertexts have no version

    @classmethod
    def of(cls, ctx: RuleContext) -> Self:
        """Parse the parameters of a rule.

        Raises:
            InvalidEncryptionParameter: one is absent or not valid.
        """
        kek_name = ctx.get_parameter(KEK_NAME)
        if not kek_name:
            raise InvalidEncryptionParameter(parameter=KEK_NAME, detail="name the KEK")
        if not ctx.subject:
            raise InvalidEncryptionParameter(parameter=KEK_NAME, detail="encryption needs a subject")
        algorithm = ctx.get_parameter(ALGORITHM) or DekAlgorithm.AES256_GCM
        if algorithm not in list(DekAlgorithm):
            names = ", ".join(DekAlgorithm)
            raise InvalidEncryptionParameter(parameter=ALGORITHM, detail=f"it must be one of {names}")
        return cls(
            kek_name=kek_name,
            subject=ctx.subject,
            kms_type=ctx.get_parameter(KMS_TYPE) or None,
            kms_key_id=ctx.get_parameter(KMS_KEY_ID) or None,
            algorithm=DekAlgorithm(algorithm),
            expiry_days=_parse_days(ctx.get_parameter(EXPIRY_DAYS)),
        )


def _parse_days(text: str | None) -> int:
    if text is None:
        return 0
    days = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_DAYS)) else _MAX_DAYS + 1
    if days > _MAX_DAYS:
        detail = f"it must be a whole number from 0 to {_MAX_DAYS}"
        raise InvalidEncryptionParameter(parameter=EXPIRY_DAYS, detail=detail)
    return days
