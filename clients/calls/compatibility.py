"""Calls about compatibility."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.clients.calls.call import Call, PathParameter, SubjectLike, VersionLike, flag_parameters
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["CompatibilityAnswer", "check"]


@dataclass(frozen=True, slots=True)
class CompatibilityAnswer:
    """Verdict of the registry on a candidate; ``messages`` are the reasons why it is incompatible."""

    compatible: bool
    messages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.compatible


def check(
    subject: SubjectLike, draft: SchemaDraft, *, number: VersionLike | None = None, normalize: bool = False
) -> Call[CompatibilityAnswer]:
    """POST /compatibility/subjects/{subject}/versions[/{version}].

    Without a number, the candidate is checked against all versions that the level selects.
    """
    version_segment = () if number is None else (PathParameter(number),)
    return Call(
        "POST",
        ("compatibility", "subjects", PathParameter(subject), "versions", *version_segment),
        lambda body: CompatibilityAnswer(bool(body["is_compatible"]), tuple(map(str, body.get("messages") or ()))),
        (*flag_parameters(normalize=normalize), ("verbose", "true")),
        draft.body(),
    )
