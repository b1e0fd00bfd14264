"""Values of the DEK registry: keys, their identities, and the validation of their members."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from contractlog.compatibility.errors import InvalidKeyField
from contractlog.compatibility.identifiers import MAX_VERSION, Subject
from contractlog.contracts.encryption.algorithms import DekAlgorithm, create_cipher
from contractlog.contracts.encryption.errors import InvalidKeyMaterial
from contractlog.registry.storage.store_values import subject_key

__all__ = [
    "DekId",
    "DekKey",
    "StoredDek",
    "StoredKek",
    "decode_wrapped_key",
    "normalize_kms_type",
    "validate_kek",
    "validate_kek_name",
    "validate_subject",
    "validate_version",
]

_MAX_NAME: Final = 256
_MAX_KMS_TYPE: Final = 64
_MAX_KMS_KEY_ID: Final = 2_048
_MAX_DOC: Final = 65_536
_MAX_KMS_PROPERTIES: Final = 16_384  #: characters of all names and values
_MAX_WRAPPED_KEY: Final = 16_384  #: base64 characters
_CREDENTIAL: Final = re.compile(r"secret|password|token|credential|jaas|private[._-]?key(?![._-]?id)", re.IGNORECASE)
_USER_INFORMATION: Final = re.compile(r"://[^/?#]*@")  #: user and password in a URL
_KMS_TYPE_PREFIXES: Final = {"aws": "aws-kms", "azure": "azure-kms", "gcp": "gcp-kms"}


DekKey: TypeAlias = tuple[str, Subject, str, int]  #: KEK, subject, algorithm and version


@dataclass(frozen=True, slots=True)
class StoredKek:
    """A key encryption key, which stays in a key management service (KMS)."""

    name: str
    kms_type: str
    kms_key_id: str
    kms_props: Mapping[str, str] | None
    doc: str | None
    shared: bool  #: whether the registry generates and wraps the DEKs
    updated_at: int = 0  #: milliseconds since 1970, UTC
    deleted: bool = False

    def is_equivalent(self, other: StoredKek) -> bool:
        """Return True if all members but the times and ``deleted`` are equal."""
        return self.facts == other.facts

    @property
    def facts(self) -> tuple[Any, ...]:
        """The members that creations and updates set."""
        return self.name, self.kms_type, self.kms_key_id, dict(self.kms_props or {}), self.doc or None, self.shared


@dataclass(frozen=True, slots=True)
class DekId:
    """Identity of a data encryption key."""

    kek_name: str
    subject: Subject
    algorithm: DekAlgorithm
    version: int

    def columns(self) -> dict[str, Any]:
        """Return the primary key of the row."""
        key = subject_key(self.subject)
        members = {"kek_name": self.kek_name, "subject_key": key, "algorithm": self.algorithm.value}
        return {**members, "version": self.version}

    @property
    def change_log_name(self) -> str:
        """The name in the change log."""
        return f"{self.kek_name}/{self.subject}/{self.algorithm}/{self.version}"


@dataclass(frozen=True, slots=True)
class StoredDek:
    """A data encryption key, wrapped by its KEK; never in plaintext."""

    id: DekId
    wrapped_key: str = field(repr=False)  #: base64
    created_at: int = 0  #: milliseconds since 1970, UTC
    deleted: bool = False

    @property
    def key(self) -> DekKey:
        """The identity, in an order."""
        return self.id.kek_name, self.id.subject, self.id.algorithm.value, self.id.version


def validate_kek_name(name: str | None) -> str:
    """Return the name of a KEK: a letter or ``_``, then letters, digits, ``_`` and ``-``.

    Raises:
        InvalidKeyField: the name is anything else, or longer than 256 characters.
    """
    if not name or len(name) > _MAX_NAME or not (name[0].isalpha() or name[0] == "_"):
        raise InvalidKeyField(field="name")
    if not all(character.isalpha() or character.isdecimal() or character in "_-" for character in name):
        raise InvalidKeyField(field="name")
    return name


def validate_subject(text: str | None) -> Subject:
    """Parse the subject of a DEK, which need not be registered.

    Raises:
        InvalidKeyField: it is empty, or has a control character.
        InvalidSubject: the name is reserved or too long.
    """
    if not text or any(unicodedata.category(character) == "Cc" for character in text):
        raise InvalidKeyField(field="subject")
    subject = Subject.parse(text)
    if not subject.name:
        raise InvalidKeyField(field="subject")
    return subject.validate()


def validate_version(version: int | None) -> int:
    """Return the version of a new DEK; 1 by default.

    Raises:
        InvalidKeyField: it is not from 1 to 2^31 - 1.
    """
    if version is None:
        return 1
    if not 1 <= version <= MAX_VERSION:
        raise InvalidKeyField(field="version")
    return version


def normalize_kms_type(kms_type: str) -> str:
    """Return the name of a KMS type in the notation of the reference; unknown names stay as they are.

    >>> normalize_kms_type("AWS"), normalize_kms_type("local-kms")
    ('aws-kms', 'local-kms')
    """
    for prefix, name in _KMS_TYPE_PREFIXES.items():
        if kms_type.lower().startswith(prefix):
            return name
    return kms_type


def validate_kek(kek: StoredKek) -> StoredKek:
    """Return a KEK if its members can be stored.

    Raises:
        InvalidKeyField: a member is absent, too long, has a NUL, or is a credential of the KMS.
    """
    properties = kek.kms_props or {}
    texts = {"kmsKeyId": (kek.kms_key_id, _MAX_KMS_KEY_ID), "kmsType": (kek.kms_type, _MAX_KMS_TYPE)}
    for member, (text, maximum) in texts.items():
        if not text or not _is_storable(text, maximum):
            raise InvalidKeyField(field=member)
    if not _is_storable(kek.doc or "", _MAX_DOC):
        raise InvalidKeyField(field="doc")
    if not _is_storable("".join((*properties, *properties.values())), _MAX_KMS_PROPERTIES):
        raise InvalidKeyField(field="kmsProps")
    for name in properties:
        if _CREDENTIAL.search(name):
            raise _credential_error("kmsProps", f"`{name}`")
    if _USER_INFORMATION.search(kek.kms_key_id):
        raise _credential_error("kmsKeyId", "what stands before the @ of the address")
    return kek


def _credential_error(member: str, part: str) -> InvalidKeyField:
    detail = f"{part} is a credential, which is never stored. Configure it where the keys are used"
    return InvalidKeyField(f"Invalid or missing value for field '{member}' of key: {detail}", field=member)


def _is_storable(text: str, maximum: int) -> bool:
    return len(text) <= maximum and not any(character == "\0" or "\ud800" <= character < "\ue000" for character in text)


def decode_wrapped_key(text: str, algorithm: DekAlgorithm) -> bytes:
    """Decode the wrapped key of a request.

    Raises:
        InvalidKeyField: it is not base64, is too long, or is a plaintext key.
    """
    member = "encryptedKeyMaterial"
    try:
        wrapped = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidKeyField(field=member) from None
    if not wrapped or len(text) > _MAX_WRAPPED_KEY:
        raise InvalidKeyField(field=member)
    try:
        create_cipher(algorithm, wrapped)
    except InvalidKeyMaterial:
        return wrapped
    detail = "the key is not wrapped. Wrap it with the KEK, and create a new key, because this one was disclosed"
    raise InvalidKeyField(f"Invalid or missing value for field '{member}' of key: {detail}", field=member)
