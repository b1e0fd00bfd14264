"""Following references, one call after the other."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from contractlog.clients.calls.call import Call, SubjectLike
from contractlog.clients.calls.versions import version
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft

__all__ = ["MAX_REFERENCED", "in_context", "referenced"]


MAX_REFERENCED: Final = 1_000  #: schemas that one schema may lean on, directly or not, before the walk is given up


def referenced(
    draft: SchemaDraft, *, subject: SubjectLike | None = None
) -> Generator[Call[RegisteredSchema], RegisteredSchema, dict[str, str]]:
    """Ask for every schema that a draft leans on; return their texts by name, those that lean on nothing first.

    Args:
        draft: whose references are followed.
        subject: under which the draft stands; plain names in references mean its context.

    Raises:
        InvalidSchema: schemas that lean on each other in a circle, or more than ``MAX_REFERENCED`` of them.
    """
    texts: dict[str, str] = {}
    open_names: set[str] = set()
    start = Subject.parse(str(subject)).context if subject is not None else DEFAULT_CONTEXT
    # Each entry: a reference to follow (None once its own references are done), its name, its text.
    pending: list[tuple[Reference | None, str, str, str]] = [(r, r.name, "", start) for r in reversed(draft.references)]
    while pending:
        reference, name, text, context = pending.pop()
        if reference is None:
            texts[name] = text
            open_names.discard(name)
            continue
        if name in texts:
            continue
        if name in open_names:
            raise InvalidSchema(f"the reference `{name}` leads back to itself")
        if len(texts) + len(open_names) >= MAX_REFERENCED:
            raise InvalidSchema(f"a schema may lean on at most {MAX_REFERENCED} others")
        home = in_context(reference.subject, context)
        found = yield version(home, "latest" if reference.version < 0 else reference.version, deleted=True)
        open_names.add(name)
        pending.append((None, name, found.text, home.context))
        pending.extend((r, r.name, "", home.context) for r in reversed(found.references))
    return texts


def in_context(subject: str, context: str) -> Subject:
    """Return the subject that a reference means in a schema of this context."""
    parsed = Subject.parse(subject)
    return parsed if subject.startswith(":.") else Subject(context, parsed.name)
