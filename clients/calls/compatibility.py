"""What may follow."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.clients.calls.call import Call, Named, SubjectLike, VersionLike, flags
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["CompatibilityAnswer", "check"]


@dataclass(frozen=True, slots=True)
class CompatibilityAnswer:
    """What the registry says of a schema that might follow; ``messages`` are its reasons against."""

    compatible: bool
    messages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.compatible


def check(
    subject: SubjectLike, draft: SchemaDraft, *, number: VersionLike | None = None, normalize: bool = False
) -> Call[CompatibilityAnswer]:
    """POST /compatibility/subjects/{subject}/versions[/{version}]; without a number, all that the level selects."""
    one = () if number is None else (Named(number),)
    return Call(
        "POST",
        ("compatibility", "subjects", Named(subject), "versions", *one),
        lambda body: CompatibilityAnswer(bool(body["is_compatible"]), tuple(map(str, body.get("messages") or ()))),
        (*flags(normalize=normalize), ("verbose", "true")),
        draft.body(),
    )
