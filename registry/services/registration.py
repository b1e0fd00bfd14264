"""Registration of schemas: parse and check outside the locks, then append if the state still applies."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidSchema,
    OperationNotPermitted,
    Overloaded,
    SubjectNotFound,
    VersionNotFound,
)
from contractlog.compatibility.level import Mode
from contractlog.compatibility.messages import details
from contractlog.compatibility.names import Subject
from contractlog.compatibility.rule_structure import check_rules
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.access.actor import current_actor, current_rights
from contractlog.registry.access.rights import Rights
from contractlog.registry.services.association_guards import refuse_strong
from contractlog.registry.services.content_lookup import Sought, look_up
from contractlog.registry.services.drafting import Derivation, TagEdits, completed
from contractlog.registry.services.held import Registered, find
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.permits import (
    IMPORTING,
    refuse_mode,
    refuse_read_only,
    require_context,
    require_references,
    taking_schemas,
)
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding, Understood
from contractlog.registry.services.verbatim import held_verbatim, refuse_closed
from contractlog.registry.storage.finding import aliased, meant
from contractlog.registry.storage.foresight import Foreseen, Unforeseen
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Append, Configured, Content, Seen, Stale, SubjectState

__all__ = ["WARNING", "Registered", "Registration", "log_warning", "refuse_read_only"]

WARNING: Final = "warning"  #: member of a registration's journal entry
_LOG: Final = logging.getLogger("contractlog.registry")
_ATTEMPTS: Final = 500  #: each failed attempt means that another write succeeded
_LATEST: Final = -1
_FEW: Final = 4  #: concurrent proposals; above this, their first queries are prefetched together


def log_warning(appended: Append) -> None:
    """Log that a schema was registered although its meta-schema rejects it."""
    warning = appended.details.get(WARNING)
    if warning is not None:
        _LOG.warning("registered under %r a schema that its meta-schema rejects: %s", str(appended.subject), warning)


def _warned(understood: Understood) -> dict[str, Any]:
    warning = understood.warning
    return {} if warning is None else {WARNING: warning}


@dataclass(frozen=True, slots=True)
class _Asked:
    """Parameters of a registration."""

    draft: SchemaDraft
    normalize: bool
    schema_id: int | None
    version: int  #: 0 if none was requested; -1 is relative to the latest
    force: bool
    tags: TagEdits | None
    actor: str
    rights: Rights
    allow_id_gap: bool


@dataclass(frozen=True, slots=True)
class _Scene:
    """The state in which a registration is decided."""

    snapshot: Snapshot
    named: Subject
    subject: Subject  #: the subject that the name refers to
    state: SubjectState
    configured: Configured

    def fits(self, asked: _Asked, held: RegisteredSchema) -> bool:
        """Return True if a version with the content fulfils the request."""
        latest = self.snapshot.version(self.subject, None) if asked.version == _LATEST else None
        return (
            asked.schema_id in {None, held.schema_id}
            and (asked.version <= 0 or asked.version == held.version)
            and (latest is None or latest.version == held.version)
        )

    def is_first_version(self, asked: _Asked) -> bool:
        """Return True if the request can only append the subject's first version: there is nothing to look up."""
        return (
            self.configured.mode in {None, Mode.READWRITE}
            and asked.schema_id is None
            and not self.snapshot.highest(self.subject)
        )

    def append(self, content: Content, asked: _Asked, version: int | None, judged: dict[str, Any]) -> Append:
        """Return the ``Append`` of a content to the subject."""
        return Append(
            self.subject,
            content,
            self.state,
            self.configured,
            version,
            actor=asked.actor,
            schema_id=asked.schema_id,
            details=judged,
            named=self.named,
            allow_id_gap=asked.allow_id_gap,
        )


