"""Decision on a registration: the existing version that is its result, or the append to be written.

The steps read one snapshot and write nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from contractlog.compatibility.errors import IncompatibleSchema, InvalidSchema, OperationNotPermitted, StrongReference
from contractlog.compatibility.identifiers import Subject, apply_alias, validate_schema_subject
from contractlog.compatibility.mode import IMPORT_MODES, Mode
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.verdict_messages import format_details
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.registration.candidate import Candidate
from contractlog.registry.registration.content_match import find_existing_version, find_version_with_text
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.draft_completion import complete_draft
from contractlog.registry.registration.parser import ParsedDraft
from contractlog.registry.registration.request import (
    AnyVersion,
    ExactVersion,
    NextVersion,
    RegistrationRequest,
    RegistrationResult,
)
from contractlog.registry.registration.write_preconditions import (
    require_comparable_latest_version,
    require_context_permission,
    require_reference_permissions,
    require_registration_mode,
)
from contractlog.registry.storage.associations import find_owned_subjects
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import DeletedFilter, PendingAppend, ScopeSettings, SubjectState

__all__ = ["WARNING", "decide_registration"]

WARNING: Final = "warning"  #: member of a registration's change log entry


def decide_registration(
    checker: DraftChecker, snapshot: Snapshot, request: RegistrationRequest, permissions: Permissions
) -> RegistrationResult | PendingAppend:
    """Return the existing version that fulfils a request, or the append to be written.

    Raises:
        Denied, InvalidSubject, InvalidSchema, IncompatibleSchema, StrongReference, OperationNotPermitted: there is
            neither.
    """
    subject, configured = request.subject, checker.read_settings(snapshot, request.subject)
    if configured.alias:
        subject = validate_schema_subject(apply_alias(configured.alias, subject))
        permissions.require(Permission.WRITE, subject)
        configured = checker.read_settings(snapshot, subject)
    if request.schema_id is not None:
        require_context_permission(permissions, subject.context)
    require_reference_permissions(permissions, snapshot, subject, request.draft.references)
    request = replace(request, normalize=request.normalize or bool(configured.normalize))
    registration = _Registration(checker, snapshot, request, subject, snapshot.state(subject), configured)
    candidate: Candidate | InvalidSchema | None = None
    if not request.tags and not configured.adds:
        candidate, existing = registration.find_existing()
        if existing is not None:
            return existing
    require_registration_mode(subject, configured, request.schema_id)
    if configured.mode in IMPORT_MODES:
        return registration.import_unchanged()
    return registration.check_next_version(candidate)


@dataclass(frozen=True, slots=True)
class _Registration:
    """A request and the state it is decided in; the writer rejects an append if that has changed."""

    checker: DraftChecker
    snapshot: Snapshot
    request: RegistrationRequest
    subject: Subject  #: the subject that the requested name refers to
    state: SubjectState
    configured: ScopeSettings

    def find_existing(self) -> tuple[Candidate | InvalidSchema | None, RegistrationResult | None]:
        """Find an existing version, whatever the mode.

        Also return the candidate, or why it does not meet the rules for new schemas; None if the request has no text.
        If the draft has no metadata or rules, those of the latest version are tried too.
        """
        if not self.request.draft.text.strip():
            return None, None
        try:
            parsed, fault = self._parse_request()
        except InvalidSchema:
            verbatim = find_version_with_text(self.snapshot, self.subject, self.request.draft)
            if verbatim is None or not self._accepts(verbatim):
                raise
            return None, RegistrationResult(verbatim)
        candidate = self._build_candidate(parsed)
        existing = self._find_version_of(candidate)
        if existing is None:
            previous = self.snapshot.version(self.subject, None)
            if previous is not None and (previous.metadata is not None or previous.rule_set is not None):
                draft = complete_draft(parsed.draft, previous, self.configured)
                if draft != parsed.draft:
                    candidate = self._build_candidate(replace(parsed, draft=draft))
                    existing = self._find_version_of(candidate)
        if existing is not None:
            existing = replace(existing, warning=parsed.warning)
        return fault or candidate, existing

    def _parse_request(self) -> tuple[ParsedDraft, InvalidSchema | None]:
        """Parse the draft, if possible by the rules for new schemas; else return their error too.

        A draft that breaks the rules is parsed without them only if it may exist already, because parsing takes long
        for large schemas.
        """
        parser, draft = self.checker.parser, self.request.draft
        try:
            return parser.parse_new(self.snapshot, self.subject, draft, self.configured), None
        except InvalidSchema as error:
            if (
                self.configured.mode in {None, Mode.READWRITE}
                and self.request.schema_id is None
                and not self.snapshot.highest(self.subject)
            ):
                raise
            return parser.parse_draft(self.snapshot, self.subject, draft, strict=False), error

    def _build_candidate(self, parsed: ParsedDraft) -> Candidate:
        return Candidate.of(self.snapshot, parsed, normalize=self.request.normalize)

    def _find_version_of(self, candidate: Candidate) -> RegistrationResult | None:
        result = find_existing_version(
            self.checker.parser, self.snapshot, self.subject, candidate, accepts=self._accepts
        )
        return replace(result, stored=True) if result and isinstance(self.request.version, NextVersion) else result

    def _accepts(self, existing: RegisteredSchema) -> bool:
        """Return True if a version with the content fulfils the request."""
        if isinstance(self.request.version, NextVersion):
            latest = self.snapshot.version(self.subject, None)
            if latest is not None and latest.version != existing.version:
                return False
        return self.request.schema_id in {None, existing.schema_id} and self.request.number in {None, existing.version}

    def check_next_version(self, candidate: Candidate | InvalidSchema | None) -> RegistrationResult | PendingAppend:
        """Check the draft as the next version.

        Args:
            candidate: the candidate that no existing version is equal to, or why it does not meet the rules for new
                schemas; None if nothing was parsed yet.
        """
        snapshot, subject, configured, request = self.snapshot, self.subject, self.configured, self.request
        number = snapshot.highest(subject) + 1
        previous = snapshot.version(subject, None)
        draft = complete_draft(
            request.draft,
            previous,
            configured,
            number=request.number or number,
            version_requested=not isinstance(request.version, AnyVersion),
            tags=request.tags,
        )
        looked_up = None
        if candidate is None or (draft.text, draft.type) != (request.draft.text, request.draft.type):
            parsed = self.checker.parser.parse_new(snapshot, subject, draft, configured)
        elif isinstance(candidate, InvalidSchema):
            raise candidate
        else:
            looked_up = candidate
            parsed = replace(candidate.parsed, draft=replace(draft, references=candidate.parsed.draft.references))
        self.checker.reject_invalid_fields(parsed, configured)
        self._reject_owned_targets(parsed)
        if looked_up is not None and parsed.draft == looked_up.parsed.draft:
            candidate = looked_up
        else:
            candidate = self._build_candidate(parsed)
            existing = self._find_version_of(candidate) if request.number is None else None
            if existing is not None:
                return existing
        self.checker.reject_nonconforming(parsed, configured)
        self.checker.reject_invalid_rules(parsed)
        if previous is not None:
            require_comparable_latest_version(snapshot, subject)
        facts = self._check_compatibility(parsed, previous)
        self.checker.parser.cache_expected(candidate.content, parsed.parsed)
        match request.version:
            case AnyVersion():
                return self._append(candidate, None, facts)
            case NextVersion():
                return self._append(candidate, number, facts)
            case ExactVersion(required):
                return self._append(candidate, required, facts)

    def _check_compatibility(self, parsed: ParsedDraft, previous: RegisteredSchema | None) -> dict[str, Any]:
        """Return the facts on which a version is accepted, or raise ``IncompatibleSchema``."""
        checker, configured = self.checker, self.configured
        facts: dict[str, Any] = {
            "level": checker.level(configured).value,
            "policy": checker.policy(configured).value,
            "group": configured.compatibility_group,
        }
        if self.request.force:
            return facts | {"baseline": [], "bypass": "force"}
        baseline = checker.select_versions(self.snapshot, self.subject, parsed, configured)
        reserved = checker.find_reserved_conflicts(parsed, previous, configured)
        verdict = checker.check_versions(self.snapshot, parsed, baseline, configured)
        if reserved or not verdict.compatible:
            reasons = format_details(verdict, validate_fields=bool(configured.validate_fields), extra_messages=reserved)
            raise IncompatibleSchema(subject=str(self.subject), details=reasons, verdict=verdict)
        facts["baseline"] = [version.version for version in baseline]
        return facts | ({"bypass": "NONE"} if facts["level"] == "NONE" else {})

    def import_unchanged(self) -> RegistrationResult | PendingAppend:
        """Import the schema unchanged, under its id and number."""
        snapshot, subject, request = self.snapshot, self.subject, self.request
        parsed = self.checker.parser.parse_draft(snapshot, subject, request.draft, strict=False, new=True)
        self._reject_owned_targets(parsed)
        candidate = Candidate.of(snapshot, parsed, normalize=False)
        same = [
            version
            for version in snapshot.list_by_content(subject, candidate.content.hash, DeletedFilter.INCLUDED)
            if version.schema_id == request.schema_id
        ]
        number = request.number
        for version in same:
            if not version.deleted and number in {None, version.version}:
                return RegistrationResult(version)
        occupant = None if number is None else snapshot.version(subject, number, DeletedFilter.INCLUDED)
        if occupant is not None and number not in {version.version for version in same}:
            raise OperationNotPermitted(
                f"Version {number} of subject {subject} in context {subject.context} is another schema; "
                "overwriting it is not permitted."
            )
        return self._append(candidate, number, {"bypass": str(self.configured.mode)})

    def _reject_owned_targets(self, parsed: ParsedDraft) -> None:
        """Raise ``StrongReference`` if a resource owns one of the subjects that the schema references."""
        targets = {target.subject for target in parsed.resolved.targets if target.subject}
        if targets and (owned := find_owned_subjects(self.snapshot, targets)):
            raise StrongReference(subject=str(min(owned)))

    def _append(self, candidate: Candidate, number: int | None, facts: dict[str, Any]) -> PendingAppend:
        warning = candidate.parsed.warning
        return PendingAppend(
            self.subject,
            candidate.content,
            self.state,
            self.configured,
            number,
            schema_id=self.request.schema_id,
            details=facts if warning is None else facts | {WARNING: warning},
            named=self.request.subject,
        )
