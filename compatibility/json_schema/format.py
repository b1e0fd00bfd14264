"""JSON Schema implementation of ``parsing.SchemaFormat`` and ``parsing.ShapedFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.json_schema import acceptance, lookup
from contractlog.compatibility.json_schema.compare import compare
from contractlog.compatibility.json_schema.exact.compare import compare_exactly
from contractlog.compatibility.json_schema.nodes import Node
from contractlog.compatibility.json_schema.normalise import tree_of
from contractlog.compatibility.json_schema.parse import JsonSchema, parse_json_schema
from contractlog.compatibility.json_schema.reading import Reading, Shape, shape_of
from contractlog.compatibility.json_text import Number, write
from contractlog.compatibility.policy import ADMITTED, Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse a JSON Schema draft, or raise ``InvalidSchema`` with the position.

    The canonical text is compact and keeps the order of keys; the normalized one has sorted keys.
    """
    schema = parse_json_schema(draft.text, referenced)
    if strict:
        acceptance.require_acceptable(schema, referenced)
    written = partial(_written, schema.value)
    return ParsedSchema(SchemaType.JSON, written, schema, len(draft.text), draft.references, dict(referenced))


def _written(value: Any, normalized: bool) -> str:  # noqa: FBT001  - called as ``ParsedSchema.write``
    return write(value, _exact, sort_keys=normalized)


def nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    return acceptance.nonconformity(parsed.root, parsed.referenced)


def check(reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every difference of the reader from the writer.

    The policy matters where one of several branches must be compatible; EXACT has its own engine.
    """
    if policy is Policy.EXACT:
        return compare_exactly((reader.root, reader.referenced), (writer.root, writer.referenced), steps)
    admitted = {one.removeprefix("JSON_") for one in ADMITTED[policy]}
    return compare(tree(writer), tree(reader), admitted, steps)


def tree(parsed: ParsedSchema, memo: Memo | None = None) -> Node:
    """Return the root of a schema's tree, built on first use; the memo holds parts shared between trees."""
    schema: JsonSchema = parsed.root
    if "tree" not in schema.made:
        schema.made["tree"] = tree_of(schema, parsed.referenced, memo)
    root: Node = schema.made["tree"]
    return root


def shape(parsed: ParsedSchema, memo: Memo) -> Shape:
    """Return an interned object with all that differences depend on."""
    return memo.root(parsed.root, lambda: shape_of(tree(parsed, memo), memo))


def reads_all(reader: Shape, writers: frozenset[Shape], policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Return True if ``check`` would have no breaking finding for any writer; always False for EXACT."""
    return policy is not Policy.EXACT and Reading(policy, memo, steps).reads_all(reader, writers)


def _exact(number: Number) -> str:
    """Write all digits of a number in the reference's form: ``1e2`` is ``1E+2``, and ``1.50`` stays.

    Its numbers are Java's ``BigDecimal``, which has no negative zero: ``-0.0`` is ``0.0``.
    """
    if number.integral:
        return str(int(number.text))
    decimal = number.decimal
    return str(decimal or decimal.copy_abs())


def cautions(_reader: ParsedSchema, _writer: ParsedSchema, _steps: Steps | None = None) -> Iterator[Finding]:
    """Yield nothing: all checks of this format belong to a policy."""
    return iter(())


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if a lookup with one schema finds the other."""
    return lookup.equivalent(first, second)
