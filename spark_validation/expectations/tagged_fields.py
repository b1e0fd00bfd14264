"""Fields that schemas tag, such as with ``PII``: samples keep only hashes of their values.

Tags name records and fields of a schema, not paths of values. So every field with the name of a tagged field counts as
tagged, and all fields do if a record or a pattern is tagged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contractlog.compatibility import formats
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.tags import EntityType
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema

__all__ = ["TaggedNames", "find_tagged_names"]

_EVERY: Final = "*"


class TaggedNames(frozenset[str]):
    """Names of tagged fields."""

    __slots__ = ()

    def contain(self, field: str) -> bool:
        """Return whether a field, given by its path, is tagged.

        >>> TaggedNames({"card"}).contain("payments[].card"), TaggedNames({"card"}).contain("cards")
        (True, False)
        """
        return _EVERY in self or not self.isdisjoint(part.rstrip("[]{}") for part in field.split("."))


def find_tagged_names(schemas: Iterable[ExpectedSchema]) -> TaggedNames:
    """Return the names of the fields that schemas tag, in their texts or their metadata."""
    names: set[str] = set()
    for expected in schemas:
        schema = expected.schema
        if schema.metadata is not None:
            names.update(path.rpartition(".")[2] for path in schema.metadata.tags)
        for text in (schema.text, *expected.referenced.values()):
            try:
                entities = formats.list_inline_tags(schema.type, text)
            except InvalidSchema:
                continue  # no record of it can be sampled
            names.update(
                _EVERY if entity.type is EntityType.RECORD else entity.path.rpartition(".")[2] for entity in entities
            )
    return TaggedNames(_EVERY if _EVERY in name else name for name in names)
