"""Encryption keys: key encryption keys (KEKs) and data encryption keys (DEKs) of the DEK registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from contractlog.clients.calls.body_shapes import DEK, KEK, require_shape
from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    Query,
    SubjectLike,
    VersionLike,
    flag_parameters,
    ignore_body,
    page_parameters,
    parse_integers,
    parse_strings,
    query_parameters,
)

__all__ = [
    "Dek",
    "Kek",
    "create_dek",
    "create_kek",
    "dek",
    "dek_subjects",
    "dek_versions",
    "delete_dek",
    "delete_dek_version",
    "delete_kek",
    "kek",
    "keks",
    "test_kek",
    "undelete_dek",
    "undelete_dek_version",
    "undelete_kek",
    "update_kek",
]

_KEKS: Final = ("dek-registry", "v1", "keks")


@dataclass(frozen=True, slots=True)
class Kek:
    """A key encryption key, which stays in a key management service (KMS)."""

    name: str
    kms_type: str
    kms_key_id: str
    kms_props: Mapping[str, str] = field(default_factory=dict)
    doc: str | None = None
    shared: bool = False  #: whether the registry generates and wraps the DEKs
    ts: int | None = None  #: time of the last change, milliseconds since 1970, UTC
    deleted: bool = False

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Parse a response body."""
        require_shape(body, KEK)
        return cls(
            name=body["name"],
            kms_type=body["kmsType"],
            kms_key_id=body["kmsKeyId"],
            kms_props=dict(body.get("kmsProps") or {}),
            doc=body.get("doc"),
            shared=bool(body.get("shared")),
            ts=body.get("ts"),
            deleted=bool(body.get("deleted")),
        )


