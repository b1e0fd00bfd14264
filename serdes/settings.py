"""The dotted keys by which serializers are configured, as other clients write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from contractlog.serdes.subjects import SubjectNameStrategy, topic_subject_name

__all__ = ["DeserializerSettings", "SerializerSettings"]


@dataclass(frozen=True, slots=True)
class SerializerSettings:
    """How a serializer finds the schema, and the id, that records carry."""

    auto_register: bool = True
    normalize: bool = False
    use_latest_version: bool = False
    use_schema_id: int | None = None
    subject_name: SubjectNameStrategy = topic_subject_name
    validate: bool = True  #: JSON only

    @classmethod
    def from_conf(cls, conf: Mapping[str, Any] | None, *further: str) -> Self:
        """Read dotted keys.

        Args:
            conf: the keys and their values.
            further: keys that this serializer knows besides.

        Raises:
            ValueError: a key is unknown, a value has the wrong type, or two contradict each other.
        """
        reading = _Reading(conf)
        settings = cls(
            auto_register=reading.flag("auto.register.schemas", default=True),
            normalize=reading.flag("normalize.schemas", default=False),
            use_latest_version=reading.flag("use.latest.version", default=False),
            use_schema_id=reading.number("use.schema.id"),
            subject_name=reading.strategy(),
            validate=reading.flag("validate", default=True) if "validate" in further else True,
        )
        reading.end()
        if settings.use_latest_version and settings.auto_register:
            raise ValueError("use.latest.version and auto.register.schemas cannot both be True")
        return settings


@dataclass(frozen=True, slots=True)
class DeserializerSettings:
    """How a deserializer finds the schema that values are wanted in."""

    use_latest_version: bool = False
    subject_name: SubjectNameStrategy = topic_subject_name
    validate: bool = True  #: JSON only

    @classmethod
    def from_conf(cls, conf: Mapping[str, Any] | None, *further: str) -> Self:
        """Read dotted keys; see ``SerializerSettings.from_conf``."""
        reading = _Reading(conf)
        settings = cls(
            use_latest_version=reading.flag("use.latest.version", default=False),
            subject_name=reading.strategy(),
            validate=reading.flag("validate", default=True) if "validate" in further else True,
        )
        reading.end()
        return settings


class _Reading:
    """Takes keys one by one; what is left in the end is unknown."""

    def __init__(self, conf: Mapping[str, Any] | None) -> None:
        self._left = dict(conf or {})

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._left.pop(key, default)
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be True or False, not {value!r}")  # noqa: TRY004 -- as other clients do
        return value

    def number(self, key: str) -> int | None:
        value = self._left.pop(key, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"{key} must be a schema id, not {value!r}")
        return value

    def strategy(self) -> SubjectNameStrategy:
        key = "subject.name.strategy"
        value = self._left.pop(key, topic_subject_name)
        if not callable(value):
            raise ValueError(f"{key} must be a function of context and record name, not {value!r}")  # noqa: TRY004 -- as other clients do
        strategy: SubjectNameStrategy = value
        return strategy

    def end(self) -> None:
        if self._left:
            raise ValueError(f"unknown: {', '.join(map(str, self._left))}")
