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
from contractlog.serdes.rules.components import RuleSettings
from contractlog.serdes.rules.inline_rules import InlineRuleSettings, ValidationRulesExecution
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

_RULE_PREFIXES: Final = ("rule.", "dlq.", "encrypt.")
_REGISTRY_METHODS: Final = ("get_executor", "get_executors", "get_action", "get_actions", "get_override")
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
    validation_rules_execution: ValidationRulesExecution | str  #: when to check inline constraints (DISABLED)
    validation_rules_fail_fast: bool  #: stop at the first violation of an inline constraint (False)
    validation_rules_executor: Any | None  #: evaluates inline constraints (None: CEL)


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
    rules: RuleSettings
    inline_rules: InlineRuleSettings

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
            rules=reader.rules,
            inline_rules=reader.inline_rules(),
        )
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
    rules: RuleSettings

    @classmethod
    def read(cls, reader: SettingsReader) -> Self:
        """Take the settings of every deserializer; see ``SerializerSettings.read``."""
        return cls(
            latest=reader.flag("use.latest.version", default=False),
            metadata=reader.properties("use.latest.with.metadata"),
            latest_seconds=reader.seconds("latest.cache.ttl.sec"),
            subject_resolver=reader.subject_resolver(),
            id_deserializer=reader.function("schema.id.deserializer", dual_schema_id_deserializer),
            rules=reader.rules,
        )


def _read_rules(conf: Any, registry: Any) -> RuleSettings:
    if conf is not None and not isinstance(conf, Mapping):
        raise ValueError(f"rule_conf must be a dict, not {conf!r}")
    if registry is not None and not all(hasattr(registry, method) for method in _REGISTRY_METHODS):
        raise ValueError(f"rule_registry must be a RuleRegistry, not {registry!r}")
    return RuleSettings(dict(conf or {}), registry)


class SettingsReader:
    """Reader of settings, one by one; those left at the end are unknown.

    Args:
        conf: dotted keys and their values.
        options: the same as keyword arguments.
        rule_conf: the configuration of executors and actions.
        rule_registry: a ``RuleRegistry``, ours or confluent-kafka's; None: the global ones.

    Raises:
        ValueError: a setting is given twice, or the arguments of rules are wrong.
    """

    def __init__(
        self,
        conf: Mapping[str, Any] | None,
        options: Mapping[str, Any],
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any | None = None,
    ) -> None:
        self.rules = _read_rules(rule_conf, rule_registry)
        self._remaining = dict(conf or {})
        self._known_keys: list[str] = []
        for keyword, value in options.items():
            key = keyword.replace("_", ".")
            if key in self._remaining:
                raise ValueError(f"{key} is given in conf and as {keyword}")
            self._remaining[key] = value
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

    def inline_rules(self) -> InlineRuleSettings:
        """Take the settings of inline constraints."""
        key = "validation.rules.execution"
        given = self._pop(key)
        try:
            execution = ValidationRulesExecution(str(getattr(given, "value", given or "DISABLED")))
        except ValueError:
            raise ValueError(f"{key} must be one of {', '.join(ValidationRulesExecution)}, not {given!r}") from None
        fail_fast = self.flag("validation.rules.fail.fast", default=False)
        executor = self._pop("validation.rules.executor")
        if executor is not None and not callable(getattr(executor, "execute", None)):
            raise ValueError(f"validation.rules.executor must have a method execute, not be {executor!r}")
        return InlineRuleSettings(execution, fail_fast, executor)

    def reject_unknown(self) -> None:
        """Reject settings that were not taken."""
        for key in map(str, self._remaining):
            if key.startswith(_RULE_PREFIXES):
                raise ValueError(f"{key} is a setting of rules: pass it in rule_conf")
            if key in _PROTOBUF_KEYS:
                raise ValueError(f"{key} is a setting of Protobuf serializers")
        if self._remaining:
            unknown = [describe_unknown_key(str(key), self._known_keys) for key in self._remaining]
            raise ValueError(f"unknown: {', '.join(unknown)}")