class Registration:
    """Registers schemas, and looks them up by content."""

    def __init__(
        self,
        store: Store,
        threads: Threads,
        understanding: Understanding,
        judging: Judging,
        *,
        allow_id_gap: bool = False,
    ) -> None:
        self._allow_id_gap = allow_id_gap
        self._store = store
        self._threads = threads
        self._understanding = understanding
        self._judging = judging
        self._inside = 0  #: concurrent proposals

    async def register(
        self,
        subject: Subject,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
        force: bool = False,
        tags: TagEdits | None = None,
    ) -> Registered:
        """Register a schema under a subject, or return its existing version with the content.

        Args:
            subject: the name; it may be an alias.
            draft: the schema; without text it takes that of the latest version.
            normalize: store the normalized text.
            schema_id: the required id; needs an import mode, and permission to write all of the context.
            version: the required number; -1 means that only the latest version counts as existing.
            force: accept an incompatible schema.
            tags: changes to the tags inside the text.

        Raises:
            Denied, InvalidRuleSet, InvalidSubject, InvalidSchema, IncompatibleSchema, OperationNotPermitted,
            Overloaded: nothing was written.
        """
        for _ in range(_ATTEMPTS):
            proposal = await self.propose(
                subject, draft, normalize=normalize, schema_id=schema_id, version=version, force=force, tags=tags
            )
            if isinstance(proposal, Registered):
                return proposal
            outcome = await asyncio.wrap_future(self._store.append(proposal))
            if not isinstance(outcome, Stale):
                log_warning(proposal)
                return Registered(outcome, warning=proposal.details.get(WARNING))
        raise Overloaded

    async def derive(self, subject: Subject, number: int | None, derivation: Derivation) -> Registered:
        """Register a new version that differs from an existing one in tags, metadata or rules.

        Raises:
            SubjectNotFound, VersionNotFound: there is no such live version.
            InvalidRuleSet, InvalidSchema, IncompatibleSchema, OperationNotPermitted, Overloaded: nothing was written.
        """
        check_rules(derivation.rule_set)
        check_rules(derivation.rules_to_merge)
        base = await self._threads.run(self._live, subject, number)
        return await self.register(subject, derivation.draft(base), version=derivation.version)

    def _live(self, named: Subject, number: int | None) -> RegisteredSchema:
        with self._store.reading() as snapshot:
            subject = aliased(snapshot, named)
            found = snapshot.version(subject, number)
            if found is None:
                if snapshot.versions(subject, Seen.LIVE):
                    raise VersionNotFound(version=number)
                raise SubjectNotFound(subject=str(subject))
            return found

    async def propose(
        self,
        subject: Subject,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
        force: bool = False,
        tags: TagEdits | None = None,
    ) -> Registered | Append:
        """Parse and check a draft: return the existing version, or the append to be made."""
        check_rules(draft.rule_set)
        taking_schemas(subject)
        asked = _Asked(
            draft,
            normalize,
            schema_id,
            version or 0,
            force,
            tags,
            current_actor.get(),
            current_rights.get(),
            self._allow_id_gap,
        )
        self._inside += 1
        try:
            foreseen = None
            if self._inside > _FEW and not draft.references:
                foreseen = await asyncio.wrap_future(self._store.foresee(subject))
            return await self._threads.judge(draft.text, self._propose, subject, asked, foreseen)
        finally:
            self._inside -= 1

    def _propose(self, named: Subject, asked: _Asked, foreseen: Foreseen | None) -> Registered | Append:
        if foreseen is not None:
            with suppress(Unforeseen):
                return self._proposed(foreseen, named, asked)
        with self._store.reading() as snapshot:
            return self._proposed(snapshot, named, asked)

    def _proposed(self, snapshot: Snapshot, named: Subject, asked: _Asked) -> Registered | Append:
        """Decide on one snapshot; the revision reveals later changes when the append is written."""
        subject, configured = named, self._judging.configured(snapshot, named)
        if configured.alias:
            subject = taking_schemas(meant(configured.alias, named))
            configured = self._judging.configured(snapshot, subject)
        if asked.schema_id is not None:
            require_context(asked.rights, subject.context)
        require_references(asked.rights, snapshot, subject, asked.draft.references)
        scene = _Scene(snapshot, named, subject, snapshot.state(subject), configured)
        asked = replace(asked, normalize=asked.normalize or bool(configured.normalize))
        understood: Understood | InvalidSchema | None = None
        if not asked.tags and not configured.adds:
            understood, known = self._known(scene, asked)
            if known is not None:
                return known
        refuse_mode(subject, configured, asked.schema_id)
        if configured.mode in IMPORTING:
            return self._import(scene, asked)
        return self._follow(scene, asked, understood)

    def _known(self, scene: _Scene, asked: _Asked) -> tuple[Understood | InvalidSchema | None, Registered | None]:
        """Find an existing version, whatever the mode.

        Also return the parsed draft, or why it does not meet the rules for new schemas.
        """
        try:
            understood, fault = self._understood(scene, asked)
        except InvalidSchema:
            held = held_verbatim(scene.snapshot, scene.subject, asked.draft)
            if held is None or not scene.fits(asked, held):
                raise
            return None, Registered(held)
        if understood is None:
            return None, None
        found = self._find(scene, asked, understood, normalize=asked.normalize)
        if found is None:
            found = self._find_completed(scene, asked, understood)
        if found is not None:
            found = replace(found, warning=understood.warning)
        return fault or understood, found

    def _understood(self, scene: _Scene, asked: _Asked) -> tuple[Understood | None, InvalidSchema | None]:
        """Parse a draft, if possible by the rules for new schemas; else return their error too.

        Without a text, return None. A draft that breaks the rules is parsed without them only if it may exist already,
        because parsing takes long for large schemas.
        """
        if not asked.draft.text.strip():
            return None, None
        strict = scene.configured.validate_new_schemas is not False
        draft, snapshot, subject = asked.draft, scene.snapshot, scene.subject
        try:
            return self._understanding.draft(snapshot, subject, draft, strict=strict, seen=Seen.LIVE, new=True), None
        except InvalidSchema as error:
            if scene.is_first_version(asked):
                raise
            return self._understanding.draft(snapshot, subject, draft, strict=False), error

    def _find(self, scene: _Scene, asked: _Asked, understood: Understood, *, normalize: bool) -> Registered | None:
        content = understood.content(scene.snapshot, normalize=normalize)
        found = find(
            self._understanding,
            scene.snapshot,
            scene.subject,
            (understood, content),
            fits=lambda held: scene.fits(asked, held),
        )
        return found if found is None or asked.version != _LATEST else replace(found, stored=True)

    def _find_completed(self, scene: _Scene, asked: _Asked, understood: Understood) -> Registered | None:
        """Look again, with the metadata and rules of the latest version if the draft has none."""
        previous = scene.snapshot.version(scene.subject, None)
        if previous is None or (previous.metadata is None and previous.rule_set is None):
            return None
        draft = completed(understood.draft, previous, scene.configured)
        if draft == understood.draft:
            return None
        return self._find(scene, asked, replace(understood, draft=draft), normalize=asked.normalize)

    def _follow(self, scene: _Scene, asked: _Asked, sent: Understood | InvalidSchema | None) -> Registered | Append:
        """Check a draft as the next version.

        Args:
            scene: the state.
            asked: parameters of the registration.
            sent: the parsed draft of the request, or why it does not meet the rules for new schemas.
        """
        snapshot, subject, configured = scene.snapshot, scene.subject, scene.configured
        number = snapshot.highest(subject) + 1
        previous = snapshot.version(subject, None)
        draft = completed(
            asked.draft,
            previous,
            configured,
            number=asked.version if asked.version > 0 else number,
            numbered=asked.version != 0,
            tags=asked.tags,
        )
        if (draft.text, draft.type) != (asked.draft.text, asked.draft.type):
            sent = None
        if isinstance(sent, InvalidSchema):
            raise sent
        if sent is not None:
            understood = replace(sent, draft=replace(draft, references=sent.draft.references))
        else:
            strict = configured.validate_new_schemas is not False
            understood = self._understanding.draft(snapshot, subject, draft, strict=strict, seen=Seen.LIVE, new=True)
        self._judging.refuse_fields(understood, configured)
        refuse_strong(snapshot, [held.subject for held in understood.resolved.targets if held.subject])
        looked = sent is not None and draft == asked.draft  # nothing was added to the draft that was looked up already
        if asked.version <= 0 and not looked:
            known = self._find(scene, asked, understood, normalize=asked.normalize)
            if known is not None:
                return known
        self._judging.refuse_nonconforming(understood, configured)
        if previous is not None:
            refuse_closed(snapshot, subject)
        judged = self._judge(scene, asked, understood, previous)
        content = understood.content(snapshot, normalize=asked.normalize)
        self._understanding.expect(content, understood.parsed)
        wanted = {0: None, _LATEST: number}.get(asked.version, asked.version)
        return scene.append(content, asked, wanted, judged | _warned(understood))

    def _judge(
        self, scene: _Scene, asked: _Asked, understood: Understood, previous: RegisteredSchema | None
    ) -> dict[str, Any]:
        """Return the facts on which a version is accepted, or raise ``IncompatibleSchema``."""
        judging, configured = self._judging, scene.configured
        judged: dict[str, Any] = {
            "level": judging.level(configured).value,
            "policy": judging.policy(configured).value,
            "group": configured.compatibility_group,
        }
        if asked.force:
            return judged | {"baseline": [], "bypass": "force"}
        baseline = judging.selected(scene.snapshot, scene.subject, understood, configured)
        reserved = judging.reserved(understood, previous, configured)
        verdict = judging.against(scene.snapshot, understood, baseline, configured)
        if reserved or not verdict.compatible:
            told = details(verdict, validate_fields=bool(configured.validate_fields), also=reserved)
            raise IncompatibleSchema(subject=str(scene.subject), details=told, verdict=verdict)
        judged["baseline"] = [one.version for one in baseline]
        return judged | ({"bypass": "NONE"} if judged["level"] == "NONE" else {})

    def _import(self, scene: _Scene, asked: _Asked) -> Registered | Append:
        """Import a schema unchanged, under its id and number."""
        snapshot, subject = scene.snapshot, scene.subject
        understood = self._understanding.draft(snapshot, subject, asked.draft, strict=False, new=True)
        refuse_strong(snapshot, [held.subject for held in understood.resolved.targets if held.subject])
        content = understood.content(snapshot, normalize=False)
        held = [one for one in snapshot.holdings(subject, content.hash, Seen.ALL) if one.schema_id == asked.schema_id]
        version = asked.version if asked.version > 0 else None
        for one in held:
            if not one.deleted and version in {None, one.version}:
                return Registered(one)
        taken = None if version is None else snapshot.version(subject, version, Seen.ALL)
        if taken is not None and version not in {one.version for one in held}:
            raise OperationNotPermitted(
                f"Version {version} of subject {subject} in context {subject.context} is another schema; "
                "overwriting it is not permitted."
            )
        return scene.append(content, asked, version, {"bypass": str(scene.configured.mode)} | _warned(understood))

    async def lookup(
        self, subject: Subject, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the subject's version with this content; a plain name may be found in another context.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
        """

        def ask() -> RegisteredSchema:
            with self._store.reading() as snapshot:
                sought = Sought(draft, normalize, Seen.of(deleted=deleted))
                return look_up(self._understanding, self._judging, snapshot, subject, sought)

        return await self._threads.judge(draft.text, ask)
