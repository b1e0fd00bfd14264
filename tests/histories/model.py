"""The effects of each request as a function of the state: response and journal rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from histories.contents import compatible
from histories.words import Operation, context_of, scopes_of
from histories.world import View

REFUSED: Final = 42205  #: the mode does not permit it
INCOMPATIBLE: Final = 40901
_NO_SUBJECT, _NO_VERSION, _NO_SCHEMA = 40401, 40402, 40403
_SOFT_DELETED, _NOT_SOFT_DELETED = 40404, 40405
_VERSION_SOFT_DELETED, _VERSION_NOT_SOFT_DELETED = 40406, 40407
_READ_ONLY: Final = "READONLY"
_IMPORT: Final = "IMPORT"


@dataclass(frozen=True, slots=True)
class Effect:
    """A row that has to be written."""

    action: str
    target: str
    details: Mapping[str, Any] = field(default_factory=dict)
    hashes: tuple[str | None, str | None] | None = None  #: before and after, of settings; None may be anything


@dataclass(frozen=True, slots=True)
class Step:
    """What has to come of a request: an answer, or an error; and the rows. What is None may be anything."""

    answer: Any = None
    error: int | None = None
    effects: Sequence[Effect] = ()

    def answers(self, operation: Operation) -> bool:
        """Whether the operation was answered so."""
        if self.error is not None:
            return operation.status != 200 and operation.body.get("error_code") == self.error
        if operation.status != 200:
            return False
        if isinstance(self.answer, dict):
            return all(operation.body.get(name) == value for name, value in self.answer.items())
        return self.answer is None or bool(operation.body == self.answer)


def step(view: View, operation: Operation, schema_id: int | None = None) -> Step:
    """Return what an operation does in a state; ``schema_id`` is the id that was given, where a new one was."""
    return KINDS[operation.kind](view, operation, schema_id)


def relevant(operation: Operation) -> list[Hashable]:
    """Return the keys of the world that an operation's outcome may depend on."""
    context = context_of(operation.subject)
    keys: list[Hashable] = [
        ("versions", operation.subject),
        *(("settings", one) for one in scopes_of(operation.subject)),
    ]
    if operation.content is not None:
        keys.append(("current", (context, operation.content)))
    if operation.schema_id is not None:
        keys += [("id", (context, operation.schema_id)), ("holders", (context, operation.schema_id))]
    return keys


def _register(view: View, asked: Operation, given: int | None) -> Step:
    subject, content = asked.subject, asked.content
    assert content is not None
    for version, held in reversed(view.live(subject).items()):
        if held.content == content and asked.schema_id in {None, held.schema_id}:
            return Step({"id": held.schema_id, "version": version})
    version = max(view.versions(subject), default=0) + 1
    if view.mode(subject) == _READ_ONLY or (view.mode(subject) == _IMPORT) != (asked.schema_id is not None):
        return Step(error=REFUSED)
    if asked.schema_id is not None:
        known = view.content(context_of(subject), asked.schema_id)
        if known not in {None, content}:
            return Step(error=REFUSED)
        details: dict[str, Any] = {"id": asked.schema_id, "bypass": _IMPORT}
    else:
        baseline, level = view.baseline(subject, content), view.level(subject)
        if not compatible(content, list(baseline.values()), level):
            return Step(error=INCOMPATIBLE)
        details = {
            "id": view.current(context_of(subject), content) or given,
            "level": level,
            "policy": "STRICT",
            "group": view.in_force(subject, "compatibility_group"),
            "baseline": list(baseline),
        } | ({"bypass": "NONE"} if level == "NONE" else {})
    answer = {"version": version} | ({} if details["id"] is None else {"id": details["id"]})
    return Step(answer, effects=[Effect("version.registered", f"{subject}/{version}", details)])


def _list(view: View, asked: Operation, _given: int | None) -> Step:
    found = sorted(view.versions(asked.subject) if asked.flag else view.live(asked.subject))
    return Step(found) if found else Step(error=_NO_SUBJECT)


def _latest(view: View, asked: Operation, _given: int | None) -> Step:
    live = view.live(asked.subject)
    if not live:
        return Step(error=_NO_SUBJECT)
    version = max(live)
    return Step({"version": version, "id": live[version].schema_id, "content": live[version].content})


def _one(view: View, asked: Operation, _given: int | None) -> Step:
    versions = view.versions(asked.subject)
    held = versions.get(asked.version or 0)
    if not versions if asked.flag else not view.live(asked.subject):
        return Step(error=_NO_SUBJECT)
    if held is None or (held.deleted and not asked.flag):
        return Step(error=_NO_VERSION)
    return Step({"version": asked.version, "id": held.schema_id, "content": held.content})


def _lookup(view: View, asked: Operation, _given: int | None) -> Step:
    live = view.live(asked.subject)
    for version, held in reversed(live.items()):
        if held.content == asked.content:
            return Step({"version": version, "id": held.schema_id})
    return Step(error=_NO_SCHEMA if live else _NO_SUBJECT)


