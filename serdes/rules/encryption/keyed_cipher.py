"""Encryption and decryption of values with the data keys of a registry.

A ciphertext has the form of ``contracts/encryption/algorithms.py``. If keys expire, a zero byte and the version of the
DEK (four bytes, big-endian) come before it. Ciphertexts of texts are base64.
"""

from __future__ import annotations

import base64
import binascii
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from contractlog.clients.cache import TtlCache
from contractlog.clients.confluent.configuration import ClientConfiguration
from contractlog.clients.registry import Registry
from contractlog.contracts.encryption.errors import DecryptionFailed
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.context import FieldType, RuleContext
from contractlog.serdes.rules.encryption.data_keys import DataKey, DataKeySource
from contractlog.serdes.rules.encryption.errors import Undecryptable, ValueNotEncryptable
from contractlog.serdes.rules.encryption.rule_parameters import EncryptionParameters

_MAGIC: Final = 0
_VERSION_BYTES: Final = 4
_PREFIX_BYTES: Final = 1 + _VERSION_BYTES
_FIRST_VERSION: Final = 1
_MAX_CACHED_KEYS: Final = 1_000
_ENCRYPTABLE: Final = frozenset({FieldType.STRING, FieldType.BYTES})


class DekClock:
    """Clock by which keys expire."""

    def now(self) -> int:
        """Return the time in milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000


class KeyedCipher:
    """Encrypts and decrypts values with keys that it requests and caches; threads may share it.

    Args:
        clock: the clock by which keys expire.
        registry: the client for keys; None to make one with the configuration of the serializer's client.
        cached_seconds: how long keys are cached.
    """

    def __init__(self, clock: Any, registry: Registry | None, cached_seconds: float) -> None:
        self._clock = clock
        self._registry = registry
        self._owned: Registry | None = None
        self._client_conf: Mapping[str, Any] = {}
        self._conf: dict[str, Any] = {}
        self._keys: TtlCache[tuple[Any, ...], DataKey] = TtlCache(cached_seconds, _MAX_CACHED_KEYS)
        self._lock = threading.Lock()

    def bind_client(self, client: Any) -> None:
        """Use a serializer's client for keys, if it is a ``Registry`` and no other was given."""
        with self._lock:
            if self._registry is None and isinstance(client, Registry):
                self._registry = client

    def configure(self, client_conf: Any, rule_conf: Mapping[str, Any]) -> None:
        """Receive the configuration of the registry client and that of rules.

        The former is a mapping, unless the client is a ``Registry``.

        Raises:
            RuleError: the executor has another configuration already.
        """
        with self._lock:
            if isinstance(client_conf, Mapping) and client_conf:
                if self._client_conf and dict(self._client_conf) != dict(client_conf):
                    raise RuleError("the executor was configured with another registry: use one for each")
                self._client_conf = dict(client_conf)
            for name, value in rule_conf.items():
                if self._conf.setdefault(name, value) != value:
                    raise RuleError(f"the executor was configured with another value of {name}: use one for each")

    def transform(self, ctx: RuleContext, parameters: EncryptionParameters, field_type: FieldType, value: Any) -> Any:
        """Encrypt or decrypt a text or bytes, by the mode of the rule.

        On reading, values of other types are returned as they are.

        Raises:
            EncryptionFailed: the value was neither encrypted nor decrypted.
        """
        if value is None:
            return None
        if ctx.rule_mode == "WRITE":
            return self._encrypt(parameters, field_type, value)
        if ctx.rule_mode == "READ":
            return self._decrypt(parameters, field_type, value)
        raise RuleError(f"rules of type {ctx.rule.type} run on writing and reading only, not in mode {ctx.rule_mode}")

    def _encrypt(self, parameters: EncryptionParameters, field_type: FieldType, value: Any) -> Any:
        if field_type not in _ENCRYPTABLE:
            raise ValueNotEncryptable(field_type=str(field_type))
        key = self._writing_key(parameters)
        ciphertext = key.cipher.encrypt(value.encode() if isinstance(value, str) else bytes(value))
        if parameters.expiry_days:
            ciphertext = bytes([_MAGIC]) + key.version.to_bytes(_VERSION_BYTES, "big") + ciphertext
        return base64.b64encode(ciphertext).decode() if field_type == FieldType.STRING else ciphertext

    def _decrypt(self, parameters: EncryptionParameters, field_type: FieldType, value: Any) -> Any:
        if field_type not in _ENCRYPTABLE:
            return value
        ciphertext = _decode_text(parameters, value) if field_type == FieldType.STRING else bytes(value)
        version = _FIRST_VERSION
        if parameters.expiry_days:
            version, ciphertext = _split_version(parameters, ciphertext)
        key = self._reading_key(parameters, version)
        try:
            plaintext = key.cipher.decrypt(ciphertext)
            return plaintext.decode() if field_type == FieldType.STRING else plaintext
        except DecryptionFailed as error:
            raise Undecryptable(subject=parameters.subject, detail=error.message) from error
        except UnicodeDecodeError:
            raise Undecryptable(subject=parameters.subject, detail="the plaintext is not UTF-8") from None

    def _writing_key(self, parameters: EncryptionParameters) -> DataKey:
        cache_key = ("write", parameters)
        key, now = self._keys.get(cache_key), self._clock.now()
        if key is None or key.is_expired(parameters.expiry_days, now):
            generation = self._keys.generation
            key = self._source().provide_key(parameters, now)
            self._keys.put(cache_key, key, generation=generation)
        return key

    def _reading_key(self, parameters: EncryptionParameters, version: int) -> DataKey:
        cache_key = ("read", parameters, version)
        key = self._keys.get(cache_key)
        if key is None:
            generation = self._keys.generation
            key = self._source().require_key(parameters, version)
            self._keys.put(cache_key, key, generation=generation)
        return key

    def _source(self) -> DataKeySource:
        with self._lock:
            registry = self._registry or self._owned
            if registry is None:
                registry = self._owned = _create_registry(self._client_conf)
            return DataKeySource(registry, self._conf)

    def close(self) -> None:
        """Drop all keys, and close the client that this made."""
        self._keys.invalidate()
        with self._lock:
            owned, self._owned = self._owned, None
        if owned is not None:
            owned.close()


def _decode_text(parameters: EncryptionParameters, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Undecryptable(subject=parameters.subject, detail="it is not base64, so it was not encrypted") from None


def _split_version(parameters: EncryptionParameters, ciphertext: bytes) -> tuple[int, bytes]:
    """Return the version of the DEK in front of a ciphertext, and the ciphertext."""
    version = int.from_bytes(ciphertext[1:_PREFIX_BYTES], "big")
    if len(ciphertext) < _PREFIX_BYTES or ciphertext[0] != _MAGIC or not 1 <= version < 2**31:
        detail = "it does not begin with the version of a DEK, so it was encrypted without encrypt.dek.expiry.days"
        raise Undecryptable(subject=parameters.subject, detail=detail)
    return version, ciphertext[_PREFIX_BYTES:]


def _create_registry(client_conf: Mapping[str, Any]) -> Registry:
    if not client_conf:
        raise RuleError(
            "the serializer's client has no configuration for requests of keys: register the executor with a client, "
            "FieldEncryptionExecutor(registry=Registry(url))"
        )
    try:
        return Registry(**ClientConfiguration.parse(client_conf).registry)
    except (TypeError, ValueError) as error:
        raise RuleError(f"the client's configuration cannot be used for requests of keys: {error}") from None
