"""Content keywords of JSON Schema, which are annotations here, as in ``jsonschema`` and draft 2020-12.

jsonschema-rs asserts them in drafts 6 and 7, without an option, so they are removed before a schema is prepared.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["remove_content_keywords"]

_CONTENT_KEYWORDS: Final = frozenset({"contentEncoding", "contentMediaType"})
_VALUE_KEYWORDS: Final = frozenset({"const", "enum"})  #: whose contents are values, never schemas
_NAMING_KEYWORDS: Final = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}
)  #: whose members have any name


def remove_content_keywords(schema: Any) -> Any:
    """Return a schema without its content keywords; properties and values of their names are not changed."""
    if isinstance(schema, list):
        return [remove_content_keywords(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: _remove_inside(keyword, argument)
        for keyword, argument in schema.items()
        if keyword not in _CONTENT_KEYWORDS or not isinstance(argument, str)  # others are invalid, or not keywords
    }


def _remove_inside(keyword: str, argument: Any) -> Any:
    if keyword in _VALUE_KEYWORDS:
        return argument
    if keyword in _NAMING_KEYWORDS and isinstance(argument, dict):
        return {name: remove_content_keywords(part) for name, part in argument.items()}
    return remove_content_keywords(argument)
