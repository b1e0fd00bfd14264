"""The state of a registry after each row of its journal."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from histories.contents import Content
from histories.words import Held, context_of, scopes_of

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})
DEFAULT_LEVEL: Final = "BACKWARD"


class World:
    """Values by key, each with the positions at which it changed. Position 0 is before the first row."""

    def __init__(self) -> None:
        self._positions: dict[Hashable, list[int]] = {}
        self._values: dict[Hashable, list[Any]] = {}

    def set(self, position: int, key: Hashable, value: Any) -> None:
        """Note what holds from a position on."""
        self._positions.setdefault(key, []).append(position)
        self._values.setdefault(key, []).append(value)

    def get(self, position: int, key: Hashable, default: Any = None) -> Any:
        """Return what held after a position."""
        place = bisect_right(self._positions.get(key, ()), position)
        return self._values[key][place - 1] if place else default

    def changed(self, keys: Iterable[Hashable], low: int, high: int) -> list[int]:
        """Return the positions in (low, high] at which one of these changed."""
        found: set[int] = set()
        for key in keys:
            positions = self._positions.get(key, [])
            found.update(positions[bisect_right(positions, low) : bisect_right(positions, high)])
        return sorted(found)

    def keys(self, kind: str) -> list[Any]:
        """Return the second parts of all keys of a kind."""
        return [key[1] for key in self._positions if isinstance(key, tuple) and key[0] == kind]


class View:
    """The world at one position."""

    def __init__(self, world: World, position: int) -> None:
        self.world = world
        self.position = position

    def versions(self, subject: str) -> Mapping[int, Held]:
        found: Mapping[int, Held] = self.world.get(self.position, ("versions", subject), _NOTHING)
        return found

    def live(self, subject: str) -> dict[int, Held]:
        return {number: held for number, held in sorted(self.versions(subject).items()) if not held.deleted}

    def set_at(self, scope: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.world.get(self.position, ("settings", scope), _NOTHING)
        return found

    def in_force(self, scope: str, member: str, default: Any = None) -> Any:
        return next((s[member] for one in scopes_of(scope) if member in (s := self.set_at(one))), default)

    def mode(self, scope: str) -> str:
        return str(self.in_force(scope, "mode", "READWRITE"))

    def level(self, scope: str) -> str:
        return str(self.in_force(scope, "level", DEFAULT_LEVEL))

    def current(self, context: str, content: Content) -> int | None:
        """Return the id that a new registration of the content gets."""
        found: int | None = self.world.get(self.position, ("current", (context, content)))
        return found

    def content(self, context: str, schema_id: int) -> Content | None:
        """Return what an id stands for, also after it was retired."""
        found: Content | None = self.world.get(self.position, ("id", (context, schema_id)))
        return found

    def holders(self, context: str, schema_id: int) -> int:
        """Count the versions that hold an id."""
        return int(self.world.get(self.position, ("holders", (context, schema_id)), 0))

    def largest_id(self, context: str) -> int:
        return int(self.world.get(self.position, ("largest", context), 0))

    def baseline(self, subject: str, candidate: Content) -> dict[int, Content]:
        """Return the versions that the level in force compares with."""
        level, group = self.level(subject), self.in_force(subject, "compatibility_group")
        live = {number: held.content for number, held in self.live(subject).items()}
        if level == "NONE":
            return {}
        if group is not None:
            live = {number: one for number, one in live.items() if one.group == candidate.group}
        return live if level.endswith("_TRANSITIVE") else dict(list(live.items())[-1:])

    def change_versions(self, subject: str, version: int, held: Held | None) -> None:
        """Put a version, or take it away; only the newest position may be changed."""
        versions, context = dict(self.versions(subject)), context_of(subject)
        before = versions.pop(version, None)
        if held is not None:
            versions[version] = held
        self.world.set(self.position, ("versions", subject), versions)
        for one, step in ((before, -1), (held, 1)):
            if one is not None:
                number = self.holders(context, one.schema_id) + step
                self.world.set(self.position, ("holders", (context, one.schema_id)), number)
        if before is None or self.holders(context, before.schema_id):
            return
        if self.current(context, before.content) == before.schema_id:
            self.world.set(self.position, ("current", (context, before.content)), None)

    def give_id(self, context: str, schema_id: int, content: Content) -> None:
        """Note what an id stands for."""
        if self.content(context, schema_id) is None:
            self.world.set(self.position, ("id", (context, schema_id)), content)
        self.world.set(self.position, ("current", (context, content)), schema_id)
        self.world.set(self.position, ("largest", context), max(self.largest_id(context), schema_id))
