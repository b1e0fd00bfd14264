"""Calls with confluent-kafka's names and arguments, whose responses are parsed into its classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls import Call
from contractlog.clients.calls.call import (
    PathParameter,
    flag_parameters,
    pass_body,
    query_parameters,
    scoped_path,
)
from contractlog.clients.confluent.data_classes import (
    Association,
    AssociationCreateOrUpdateRequest,
    AssociationResponse,
    RegisteredSchema,
    Schema,
    SchemaVersion,
    ServerConfig,
)

__all__ = [
    "create_association",
    "delete_config",
    "delete_mode",
    "get_associations_by_resource_name",
    "get_compatibility",
    "get_config",
    "get_contexts",
    "get_global_mode",
    "get_latest_with_metadata",
    "get_mode",
    "get_referenced_by",
    "get_schema",
    "get_schema_by_guid",
    "get_schema_types",
    "get_schema_versions",
    "get_subjects",
    "get_subjects_by_schema_id",
    "get_version",
    "get_versions",
    "lookup_schema",
    "register_schema",
    "set_compatibility",
    "set_config",
    "test_compatibility",
    "test_compatibility_all_versions",
    "update_global_mode",
    "update_mode",
]

T = TypeVar("T")


def register_schema(subject_name: str, schema: Schema, normalize_schemas: bool) -> Call[RegisteredSchema]:
    """Register a schema under a subject; older servers send only the id."""
    return Call(
        "POST",
        ("subjects", PathParameter(subject_name), "versions"),
        lambda body: RegisteredSchema.from_dict({"subject": subject_name} | body),
        flag_parameters(normalize=normalize_schemas),
        schema.to_dict(),
    )


def lookup_schema(
    subject_name: str, schema: Schema, normalize_schemas: bool, fmt: str | None, deleted: bool
) -> Call[RegisteredSchema]:
    """Look up the content of a schema; the result has the requested schema, not the one in the response."""

    def read(body: Any) -> RegisteredSchema:
        registered = RegisteredSchema.from_dict(body)
        return RegisteredSchema(registered.subject, registered.version, registered.schema_id, registered.guid, schema)

    query = (*flag_parameters(normalize=normalize_schemas, deleted=deleted), *query_parameters(format=fmt))
    return Call("POST", ("subjects", PathParameter(subject_name)), read, query, schema.to_dict())


def get_schema(schema_id: int, subject_name: str | None, fmt: str | None, reference_format: str | None) -> Call[Schema]:
    """Return the schema with this id."""
    query = query_parameters(subject=subject_name, format=fmt, referenceFormat=reference_format)
    return Call("GET", ("schemas", "ids", PathParameter(schema_id)), Schema.from_dict, query)


def get_schema_by_guid(guid: str, fmt: str | None) -> Call[Schema]:
    """Return the schema with this guid."""
    return _with_parser(calls.by_guid(guid, format=fmt), Schema.from_dict)


def get_version(
    subject_name: str, version: int | Literal["latest"], deleted: bool, fmt: str | None
) -> Call[RegisteredSchema]:
    """Return one version of a subject."""
    call = calls.version(subject_name, version, deleted=deleted, format=fmt)
    return _with_parser(call, RegisteredSchema.from_dict)


def get_latest_with_metadata(
    subject_name: str, metadata: dict[str, str], deleted: bool, fmt: str | None
) -> Call[RegisteredSchema]:
    """Return the latest version with all these metadata properties."""
    call = calls.latest_with_metadata(subject_name, metadata, deleted=deleted, format=fmt)
    return _with_parser(call, RegisteredSchema.from_dict)


def get_schema_types() -> Call[list[str]]:
    """Return the schema formats that the registry supports."""
    return calls.types()


def get_subjects_by_schema_id(
    schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[str]]:
    """Return all subjects with a version of this id."""
    return calls.subjects_of_id(schema_id, subject=subject_name, deleted=deleted, offset=offset, limit=limit)


def get_schema_versions(
    schema_id: int, subject_name: str | None = None, deleted: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[SchemaVersion]]:
    """Return all versions with this id."""
    call = calls.versions_of_id(schema_id, subject=subject_name, deleted=deleted, offset=offset, limit=limit)
    return _with_parser(call, lambda body: [SchemaVersion.from_dict(item) for item in body])


def get_subjects(
    subject_prefix: str | None = None,
    deleted: bool = False,
    deleted_only: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """Return the names of all subjects."""
    return calls.subjects(prefix=subject_prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)


def get_referenced_by(
    subject_name: str, version: int | Literal["latest"] = "latest", offset: int = 0, limit: int = -1
) -> Call[list[int]]:
    """Return the ids of the schemas that reference a version."""
    return calls.referenced_by(subject_name, version, offset=offset, limit=limit)


def get_versions(
    subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
) -> Call[list[int]]:
    """Return the version numbers of a subject."""
    return calls.versions(subject_name, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)


def set_compatibility(subject_name: str | None = None, level: str | None = None) -> Call[Any]:
    """Set the compatibility level of a subject, or of the registry; return the response body."""
    if level is None:
        raise ValueError("level must be set")
    return Call("PUT", scoped_path("config", subject_name), pass_body, body={"compatibility": level.upper()})


def get_compatibility(subject_name: str | None = None) -> Call[str]:
    """Return the compatibility level of a subject, or of the registry."""
    return _with_parser(get_config(subject_name), lambda body: str(ServerConfig.from_dict(body).compatibility_level))


def test_compatibility(
    subject_name: str,
    schema: Schema,
    version: int | str = "latest",
    normalize: bool = False,
    verbose: bool = False,
) -> Call[bool]:
    """Return whether a candidate is compatible with one version."""
    return _compatibility_call(subject_name, schema, version, normalize, verbose)


def test_compatibility_all_versions(
    subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
) -> Call[bool]:
    """Return whether a candidate is compatible with all versions that the subject's level selects."""
    return _compatibility_call(subject_name, schema, None, normalize, verbose)


