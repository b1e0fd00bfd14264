"""Avro as a ``SchemaFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.canonical_form import format_inlined, format_texts
from contractlog.compatibility.avro.changes import list_changes
from contractlog.compatibility.avro.check_catalogue import AVRO_CHECKS, AVRO_DOC_LOST, AVRO_WARNINGS
from contractlog.compatibility.avro.checks import compare_avro
from contractlog.compatibility.avro.fast_check import is_readable
from contractlog.compatibility.avro.history_fast_check import MergedWritersCheck
from contractlog.compatibility.avro.interned_shapes import AvroShape, ShapeBuilder
from contractlog.compatibility.avro.parser import parse_avro
from contractlog.compatibility.avro.reference_names import list_avro_names
from contractlog.compatibility.avro.search_terms import extract_avro_terms
from contractlog.compatibility.avro.shared_definitions import omit_shared_definitions
from contractlog.compatibility.avro.taggable_elements import AVRO_TAGS
from contractlog.compatibility.avro.warnings import find_warnings
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.avro import propose_avro_fixes
from contractlog.compatibility.json_text import canonical_value, parse_json
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.schema_format import SchemaFormat
from contractlog.compatibility.step_budget import StepBudget

__all__ = ["AVRO_FORMAT"]

_MEANINGFUL_KEYWORDS: Final = frozenset(
    {"type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default", "order"}
    | {"logicalType", "precision", "scale"}
)


def _parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    schema, referenced_names = parse_avro(draft.text, referenced, strict=strict)
    canonical, normalized = format_texts(schema, referenced_names)
    write_text = {False: canonical, True: normalized}.__getitem__
    return ParsedSchema(SchemaType.AVRO, write_text, schema, len(draft.text), draft.references, dict(referenced))


def _compare(reader: ParsedSchema, writer: ParsedSchema, _: Policy, steps: StepBudget | None) -> Iterator[Finding]:
    return compare_avro(reader.root, writer.root, steps)


def _build_shape(parsed: ParsedSchema, memo: Memo) -> AvroShape | None:
    """Return an interned object with all that reading and writing depend on; None if nested too deep."""
    schema = parsed.root
    return memo.root(schema, lambda: ShapeBuilder(schema, memo).shape(schema.root))


def _reads_all(reader: AvroShape, writers: frozenset[AvroShape], _: Policy, memo: Memo, steps: StepBudget) -> bool:
    return MergedWritersCheck(memo, steps).reads_all(reader, writers)


def _write_inlined(parsed: ParsedSchema) -> str:
    return format_inlined(parsed.root, normalized=True) if parsed.references else parsed.normalized


def _strip_annotations(value: Any) -> Any:
    match value:
        case dict():
            members = {key: member for key, member in value.items() if key in _MEANINGFUL_KEYWORDS}
            inner = ("type", "items", "values", "fields")
            return members | {key: _strip_annotations(members[key]) for key in inner if key in members}
        case list():
            return [_strip_annotations(item) for item in value]
        case _:
            return value


AVRO_FORMAT: Final = SchemaFormat(
    type=SchemaType.AVRO,
    parse=_parse,
    compare=_compare,
    checks=AVRO_CHECKS,
    allowed_checks=dict.fromkeys(Policy, AVRO_WARNINGS),
    find_warnings=lambda reader, writer, steps: find_warnings(reader.root, writer.root, steps),
    dangerous_checks=AVRO_WARNINGS - {AVRO_DOC_LOST.id},
    list_changes=lambda later, earlier, steps: list_changes(later.root, earlier.root, steps),
    passes_fast_check=lambda reader, writer: is_readable(reader.root, writer.root),
    build_shape=_build_shape,
    reads_all=_reads_all,
    is_same_inlined=lambda first, second: _write_inlined(first) == _write_inlined(second),
    strip_annotations=lambda text: canonical_value(_strip_annotations(parse_json(text, comments=True))),
    list_names=list_avro_names,
    omit_shared_definitions=omit_shared_definitions,
    write_reference=lambda name: canonical_value(["null", name]),
    list_top_level_fields=lambda parsed: tuple(field.name for field in getattr(parsed.root.root, "fields", ())),
    list_tags=AVRO_TAGS.list_tags,
    edit_tags=AVRO_TAGS.edit_tags,
    propose_fixes=propose_avro_fixes,
    extract_terms=extract_avro_terms,
    renderings={"resolved": lambda parsed: format_inlined(parsed.root)},
    allows_comments=True,
    parses_canonical_alike=True,
)
