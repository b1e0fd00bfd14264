"""Rules for the fields of new versions, in force where the config member ``validateFields`` is set."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import FORMATS, list_top_level_fields
from contractlog.compatibility.metadata_inheritance import list_reserved_fields
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["find_reserved_conflicts", "reject_invalid_field_names"]

_REMOVED_MESSAGE: Final = (
    "The new schema has reserved field {} removed from its metadata which is present in the old schema's metadata."
)
_CONFLICT_MESSAGE: Final = "The new schema has field that conflicts with the reserved field {}."


def reject_invalid_field_names(parsed: ParsedSchema) -> None:
    """Raise ``InvalidSchema`` if a field has the prefix that is reserved."""
    prefix = FORMATS[parsed.type].reserved_field_prefix
    if prefix and any(name.startswith(prefix) for name in list_top_level_fields(parsed)):
        raise InvalidSchema(f"Field names cannot start with {prefix} prefix")


def find_reserved_conflicts(
    parsed: ParsedSchema, metadata: Metadata | None, previous: Metadata | None
) -> tuple[str, ...]:
    """Return violations of reserved fields: one must stay reserved, and the schema must not use it.

    Args:
        parsed: the new version.
        metadata: its metadata, complete with those that it inherits.
        previous: the metadata of the version before it.
    """
    reserved = list_reserved_fields(metadata)
    removed = [name for name in list_reserved_fields(previous) if name not in reserved]
    used = set(list_top_level_fields(parsed)) if reserved else set()
    return (
        *map(_REMOVED_MESSAGE.format, removed),
        *(_CONFLICT_MESSAGE.format(name) for name in reserved if name in used),
    )
