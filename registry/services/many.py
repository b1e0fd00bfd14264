"""Look-ups and checks of many schemas in one request, run one by one to give other requests a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeVar

from contractlog.compatibility.errors import Overloaded, RegistryError, ServerError, TooManyMembers, TooManyRequests
from contractlog.compatibility.names import SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.services.compatibility import Answer, Compatibility
from contractlog.registry.services.registration import Registration
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage.finding import aliased
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["MOST_MEMBERS", "Asked", "Many", "bounded"]

MOST_MEMBERS: Final = 500

T = TypeVar("T")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Asked:
    """A member of the request: a schema and its subject."""

    subject: Subject
    draft: SchemaDraft
    normalize: bool = False
    deleted: bool = False
    version: int | str | None = None  #: to be checked against; None means those that the level selects


class Many:
    """Looks up and checks many schemas; results are in the order of the request."""

    def __init__(
        self, store: Store, threads: Threads, registration: Registration, compatibility: Compatibility
    ) -> None:
        self._store = store
        self._threads = threads
        self._registration = registration
        self._compatibility = compatibility
        self._numbers = count(-1, -1)  # negative ids for schemas without one, because parsed schemas are cached by id

    async def lookup(self, members: Sequence[Callable[[], Asked]]) -> list[RegisteredSchema | RegistryError]:
        """Return for each content its version, or the error."""

        async def one(member: Callable[[], Asked]) -> RegisteredSchema:
            asked = await self._threads.run(member)
            return await self._registration.lookup(
                asked.subject, asked.draft, normalize=asked.normalize, deleted=asked.deleted
            )

        return await _each(members, one)

    async def shaped(self, work: Callable[[], T]) -> T:
        """Run the rest of the work for a response off the event loop."""
        return await self._threads.run(work)

    async def check(self, members: Sequence[Callable[[], Asked]]) -> list[tuple[Asked, Answer] | RegistryError]:
        """Check each schema as if the compatible ones before it were registered; it may reference those."""
        expected: dict[Subject, list[RegisteredSchema]] = {}

        async def one(member: Callable[[], Asked]) -> tuple[Asked, Answer]:
            asked = await self._threads.run(member)
            return asked, await self._threads.judge(asked.draft.text, self._check, asked, expected)

        return await _each(members, one)

    def _check(self, asked: Asked, expected: dict[Subject, list[RegisteredSchema]]) -> Answer:
        with self._store.reading() as current:
            snapshot = _Expected(current, expected)
            draft = self._compatibility.taking_over(snapshot, asked.subject, asked.draft)
            answer = self._compatibility.within(snapshot, asked.subject, draft, asked.version)
            if answer.compatible:
                subject = aliased(snapshot, asked.subject)
                expected.setdefault(subject, []).append(self._following(snapshot, subject, draft))
        return answer

    def _following(self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft) -> RegisteredSchema:
        return RegisteredSchema(
            SchemaId(next(self._numbers)),
            draft.text,
            draft.type,
            subject,
            Version(snapshot.highest(subject) + 1),
            references=draft.references,
            metadata=draft.metadata,
            rule_set=draft.rule_set,
        )


class _Expected(Snapshot):
    """The state of the database after some expected registrations."""

    def __init__(self, current: Snapshot, expected: Mapping[Subject, Sequence[RegisteredSchema]]) -> None:
        super().__init__(current.connection)
        self._expected = expected

    def version(self, subject: Subject, number: int | None, seen: Seen = Seen.LIVE) -> RegisteredSchema | None:
        """Return one version; expected ones are live."""
        coming = () if seen is Seen.DELETED else self._expected.get(subject, ())
        found = [one for one in coming if number in {None, one.version}]
        return found[-1] if found else super().version(subject, number, seen)

    def history(self, subject: Subject) -> list[RegisteredSchema]:
        """List the live versions, expected ones last."""
        return [*super().history(subject), *self._expected.get(subject, ())]

    def highest(self, subject: Subject) -> int:
        """Return the highest number, expected versions included."""
        coming = self._expected.get(subject)
        return coming[-1].version or 0 if coming else super().highest(subject)


def bounded(members: Sequence[T]) -> Sequence[T]:
    """Return the members of a request.

    Raises:
        TooManyMembers: there are more than a request may have.
    """
    if len(members) > MOST_MEMBERS:
        raise TooManyMembers(count=len(members), most=MOST_MEMBERS)
    return members


async def _each(members: Sequence[M], answer: Callable[[M], Awaitable[T]]) -> list[T | RegistryError]:
    """Answer members one by one, so that other requests get their turn; errors of the server end it."""
    answers: list[T | RegistryError] = []
    for member in members:
        try:
            answers.append(await answer(member))
        except (ServerError, Overloaded, TooManyRequests):
            raise
        except RegistryError as error:
            answers.append(error)
    return answers
