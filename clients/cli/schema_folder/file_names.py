"""Names of schema files: the subject, the format and the version that follow from a path.

The subject and the format follow from the name: ``<topic>-value.avsc``, ``<topic>-key.avsc``,
``<topic>-value.schema.json``; characters not allowed in file names are percent-encoded. The version is the name of the
folder, if that is a number.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from contractlog.compatibility.identifiers import split_topic_subject
from contractlog.compatibility.schema import SchemaType

__all__ = [
    "CONTRACT_SUFFIX",
    "FOLDER_SUFFIXES",
    "SUFFIXES",
    "file_name",
    "folder_version",
    "format_of",
    "has_subject_in_name",
    "has_topic_subject",
    "subject_from_name",
]

SUFFIXES: Final = {SchemaType.AVRO: ".avsc", SchemaType.JSON: ".schema.json", SchemaType.PROTOBUF: ".proto"}
CONTRACT_SUFFIX: Final = ".contract.yaml"  #: of the contract of a topic, beside its schemas
FOLDER_SUFFIXES: Final = (".avsc", ".schema.json")  #: of schema files, whatever they contain
_FORMATS: Final = {".avsc": SchemaType.AVRO, ".schema.json": SchemaType.JSON, ".json": SchemaType.JSON}
_MAX_NAME: Final = 255  #: bytes; the limit of common file systems
_TRUNCATED_LENGTH: Final = 200  #: characters left of a name that is too long


def format_of(path: Path) -> SchemaType | None:
    """Return the format by the suffix of a file name, or None if it is unknown."""
    return next((kind for ending, kind in _FORMATS.items() if path.name.endswith(ending)), None)


def subject_from_name(path: Path) -> str:
    """Return the subject in a file name, without checking that it is one.

    >>> subject_from_name(Path("schemas/2/orders-value.avsc"))
    'orders-value'
    """
    return unquote(path.name.removesuffix(next((ending for ending in _FORMATS if path.name.endswith(ending)), "")))


def folder_version(path: Path) -> int | None:
    """Return the number that the folder of a file is named by, or None."""
    folder = path.absolute().parent.name
    return int(folder) if folder.isascii() and folder.isdigit() and len(folder) <= len(str(2**31)) else None


def has_topic_subject(path: Path) -> bool:
    """Return whether a file is named ``<topic>-value`` or ``<topic>-key``."""
    return split_topic_subject(subject_from_name(path)) is not None


def file_name(subject: str, kind: SchemaType) -> str:
    """Return the file name for a subject.

    >>> file_name("a/b-value", SchemaType.JSON)
    'a%2Fb-value.schema.json'

    A name that is too long for a file system is truncated, and a hash is appended.
    """
    name = quote(subject, safe=" ") + SUFFIXES[kind]
    if len(name) <= _MAX_NAME:
        return name
    return f"{name[:_TRUNCATED_LENGTH]}~{sha256(name.encode()).hexdigest()[:16]}{SUFFIXES[kind]}"


def has_subject_in_name(subject: str) -> bool:
    """Return whether the subject can be recovered from its file name."""
    longest = len(quote(subject, safe=" ")) + max(map(len, SUFFIXES.values()))
    return split_topic_subject(subject) is not None and longest <= _MAX_NAME
