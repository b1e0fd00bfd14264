"""References of promoted versions: to the versions of the target in place of those of the source."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.promotion.connected_environment import ConnectedEnvironment
from contractlog.clients.cli.promotion.refusals import RefusedError
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft

__all__ = ["ReferenceMap"]


@dataclass
class ReferenceMap:
    """The numbers in the target of versions in the source, and drafts that refer to them."""

    source: ConnectedEnvironment
    target: ConnectedEnvironment
    refused: Container[str]  #: subjects that cannot be promoted
    numbers: dict[tuple[str, int], int] = field(default_factory=dict)  #: version in the source -> in the target

    def list_references(self, subject: str, schema: RegisteredSchema) -> Iterator[tuple[tuple[str, int], Reference]]:
        """Yield the references of a version, each with the shared name and the source's number of its target."""
        home = Subject.parse(self.source.qualify(subject)).context
        for reference in schema.references:
            name = self.source.shared_name(resolve_subject(reference.subject, home))
            yield (name, int(reference.version)), reference

    def list_dependencies(self, subject: str, schema: RegisteredSchema) -> dict[str, str]:
        """Return the subjects in the target of all direct and indirect dependencies of a version, by name."""
        subjects: dict[str, str] = {}
        pending = [(subject, schema)]
        while pending:
            for (name, number), reference in self.list_references(*pending.pop()):
                if reference.name not in subjects:
                    subjects[reference.name] = self.target.qualify(name)
                    version = self.source.registry.version(self.source.qualify(name), number, deleted=True)
                    pending.append((name, version))
        return subjects

    def map_draft(self, subject: str, schema: RegisteredSchema) -> SchemaDraft:
        """Return the draft that registers a version in the target, with references to the target's versions.

        Raises:
            RefusedError: the target lacks a version that it refers to.
        """
        references = tuple(
            replace(
                reference,
                subject=self.target.qualify(name) if reference.subject.startswith(":.") else reference.subject,
                version=self._find_number(name, number, schema),
            )
            for (name, number), reference in self.list_references(subject, schema)
        )
        return replace(schema.draft, references=references)

    def _find_number(self, subject: str, number: int, referrer: RegisteredSchema) -> int:
        """Return the number in the target of a version that another one refers to.

        Raises:
            RefusedError: the target does not have it, and it is not promoted with the others.
        """
        if (subject, number) not in self.numbers:
            uses = f"version {referrer.version} refers to version {number} of `{subject}`"
            if subject in self.refused:
                raise RefusedError(f"{uses}, which cannot be promoted")
            schema = self.source.registry.version(self.source.qualify(subject), number, deleted=True)
            draft = self.map_draft(subject, schema)
            try:
                existing = self.target.registry.lookup(self.target.qualify(subject), draft, deleted=True)
            except (NotFound, InvalidSchema):
                raise RefusedError(
                    f"{uses}, which {self.target.name} lacks: add its file to the folder, or register it there first"
                ) from None
            self.numbers[subject, number] = int(existing.version or number)
        return self.numbers[subject, number]
