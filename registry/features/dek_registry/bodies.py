"""Request and response bodies of the DEK registry, with members in the reference's order."""

from __future__ import annotations

import base64
from typing import Self

from msgspec import UNSET, Struct, UnsetType

from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.features.dek_registry.key_values import StoredDek, StoredKek, normalize_kms_type

__all__ = ["CreateDekRequest", "CreateKekRequest", "DekBody", "KekBody", "UpdateKekRequest"]


class CreateKekRequest(Struct, rename="camel"):
    """A KEK to create."""

    name: str | None = None
    kms_type: str | None = None
    kms_key_id: str | None = None
    kms_props: dict[str, str] | None = None
    doc: str | None = None
    shared: bool | None = None
    deleted: bool | None = None

    def kek(self) -> StoredKek:
        """Build the KEK."""
        return StoredKek(
            name=self.name or "",
            kms_type=normalize_kms_type(self.kms_type or ""),
            kms_key_id=self.kms_key_id or "",
            kms_props=self.kms_props or None,
            doc=self.doc or None,
            shared=bool(self.shared),
            deleted=bool(self.deleted),
        )


class UpdateKekRequest(Struct, rename="camel"):
    """Changes of a KEK; absent members stay as they are, and null removes them."""

    kms_props: dict[str, str] | UnsetType | None = UNSET
    doc: str | UnsetType | None = UNSET
    shared: bool | UnsetType | None = UNSET


class CreateDekRequest(Struct, rename="camel"):
    """A DEK to create; the registry generates its key if the KEK is shared and no wrapped key is given."""

    subject: str | None = None
    version: int | None = None
    algorithm: DekAlgorithm | None = None
    encrypted_key_material: str | None = None
    deleted: bool | None = None


class KekBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A KEK."""

    name: str
    kms_type: str
    kms_key_id: str
    kms_props: dict[str, str] | None = None
    doc: str | None = None
    shared: bool
    ts: int  #: time of the last change, milliseconds since 1970, UTC
    deleted: bool = False

    @classmethod
    def of(cls, kek: StoredKek) -> Self:
        """Build the body."""
        return cls(
            name=kek.name,
            kms_type=kek.kms_type,
            kms_key_id=kek.kms_key_id,
            kms_props=dict(kek.kms_props) if kek.kms_props else None,
            doc=kek.doc,
            shared=kek.shared,
            ts=kek.updated_at,
            deleted=kek.deleted,
        )


class DekBody(Struct, omit_defaults=True, rename="camel", kw_only=True):
    """A DEK; ``keyMaterial`` is the plaintext key, and present only if its KEK is shared."""

    kek_name: str
    subject: str
    version: int
    algorithm: DekAlgorithm
    encrypted_key_material: str
    key_material: str | None = None
    ts: int  #: time of its creation, milliseconds since 1970, UTC
    deleted: bool = False

    @classmethod
    def of(cls, dek: StoredDek, key: bytes | None) -> Self:
        """Build the body; ``key`` is the plaintext key, if the caller receives it."""
        return cls(
            kek_name=dek.id.kek_name,
            subject=str(dek.id.subject),
            version=dek.id.version,
            algorithm=dek.id.algorithm,
            encrypted_key_material=dek.wrapped_key,
            key_material=None if key is None else base64.b64encode(key).decode(),
            ts=dek.created_at,
            deleted=dek.deleted,
        )
