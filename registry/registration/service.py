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
from contractlog.compatibility.names import Subject
from contractlog.compatibility.rule_sets import validate_rule_set
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.compatibility.verdict_messages import format_details
from contractlog.registry.access.permissions import Permissions
from contractlog.registry.access.principals import current_actor, current_permissions
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.registration.association_guards import reject_owned_targets
from contractlog.registry.registration.check import CompatibilityChecker
from contractlog.registry.registration.drafts import Derivation, TagEdits, complete_draft
from contractlog.registry.registration.existing_version import RegistrationResult, find_existing_version
from contractlog.registry.registration.lookup import ContentQuery, find_by_content
from contractlog.registry.registration.mode_policy import (
    IMPORT_MODES,
    reject_mode,
    reject_read_only,
    require_context_permission,
    require_reference_permissions,
    validate_schema_subject,
)
from contractlog.registry.registration.parser import ParsedDraft, SchemaParser
from contractlog.registry.registration.verbatim_schemas import find_verbatim, reject_closed_subject
from contractlog.registry.storage.lookup import apply_alias, resolve_alias
from contractlog.registry.storage.model import Append, Content, Deleted, ScopeSettings, Stale, SubjectState
from contractlog.registry.storage.prefetch import NotPrefetched, PrefetchedSnapshot
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["WARNING", "RegistrationResult", "RegistrationService", "log_warning", "reject_read_only"]

WARNING: Final = "warning"  #: member of a registration's journal entry
_LOG: Final = logging.getLogger("contractlog.registry")
_ATTEMPTS: Final = 500  #: each failed attempt means that another write succeeded
_LATEST: Final = -1
_PREFETCH_THRESHOLD: Final = 4  #: concurrent proposals; above this, their first queries are prefetched together


def log_warning(appended: Append) -> None:
    """Log that a schema was registered although its meta-schema rejects it."""
    warning = appended.details.get(WARNING)
    if warning is not None:
        _LOG.warning("registered under %r a schema that its meta-schema rejects: %s", str(appended.subject), warning)


def _warning_details(parsed: ParsedDraft) -> dict[str, Any]:
    warning = parsed.warning
    return {} if warning is None else {WARNING: warning}


@dataclass(frozen=True, slots=True)
class RegistrationRequest:
    """Parameters of a registration."""

    draft: SchemaDraft
    normalize: bool
    schema_id: int | None
    version: int  #: 0 if none was requested; -1 is relative to the latest
    force: bool
    tags: TagEdits | None
    actor: str
    rights: Permissions
    allow_id_gap: bool


@dataclass(frozen=True, slots=True)
class _RegistrationState:
    """The state in which a registration is decided."""

    snapshot: Snapshot
    named: Subject
    subject: Subject  #: the subject that the name refers to
    state: SubjectState
    configured: ScopeSettings

    def fulfils(self, request: RegistrationRequest, version: RegisteredSchema) -> bool:
        """Return True if a version with the content fulfils the request."""
        latest = self.snapshot.version(self.subject, None) if request.version == _LATEST else None
        return (
            request.schema_id in {None, version.schema_id}
            and (request.version <= 0 or request.version == version.version)
            and (latest is None or latest.version == version.version)
        )

    def is_first_version(self, request: RegistrationRequest) -> bool:
        """Return True if the request can only append the subject's first version: there is nothing to look up."""
        return (
            self.configured.mode in {None, Mode.READWRITE}
            and request.schema_id is None
            and not self.snapshot.highest(self.subject)
        )

    def append(
        self, content: Content, request: RegistrationRequest, version: int | None, judged: dict[str, Any]
    ) -> Append:
        """Return the ``Append`` of a content to the subject."""
        return Append(
            self.subject,
            content,
            self.state,
            self.configured,
            version,
            actor=request.actor,
            schema_id=request.schema_id,
            details=judged,
            named=self.named,
            allow_id_gap=request.allow_id_gap,
        )


