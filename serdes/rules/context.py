"""Context of a rule that runs: the rule, the schemas, and the field that is being visited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from contractlog.serdes.rules.tags import TagPaths

if TYPE_CHECKING:
    from contractlog.clients.confluent.data_classes import Rule, RuleMode, Schema
    from contractlog.compatibility.schema import ParsedSchema
    from contractlog.serdes.context import Context

__all__ = ["PRIMITIVE_FIELD_TYPES", "FieldContext", "FieldType", "RuleContext"]


class FieldType(StrEnum):
    """Type of a field, whatever the schema's format; equal to the members of confluent-kafka's enum."""

    RECORD = "RECORD"
    ENUM = "ENUM"
    ARRAY = "ARRAY"
    MAP = "MAP"
    COMBINED = "COMBINED"  #: a union, or the alternatives of a JSON schema
    FIXED = "FIXED"
    STRING = "STRING"
    BYTES = "BYTES"
    INT = "INT"
    LONG = "LONG"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    NULL = "NULL"


PRIMITIVE_FIELD_TYPES: Final = frozenset(
    {
        FieldType.INT,
        FieldType.LONG,
        FieldType.FLOAT,
        FieldType.DOUBLE,
        FieldType.BOOLEAN,
        FieldType.NULL,
        FieldType.STRING,
        FieldType.BYTES,
    }
)


@dataclass(slots=True, eq=False)
class FieldContext:
    """The field that a rule is applied to, with confluent-kafka's constructor and attributes."""

    containing_message: Any  #: the record or object that has the field
    full_name: str  #: ``namespace.Record.field``; in JSON the path ``$.object.property``
    name: str
    field_type: FieldType
    tags: set[str]  #: those of the schema's text and those of its metadata
    field_descriptor: Any = None  #: of Protobuf; None in Avro and JSON

    def is_primitive(self) -> bool:
        """Return true unless it is a container, an enum or a fixed."""
        return self.field_type in PRIMITIVE_FIELD_TYPES

    def type_name(self) -> str:
        """Return the type's name in capital letters."""
        return self.field_type.name


class RuleContext:
    """Arguments of a running rule, with confluent-kafka's constructor, attributes and methods.

    Args:
        enabled_env: ``enableAt`` of the rule set.
        ser_ctx: topic, part and headers of the record; None if the serializer was called without a context.
        source: the schema that a migration starts from.
        target: the schema that the rule belongs to; of a migration, the one that it leads to.
        subject: the subject of the schema.
        rule_mode: the direction: WRITE, READ, UPGRADE or DOWNGRADE.
        rule: the rule.
        index: its position in ``rules``.
        rules: the rules of its phase, in the order in which they run.
        inline_tags: tags in the schema's text by full name of the field; None if they are passed to ``enter_field``.
        field_transformer: applies a function to the fields of a message: ``(ctx, function, message) -> message``.
        original_key: the record's key before serialization, or its bytes before deserialization, if known.
        original_value: the same for the value.
        parsed_target: ``target`` parsed, if contractlog has parsed it; confluent-kafka's contexts lack it.
        tag_paths: tags in the metadata of ``target``; by default, made from it.
    """

    __slots__ = (
        "_field_contexts",
        "enabled_env",
        "field_transformer",
        "index",
        "inline_tags",
        "original_key",
        "original_value",
        "parsed_target",
        "rule",
        "rule_mode",
        "rules",
        "ser_ctx",
        "source",
        "subject",
        "tag_paths",
        "target",
    )

    def __init__(  # noqa: PLR0917 -- confluent-kafka's order of arguments
        self,
        enabled_env: str | None,
        ser_ctx: Context | None,
        source: Schema | None,
        target: Schema | None,
        subject: str | None,
        rule_mode: RuleMode,
        rule: Rule,
        index: int,
        rules: Sequence[Rule],
        inline_tags: Mapping[str, set[str]] | None = None,
        field_transformer: Callable[..., Any] | None = None,
        original_key: Any = None,
        original_value: Any = None,
        *,
        parsed_target: ParsedSchema | None = None,
        tag_paths: TagPaths | None = None,
    ) -> None:
        self.enabled_env = enabled_env
        self.ser_ctx = ser_ctx
        self.source = source
        self.target = target
        self.subject = subject
        self.rule_mode = rule_mode
        self.rule = rule
        self.index = index
        self.rules = rules
        self.inline_tags = inline_tags
        self.field_transformer = field_transformer
        self.original_key = original_key
        self.original_value = original_value
        self.parsed_target = parsed_target
        self.tag_paths = tag_paths
        self._field_contexts: list[FieldContext] = []

    def get_parameter(self, name: str) -> str | None:
        """Return a parameter of the rule, else the property of the target's metadata of this name, else None."""
        params = self.rule.params
        value = None if params is None else params.params.get(name)
        if value is not None:
            return value
        metadata = None if self.target is None else self.target.metadata
        if metadata is None or metadata.properties is None:
            return None
        return metadata.properties.properties.get(name)

    def current_field(self) -> FieldContext | None:
        """Return the innermost field that is being visited; None at the root."""
        return self._field_contexts[-1] if self._field_contexts else None

    def enter_field(  # noqa: PLR0917 -- confluent-kafka's order of arguments
        self,
        containing_message: Any,
        full_name: str,
        name: str,
        field_type: FieldType,
        tags: Iterable[str] | None,
        field_descriptor: Any = None,
    ) -> FieldContext:
        """Make a field the current one; ``tags`` are those in the schema's text, None to look them up."""
        inline: Iterable[str] = (self.inline_tags or {}).get(full_name, ()) if tags is None else tags
        field = FieldContext(
            containing_message, full_name, name, field_type, {*inline, *self.get_tags(full_name)}, field_descriptor
        )
        self._field_contexts.append(field)
        return field

    def get_tags(self, full_name: str) -> frozenset[str]:
        """Return the tags that the target's metadata gives to a full name, by paths with wildcards.

        Raises:
            RuleError: the paths are too many or too complex.
        """
        if self.tag_paths is None:
            metadata = None if self.target is None else self.target.metadata
            paths = {} if metadata is None or metadata.tags is None else metadata.tags.tags
            self.tag_paths = TagPaths(paths or {})
        return self.tag_paths.find(full_name)

    def exit_field(self) -> None:
        """Leave the current field."""
        if self._field_contexts:
            self._field_contexts.pop()
