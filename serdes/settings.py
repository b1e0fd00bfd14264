"""Configuration of serializers by dotted keys, as in other clients, or by keyword arguments.

A keyword is its dotted key with underscores: ``use_latest_version=True`` is ``"use.latest.version": True``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypedDict, TypeVar

from contractlog.clients.settings import describe_unknown_key
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.serdes.schema_ids import (
    IdDeserializer,
    IdSerializer,
    dual_schema_id_deserializer,
    prefix_schema_id_serializer,
)
from contractlog.serdes.subject_names import (
    SubjectNameStrategy,
    SubjectNameStrategyType,
    SubjectResolver,
    make_subject_resolver,
)

__all__ = [
    "Clock",
    "DeserializerOptions",
    "DeserializerSettings",
    "SerializerOptions",
    "SerializerSettings",
    "SettingsReader",
    "expiry_time",
]

E = TypeVar("E")
Clock = Callable[[], float]  #: returns seconds; monotonic

LATEST_SECONDS: Final = 60.0  #: seconds for which the newest version is cached

_NO_RULES_MESSAGE: Final = "this release runs no rules, and passes over none"
_RULE_PREFIXES: Final = ("rule.", "dlq.", "encrypt.", "validation.rules.")
_PROTOBUF_KEYS: Final = frozenset({"skip.known.types", "reference.subject.name.strategy"})


def expiry_time(seconds: float | None, clock: Clock) -> float:
    """Return the time at which a duration ends; infinity for None."""
    return math.inf if seconds is None else clock() + seconds


class DeserializerOptions(TypedDict, total=False):
    """Keyword arguments of every deserializer; each corresponds to a dotted key."""

    use_latest_version: bool  #: read values as the newest version of their subject (False)
    use_latest_with_metadata: Mapping[str, str] | None  #: … as the newest version with these properties (None)
    latest_cache_ttl_sec: float | None  #: seconds for which that version is cached (60; None: forever)
    subject_name_strategy: SubjectNameStrategy | Any | None  #: a function of context and record name (None)
    subject_name_strategy_type: SubjectNameStrategyType | str | None  #: a strategy by its name (ASSOCIATED)
    subject_name_strategy_conf: Mapping[str, Any] | None  #: of the strategy ASSOCIATED (None)
    schema_id_deserializer: IdDeserializer  #: where the schema id is read (a header, else before the body)


class SerializerOptions(TypedDict, total=False):
    """Keyword arguments of every serializer; each corresponds to a dotted key."""

    auto_register_schemas: bool  #: register the schema if its subject does not have it (True)
    normalize_schemas: bool  #: compare and store the schema in normalized form (False)
    use_schema_id: int | None  #: write with the schema of this id (None)
    use_latest_version: bool  #: write with the newest version of the subject (False)
    use_latest_with_metadata: Mapping[str, str] | None  #: … with the newest version with these properties (None)
    latest_cache_ttl_sec: float | None  #: seconds for which that version is cached (60; None: forever)
    subject_name_strategy: SubjectNameStrategy | Any | None  #: a function of context and record name (None)
    subject_name_strategy_type: SubjectNameStrategyType | str | None  #: a strategy by its name (ASSOCIATED)
    subject_name_strategy_conf: Mapping[str, Any] | None  #: of the strategy ASSOCIATED (None)
    schema_id_serializer: IdSerializer  #: where the schema id is written (before the body)


@dataclass(frozen=True, slots=True)
class SerializerSettings:
    """Settings by which a serializer finds the schema and the id that records carry."""

    auto_register: bool
    normalize: bool
    use_schema_id: int | None
    latest: bool
    metadata: Mapping[str, str] | None
    latest_seconds: float | None
    subject_resolver: SubjectResolver
    id_serializer: IdSerializer

    @classmethod
    def read(cls, reader: SettingsReader) -> Self:
        """Take the settings of every serializer.

        Raises:
            ValueError: a value has the wrong type, or two contradict each other.
        """
        settings = cls(
            auto_register=reader.flag("auto.register.schemas", default=True),
            normalize=reader.flag("normalize.schemas", default=False),
            use_schema_id=reader.schema_id("use.schema.id"),
            latest=reader.flag("use.latest.version", default=False),
            metadata=reader.properties("use.latest.with.metadata"),
            latest_seconds=reader.seconds("latest.cache.ttl.sec"),
            subject_resolver=reader.subject_resolver(),
            id_serializer=reader.function("schema.id.serializer", prefix_schema_id_serializer),
        )
        reader.reject_rules()
        if settings.latest and settings.auto_register:
            raise ValueError("use.latest.version and auto.register.schemas cannot both be True")
        return settings


@dataclass(frozen=True, slots=True)
class DeserializerSettings:
    """Settings by which a deserializer finds the schema of a record and the reader schema."""

    latest: bool
    metadata: Mapping[str, str] | None
    latest_seconds: float | None
    subject_resolver: SubjectResolver
    id_deserializer: IdDeserializer

    @classmethod
    def read(cls, reader: SettingsReader) -> Self:
        """Take the settings of every deserializer; see ``SerializerSettings.read``."""
        return cls(
            latest=reader.flag("use.latest.version", default=False),
            metadata=reader.properties("use.latest.with.metadata"),
            latest_seconds=reader.seconds("latest.cache.ttl.sec"),
            subject_resolver=reader.subject_resolver(),
            id_deserializer=reader.function("schema.id.deserializer", dual_schema_id_deserializer),
        )


def _has_no_rules(rules: Any) -> bool:
    """Return whether a rule configuration, or a ``RuleRegistry`` of confluent-kafka, is empty."""
    if rules is None:
        return True
    if isinstance(rules, Mapping):
        return not rules
    parts = ("get_executors", "get_actions", "get_overrides")
    return all(hasattr(rules, part) and not getattr(rules, part)() for part in parts)


class SettingsReader:
    """Reader of settings, one by one; those left at the end are unknown.

    Args:
        conf: dotted keys and their values.
        options: the same as keyword arguments.
        rules: the rule arguments of confluent-kafka's serializers, which must be None or empty here.

    Raises:
        ValueError: a setting is given twice, or rules are given.
    """

    def __init__(self, conf: Mapping[str, Any] | None, options: Mapping[str, Any], **rules: Any) -> None:
        self._remaining = dict(conf or {})
        self._known_keys: list[str] = []
        for keyword, value in options.items():
            key = keyword.replace("_", ".")
            if key in self._remaining:
                raise ValueError(f"{key} is given in conf and as {keyword}")
            self._remaining[key] = value
        for name, value in rules.items():
            if not _has_no_rules(value):
                raise ValueError(f"{name} has to be empty: {_NO_RULES_MESSAGE}")
        if self._pop("use.deprecated.format", default=False):
            raise ValueError("use.deprecated.format cannot be True: the format is no longer supported")

    def _pop(self, key: str, *, default: Any = None) -> Any:
        self._known_keys.append(key)
        return self._remaining.pop(key, default)

    def flag(self, key: str, *, default: bool) -> bool:
        """Take a boolean."""
        value = self._pop(key, default=default)
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be True or False, not {value!r}")  # noqa: TRY004 -- as other clients do
        return value

    def schema_id(self, key: str) -> int | None:
        """Take a schema id."""
        value = self._pop(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAX_VERSION:
            raise ValueError(f"{key} must be a schema id, from 1 to {MAX_VERSION}, not {value!r}")
        return value

    def seconds(self, key: str) -> float | None:
        """Take a time to live in seconds; None: forever."""
        value = self._pop(key, default=LATEST_SECONDS)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0):
            raise ValueError(f"{key} must be a number of seconds, not {value!r}")
        return None if value is None else float(value)

    def properties(self, key: str) -> Mapping[str, str] | None:
        """Take a mapping of properties."""
        value = self._pop(key)
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"{key} must be a dict of properties, not {value!r}")
        return value

    def function(self, key: str, default: Callable[..., E]) -> Callable[..., E]:
        """Take a function."""
        value = self._pop(key, default=default)
        if not callable(value):
            raise ValueError(f"{key} must be a function, not {value!r}")  # noqa: TRY004 -- as other clients do
        function: Callable[..., E] = value
        return function

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Take one of the allowed values; the first is the default."""
        value = self._pop(key, default=allowed[0])
        if value not in allowed:
            raise ValueError(f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        return str(value)

    def is_given(self, key: str) -> bool:
        """Return whether a key is given and not yet taken."""
        return key in self._remaining

    def subject_resolver(self) -> SubjectResolver:
        """Take the subject name strategy."""
        strategy = self._pop("subject.name.strategy")
        kind = self._pop("subject.name.strategy.type")
        conf = self.properties("subject.name.strategy.conf")
        return make_subject_resolver(strategy, kind, conf)

    def reject_rules(self) -> None:
        """Take the keys of inline rules, and require them to be off."""
        execution = self._pop("validation.rules.execution")
        if str(getattr(execution, "value", execution or "DISABLED")).upper() != "DISABLED":
            raise ValueError(f"validation.rules.execution has to be DISABLED: {_NO_RULES_MESSAGE}")
        self.flag("validation.rules.fail.fast", default=False)
        if self._pop("validation.rules.executor") is not None:
            raise ValueError(f"validation.rules.executor has to be None: {_NO_RULES_MESSAGE}")

    def reject_unknown(self) -> None:
        """Reject settings that were not taken."""
        for key in map(str, self._remaining):
            if key.startswith(_RULE_PREFIXES):
                raise ValueError(f"{key} is a setting of rules: {_NO_RULES_MESSAGE}")
            if key in _PROTOBUF_KEYS:
                raise ValueError(f"{key} is a setting of Protobuf serializers")
        if self._remaining:
            unknown = [describe_unknown_key(str(key), self._known_keys) for key in self._remaining]
            raise ValueError(f"unknown: {', '.join(unknown)}")