class RegistrationService:
    """Registers schemas, and looks them up by content."""

    def __init__(
        self,
        store: Store,
        threads: ThreadPools,
        parser: SchemaParser,
        checker: CompatibilityChecker,
        *,
        allow_id_gap: bool = False,
    ) -> None:
        self._allow_id_gap = allow_id_gap
        self._store = store
        self._threads = threads
        self._parser = parser
        self._checker = checker
        self._concurrent = 0  #: concurrent proposals

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
    ) -> RegistrationResult:
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
            if isinstance(proposal, RegistrationResult):
                return proposal
            outcome = await asyncio.wrap_future(self._store.append(proposal))
            if not isinstance(outcome, Stale):
                log_warning(proposal)
                return RegistrationResult(outcome, warning=proposal.details.get(WARNING))
        raise Overloaded

    async def derive(self, subject: Subject, number: int | None, derivation: Derivation) -> RegistrationResult:
        """Register a new version that differs from an existing one in tags, metadata or rules.

        Raises:
            SubjectNotFound, VersionNotFound: there is no such live version.
            InvalidRuleSet, InvalidSchema, IncompatibleSchema, OperationNotPermitted, Overloaded: nothing was written.
        """
        validate_rule_set(derivation.rule_set)
        validate_rule_set(derivation.rules_to_merge)
        base = await self._threads.run(self._find_live, subject, number)
        return await self.register(subject, derivation.draft(base), version=derivation.version)

    def _find_live(self, name: Subject, number: int | None) -> RegisteredSchema:
        with self._store.open_snapshot() as snapshot:
            subject = resolve_alias(snapshot, name)
            existing = snapshot.version(subject, number)
            if existing is None:
                if snapshot.versions(subject, Deleted.EXCLUDED):
                    raise VersionNotFound(version=number)
                raise SubjectNotFound(subject=str(subject))
            return existing

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
    ) -> RegistrationResult | Append:
        """Parse and check a draft: return the existing version, or the append to be made."""
        validate_rule_set(draft.rule_set)
        validate_schema_subject(subject)
        request = RegistrationRequest(
            draft,
            normalize,
            schema_id,
            version or 0,
            force,
            tags,
            current_actor.get(),
            current_permissions.get(),
            self._allow_id_gap,
        )
        self._concurrent += 1
        try:
            prefetched = None
            if self._concurrent > _PREFETCH_THRESHOLD and not draft.references:
                prefetched = await asyncio.wrap_future(self._store.prefetch(subject))
            return await self._threads.run_schema_work(draft.text, self._propose, subject, request, prefetched)
        finally:
            self._concurrent -= 1

    def _propose(
        self, name: Subject, request: RegistrationRequest, prefetched: PrefetchedSnapshot | None
    ) -> RegistrationResult | Append:
        if prefetched is not None:
            with suppress(NotPrefetched):
                return self._decide(prefetched, name, request)
        with self._store.open_snapshot() as snapshot:
            return self._decide(snapshot, name, request)

    def _decide(self, snapshot: Snapshot, name: Subject, request: RegistrationRequest) -> RegistrationResult | Append:
        """Decide on one snapshot; the revision reveals later changes when the append is written."""
        subject, configured = name, self._checker.read_settings(snapshot, name)
        if configured.alias:
            subject = validate_schema_subject(apply_alias(configured.alias, name))
            configured = self._checker.read_settings(snapshot, subject)
        if request.schema_id is not None:
            require_context_permission(request.rights, subject.context)
        require_reference_permissions(request.rights, snapshot, subject, request.draft.references)
        state = _RegistrationState(snapshot, name, subject, snapshot.state(subject), configured)
        request = replace(request, normalize=request.normalize or bool(configured.normalize))
        parsed: ParsedDraft | InvalidSchema | None = None
        if not request.tags and not configured.adds:
            parsed, existing = self._find_existing(state, request)
            if existing is not None:
                return existing
        reject_mode(subject, configured, request.schema_id)
        if configured.mode in IMPORT_MODES:
            return self._import(state, request)
        return self._check_next_version(state, request, parsed)

    def _find_existing(
        self, state: _RegistrationState, request: RegistrationRequest
    ) -> tuple[ParsedDraft | InvalidSchema | None, RegistrationResult | None]:
        """Find an existing version, whatever the mode.

        Also return the parsed draft, or why it does not meet the rules for new schemas.
        """
        try:
            parsed, fault = self._parse(state, request)
        except InvalidSchema:
            existing = find_verbatim(state.snapshot, state.subject, request.draft)
            if existing is None or not state.fulfils(request, existing):
                raise
            return None, RegistrationResult(existing)
        if parsed is None:
            return None, None
        existing_result = self._find(state, request, parsed, normalize=request.normalize)
        if existing_result is None:
            existing_result = self._find_completed(state, request, parsed)
        if existing_result is not None:
            existing_result = replace(existing_result, warning=parsed.warning)
        return fault or parsed, existing_result

    def _parse(
        self, state: _RegistrationState, request: RegistrationRequest
    ) -> tuple[ParsedDraft | None, InvalidSchema | None]:
        """Parse a draft, if possible by the rules for new schemas; else return their error too.

        Without a text, return None. A draft that breaks the rules is parsed without them only if it may exist already,
        because parsing takes long for large schemas.
        """
        if not request.draft.text.strip():
            return None, None
        strict = state.configured.validate_new_schemas is not False
        draft, snapshot, subject = request.draft, state.snapshot, state.subject
        try:
            return self._parser.draft(snapshot, subject, draft, strict=strict, seen=Deleted.EXCLUDED, new=True), None
        except InvalidSchema as error:
            if state.is_first_version(request):
                raise
            return self._parser.draft(snapshot, subject, draft, strict=False), error

    def _find(
        self, state: _RegistrationState, request: RegistrationRequest, parsed: ParsedDraft, *, normalize: bool
    ) -> RegistrationResult | None:
        content = parsed.content(state.snapshot, normalize=normalize)
        result = find_existing_version(
            self._parser,
            state.snapshot,
            state.subject,
            (parsed, content),
            accepts=lambda version: state.fulfils(request, version),
        )
        return result if result is None or request.version != _LATEST else replace(result, stored=True)

    def _find_completed(
        self, state: _RegistrationState, request: RegistrationRequest, parsed: ParsedDraft
    ) -> RegistrationResult | None:
        """Look again, with the metadata and rules of the latest version if the draft has none."""
        previous = state.snapshot.version(state.subject, None)
        if previous is None or (previous.metadata is None and previous.rule_set is None):
            return None
        draft = complete_draft(parsed.draft, previous, state.configured)
        if draft == parsed.draft:
            return None
        return self._find(state, request, replace(parsed, draft=draft), normalize=request.normalize)

    def _check_next_version(
        self,
        state: _RegistrationState,
        request: RegistrationRequest,
        parsed_request: ParsedDraft | InvalidSchema | None,
    ) -> RegistrationResult | Append:
        """Check a draft as the next version.

        Args:
            state: the subject, its settings and the snapshot that they were read from.
            request: parameters of the registration.
            parsed_request: the parsed draft of the request, or why it does not meet the rules for new schemas.
        """
        snapshot, subject, configured = state.snapshot, state.subject, state.configured
        number = snapshot.highest(subject) + 1
        previous = snapshot.version(subject, None)
        draft = complete_draft(
            request.draft,
            previous,
            configured,
            number=request.version if request.version > 0 else number,
            version_requested=request.version != 0,
            tags=request.tags,
        )
        if (draft.text, draft.type) != (request.draft.text, request.draft.type):
            parsed_request = None
        if isinstance(parsed_request, InvalidSchema):
            raise parsed_request
        if parsed_request is not None:
            parsed = replace(parsed_request, draft=replace(draft, references=parsed_request.draft.references))
        else:
            strict = configured.validate_new_schemas is not False
            parsed = self._parser.draft(snapshot, subject, draft, strict=strict, seen=Deleted.EXCLUDED, new=True)
        self._checker.reject_invalid_fields(parsed, configured)
        reject_owned_targets(snapshot, [target.subject for target in parsed.resolved.targets if target.subject])
        searched = (
            parsed_request is not None and draft == request.draft
        )  # nothing was added to the draft that was looked up already
        if request.version <= 0 and not searched:
            existing = self._find(state, request, parsed, normalize=request.normalize)
            if existing is not None:
                return existing
        self._checker.reject_nonconforming(parsed, configured)
        if previous is not None:
            reject_closed_subject(snapshot, subject)
        facts = self._check_compatibility(state, request, parsed, previous)
        content = parsed.content(snapshot, normalize=request.normalize)
        self._parser.cache_expected(content, parsed.parsed)
        version = {0: None, _LATEST: number}.get(request.version, request.version)
        return state.append(content, request, version, facts | _warning_details(parsed))

    def _check_compatibility(
        self,
        state: _RegistrationState,
        request: RegistrationRequest,
        parsed: ParsedDraft,
        previous: RegisteredSchema | None,
    ) -> dict[str, Any]:
        """Return the facts on which a version is accepted, or raise ``IncompatibleSchema``."""
        checker, configured = self._checker, state.configured
        facts: dict[str, Any] = {
            "level": checker.level(configured).value,
            "policy": checker.policy(configured).value,
            "group": configured.compatibility_group,
        }
        if request.force:
            return facts | {"baseline": [], "bypass": "force"}
        baseline = checker.select_versions(state.snapshot, state.subject, parsed, configured)
        reserved = checker.find_reserved_conflicts(parsed, previous, configured)
        verdict = checker.check_versions(state.snapshot, parsed, baseline, configured)
        if reserved or not verdict.compatible:
            reasons = format_details(verdict, validate_fields=bool(configured.validate_fields), extra_messages=reserved)
            raise IncompatibleSchema(subject=str(state.subject), details=reasons, verdict=verdict)
        facts["baseline"] = [version.version for version in baseline]
        return facts | ({"bypass": "NONE"} if facts["level"] == "NONE" else {})

    def _import(self, state: _RegistrationState, request: RegistrationRequest) -> RegistrationResult | Append:
        """Import a schema unchanged, under its id and number."""
        snapshot, subject = state.snapshot, state.subject
        parsed = self._parser.draft(snapshot, subject, request.draft, strict=False, new=True)
        reject_owned_targets(snapshot, [held.subject for held in parsed.resolved.targets if held.subject])
        content = parsed.content(snapshot, normalize=False)
        held = [
            one
            for one in snapshot.list_by_content(subject, content.hash, Deleted.INCLUDED)
            if one.schema_id == request.schema_id
        ]
        version = request.version if request.version > 0 else None
        for one in held:
            if not one.deleted and version in {None, one.version}:
                return RegistrationResult(one)
        occupant = None if version is None else snapshot.version(subject, version, Deleted.INCLUDED)
        if occupant is not None and version not in {one.version for one in held}:
            raise OperationNotPermitted(
                f"Version {version} of subject {subject} in context {subject.context} is another schema; "
                "overwriting it is not permitted."
            )
        return state.append(
            content, request, version, {"bypass": str(state.configured.mode)} | _warning_details(parsed)
        )

    async def lookup(
        self, subject: Subject, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the subject's version with this content; a plain name may be found in another context.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject, InvalidSchema: there is none.
        """

        def run() -> RegisteredSchema:
            with self._store.open_snapshot() as snapshot:
                query = ContentQuery(draft, normalize, Deleted.of(deleted=deleted))
                return find_by_content(self._parser, self._checker, snapshot, subject, query)

        return await self._threads.run_schema_work(draft.text, run)
