"""From a draft to an understood schema: the only place that knows which formats there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from contractlog.compatibility.avro import format as avro
from contractlog.compatibility.avro import tags as avro_tags
from contractlog.compatibility.avro.canonical import inlined
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.json_schema import format as json_schema
from contractlog.compatibility.json_schema import tags as json_tags
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.positions import placed
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps, StepsExceeded

__all__ = [
    "SchemaFormat",
    "ShapedFormat",
    "cautions",
    "check",
    "equivalent",
    "follows",
    "formatted",
    "inline_tags",
    "nonconformity",
    "parse",
    "reads_all",
    "shape",
    "supported",
    "top_level_fields",
]


class SchemaFormat(Protocol):
    """What a format brings: reading a text, and comparing two that were read."""

    def parse(self, draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
        """Understand a draft, or raise ``InvalidSchema`` with the place."""

    def check(
        self, reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: Steps | None = None
    ) -> Iterator[Finding]:
        """Yield every difference that a policy may hold against the reader."""

    def cautions(self, reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
        """Yield the differences that break nothing unless they are asked for."""

    def equivalent(self, first: ParsedSchema, second: ParsedSchema) -> bool:
        """Whether a lookup with one schema finds the other, though their texts may differ."""


class ShapedFormat(Protocol):
    """What a format may bring beyond that: a quick yes for many versions at once."""

    def shape(self, parsed: ParsedSchema, memo: Memo) -> Any:
        """Return what findings depend on, as one object for all that are equal in it; None where there is none."""

    def reads_all(self, reader: Any, writers: frozenset[Any], policy: Policy, memo: Memo, steps: Steps) -> bool:
        """Whether ``check`` yields nothing that breaks for any of the writers; raise ``StepsExceeded`` when unsure."""


_FORMATS: Final[Mapping[SchemaType, SchemaFormat]] = {SchemaType.AVRO: avro, SchemaType.JSON: json_schema}
_SHAPED: Final[Mapping[SchemaType, ShapedFormat]] = {SchemaType.AVRO: avro, SchemaType.JSON: json_schema}
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def supported() -> tuple[SchemaType, ...]:
    """The formats that work, in the order in which the API lists them."""
    return (SchemaType.JSON, SchemaType.AVRO)


def parse(draft: SchemaDraft, referenced: Mapping[str, str] = _NOTHING, *, strict: bool = True) -> ParsedSchema:
    """Understand a draft.

    Args:
        draft: the submitted schema; its references are resolved by ``referenced`` alone.
        referenced: name of every schema leaned on, directly or not, to its text; those that lean on nothing come first.
        strict: apply the rules for new schemas (names, defaults); stored schemas are read without them.

    Raises:
        InvalidSchema: the text is no schema of its type; where the place is known, ``at`` is a JSON Pointer into it,
            and ``line`` and ``column`` say where that is in the text as it was submitted.
    """
    schema_format = _FORMATS.get(draft.type)
    if schema_format is None:
        raise InvalidSchema(f"Invalid schema type {draft.type}")
    try:
        return schema_format.parse(draft, referenced, strict=strict)
    except InvalidSchema as problem:
        raise placed(problem, draft.text, comments=draft.type is SchemaType.AVRO) from None


def check(
    reader: ParsedSchema, writer: ParsedSchema, policy: Policy = Policy.STRICT, steps: Steps | None = None
) -> Iterator[Finding]:
    """Yield every difference that a policy may hold against the reader; both schemas have the same type.

    A comparison has a limit of its own; ``steps`` are what is left of those that many comparisons share. When they are
    used up, that is a finding, too.
    """
    return _FORMATS[reader.type].check(reader, writer, policy, steps)


def cautions(reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield the differences that break nothing unless they are asked for; both schemas have the same type."""
    return _FORMATS[reader.type].cautions(reader, writer, steps)


def follows(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Whether one look at the pair shows that ``check`` would yield nothing; a no says nothing."""
    return reader.type is writer.type is SchemaType.AVRO and avro.follows(reader, writer)


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Whether a lookup with one schema finds the other: same text and references, or one with all references inlined.

    Raises:
        InvalidSchema: written out with what it leans on, one of them is too long.
    """
    return first.type is second.type and _FORMATS[first.type].equivalent(first, second)


def formatted(parsed: ParsedSchema, name: str) -> str | None:
    """Return the text in another format of its type; None where the type has none of this name.

    Raises:
        InvalidSchema: written out with what it leans on, the text is too long.
    """
    return inlined(parsed.root) if parsed.type is SchemaType.AVRO and name == "resolved" else None


def inline_tags(schema_type: SchemaType, text: str) -> Mapping[avro_tags.Entity, tuple[str, ...]]:
    """Return the tags of each record, object, field and property that has some."""
    reading = {SchemaType.AVRO: avro_tags.inline_tags, SchemaType.JSON: json_tags.inline_tags}.get(schema_type)
    return reading(text) if reading else {}


def shape(parsed: ParsedSchema, memo: Memo) -> tuple[SchemaType, Any] | None:
    """Return all that findings depend on, by type; equal schemas have one shape, and None says that there is none."""
    shaped = _SHAPED.get(parsed.type)
    root = None if shaped is None else shaped.shape(parsed, memo)
    return None if root is None else (parsed.type, root)


def reads_all(
    reader: tuple[SchemaType, Any],
    writers: Collection[tuple[SchemaType, Any]],
    policy: Policy,
    memo: Memo,
    steps: Steps,
) -> bool:
    """Whether a reader follows all writers at once, by their shapes; a no may also mean that it takes too long to say.

    A yes is what ``check`` without a breaking finding is.
    """
    if not writers:
        return True
    kind, root = reader
    kinds, roots = zip(*writers, strict=True)
    if kinds.count(kind) < len(kinds):
        return False
    try:
        return _SHAPED[kind].reads_all(root, frozenset(roots), policy, memo, steps)
    except (StepsExceeded, RecursionError):
        return False


def nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return why a schema that the reference's parser accepts is rejected by its meta-schema; None if it is not.

    Only JSON schemas have a meta-schema. ``at`` is a JSON Pointer into the text.
    """
    return json_schema.nonconformity(parsed) if parsed.type is SchemaType.JSON else None


def top_level_fields(parsed: ParsedSchema) -> tuple[str, ...]:
    """Return the names of the fields or properties at the root of a schema, in order."""
    if parsed.type is SchemaType.AVRO:
        return tuple(field.name for field in getattr(parsed.root.root, "fields", ()))
    value = parsed.root.value if parsed.type is SchemaType.JSON else None
    properties = value.get("properties") if isinstance(value, dict) else None
    return tuple(properties) if isinstance(properties, dict) else ()