@dataclass(frozen=True, slots=True)
class Dek:
    """A data encryption key; the keys are base64, and never in its ``repr``."""

    kek_name: str
    subject: str
    version: int
    algorithm: str
    encrypted_key_material: str | None = field(default=None, repr=False)
    key_material: str | None = field(default=None, repr=False)  #: plaintext key, of shared KEKs only
    ts: int | None = None  #: time of its creation, milliseconds since 1970, UTC
    deleted: bool = False

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Parse a response body; without a version, as of releases that had none, it is the first."""
        require_shape(body, DEK)
        return cls(
            kek_name=body["kekName"],
            subject=body["subject"],
            version=body.get("version") or 1,
            algorithm=body["algorithm"],
            encrypted_key_material=body.get("encryptedKeyMaterial"),
            key_material=body.get("keyMaterial"),
            ts=body.get("ts"),
            deleted=bool(body.get("deleted")),
        )


def keks(
    *, subject_prefix: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[str]]:
    """List the names of KEKs; with a prefix, of those with DEKs for subjects that begin so."""
    query = (
        *query_parameters(subjectPrefix=subject_prefix),
        *flag_parameters(deleted=deleted),
        *page_parameters(offset, limit),
    )
    return Call("GET", _KEKS, parse_strings, query)


def kek(name: str, *, deleted: bool = False) -> Call[Kek]:
    """Return a KEK.

    Raises:
        KeyNotFound: there is none, or it is soft-deleted.
    """
    return Call("GET", (*_KEKS, PathParameter(name)), Kek.from_body, flag_parameters(deleted=deleted))


def create_kek(
    name: str,
    kms_type: str,
    kms_key_id: str,
    *,
    shared: bool = False,
    kms_props: Mapping[str, str] | None = None,
    doc: str | None = None,
    test_sharing: bool = False,
) -> Call[Kek]:
    """Create a KEK, or undelete an equal one that was soft-deleted.

    Raises:
        KeyExists: the name is in use.
        InvalidKeyField: a member is not valid, or is a credential.
        KeyGenerationFailed: the registry cannot wrap keys with it, which ``test_sharing`` requires.
    """
    body = {"name": name, "kmsType": kms_type, "kmsKeyId": kms_key_id, "shared": shared}
    body |= {} if kms_props is None else {"kmsProps": dict(kms_props)}
    body |= {} if doc is None else {"doc": doc}
    return Call("POST", _KEKS, Kek.from_body, flag_parameters(testSharing=test_sharing), body, repeatable=False)


def update_kek(
    name: str,
    *,
    kms_props: Mapping[str, str] | None = None,
    doc: str | None = None,
    shared: bool | None = None,
    test_sharing: bool = False,
) -> Call[Kek]:
    """Change the KMS properties, the description or the sharing of a KEK; what is None stays as it is.

    Raises:
        KeyNotFound: there is no such KEK, or it is soft-deleted.
    """
    members = {"kmsProps": None if kms_props is None else dict(kms_props), "doc": doc, "shared": shared}
    body = {member: value for member, value in members.items() if value is not None}
    query = flag_parameters(testSharing=test_sharing)
    return Call("PUT", (*_KEKS, PathParameter(name)), Kek.from_body, query, body)


def test_kek(name: str) -> Call[Kek]:
    """Require that the registry can wrap keys with a shared KEK.

    Raises:
        KeyGenerationFailed: it cannot.
    """
    return Call("POST", (*_KEKS, PathParameter(name), "test"), Kek.from_body)


def delete_kek(name: str, *, permanent: bool = False) -> Call[None]:
    """Soft-delete a KEK without live DEKs; with ``permanent``, hard-delete a soft-deleted one.

    Raises:
        KeyReferenced: it has DEKs.
        KeyNotSoftDeleted: it must be soft-deleted first.
    """
    query = flag_parameters(permanent=permanent)
    return Call("DELETE", (*_KEKS, PathParameter(name)), ignore_body, query, repeatable=False)


def undelete_kek(name: str) -> Call[None]:
    """Undelete a KEK."""
    return Call("POST", (*_KEKS, PathParameter(name), "undelete"), ignore_body)


def dek_subjects(kek_name: str, *, deleted: bool = False, offset: int = 0, limit: int = -1) -> Call[list[str]]:
    """List the subjects that have DEKs under a KEK."""
    query = (*flag_parameters(deleted=deleted), *page_parameters(offset, limit))
    return Call("GET", (*_KEKS, PathParameter(kek_name), "deks"), parse_strings, query)


def dek(
    kek_name: str,
    subject: SubjectLike,
    version: VersionLike | None = None,
    *,
    algorithm: str | None = None,
    deleted: bool = False,
) -> Call[Dek]:
    """Return a DEK; without a version, the first one, and without an algorithm, of AES256_GCM.

    Raises:
        KeyNotFound: there is no such KEK or DEK, or it is soft-deleted.
        KeyGenerationFailed: the KEK is shared, and the registry cannot unwrap the DEK.
    """
    path = _of_subject(kek_name, subject)
    if version is not None:
        path = (*_versions(kek_name, subject), PathParameter(version))
    return Call("GET", path, Dek.from_body, _select(algorithm, deleted=deleted))


def dek_versions(
    kek_name: str,
    subject: SubjectLike,
    *,
    algorithm: str | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[int]]:
    """List the versions of a DEK; without an algorithm, of all."""
    query = (*_select(algorithm, deleted=deleted), *page_parameters(offset, limit))
    return Call("GET", _versions(kek_name, subject), parse_integers, query)


def create_dek(
    kek_name: str,
    subject: SubjectLike,
    encrypted_key_material: str | None = None,
    *,
    version: int = 1,
    algorithm: str | None = None,
    rewrap: bool = False,
) -> Call[Dek]:
    """Create a DEK; the registry generates the key if the KEK is shared and no wrapped key is given.

    Args:
        kek_name: the KEK that wraps the key.
        subject: the subject whose fields the key encrypts.
        encrypted_key_material: the wrapped key, as base64.
        version: of the key.
        algorithm: of the key; AES256_GCM by default.
        rewrap: wrap an existing key again, or replace its wrapped form.

    Raises:
        KeyExists: the version exists.
        KeyNotFound: there is no such KEK.
        InvalidKeyField: the wrapped key is absent and the KEK is not shared, or a member is not valid.
    """
    members = {"algorithm": algorithm, "encryptedKeyMaterial": encrypted_key_material}
    body = {"subject": str(subject), "version": version, **{name: value for name, value in members.items() if value}}
    query = flag_parameters(rewrap=rewrap)
    return Call("POST", _of_subject(kek_name, subject), Dek.from_body, query, body, repeatable=False)


def delete_dek(
    kek_name: str, subject: SubjectLike, *, algorithm: str | None = None, permanent: bool = False
) -> Call[None]:
    """Soft-delete all versions of a DEK; with ``permanent``, hard-delete them if all are soft-deleted.

    Raises:
        KeyNotFound: there is no such KEK or DEK.
        KeyNotSoftDeleted: a version must be soft-deleted first.
    """
    query = (*query_parameters(algorithm=algorithm), *flag_parameters(permanent=permanent))
    return Call("DELETE", _of_subject(kek_name, subject), ignore_body, query, repeatable=False)


def delete_dek_version(
    kek_name: str,
    subject: SubjectLike,
    version: VersionLike,
    *,
    algorithm: str | None = None,
    permanent: bool = False,
) -> Call[None]:
    """Soft-delete a version of a DEK; with ``permanent``, hard-delete a soft-deleted one.

    Raises:
        KeyNotFound: there is no such KEK or DEK.
        KeyNotSoftDeleted: it must be soft-deleted first.
    """
    query = (*query_parameters(algorithm=algorithm), *flag_parameters(permanent=permanent))
    path = (*_versions(kek_name, subject), PathParameter(version))
    return Call("DELETE", path, ignore_body, query, repeatable=False)


def undelete_dek(kek_name: str, subject: SubjectLike, *, algorithm: str | None = None) -> Call[None]:
    """Undelete all versions of a DEK.

    Raises:
        KeySoftDeleted: the KEK must be undeleted first.
    """
    path = (*_of_subject(kek_name, subject), "undelete")
    return Call("POST", path, ignore_body, query_parameters(algorithm=algorithm))


def undelete_dek_version(
    kek_name: str, subject: SubjectLike, version: VersionLike, *, algorithm: str | None = None
) -> Call[None]:
    """Undelete a version of a DEK.

    Raises:
        KeySoftDeleted: the KEK must be undeleted first.
    """
    path = (*_versions(kek_name, subject), PathParameter(version), "undelete")
    return Call("POST", path, ignore_body, query_parameters(algorithm=algorithm))


def _of_subject(kek_name: str, subject: SubjectLike) -> tuple[str, ...]:
    return (*_KEKS, PathParameter(kek_name), "deks", PathParameter(subject))


def _versions(kek_name: str, subject: SubjectLike) -> tuple[str, ...]:
    return (*_of_subject(kek_name, subject), "versions")


def _select(algorithm: str | None, *, deleted: bool) -> Query:
    return (*query_parameters(algorithm=algorithm), *flag_parameters(deleted=deleted))
