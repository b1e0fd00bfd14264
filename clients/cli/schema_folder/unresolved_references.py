"""Messages about a ``$ref`` of a JSON schema that leads to no file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.json_text import parse_pointer
from contractlog.compatibility.schema_names import ExternalName

__all__ = ["describe_unresolved_reference", "find_unresolved_reference"]


def describe_unresolved_reference(file: Path, external: ExternalName, names: Iterable[str]) -> tuple[str, str]:
    """Return a message about a reference that leads to no file, and the nearest name, or an empty one.

    Args:
        file: the file with the reference.
        external: the reference.
        names: names that references can have: paths relative to the file, or ids.
    """
    written = external.path or external.name
    nearest = next(iter(get_close_matches(written, list(names), 1)), "")
    hint = f'; did you mean "{nearest}"?' if nearest else ""
    if not external.path:
        way_out = hint or "; correct it, or name its subject in contractlog.toml or with --reference"
        return f'"{written}" is the `$id` of no file of this command{way_out}', nearest
    path = Path(file.parent, written)
    if path.is_file():
        return f'the file of "{written}", `{path}`, is not one of this command: name it, or a folder above it', nearest
    return f'"{written}" leads to `{path}`, which does not exist{hint or "; correct the path"}', nearest


def find_unresolved_reference(file: SchemaFile, pointer: str | None) -> str | None:
    """Return the message about the ``$ref`` at a position of a file, if it leads to no file."""
    if not (file.unresolved and pointer and pointer.endswith("/$ref")):
        return None
    value = json.loads(file.draft.text)
    for token in parse_pointer(pointer):
        value = value[int(token)] if isinstance(value, list) else value[token]
    written = str(value).partition("#")[0]
    return dict(file.unresolved).get(written)
