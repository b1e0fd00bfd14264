"""``AsyncSchemaRegistryClient``'s methods for compatibility, config, modes, contexts and associations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls import Call
from contractlog.clients.confluent import confluent_calls
from contractlog.clients.confluent.associations import (
    Association,
    AssociationCreateOrUpdateRequest,
    AssociationResponse,
)
from contractlog.clients.confluent.response_caches import ResponseCaches
from contractlog.clients.confluent.schema import Schema, ServerConfig

__all__ = ["AsyncConfigMethods"]

T = TypeVar("T")


class AsyncConfigMethods(ABC):
    """Base class with the methods for compatibility, config, modes, contexts and associations."""

    _caches: ResponseCaches

    @abstractmethod
    async def _send(self, call: Call[T]) -> T:
        """Send a call; raise errors as ``SchemaRegistryError``."""

    async def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> Any:
        """Set the compatibility level of a subject, or of the registry; return the response body."""
        if level is None:
            raise ValueError("level must be set")
        return await self._send(confluent_calls.set_config(subject_name, {"compatibility": level.upper()}))

    async def get_compatibility(self, subject_name: str | None = None) -> str:
        """Return the compatibility level of a subject, or of the registry."""
        config = await self._send(confluent_calls.config(subject_name))
        return str(config.compatibility_level)

    async def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: int | str = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Return whether a candidate is compatible with one version."""
        return await self._send(
            confluent_calls.check(subject_name, schema, version, normalize=normalize, verbose=verbose)
        )

    async def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Return whether a candidate is compatible with all versions that the subject's level selects."""
        return await self._send(confluent_calls.check(subject_name, schema, None, normalize=normalize, verbose=verbose))

    async def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> Any:
        """Set the members of ``config`` that are not None; return the response body."""
        if config is None:
            raise ValueError("config must be set")
        try:
            return await self._send(confluent_calls.set_config(subject_name, config.to_dict()))
        finally:
            self._caches.clear_latest()

    async def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Delete the config of a subject, so that it inherits again; return the config that was in force."""
        return await self._send(confluent_calls.config(subject_name, method="DELETE"))

    async def get_config(self, subject_name: str | None = None) -> ServerConfig:
        """Return the config of a subject, or of the registry."""
        return await self._send(confluent_calls.config(subject_name))

    async def get_mode(self, subject_name: str) -> str:
        """Return the mode of a subject."""
        return await self._send(confluent_calls.mode(subject_name))

    async def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Set the mode of a subject, and return it."""
        return await self._send(confluent_calls.set_mode(subject_name, mode, force=force))

    async def delete_mode(self, subject_name: str) -> str:
        """Delete the mode of a subject, so that it inherits again; return the mode that was in force."""
        return await self._send(confluent_calls.mode(subject_name, method="DELETE"))

    async def get_global_mode(self) -> str:
        """Return the mode of the registry."""
        return await self._send(confluent_calls.mode(None))

    async def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Set the mode of the registry, and return it."""
        return await self._send(confluent_calls.set_mode(None, mode, force=force))

    async def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of all contexts."""
        return await self._send(calls.contexts(offset=offset, limit=limit))

    async def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return the associations of a resource; ``-`` matches any namespace."""
        return await self._send(
            confluent_calls.associations(
                resource_name, resource_namespace, resource_type, association_types, offset=offset, limit=limit
            )
        )

    async def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Bind subjects to a resource."""
        try:
            return await self._send(confluent_calls.bind(request))
        finally:
            self._caches.clear_latest()

    async def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> None:
        """Remove the associations of a resource; ``cascade_lifecycle`` also deletes the subjects it owns."""
        try:
            await self._send(
                calls.unbind(
                    resource_id,
                    resource_type=resource_type,
                    association_types=association_types or (),
                    cascade=cascade_lifecycle,
                )
            )
        finally:
            self._caches.clear()