def set_config(subject_name: str | None, config: ServerConfig | None) -> Call[Any]:
    """Set the members of ``config`` that are not None; return the response body, as confluent-kafka does."""
    if config is None:
        raise ValueError("config must be set")
    return Call("PUT", scoped_path("config", subject_name), pass_body, body=config.to_dict())


def get_config(subject_name: str | None = None) -> Call[ServerConfig]:
    """Return the config of a subject, or of the registry."""
    return Call("GET", scoped_path("config", subject_name), ServerConfig.from_dict)


def delete_config(subject_name: str | None = None) -> Call[ServerConfig]:
    """Delete the config of a subject, so that it inherits again; return the config that was in force."""
    return Call("DELETE", scoped_path("config", subject_name), ServerConfig.from_dict, repeatable=False)


def get_mode(subject_name: str) -> Call[str]:
    """Return the mode of a subject."""
    return Call("GET", scoped_path("mode", subject_name), _parse_mode)


def update_mode(subject_name: str, mode: str, force: bool = False) -> Call[str]:
    """Set the mode of a subject, and return it."""
    return Call("PUT", scoped_path("mode", subject_name), _parse_mode, flag_parameters(force=force), {"mode": mode})


def delete_mode(subject_name: str) -> Call[str]:
    """Delete the mode of a subject, so that it inherits again; return the mode that was in force."""
    return Call("DELETE", scoped_path("mode", subject_name), _parse_mode, repeatable=False)


def get_global_mode() -> Call[str]:
    """Return the mode of the registry."""
    return Call("GET", scoped_path("mode", None), _parse_mode)


def update_global_mode(mode: str, force: bool = False) -> Call[str]:
    """Set the mode of the registry, and return it."""
    return Call("PUT", scoped_path("mode", None), _parse_mode, flag_parameters(force=force), {"mode": mode})


def get_contexts(offset: int = 0, limit: int = -1) -> Call[list[str]]:
    """Return the names of all contexts."""
    return calls.contexts(offset=offset, limit=limit)


def get_associations_by_resource_name(
    resource_name: str,
    resource_namespace: str,
    resource_type: str | None = None,
    association_types: list[str] | None = None,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[Association]]:
    """Return the associations of a resource; ``-`` matches any namespace."""
    call = calls.associations_by_resource_name(
        resource_name,
        namespace=resource_namespace,
        resource_type=resource_type,
        association_types=association_types or (),
        offset=offset,
        limit=limit if limit > 0 else -1,
    )
    return _with_parser(call, lambda body: [Association.from_dict(item) for item in body])


def create_association(request: AssociationCreateOrUpdateRequest) -> Call[AssociationResponse]:
    """Bind subjects to a resource."""
    return Call("POST", ("associations",), AssociationResponse.from_dict, body=request.to_dict())


def _with_parser(call: Call[Any], read: Callable[[Any], T]) -> Call[T]:
    return Call(call.method, call.segments, read, call.query, call.body, call.repeatable, call.text)


def _compatibility_call(
    subject: str, schema: Schema, version: int | str | None, normalize: bool, verbose: bool
) -> Call[bool]:
    version_segment = () if version is None else (PathParameter(version),)
    return Call(
        "POST",
        ("compatibility", "subjects", PathParameter(subject), "versions", *version_segment),
        lambda body: bool(body["is_compatible"]),
        flag_parameters(normalize=normalize, verbose=verbose),
        schema.to_dict(),
    )


def _parse_mode(body: Any) -> str:
    return str(body["mode"])
