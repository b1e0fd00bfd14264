"""Texts of registered schemas as ``contractlog pull`` writes them to files."""

from __future__ import annotations

from dataclasses import replace

from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.schema import RegisteredSchema, SchemaType

__all__ = ["format_file_text", "format_text"]


def format_text(schema: RegisteredSchema) -> str:
    """Return the text of a schema with one member per line, if it is JSON."""
    return schema.text if schema.type is SchemaType.PROTOBUF else format_json(schema.text)


def format_file_text(registry: Registry, schema: RegisteredSchema, subject: str) -> str:
    """Return the text of a version for its file: formatted, without definitions of its references."""
    if schema.references:
        # slow to import, not needed for most schemas
        from contractlog.compatibility.formats import omit_shared_definitions, repeats_definitions  # noqa: PLC0415

        if not repeats_definitions(schema.type):
            return format_text(schema)
        try:
            referenced = registry.referenced(schema.draft, subject=subject)
        except (InvalidSchema, NotFound):  # too many, or a hard-deleted one
            return format_text(schema)
        schema = replace(schema, text=omit_shared_definitions(schema.draft, referenced))
    return format_text(schema)
