"""Executors of the rules ENCRYPT and ENCRYPT_PAYLOAD, with confluent-kafka's names."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final, Self

from contractlog.clients.registry import Registry
from contractlog.serdes.rules.context import FieldContext, FieldType, RuleContext
from contractlog.serdes.rules.encryption.keyed_cipher import DekClock, KeyedCipher
from contractlog.serdes.rules.encryption.rule_parameters import EncryptionParameters
from contractlog.serdes.rules.executors import FieldRuleExecutor, FieldTransform, RuleExecutor
from contractlog.serdes.rules.rule_registry import RuleRegistry

__all__ = ["EncryptionExecutor", "FieldEncryptionExecutor"]

_CACHED_SECONDS: Final = 300.0  #: after which a deleted or rotated key is noticed


class _CipherOwner(RuleExecutor):
    """Base of both executors; serializers and threads may share one.

    Args:
        clock: the clock by which keys expire.
        registry: the client for keys; None to make one with the configuration of the serializer's client.
        cached_seconds: how long keys are cached.
    """

    may_block = True

    def __init__(
        self, clock: Any = None, *, registry: Registry | None = None, cached_seconds: float = _CACHED_SECONDS
    ) -> None:
        self._cipher = KeyedCipher(DekClock() if clock is None else clock, registry, cached_seconds)

    def bind_client(self, client: Any) -> None:
        """Use a serializer's client for keys, if it is a ``Registry`` and no other was given."""
        self._cipher.bind_client(client)

    def configure(self, client_conf: Any, rule_conf: Mapping[str, Any]) -> None:
        """Receive the configuration of the registry client and that of rules."""
        self._cipher.configure(client_conf, rule_conf)

    def close(self) -> None:
        """Drop all keys, and close the client that this made."""
        self._cipher.close()

    @classmethod
    def register(cls) -> None:
        """Register an executor for all serializers."""
        cls.register_with_clock(None)

    @classmethod
    def register_with_clock(cls, clock: Any) -> Self:
        """Register an executor with a clock for all serializers, and return it."""
        executor = cls(clock)
        RuleRegistry.register_rule_executor(executor)
        return executor


class EncryptionExecutor(_CipherOwner):
    """Executor of ENCRYPT_PAYLOAD, which encrypts whole bodies."""

    def type(self) -> str:
        """Return ``ENCRYPT_PAYLOAD``."""
        return "ENCRYPT_PAYLOAD"

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Encrypt or decrypt a body."""
        content = message.read() if isinstance(message, io.BytesIO) else message
        return self._cipher.transform(ctx, EncryptionParameters.of(ctx), FieldType.BYTES, content)


class FieldEncryptionExecutor(_CipherOwner, FieldRuleExecutor):
    """Executor of ENCRYPT, which encrypts texts and bytes in fields."""

    def type(self) -> str:
        """Return ``ENCRYPT``."""
        return "ENCRYPT"

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Return the function that encrypts or decrypts a field."""
        parameters = EncryptionParameters.of(ctx)

        def transform(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
            field_type = FieldType(field.field_type.value)  # which may be a member of confluent-kafka's enum
            return self._cipher.transform(ctx, parameters, field_type, value)

        return transform
