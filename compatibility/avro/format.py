"""Avro implementation of ``formats.SchemaFormat`` and ``formats.ShapedFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.avro import fast_check, warnings
from contractlog.compatibility.avro.canonical import write_inlined, write_texts
from contractlog.compatibility.avro.history import HistoryCheck
from contractlog.compatibility.avro.parser import parse_avro
from contractlog.compatibility.avro.rules import compare_avro
from contractlog.compatibility.avro.shapes import AvroShape, ShapeBuilder
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse an Avro draft, or raise ``InvalidSchema`` with the position."""
    schema, referenced_names = parse_avro(draft.text, referenced, strict=strict)
    canonical, normalized = write_texts(schema, referenced_names)
    write_text = {False: canonical, True: normalized}.__getitem__
    return ParsedSchema(SchemaType.AVRO, write_text, schema, len(draft.text), draft.references, dict(referenced))


def check(reader: ParsedSchema, writer: ParsedSchema, _policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every reason why the reader cannot read the writer; all policies are alike here."""
    return compare_avro(reader.root, writer.root, steps)


def find_warnings(reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield differences that a reader can read, but that may be unintended."""
    return warnings.find_warnings(reader.root, writer.root, steps)


def follows(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Return True if a fast check proves that ``check`` would yield nothing; False is inconclusive."""
    return fast_check.is_readable(reader.root, writer.root)


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if both have the same text and references, or one has all references inlined.

    Raises:
        InvalidSchema: the text of one of them with its references inlined is too long.
    """
    first_references, second_references = set(first.references), set(second.references)
    if first_references == second_references:
        return first.normalized == second.normalized
    return not (first_references and second_references) and _write_inlined(first) == _write_inlined(second)


def shape(parsed: ParsedSchema, memo: Memo) -> AvroShape | None:
    """Return an interned object with all that reading and writing depend on; None if nested too deep."""
    schema = parsed.root
    return memo.root(schema, lambda: ShapeBuilder(schema, memo).shape(schema.root))


def reads_all(reader: AvroShape, writers: frozenset[AvroShape], _policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Return True if ``check`` would yield nothing for any of the writers; all policies are alike here."""
    return HistoryCheck(memo, steps).reads_all(reader, writers)


def _write_inlined(parsed: ParsedSchema) -> str:
    return write_inlined(parsed.root, normalized=True) if parsed.references else parsed.normalized
