"""JSON Schema as a ``SchemaFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.json_schema import propose_json_fixes
from contractlog.compatibility.json_schema.check_catalogue import ALLOWED_JSON_CHECKS, JSON_CHECKS, allowed_kinds
from contractlog.compatibility.json_schema.diff.comparison import compare_trees
from contractlog.compatibility.json_schema.diff.difference_catalogue import check_id
from contractlog.compatibility.json_schema.diff.history_fast_check import JsonHistoryCheck, JsonShape, intern_shape
from contractlog.compatibility.json_schema.exact.comparison import compare_exactly
from contractlog.compatibility.json_schema.inlined_equivalence import is_same_inlined
from contractlog.compatibility.json_schema.lenient_acceptance import find_nonconformity_reason, require_acceptable
from contractlog.compatibility.json_schema.nodes import SchemaNode
from contractlog.compatibility.json_schema.parser import JsonSchema, parse_json_schema
from contractlog.compatibility.json_schema.reference_names import list_json_names
from contractlog.compatibility.json_schema.search_terms import extract_json_terms
from contractlog.compatibility.json_schema.taggable_elements import JSON_TAGS
from contractlog.compatibility.json_schema.tree_builder import build_tree
from contractlog.compatibility.json_schema.vocabulary import ANNOTATION_KEYWORDS, DATA_KEYWORDS, SCHEMA_MAP_KEYWORDS
from contractlog.compatibility.json_text import Number, canonical_value, parse_json, write_json
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.schema_format import SchemaFormat
from contractlog.compatibility.step_budget import StepBudget
from contractlog.compatibility.structural_change import StructuralChange

__all__ = ["JSON_FORMAT", "get_tree"]


def _parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse a draft.

    The canonical text is compact and keeps the order of keys; the normalized one has sorted keys.
    """
    schema = parse_json_schema(draft.text, referenced)
    if strict:
        require_acceptable(schema, referenced)
    write_text = partial(_write_text, schema.value)
    return ParsedSchema(SchemaType.JSON, write_text, schema, len(draft.text), draft.references, dict(referenced))


def _write_text(value: Any, normalized: bool) -> str:  # noqa: FBT001  - called as ``ParsedSchema.write``
    return write_json(value, _write_number, sort_keys=normalized)


def _write_number(number: Number) -> str:
    """Write all digits of a number in the reference's form: ``1e2`` is ``1E+2``, and ``1.50`` stays.

    Its numbers are Java's ``BigDecimal``, which has no negative zero: ``-0.0`` is ``0.0``.
    """
    if number.integral:
        return str(int(number.text))
    decimal = number.decimal
    return str(decimal or decimal.copy_abs())


def _compare(reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: StepBudget | None) -> Iterator[Finding]:
    """Yield every difference of the reader from the writer.

    The policy matters where one of several branches must be compatible; EXACT has its own engine.
    """
    if policy is Policy.EXACT:
        return compare_exactly((reader.root, reader.referenced), (writer.root, writer.referenced), steps)
    return compare_trees(get_tree(writer), get_tree(reader), allowed_kinds(policy), steps)


def get_tree(parsed: ParsedSchema, memo: Memo | None = None) -> SchemaNode:
    """Return the root of a schema's tree, built on first use; the memo holds parts shared between trees."""
    schema: JsonSchema = parsed.root
    if "tree" not in schema.derived:
        schema.derived["tree"] = build_tree(schema, parsed.referenced, memo)
    root: SchemaNode = schema.derived["tree"]
    return root


def _build_shape(parsed: ParsedSchema, memo: Memo) -> JsonShape:
    return memo.root(parsed.root, lambda: intern_shape(get_tree(parsed, memo), memo))


def _reads_all(reader: JsonShape, writers: frozenset[JsonShape], policy: Policy, memo: Memo, steps: StepBudget) -> bool:
    return policy is not Policy.EXACT and JsonHistoryCheck(policy, memo, steps).reads_all(reader, writers)


def _strip_annotations(value: Any, keyword: str = "") -> Any:
    """Return the value of a keyword without annotations; an empty keyword stands for a schema."""
    match value:
        case _ if keyword in DATA_KEYWORDS:
            return value
        case dict() if keyword in SCHEMA_MAP_KEYWORDS:
            return {name: _strip_annotations(member) for name, member in value.items()}
        case dict():
            return {
                key: _strip_annotations(member, key) for key, member in value.items() if key not in ANNOTATION_KEYWORDS
            }
        case list():
            return [_strip_annotations(item) for item in value]
        case _:
            return value


def _list_top_level_fields(parsed: ParsedSchema) -> tuple[str, ...]:
    value = parsed.root.value
    properties = value.get("properties") if isinstance(value, dict) else None
    return tuple(properties) if isinstance(properties, dict) else ()


def _list_changes(later: ParsedSchema, earlier: ParsedSchema, steps: StepBudget | None) -> Iterator[StructuralChange]:
    """Yield every difference, whether it breaks under a policy or not."""
    for finding in _compare(later, earlier, Policy.STRICT, steps):
        yield StructuralChange(finding.detail, ((finding.reader_at, finding.writer_at),))


JSON_FORMAT: Final = SchemaFormat(
    type=SchemaType.JSON,
    parse=_parse,
    compare=_compare,
    checks=JSON_CHECKS,
    allowed_checks=ALLOWED_JSON_CHECKS,
    dangerous_checks=frozenset({check_id("DEFAULT_CHANGED")}),
    list_changes=_list_changes,
    build_shape=_build_shape,
    reads_all=_reads_all,
    is_same_inlined=is_same_inlined,
    strip_annotations=lambda text: canonical_value(_strip_annotations(parse_json(text))),
    find_nonconformity=lambda parsed: find_nonconformity_reason(parsed.root, parsed.referenced),
    list_names=list_json_names,
    write_reference=lambda name: canonical_value({"$ref": name}),
    list_top_level_fields=_list_top_level_fields,
    list_tags=JSON_TAGS.list_tags,
    edit_tags=JSON_TAGS.edit_tags,
    propose_fixes=propose_json_fixes,
    extract_terms=extract_json_terms,
    has_policies=True,
    reserved_field_prefix="$$",
)