def _by_id(view: View, asked: Operation, _given: int | None) -> Step:
    context = context_of(asked.subject)
    if not view.holders(context, asked.schema_id or 0):
        return Step(error=_NO_SCHEMA)
    return Step({"content": view.content(context, asked.schema_id or 0)})


def _level(view: View, asked: Operation, _given: int | None) -> Step:
    return Step({"compatibilityLevel": view.level(asked.subject)})


def _mode(view: View, asked: Operation, _given: int | None) -> Step:
    return Step({"mode": view.mode(asked.subject)})


def _hide(view: View, asked: Operation, _given: int | None) -> Step:
    subject, versions, live = asked.subject, view.versions(asked.subject), view.live(asked.subject)
    refused = _undeletable(view, asked)
    if refused is not None:
        return refused
    if asked.version is None:
        return Step(sorted(live), effects=_hidden(view, subject, live)) if live else Step(error=_SOFT_DELETED)
    if versions[asked.version].deleted:
        return Step(error=_VERSION_SOFT_DELETED)
    return Step(asked.version, effects=_hidden(view, subject, [asked.version]))


def _undeletable(view: View, asked: Operation) -> Step | None:
    versions = view.versions(asked.subject)
    if not versions:
        return Step(error=_NO_SUBJECT)
    if view.mode(asked.subject) == _READ_ONLY:
        return Step(error=REFUSED)
    return Step(error=_NO_VERSION) if asked.version not in {None, *versions} else None


def _hidden(view: View, subject: str, versions: Any) -> list[Effect]:
    held = view.versions(subject)
    return [Effect("version.soft_deleted", f"{subject}/{n}", {"id": held[n].schema_id}) for n in sorted(versions)]


def _erase(view: View, asked: Operation, _given: int | None) -> Step:
    subject, versions = asked.subject, view.versions(asked.subject)
    refused = _undeletable(view, asked)
    if refused is not None:
        return refused
    if asked.version is None:
        if view.live(subject):
            return Step(error=_NOT_SOFT_DELETED)
        return Step(sorted(versions), effects=_erased(view, subject, versions))
    if not versions[asked.version].deleted:
        return Step(error=_VERSION_NOT_SOFT_DELETED)
    return Step(asked.version, effects=_erased(view, subject, [asked.version]))


def _erased(view: View, subject: str, versions: Any) -> list[Effect]:
    held = view.versions(subject)
    gone = [Effect("version.hard_deleted", f"{subject}/{n}", {"id": held[n].schema_id}) for n in sorted(versions)]
    if len(gone) == len(held) and view.set_at(subject):
        gone.append(_settled(view, subject, {}))  # settings go with the last version
    return gone


def _settled(view: View, scope: str, members: Mapping[str, Any]) -> Effect:
    settings = {name: one for name, one in members.items() if one is not None}
    return Effect("settings.changed", scope, {"set": settings}, (_hash(view.set_at(scope)), _hash(settings)))


def _hash(settings: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 of settings as sorted JSON without spaces; None where nothing is set."""
    text = json.dumps(dict(settings), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest() if settings else None


def _configure(view: View, asked: Operation, _given: int | None) -> Step:
    if view.mode(asked.subject) == _READ_ONLY:
        return Step(error=REFUSED)
    return Step(effects=[_settled(view, asked.subject, {**view.set_at(asked.subject), **asked.patch})])


def _unconfigure(view: View, asked: Operation, _given: int | None) -> Step:
    own = view.set_at(asked.subject)
    if asked.subject and not own.keys() - {"mode"}:
        return Step(error=_NO_SUBJECT)
    if view.mode(asked.subject) == _READ_ONLY:
        return Step(error=REFUSED)
    return Step(effects=[_settled(view, asked.subject, {"mode": own.get("mode")})])


def _set_mode(view: View, asked: Operation, _given: int | None) -> Step:
    return Step(asked.patch, effects=[_settled(view, asked.subject, {**view.set_at(asked.subject), **asked.patch})])


def _unset_mode(view: View, asked: Operation, _given: int | None) -> Step:
    own = view.set_at(asked.subject)
    if "mode" not in own:
        return Step(error=_NO_SUBJECT)
    return Step(effects=[_settled(view, asked.subject, {**own, "mode": None})])


KINDS: Final[Mapping[str, Callable[[View, Operation, int | None], Step]]] = {
    "register": _register,
    "list": _list,
    "latest": _latest,
    "one": _one,
    "lookup": _lookup,
    "by-id": _by_id,
    "level": _level,
    "mode": _mode,
    "hide": _hide,
    "erase": _erase,
    "configure": _configure,
    "unconfigure": _unconfigure,
    "set-mode": _set_mode,
    "unset-mode": _unset_mode,
}
