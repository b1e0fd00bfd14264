"""Messages about names that no schema file defines: Avro types, targets of a ``$ref``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.avro.types import PRIMITIVES
from contractlog.compatibility.json_positions import locate_pointers
from contractlog.compatibility.json_text import parse_pointer
from contractlog.compatibility.reference_names import ExternalName

_PRIMITIVE_SIMILARITY: Final = 0.8  #: so that `lng` is near to `long`, but not `Point` to `int`

__all__ = ["describe_undefined_type", "describe_unresolved_reference", "list_unresolved"]


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
    if path.resolve() == file.resolve():
        message = f'"{written}" is this file itself, whose name a registry does not know: write "#" in place of it'
        return f'{message} ("{written}#/definitions/x" is "#/definitions/x")', ""
    if path.is_file():
        return f'the file of "{written}", `{path}`, is not one of this command: name it, or a folder above it', nearest
    return f'"{written}" leads to `{path}`, which does not exist{hint or "; correct the path"}', nearest


def describe_undefined_type(file: Path, external: ExternalName, names: Iterable[str]) -> tuple[str, str]:  # noqa: ARG001 - called as the function above
    """Return a message about an Avro type that no file defines, and the nearest name, or an empty one."""
    written = external.simple_name or external.name
    close = [
        *get_close_matches(written, PRIMITIVES, 1, _PRIMITIVE_SIMILARITY),
        *get_close_matches(external.name, [*names, *PRIMITIVES], 1),
    ]
    nearest = next(iter(close), "")
    hint = f'did you mean "{nearest}"? Otherwise ' if nearest else ""
    return (
        f'the type "{external.name}" is not defined: {hint}pass the file that defines it, or take it from the registry '
        f'with "{external.name}" = "SUBJECT:VERSION" in [files.references] of contractlog.toml, or '
        f"--reference {external.name}=SUBJECT:VERSION"
    ), nearest


def list_unresolved(file: SchemaFile, pointer: str | None, referenced: Collection[str] = ()) -> list[str]:
    """Return the messages about all unresolved names of a file, if one of them is at a position.

    Args:
        file: the file.
        pointer: the position of the first error.
        referenced: the names of references, which may resolve names that no file defines.
    """
    first = next((each for each in file.unresolved if each.pointer == pointer), None)
    if first is None and file.unresolved and pointer and pointer.endswith("/$ref"):  # not the first use
        value = json.loads(file.draft.text)
        for token in parse_pointer(pointer):
            value = value[int(token)] if isinstance(value, list) else value[token]
        written = str(value).partition("#")[0]
        first = next((each for each in file.unresolved if each.name == written), None)
    if first is None:
        return []
    missing = [each for each in file.unresolved if each is first or each.name not in referenced]
    positions = locate_pointers(file.draft.text, [each.pointer for each in missing])
    return [f"{file.path}:{position}: {each.message}" for each, position in zip(missing, positions, strict=True)]
