"""Check of a schema file: locally for findings and fixes, by the registry for the decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal

from contractlog.clients.cli.files import SchemaFile
from contractlog.clients.client import Registry
from contractlog.compatibility.differing import MOST_MENDED
from contractlog.compatibility.errors import (
    Forbidden,
    InvalidSchema,
    NotFound,
    PayloadTooLarge,
    RegistryError,
    SchemaNotFound,
    SchemaTooLarge,
    SubjectNotFound,
    UsageError,
)
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.judge import Earlier, judge
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.located import Located, located, located_nonconformity
from contractlog.compatibility.mends import Trial
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.positions import locate, places, syntax_error
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaType

__all__ = ["MOST_FINDINGS", "Examined", "SubjectGate", "understand", "unreadable"]

Outcome = Literal["registered", "compatible", "incompatible", "refused"]

MOST_FINDINGS: Final = 100  #: most findings listed per file


@dataclass(frozen=True, slots=True)
class Examined:
    """Outcome of the check of a file."""

    file: SchemaFile
    outcome: Outcome
    level: Level
    registered: RegisteredSchema | None = None  #: the existing version with this content
    compared: tuple[str, ...] = ()  #: descriptions of the versions and files it was compared with
    findings: tuple[Located, ...] = ()
    messages: tuple[str, ...] = ()  #: reasons given by the registry
    notes: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        known = self.registered
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "outcome": self.outcome,
            "level": self.level.value,
            "version": None if known is None else known.version,
            "schema_id": None if known is None else known.schema_id,
            "compared_with": list(self.compared),
            "findings": [finding.body() for finding in self.findings],
            "messages": list(self.messages),
            "notes": list(self.notes),
        }


def understand(file: SchemaFile, registry: Registry) -> ParsedSchema:
    """Parse a file as strictly as the registry does.

    Raises:
        UsageError: it is not a valid schema, or a reference is not registered. The message begins with the file,
            followed by line and column if known.
    """
    try:
        referenced = registry.referenced(file.draft, subject=file.subject) if file.draft.references else {}
        return parse(file.draft, referenced, strict=True)
    except InvalidSchema as error:
        raise UsageError(unreadable(file, error)) from None
    except NotFound as error:
        raise UsageError(f"{file.path}: what it depends on by --reference is not registered: {error}") from None


@dataclass
class SubjectGate:
    """Checks the files of one subject in order, each against the registry and the files before it."""

    registry: Registry
    subject: str
    normalize: bool = False
    planned_level: Level | None = None  #: level about to be set; the registry's own check is then skipped
    _pending: list[tuple[SchemaFile, ParsedSchema]] = field(default_factory=list)
    _history: list[Earlier] | None = None
    _texts: dict[int, str] = field(default_factory=dict)  #: texts of the registered versions
    _level: Level | None = None
    _policy: Policy | None = None
    _notes: list[str] = field(default_factory=list)
    _refusal: tuple[str, ...] | None = None

    def examine(self, file: SchemaFile, parsed: ParsedSchema) -> Examined:
        """Check a file; if it is compatible, it is part of the history of the files after it.

        Raises:
            UsageError: the registry rejects it as invalid or too large.
        """
        try:
            known = self._known(file)
            if known is not None:
                return Examined(file, "registered", self.level, known, findings=_own_findings(file, parsed))
            refusal = self._refused()
            examined = self._judged(file, parsed)
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
        if examined.outcome == "compatible":
            if refusal:
                return replace(examined, outcome="refused", messages=refusal)
            self._pending.append((file, parsed))
        return examined

    def _refused(self) -> tuple[str, ...]:
        """Return why the caller may not register under the subject: its mode, or missing permission."""
        if self._refusal is None:
            self._refusal = tuple(self._refusals())
        return self._refusal

    def _refusals(self) -> Iterator[str]:
        try:
            mode = self.registry.mode(self.subject)
        except (NotFound, Forbidden):  # the server has no modes, or the caller may not read them
            mode = Mode.READWRITE
        if mode is not Mode.READWRITE:
            yield f"`{self.subject}` is in mode {mode.value}, and only READWRITE takes new versions from here"
        try:
            permissions = self.registry.permissions(self.subject)
        except RegistryError:  # an extension of contractlog
            self._notes.append("this registry does not show permissions: whether you may register here is not known")
            return
        if permissions.get("write") is False:
            yield f"user `{permissions.get('user')}` has no permission to write `{self.subject}`"

    @property
    def level(self) -> Level:
        """Compatibility level at which files are checked."""
        if self._level is None:
            self._level = self.planned_level or self.registry.level(self.subject)
        return self._level

    def _judge(self, parsed: ParsedSchema, history: Sequence[Earlier]) -> Verdict:
        """Check compatibility as the registry does; fetch its policy if that matters."""
        if self._policy is None and parsed.type is SchemaType.JSON and self.level is not Level.NONE:
            self._policy = self.registry.policy(self.subject)
        return judge(parsed, history, self.level, policy=self._policy or Policy.STRICT)

    def _known(self, file: SchemaFile) -> RegisteredSchema | None:
        try:
            return self.registry.lookup(self.subject, file.draft, normalize=self.normalize)
        except (SubjectNotFound, SchemaNotFound):
            return None

    def _judged(self, file: SchemaFile, parsed: ParsedSchema) -> Examined:
        registered = self._registered()
        pending = self._numbered(registered)
        told = {earlier.version: (f"version {earlier.version}", self._texts[earlier.version]) for earlier in registered}
        told |= {earlier.version: (str(path.path), path.draft.text) for earlier, path in pending}
        history = registered + [earlier for earlier, _ in pending]
        reach = history if self.level.transitive else history[-1:]
        verdict = self._judge(parsed, history)
        examined = Examined(
            file,
            "compatible" if verdict.compatible else "incompatible",
            self.level,
            compared=() if self.level is Level.NONE else tuple(told[earlier.version][0] for earlier in reach),
            findings=(
                *_own_findings(file, parsed),
                *islice(
                    _located(file, parsed, verdict, reach, told, policy=self._policy or Policy.STRICT), MOST_FINDINGS
                ),
            ),
            notes=(*self._notes, *_left_out(verdict)),
        )
        # The registry does not have the preceding files: at a level that compares with the last version only, it would
        # compare with the wrong one.
        if self.planned_level is not None or (pending and not self.level.transitive):
            return examined
        after_files = self._judge(parsed, [earlier for earlier, _ in pending])
        return self._asked(examined, self._judge(parsed, registered) if pending else verdict, after_files)

    def _asked(self, examined: Examined, local: Verdict, after_files: Verdict) -> Examined:
        answer = self.registry.check(self.subject, examined.file.draft, normalize=self.normalize)
        decided = replace(
            examined,
            outcome="compatible" if answer.compatible and after_files.compatible else "incompatible",
            messages=answer.messages,
        )
        if answer.compatible == local.compatible:
            return decided
        accepts = "accepts this schema, though this command finds reasons against it"
        rejects = "rejects this schema, though this command finds no reason"
        note = f"the registry {accepts if answer.compatible else rejects}; the registry decides"
        return replace(decided, notes=(*decided.notes, note))

    def _numbered(self, registered: list[Earlier]) -> list[tuple[Earlier, SchemaFile]]:
        first = registered[-1].version + 1 if registered else 1
        return [(Earlier(first + n, parsed), file) for n, (file, parsed) in enumerate(self._pending)]

    def _registered(self) -> list[Earlier]:
        if self._history is None:
            self._history = [] if self.level is Level.NONE else list(self._fetched())
        return self._history

    def _fetched(self) -> Iterator[Earlier]:
        try:
            versions = self.registry.versions(self.subject)
        except SubjectNotFound:
            return
        for number in versions if self.level.transitive else versions[-1:]:
            stored = self.registry.version(self.subject, number)
            try:
                referenced = self.registry.referenced(stored.draft, subject=self.subject)
                earlier = Earlier(number, parse(stored.draft, referenced, strict=False))
            except (InvalidSchema, NotFound) as error:
                self._notes.append(f"version {number} cannot be read here, so the registry alone judges it: {error}")
                continue
            self._texts[number] = stored.draft.text
            yield earlier


def _own_findings(file: SchemaFile, parsed: ParsedSchema) -> tuple[Located, ...]:
    """Return the findings of a file that do not depend on other versions."""
    found = located_nonconformity(parsed, file.draft.text)
    return () if found is None else (found,)


def _located(
    file: SchemaFile,
    parsed: ParsedSchema,
    verdict: Verdict,
    reach: Sequence[Earlier],
    told: Mapping[int, tuple[str, str]],
    *,
    policy: Policy,
) -> Iterator[Located]:
    """Yield every finding with its position in the file, the first ones with suggested fixes."""
    trials: dict[int, Trial] = {}
    versions = {earlier.version: earlier.parsed for earlier in reach}
    text = file.draft.text
    found = [(comparison, finding) for comparison in verdict.comparisons for finding in comparison.findings]
    positions = places(text, [(finding, comparison.direction) for comparison, finding in found])
    for number, ((comparison, finding), position) in enumerate(zip(found, positions, strict=True)):
        version = comparison.version or 0
        words, earlier_text = told[version]
        trial = trials.setdefault(
            version,
            Trial(
                text=text,
                candidate=parsed,
                earlier_text=earlier_text,
                earlier=versions[version],
                directions=verdict.level.directions,
                policy=policy,
                beside=[other for beside, other in versions.items() if beside != version],
            ),
        )
        mends = trial.mends(finding, comparison.direction) if number < MOST_MENDED else ()
        yield located(finding, comparison.direction, words, position, mends)


def _left_out(verdict: Verdict) -> Iterator[str]:
    if len(verdict.findings) > MOST_FINDINGS:
        yield f"{len(verdict.findings) - MOST_FINDINGS:,} more findings are not listed"


def unreadable(file: SchemaFile, error: InvalidSchema) -> str:
    """Return the message for an invalid schema file, with the position and the reason."""
    text, pointer = file.draft.text, error.facts.get("at")
    if not pointer:
        syntax = syntax_error(text, comments=file.draft.type is SchemaType.AVRO)
        if syntax is not None:
            reason, position = syntax
            return f"{file.path}:{position}: the text is not JSON: {reason.removesuffix(' starting at')}"
    if pointer is None or (pointer and not pointer.startswith("/")):
        return f"{file.path}: {error}" + (f" (in a referenced schema, at `{pointer}`)" if pointer else "")
    return f"{file.path}:{locate(text, pointer)}: {error} (at `{pointer or '/'}`)"
