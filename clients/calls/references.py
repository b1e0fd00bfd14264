"""Resolution of references: calls that fetch all dependencies of a schema."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from contractlog.clients.calls.call import Call, SubjectLike
from contractlog.clients.calls.versions import version
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft

__all__ = ["MAX_REFERENCED", "referenced", "resolve_subject"]


MAX_REFERENCED: Final = 1_000  #: most direct and indirect dependencies of a schema


def referenced(
    draft: SchemaDraft, *, subject: SubjectLike | None = None
) -> Generator[Call[RegisteredSchema], RegisteredSchema, dict[str, str]]:
    """Fetch all dependencies of a draft; return their texts by name, each after its own dependencies.

    Args:
        draft: the schema whose references are followed.
        subject: of the draft; unqualified names in references are resolved in its context.

    Raises:
        InvalidSchema: the references form a cycle, or there are more than ``MAX_REFERENCED`` dependencies.
    """
    texts: dict[str, str] = {}
    unresolved: set[str] = set()
    start = Subject.parse(str(subject)).context if subject is not None else DEFAULT_CONTEXT
    # Stack of (reference to follow, or None once its own references are resolved; name; text; context).
    pending: list[tuple[Reference | None, str, str, str]] = [(r, r.name, "", start) for r in reversed(draft.references)]
    while pending:
        reference, name, text, context = pending.pop()
        if reference is None:
            texts[name] = text
            unresolved.discard(name)
            continue
        if name in texts:
            continue
        if name in unresolved:
            raise InvalidSchema(f"the reference `{name}` leads back to itself")
        if len(texts) + len(unresolved) >= MAX_REFERENCED:
            raise InvalidSchema(f"a schema may depend on at most {MAX_REFERENCED} others")
        target_subject = resolve_subject(reference.subject, context)
        schema = yield version(target_subject, "latest" if reference.version < 0 else reference.version, deleted=True)
        unresolved.add(name)
        pending.append((None, name, schema.text, target_subject.context))
        pending.extend((r, r.name, "", target_subject.context) for r in reversed(schema.references))
    return texts


def resolve_subject(subject: str, context: str) -> Subject:
    """Return the subject of a reference in a schema of this context."""
    parsed = Subject.parse(subject)
    return parsed if subject.startswith(":.") else Subject(context, parsed.name)
