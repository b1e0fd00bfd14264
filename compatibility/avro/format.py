"""Avro implementation of ``parsing.SchemaFormat`` and ``parsing.ShapedFormat``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contractlog.compatibility.avro import cautions as own
from contractlog.compatibility.avro import direct, lookup
from contractlog.compatibility.avro.canonical import texts
from contractlog.compatibility.avro.checks import compare
from contractlog.compatibility.avro.parse import parse_avro
from contractlog.compatibility.avro.reading import Reading
from contractlog.compatibility.avro.shapes import Shape, Shaping
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.steps import Steps


def parse(draft: SchemaDraft, referenced: Mapping[str, str], *, strict: bool) -> ParsedSchema:
    """Parse an Avro draft, or raise ``InvalidSchema`` with the position."""
    schema, known = parse_avro(draft.text, referenced, strict=strict)
    canonical, normalized = texts(schema, known)
    written = {False: canonical, True: normalized}.__getitem__
    return ParsedSchema(SchemaType.AVRO, written, schema, len(draft.text), draft.references, dict(referenced))


def check(reader: ParsedSchema, writer: ParsedSchema, _policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every reason why the reader cannot read the writer; all policies are alike here."""
    return compare(reader.root, writer.root, steps)


def cautions(reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield differences that a reader can read, but that may be unintended."""
    return own.cautions(reader.root, writer.root, steps)


def follows(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Return True if a fast check proves that ``check`` would yield nothing; False is inconclusive."""
    return direct.follows(reader.root, writer.root)


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Return True if a lookup with one schema finds the other."""
    return lookup.equivalent(first, second)


def shape(parsed: ParsedSchema, memo: Memo) -> Shape | None:
    """Return an interned object with all that reading and writing depend on; None if nested too deep."""
    schema = parsed.root
    return memo.root(schema, lambda: Shaping(schema, memo).shape(schema.root))


def reads_all(reader: Shape, writers: frozenset[Shape], _policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Return True if ``check`` would yield nothing for any of the writers; all policies are alike here."""
    return Reading(memo, steps).reads_all(reader, writers)
