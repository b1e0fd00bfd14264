"""Avro as a schema format: what ``parsing.SchemaFormat`` asks for."""

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
    """Understand an Avro draft, or raise ``InvalidSchema`` with the place."""
    schema, known = parse_avro(draft.text, referenced, strict=strict)
    canonical, normalized = texts(schema, known)
    written = {False: canonical, True: normalized}.__getitem__
    return ParsedSchema(SchemaType.AVRO, written, schema, len(draft.text), draft.references, dict(referenced))


def check(reader: ParsedSchema, writer: ParsedSchema, _policy: Policy, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield every reason why the reader cannot follow the writer; the policies do not differ here."""
    return compare(reader.root, writer.root, steps)


def cautions(reader: ParsedSchema, writer: ParsedSchema, steps: Steps | None = None) -> Iterator[Finding]:
    """Yield what a reader reads, and people may still want to hear of."""
    return own.cautions(reader.root, writer.root, steps)


def follows(reader: ParsedSchema, writer: ParsedSchema) -> bool:
    """Whether a look at the pair alone shows that ``check`` would yield nothing; a no says nothing."""
    return direct.follows(reader.root, writer.root)


def equivalent(first: ParsedSchema, second: ParsedSchema) -> bool:
    """Whether a lookup with one schema finds the other."""
    return lookup.equivalent(first, second)


def shape(parsed: ParsedSchema, memo: Memo) -> Shape | None:
    """Return what reading and writing depend on, as one object for all that are equal in it; None if it is too deep."""
    schema = parsed.root
    return memo.root(schema, lambda: Shaping(schema, memo).shape(schema.root))


def reads_all(reader: Shape, writers: frozenset[Shape], _policy: Policy, memo: Memo, steps: Steps) -> bool:
    """Whether ``check`` would yield nothing that breaks for any of the writers; the policies do not differ here."""
    return Reading(memo, steps).reads_all(reader, writers)
