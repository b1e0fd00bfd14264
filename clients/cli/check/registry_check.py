"""Compatibility check by the registry, as far as a server can check."""

from __future__ import annotations

from dataclasses import dataclass, replace

from contractlog.clients.calls import VersionLike
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidSchema, ServerError, SubjectNotFound
from contractlog.compatibility.formats import FORMATS
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["RegistryVerdict", "check_by_registry"]


@dataclass(frozen=True, slots=True)
class RegistryVerdict:
    """Verdict of the registry on a candidate."""

    compatible: bool | None  #: None: the registry could not check it
    messages: tuple[str, ...] = ()  #: reasons given by the registry
    failure: str = ""  #: reason why it could not check

    @property
    def note(self) -> str:
        """The lack of a verdict, for people; empty if there is one."""
        if self.compatible is not None:
            return ""
        return f"the registry could not check this schema ({self.failure}): this verdict is contractlog's own"


def check_by_registry(
    registry: Registry,
    subject: str,
    draft: SchemaDraft,
    *,
    version: VersionLike | None = None,
    normalize: bool = False,
) -> RegistryVerdict:
    """Return the registry's verdict on a candidate, if it can check it.

    Raises:
        RegistryError: the candidate is invalid, the caller may not check it, or the registry is not available.
    """
    try:
        result = registry.check(subject, draft, version=version, normalize=normalize)
    except SubjectNotFound:
        if version is not None:
            raise
        return RegistryVerdict(compatible=True)  # some servers need a version to compare with
    except InvalidSchema:
        if _finds_references(registry, subject, draft):
            raise
        return RegistryVerdict(None, failure="its check does not find what a schema refers to")
    except ServerError as error:
        if type(error) is not ServerError:  # the registry, not its check, is out of order
            raise
        return RegistryVerdict(None, failure=str(error))
    return RegistryVerdict(result.compatible, result.messages)


def _finds_references(registry: Registry, subject: str, draft: SchemaDraft) -> bool:
    """Return whether the registry's check finds what a draft refers to.

    If it does, the least schema that refers to the same is valid, too.
    """
    write_reference = FORMATS[draft.type].write_reference
    if write_reference is None or not draft.references:
        return True
    try:
        registry.check(subject, replace(draft, text=write_reference(draft.references[0].name)))
    except InvalidSchema:
        return False
    return True
