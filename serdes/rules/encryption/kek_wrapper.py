"""Wrapping of DEKs with the keys of a KEK in its KMS: its own, then its alternates."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.clients.calls.encryption_keys import Kek
from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.contracts.encryption.rule_parameters import ALTERNATE_KEY_IDS
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.encryption.errors import KeyUnwrapFailed, KmsUnavailable
from contractlog.serdes.rules.encryption.kms_drivers import KeyWrapper, find_kms_driver

__all__ = ["KekWrapper"]

_LOG: Final = logging.getLogger(__name__)
_NO_ASSOCIATED_DATA: Final = b""


class KekWrapper:
    """Wraps and unwraps DEKs.

    Args:
        kek: the KEK.
        conf: the configuration of rules; it takes precedence over properties of the KEK, which come from a registry.
    """

    def __init__(self, kek: Kek, conf: Mapping[str, Any]) -> None:
        self._kek = kek
        self._conf = dict(kek.kms_props) | dict(conf)
        alternates = str(self._conf.get(ALTERNATE_KEY_IDS) or "").split(",")
        self._key_ids = [kek.kms_key_id, *filter(None, map(str.strip, alternates))]

    def wrap(self, key: bytes) -> bytes:
        """Return a wrapped DEK.

        Raises:
            KmsUnavailable: no key of the KMS could be used.
        """
        wrapped, errors = self._try_keys(lambda wrapper: wrapper.encrypt(key, _NO_ASSOCIATED_DATA))
        if wrapped is None:
            raise self._describe(errors)
        return wrapped

    def unwrap(self, wrapped: bytes, *, subject: str, version: int) -> bytes:
        """Return a plaintext DEK.

        Raises:
            KeyUnwrapFailed: another key wrapped it.
            KmsUnavailable: the KMS could not be used.
        """
        key, errors = self._try_keys(lambda wrapper: wrapper.decrypt(wrapped, _NO_ASSOCIATED_DATA))
        if key is not None:
            return key
        if all(isinstance(error, DecryptionFailed) for error in errors):
            raise KeyUnwrapFailed(kek=self._kek.name, subject=subject, version=version)
        raise self._describe(errors)

    def _try_keys(self, use: Callable[[KeyWrapper], bytes]) -> tuple[bytes | None, list[Exception]]:
        """Return the result of the first key that works, and the errors of those before."""
        errors: list[Exception] = []
        for key_id in self._key_ids:
            key_url = f"{self._kek.kms_type}://{key_id}"
            try:
                client = find_kms_driver(key_url).new_kms_client(self._conf, key_url)
                return bytes(use(client.get_aead(key_url))), errors
            except Exception as error:  # noqa: BLE001 -- drivers raise what their libraries do; the next key is tried
                errors.append(error)
                if len(self._key_ids) > 1:
                    _LOG.warning("the key %s of the KEK %s failed: %s", key_id, self._kek.name, type(error).__name__)
        return None, errors

    def _describe(self, errors: list[Exception]) -> KmsUnavailable:
        """Return the error of a KMS; of a driver's error, only the class, as its text may have secrets."""
        error = next((error for error in errors if not isinstance(error, DecryptionFailed)), errors[-1])
        detail = error.message if isinstance(error, (RuleError, DecryptionFailed)) else type(error).__name__
        return KmsUnavailable(kek=self._kek.name, detail=detail)
