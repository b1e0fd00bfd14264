"""Compatibility checks of drafts, without registration."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.compatibility.errors import InvalidSchema, VersionNotFound
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.located import Located, located_nonconformity
from contractlog.compatibility.messages import messages
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.access.actor import current_rights
from contractlog.registry.services.drafting import completed
from contractlog.registry.services.judging import Judging
from contractlog.registry.services.permits import require_references
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.understanding import Understanding
from contractlog.registry.storage.finding import aliased
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["LATEST", "Answer", "Compatibility"]

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a check, with messages in the reference's words."""

    compatible: bool
    messages: tuple[str, ...] = ()
    verdict: Verdict | None = None
    warning: str | None = None  #: why the meta-schema rejects a draft that is accepted anyway
    nonconformity: Located | None = None  #: the same as a finding, with its position


class Compatibility:
    """Checks drafts against existing versions."""

    def __init__(self, store: Store, threads: Threads, understanding: Understanding, judging: Judging) -> None:
        self._store = store
        self._threads = threads
        self._understanding = understanding
        self._judging = judging

    async def check(
        self, subject: Subject, draft: SchemaDraft, *, version: int | str | None = None, verbose: bool = False
    ) -> Answer:
        """Check a draft at the subject's level.

        It is checked against one version, the latest, or (None) those that the level selects.

        Raises:
            VersionNotFound: there is no such live version.
            InvalidSchema: the draft is not a schema; if ``verbose``, the answer says so instead.
        """
        try:
            return await self._threads.judge(draft.text, self._check, subject, draft, version)
        except InvalidSchema as error:
            if not verbose:
                raise
            return Answer(compatible=False, messages=(error.message,))

    def _check(self, subject: Subject, draft: SchemaDraft, version: int | str | None) -> Answer:
        with self._store.reading() as snapshot:
            return self.within(snapshot, subject, draft, version)

    def taking_over(self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft) -> SchemaDraft:
        """Return a draft with what its registration would add from the latest version and the config."""
        subject = aliased(snapshot, subject)
        return completed(draft, snapshot.version(subject, None), self._judging.configured(snapshot, subject))

    def within(
        self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft, version: int | str | None = None
    ) -> Answer:
        """Check a draft on a snapshot, which may be of an expected future state."""
        subject = aliased(snapshot, subject)
        require_references(current_rights.get(), snapshot, subject, draft.references)
        earlier: list[RegisteredSchema] = []
        if version is not None:
            found = snapshot.version(subject, None if isinstance(version, str) else version)
            if found is None and isinstance(version, int):
                raise VersionNotFound(version=version)
            earlier = [found] if found else []
        configured = self._judging.configured(snapshot, subject)
        strict = configured.validate_new_schemas is not False
        understood = self._understanding.draft(snapshot, subject, draft, strict=strict, seen=Seen.LIVE, new=True)
        self._judging.refuse_fields(understood, configured)
        self._judging.refuse_nonconforming(understood, configured)
        if version is None:
            previous = snapshot.version(subject, None) if configured.validate_fields else None
            verdict = self._judging.against_history(snapshot, subject, understood, configured)
        else:
            previous = earlier[0] if earlier else None
            verdict = self._judging.against(snapshot, understood, earlier, configured)
        reserved = self._judging.reserved(understood, previous, configured)
        told = messages(verdict, validate_fields=bool(configured.validate_fields), also=reserved)
        nonconformity = located_nonconformity(understood.parsed, draft.text)
        return Answer(not told, tuple(told), verdict, understood.warning, nonconformity)
