"""Schemas by id, and what formats there are."""

from __future__ import annotations

from contractlog.clients.calls.call import Call, SubjectLike, flags, stored, texts
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["by_id", "types", "versions_of_id"]


def by_id(schema_id: int, *, subject: SubjectLike | None = None) -> Call[RegisteredSchema]:
    """GET /schemas/ids/{id}."""
    return Call(
        "GET",
        ("schemas", "ids", str(schema_id)),
        lambda body: stored(body, schema_id=schema_id),
        () if subject is None else (("subject", str(subject)),),
    )


def versions_of_id(schema_id: int, *, deleted: bool = False) -> Call[list[tuple[str, int]]]:
    """GET /schemas/ids/{id}/versions."""
    return Call(
        "GET",
        ("schemas", "ids", str(schema_id), "versions"),
        lambda body: [(str(use["subject"]), int(use["version"])) for use in body],
        flags(deleted=deleted),
    )


def types() -> Call[list[str]]:
    """GET /schemas/types."""
    return Call("GET", ("schemas", "types"), texts)
