"""JSON Schema implementation of ``formats.SchemaFormat`` and ``formats.ShapedFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema import acceptance, equivalence
from contractlog.compatibility.json_schema.diff.comparison import compare_trees
from contractlog.compatibility.json_schema.diff.history import JsonHistoryCheck, JsonShape, intern_shape
from contractlog.compatibility.json_schema.exact.comparison import compare_exactly
from contractlog.compatibility.json_schema.nodes import SchemaNode
from contractlog.compatibility.json_schema.parser import JsonSchema, parse_json_schema
from contractlog.compatibility.json_schema.tree_builder import build_tree
from contractlog.compatibility.json_text import Number, write_json
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.policy import ALLOWED_CHECKS, Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse a JSON Schema draft, or raise ``InvalidSchema`` with the position.

    The canonical text is compact and keeps the order of keys; the normalized one has sorted keys.
    """
    schema = parse_json_schema(draft.text, referenced)
    if strict:
        acceptance.require_acceptable(schema, referenced)
    write_text = partial(_write_text, schema.value)
    return ParsedSchema(SchemaType.JSON, write_text, schema, len(draft.text), draft.references, dict(referenced))


def _write_text(value: Any, normalized: bool) -> str:  # noqa: FBT001  - called as ``ParsedSchema.write``
    return write_json(value, _write_number, sort_keys=normalized)


def nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    return acceptance.nonconformity(parsed.root, parsed.referenced)


def check(reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every difference of the reader from the writer.

    The policy matters where one of several branches must be compatible; EXACT has its own engine.
    """
    if policy is Policy.EXACT:
        return compare_exactly((reader.root, reader.referenced), (writer.root, writer.referenced), steps)
    admitted = {check_id.removeprefix("JSON_") for check_id in ALLOWED_CHECKS[policy]}
    return compare_trees(tree(writer), tree(reader), admitted, steps)


def tree(parsed: ParsedSchema, memo: Memo | None = None) -> SchemaNode:
    """Return the root of a schema's tree, built on first use; the memo holds parts shared between trees."""
    schema: JsonSchema = parsed.root
    if "tree" not in schema.derived:
        schema.derived["tree"] = build_tree(schema, parsed.referenced, memo)
    root: SchemaNode = schema.derived["tree"]
    return root


def shape(parsed: ParsedSchema, memo: Memo) -> JsonShape:
    """Return an interned object with all that differences depend on."""
    return memo.root(parsed.root, lambda: intern_shape(tree(parsed, memo), memo))


def reads_all(reader: JsonShape, writers: frozenset[JsonShape], policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Return True if ``check`` would have no breaking finding for any writer; always False for EXACT."""
    return policy is not Policy.EXACT and JsonHistoryCheck(policy, memo, steps).reads_all(reader, writers)


def _write_number(number: Number) -> str:
    """Write all digits of a number in the reference's form: ``1e2`` is ``1E+2``, and ``1.50`` stays.

    Its numbers are Java's ``BigDecimal``, which has no negative zero: ``-0.0`` is ``0.0``.
    """
    if number.integral:
        return str(int(number.text))
    decimal = number.decimal
    return str(decimal or decimal.copy_abs())


def find_warnings(_reader: ParsedSchema, _writer: ParsedSchema, _steps: Steps | None = None) -> Iterator[Finding]:
    """Yield nothing: all checks of this format belong to a policy."""
    return iter(())


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if a lookup with one schema finds the other."""
    return equivalence.are_equivalent(first, second)
