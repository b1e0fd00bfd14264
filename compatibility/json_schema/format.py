"""JSON Schema as a schema format: what ``parsing.SchemaFormat`` asks for."""

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
    """Understand a JSON Schema draft, or raise ``InvalidSchema`` with the place.

    The canonical text is compact, with its keys in the order they have; the normalized one has them sorted.
    """
    schema = parse_json_schema(draft.text, referenced)
    if strict:
        acceptance.require_acceptable(schema, referenced)
    written = partial(_written, schema.value)
    return ParsedSchema(SchemaType.JSON, written, schema, len(draft.text), draft.references, dict(referenced))


def _written(value: Any, normalized: bool) -> str:  # noqa: FBT001 - as ``ParsedSchema.write`` is called
    return write(value, _exact, sort_keys=normalized)


def nonconformity(parsed: ParsedSchema) -> InvalidSchema | None:
    """Return why a schema is none by its draft's meta-schema, or which ``$ref`` leads nowhere; None if all is well."""
    return acceptance.nonconformity(parsed.root, parsed.referenced)


def check(reader: ParsedSchema, writer: ParsedSchema, policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every difference of the reader from the writer.

    The policy has a say where one of several branches has to be compatible; EXACT has an engine of its own.
    """
    if policy is Policy.EXACT:
        return compare_exactly((reader.root, reader.referenced), (writer.root, writer.referenced), steps)
    admitted = {one.removeprefix("JSON_") for one in ADMITTED[policy]}
    return compare(tree(writer), tree(reader), admitted, steps)


def tree(parsed: ParsedSchema, memo: Memo | None = None) -> Node:
    """Return the root of a schema's tree, which is made when it is first needed; the memo has parts of other trees."""
    schema: JsonSchema = parsed.root
    if "tree" not in schema.made:
        schema.made["tree"] = tree_of(schema, parsed.referenced, memo)
    root: Node = schema.made["tree"]
    return root


def shape(parsed: ParsedSchema, memo: Memo) -> Shape:
    """Return what differences are found in, as one object for all schemas that are equal in it."""
    return memo.root(parsed.root, lambda: shape_of(tree(parsed, memo), memo))


def reads_all(reader: Shape, writers: frozenset[Shape], policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Whether ``check`` would yield nothing that breaks for any of the writers; EXACT is never asked in such haste."""
    return policy is not Policy.EXACT and Reading(policy, memo, steps).reads_all(reader, writers)


def _exact(number: Number) -> str:
    """Write every digit that was given, in the reference's form: ``1e2`` is ``1E+2``, and ``1.50`` stays.

    Its numbers are Java's ``BigDecimal``, which has no negative zero: ``-0.0`` is ``0.0``.
    """
    if number.integral:
        return str(int(number.text))
    decimal = number.decimal
    return str(decimal or decimal.copy_abs())


def cautions(_reader: ParsedSchema, _writer: ParsedSchema, _steps: Steps | None = None) -> Iterator[Finding]:
    """Yield nothing: this format has no checks beside those that a policy may hold against a reader."""
    return iter(())


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Whether a lookup with one schema finds the other."""
    return lookup.equivalent(first, second)
