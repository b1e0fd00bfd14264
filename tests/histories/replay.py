"""Replay of a journal, in which a request must explain each row in the state before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from histories.contents import Content
from histories.model import Effect, step
from histories.words import Held, Line, Operation, Violation, context_of
from histories.world import View, World

_NOT_WRITTEN = frozenset({50001, 503})  #: what these say is that nothing was written
_OURS = ("version.", "settings.")


class Replay:
    """The world that a journal tells of, and what is wrong with the journal."""

    def __init__(self, operations: Sequence[Operation], journal: Sequence[Line]) -> None:
        self.world = World()
        self.violations: list[Violation] = []
        self.first: dict[str, int] = {}  #: operation -> the position of its first row
        self.last: dict[str, int] = {}
        self.hashes: dict[Content, str] = {}
        self._contents: dict[str, Content] = {}
        self._asked = {one.name: one for one in operations}
        rows: dict[str, list[Line]] = defaultdict(list)
        for number, line in enumerate(journal, 1):
            if line.sequence != number:
                self._violated("the journal has no gaps", f"row {number} has the number {line.sequence}")
            if line.action.startswith(_OURS) and "replaced_by" not in line.details:
                rows[line.actor].append(line)
        for position, line in enumerate(journal, 1):
            if line.action.startswith(_OURS):
                self._follow(position, line, rows)

    def _violated(self, law: str, told: str) -> None:
        self.violations.append(Violation(law, told))

    def _follow(self, position: int, line: Line, rows: Mapping[str, Sequence[Line]]) -> None:
        operation = self._asked.get(line.actor)
        if "replaced_by" in line.details:
            self._replaced(position, line)
        elif operation is None:
            self._violated("every row was asked for", f"{line} was not")
        elif operation.name not in self.first:
            self.first[operation.name] = position
            self.last[operation.name] = position + len(rows[operation.name]) - 1
            self._begin(position, operation, rows[operation.name])
        self._apply(position, line, operation)

    def _begin(self, position: int, operation: Operation, lines: Sequence[Line]) -> None:
        """Compare the rows of an operation, and its answer, with what it does in the state before them."""
        given = lines[0].details.get("id") if lines[0].action == "version.registered" else None
        before = View(self.world, position - 1)
        wanted = step(before, operation, given)
        if [_shown(line, effect) for line, effect in zip(lines, wanted.effects, strict=False)] != list(
            wanted.effects
        ) or len(lines) != len(wanted.effects):
            self._violated("the journal equals effects", f"{operation} has {lines}, and not {wanted}")
        elif [line.sequence for line in lines] != list(range(lines[0].sequence, lines[0].sequence + len(lines))):
            self._violated("an operation is one", f"{operation} has {lines}")
        if not operation.known and operation.status is not None and operation.body.get("error_code") in _NOT_WRITTEN:
            self._violated("what was refused was not done", f"{operation} has {lines}")
        if operation.known and not wanted.answers(operation):
            self._violated("answers tell what was done", f"{operation} does {wanted}")

    def _replaced(self, position: int, line: Line) -> None:
        """Soft-deleted versions give way to a newer one of the same id."""
        subject, version = _version(line)
        versions = View(self.world, position - 1).versions(subject)
        old, new = versions.get(version), versions.get(line.details["replaced_by"])
        if old is None or not old.deleted or new is None or new.schema_id != old.schema_id:
            self._violated("only what is replaced is dropped", f"{line}: {old}, {new}")

    def _apply(self, position: int, line: Line, operation: Operation | None) -> None:
        view = View(self.world, position)
        if line.action == "settings.changed":
            self.world.set(position, ("settings", line.target), dict(line.details.get("set", {})))
            return
        subject, version = _version(line)
        held = view.versions(subject).get(version)
        if line.action == "version.registered":
            content = operation.content if operation else None
            if content is None or "id" not in line.details:
                return
            for violation in self._new(
                view, line, content, imported=operation is not None and bool(operation.schema_id)
            ):
                self.violations.append(violation)
            view.give_id(context_of(subject), line.details["id"], content)
            view.change_versions(subject, version, Held(line.details["id"], content, deleted=False))
        elif line.action == "version.hard_deleted":
            view.change_versions(subject, version, None)
        elif held is not None:
            view.change_versions(subject, version, held._replace(deleted=True))

    def _new(self, view: View, line: Line, content: Content, *, imported: bool) -> Iterator[Violation]:
        """Compare ids and hashes with those that were given before."""
        subject, _ = _version(line)
        context, schema_id = context_of(subject), line.details["id"]
        known, reused = view.content(context, schema_id), view.current(context, content)
        if known not in {None, content}:
            yield Violation("ids and contents are one to one", f"{line}: the id stood for {known}")
        if not imported and reused is None and schema_id <= view.largest_id(context):
            yield Violation("ids are never used again", f"{line}: {view.largest_id(context)} was given out")
        if not imported and reused not in {None, schema_id}:
            yield Violation("ids and contents are one to one", f"{line}: the content has the id {reused}")
        told = line.after or ""
        if self.hashes.setdefault(content, told) != told or self._contents.setdefault(told, content) != content:
            yield Violation("hashes and contents are one to one", f"{line}: {self._contents.get(told)}, not {content}")


def _version(line: Line) -> tuple[str, int]:
    subject, _, number = line.target.rpartition("/")
    return subject, int(number)


def _shown(line: Line, wanted: Effect) -> Effect:
    """Return a row as far as something is expected of it."""
    hashes = (line.before, line.after) if wanted.hashes is not None else None
    return Effect(line.action, line.target, {name: line.details.get(name) for name in wanted.details}, hashes)
