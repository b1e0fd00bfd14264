"""Data encryption keys in use: from the registry, unwrapped, and cached for a limited time."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from contractlog.clients.calls import encryption_keys
from contractlog.clients.calls.call import Call
from contractlog.clients.calls.encryption_keys import Dek, Kek
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Conflict, ContractlogError, NotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.contracts.encryption.algorithms import Cipher, create_cipher, generate_key
from contractlog.contracts.encryption.errors import InvalidKeyMaterial
from contractlog.serdes.rules.encryption.errors import (
    DekNotFound,
    EncryptionRegistryError,
    KekMismatch,
    KekNotFound,
    KeyUnwrapFailed,
)
from contractlog.serdes.rules.encryption.kek_wrapper import KekWrapper
from contractlog.serdes.rules.encryption.rule_parameters import EncryptionParameters

__all__ = ["DataKey", "DataKeySource"]

T = TypeVar("T")
_LOG: Final = logging.getLogger(__name__)
_MILLISECONDS_PER_DAY: Final = 24 * 60 * 60 * 1000
_FIRST_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class DataKey:
    """A DEK, ready for use."""

    version: int
    created_at: int  #: milliseconds since 1970, UTC
    cipher: Cipher

    def is_expired(self, days: int, now: int) -> bool:
        """Return True if the key is older than a number of days; 0 days mean never."""
        return is_expired(self.created_at, days, now)


def is_expired(created_at: int, days: int, now: int) -> bool:
    """Return True if a key of this time is older than a number of days; 0 days mean never."""
    return days > 0 and now - created_at > days * _MILLISECONDS_PER_DAY


class DataKeySource:
    """Finds and creates DEKs in a registry.

    Args:
        registry: a blocking client of the registry.
        conf: the configuration of rules.
    """

    def __init__(self, registry: Registry, conf: Mapping[str, Any]) -> None:
        self._registry = registry
        self._conf = conf

    def require_key(self, parameters: EncryptionParameters, version: int) -> DataKey:
        """Return a version of a DEK, for reading; a soft-deleted one can be read, too.

        Raises:
            KekNotFound: there is no live KEK.
            KekMismatch: the KEK is not that of the rule.
            DekNotFound: there is no such DEK.
            EncryptionFailed: the registry or the KMS failed, or another key wrapped the DEK.
        """
        kek = self._find_kek(parameters)
        if kek is None:
            hint = "Values that were encrypted under it cannot be decrypted"
            raise KekNotFound(kek=parameters.kek_name, hint=hint)
        dek = self._find_dek(parameters, version, deleted=True)
        if dek is None:
            raise DekNotFound(kek=kek.name, subject=parameters.subject, version=version)
        return self._unwrap(kek, dek, parameters)

    def provide_key(self, parameters: EncryptionParameters, now: int) -> DataKey:
        """Return the DEK for writing: the latest if keys expire, else the first; it is created if necessary.

        Args:
            parameters: of the rule.
            now: milliseconds since 1970, UTC.

        Raises:
            KekNotFound: there is no live KEK, and the rule does not say how to create it.
            KekMismatch: the KEK is not that of the rule.
            EncryptionFailed: the registry or the KMS failed, or another key wrapped the DEK.
        """
        kek = self._find_kek(parameters) or self._create_kek(parameters)
        dek = self._find_current(parameters)
        if dek is None:
            dek = self._create_dek(kek, parameters, _FIRST_VERSION)
        elif is_expired(dek.ts or 0, parameters.expiry_days, now):
            dek = self._rotate(kek, dek, parameters)
        return self._unwrap(kek, dek, parameters)

    def _find_kek(self, parameters: EncryptionParameters) -> Kek | None:
        try:
            kek = self._registry.send(encryption_keys.kek(parameters.kek_name))
        except NotFound:
            return None
        except ContractlogError as error:
            raise _registry_error(f"KEK {parameters.kek_name}", error) from error
        _require_match(kek, parameters)
        return kek

    def _create_kek(self, parameters: EncryptionParameters) -> Kek:
        name, kms_type, key_id = parameters.kek_name, parameters.kms_type, parameters.kms_key_id
        if kms_type is None or key_id is None:
            hint = "Create it, or add encrypt.kms.type and encrypt.kms.key.id to the rule, so that it is created"
            raise KekNotFound(kek=name, hint=hint)
        try:
            kek = self._registry.send(encryption_keys.create_kek(name, kms_type, key_id))
        except Conflict:
            existing = self._find_kek(parameters)
            if existing is None:
                raise KekNotFound(kek=name, hint="A KEK with other members was deleted: undelete it") from None
            return existing
        except ContractlogError as error:
            raise _registry_error(f"KEK {name}", error) from error
        _require_match(kek, parameters)
        return kek

    def _find_current(self, parameters: EncryptionParameters) -> Dek | None:
        return self._find_dek(parameters, None if parameters.expiry_days else _FIRST_VERSION, deleted=False)

    def _find_dek(self, parameters: EncryptionParameters, version: int | None, *, deleted: bool) -> Dek | None:
        """Return a DEK; None as version is the latest."""
        call = encryption_keys.dek(
            parameters.kek_name,
            parameters.subject,
            "latest" if version is None else version,
            algorithm=parameters.algorithm.value,
            deleted=deleted,
        )
        try:
            return self._registry.send(call)
        except NotFound:
            return None
        except ContractlogError as error:
            raise _registry_error(f"DEK of {parameters.subject}", error) from error

    def _create_dek(self, kek: Kek, parameters: EncryptionParameters, version: int) -> Dek:
        """Create a DEK; if another client was faster, return the one that it created."""
        wrapped = None
        if not kek.shared:
            key = generate_key(parameters.algorithm)
            wrapped = base64.b64encode(KekWrapper(kek, self._conf).wrap(key)).decode()
        call: Call[Dek] = encryption_keys.create_dek(
            kek.name, Subject.parse(parameters.subject), wrapped, version=version, algorithm=parameters.algorithm.value
        )
        try:
            return self._registry.send(call)
        except Conflict:
            existing = self._find_current(parameters)
            if existing is None:
                raise DekNotFound(kek=kek.name, subject=parameters.subject, version=version) from None
            return existing
        except ContractlogError as error:
            raise _registry_error(f"DEK of {parameters.subject}", error) from error

    def _rotate(self, kek: Kek, expired: Dek, parameters: EncryptionParameters) -> Dek:
        """Create the next version; if that fails, values can still be encrypted with the expired one."""
        try:
            return self._create_dek(kek, parameters, expired.version + 1)
        except EncryptionRegistryError as error:
            message = (
                "version %d of the DEK of %s under the KEK %s could not be created, so that the one before is used: %s"
            )
            _LOG.warning(message, expired.version + 1, parameters.subject, kek.name, error)
            return expired

    def _unwrap(self, kek: Kek, dek: Dek, parameters: EncryptionParameters) -> DataKey:
        try:
            if dek.key_material is not None:
                key = base64.b64decode(dek.key_material)
            else:
                wrapped = base64.b64decode(dek.encrypted_key_material or "")
                key = KekWrapper(kek, self._conf).unwrap(wrapped, subject=parameters.subject, version=dek.version)
            return DataKey(dek.version, dek.ts or 0, create_cipher(parameters.algorithm, key))
        except (InvalidKeyMaterial, ValueError) as error:
            failure = KeyUnwrapFailed(kek=kek.name, subject=parameters.subject, version=dek.version)
            raise failure from (error if isinstance(error, InvalidKeyMaterial) else None)


def _require_match(kek: Kek, parameters: EncryptionParameters) -> None:
    """Require that a KEK is that of the rule.

    Raises:
        KekMismatch: its KMS, or its key there, is another one.
    """
    members = {"KMS type": (kek.kms_type, parameters.kms_type), "KMS key id": (kek.kms_key_id, parameters.kms_key_id)}
    for member, (actual, expected) in members.items():
        if expected is not None and actual != expected:
            raise KekMismatch(kek=kek.name, member=member, actual=actual, expected=expected)


def _registry_error(key: str, error: ContractlogError) -> EncryptionRegistryError:
    return EncryptionRegistryError(key=key, detail=error.message)
