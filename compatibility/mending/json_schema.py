"""Possible fixes for JSON Schema findings: restore a keyword, remove a new one, relax a requirement."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.compatibility.json_text import quoted
from contractlog.compatibility.mending.edits import Edit, Source, Spot, tokens
from contractlog.compatibility.mending.json_places import Level, levels
from contractlog.compatibility.mending.ways import Case, Way, fitted

__all__ = ["json_ways"]

_SHOWN: Final = 60
_OUTER: Final = 5  #: rank penalty per enclosing schema
_REFERENCE: Final = re.compile(r'"\$ref"\s*:\s*"#/(definitions|\$defs)/([^"/]+)"')
_OTHERS: Final = ("additionalProperties", "unevaluatedProperties")


def json_ways(case: Case) -> Iterator[Way]:
    """Yield possible fixes for a finding; they are not verified yet."""
    sides = _Sides(case)
    for outer, level in enumerate(levels(sides.mine, case.at, sides.theirs, case.there)):
        for tail in level.tails:
            for way in sides.ways(level, tail):
                yield sides.with_definitions(way, rank=way.rank + _OUTER * outer)


class _Sides:
    """The two texts of a case."""

    def __init__(self, case: Case) -> None:
        self.backward = case.backward
        self.mine = Source(case.text)
        self.theirs = Source(case.earlier_text)

    def ways(self, level: Level, tail: Sequence[str]) -> Iterator[Way]:
        """Restore the differences between two schemas, in one keyword or in all."""
        mine, theirs = level.mine, level.theirs
        if not tail or not (mine.is_object and theirs.is_object):
            yield from self.whole(mine, theirs)
        elif tail[0] == "required":
            for name in self.names_at(mine, theirs, tail):
                yield from self.required(mine, theirs, name)
        elif len(tail) == 2 and not tail[1].isdecimal():  # noqa: PLR2004  - a keyword and a name
            yield from self.named(mine, theirs, tail[0], tail[1])
        else:
            yield from self.word(mine, theirs, tail[0])

    def names_at(self, mine: Spot, theirs: Spot, tail: Sequence[str]) -> Iterator[str]:
        """Yield the required names at a position that the other side does not require.

        Without an index in ``tail``, the position is the whole list.
        """
        ours, known = self.mine.strings(mine.member("required")), self.theirs.strings(theirs.member("required"))
        index = int(tail[1]) if len(tail) > 1 and tail[1].isdecimal() else None
        for names, others in ((ours, known), (known, ours)):
            meant = names if index is None else names[index : index + 1]
            yield from (name for name in meant if name not in others)

    def whole(self, mine: Spot, theirs: Spot) -> Iterator[Way]:
        """Restore a whole schema: one keyword of it, or all differences."""
        if mine.is_object and theirs.is_object:
            for word in dict.fromkeys((*(theirs.names or ()), *(mine.names or ()))):
                yield from self.word(mine, theirs, word)
            yield from self.both_types(mine, theirs)
            yield Way(f"set the schema back to {self.shown(theirs)}", self.restored(mine, theirs), undo=True, rank=2)
        yield Way(f"set the schema back to {self.shown(theirs)}", [self.copy(mine, theirs)], undo=True, rank=2)

    def word(self, mine: Spot, theirs: Spot, word: str) -> Iterator[Way]:
        """Restore one keyword of a schema."""
        had, has = theirs.member(word), mine.member(word)
        if has is None and had is not None:
            edit = self.mine.set_member(mine, word, self.fitted(had, mine))
            yield Way(f'keep "{word}": {self.shown(had)}', [edit], undo=True)
        elif has is not None and had is None:
            yield Way(f'drop "{word}"', self.mine.remove_member(mine, word), undo=True)
        elif has is not None and had is not None and not self.same(has, had):
            if word in {"enum", "required"}:
                yield from self.values(has, had, word)
            if has.is_object and had.is_object:
                yield Way(f'set "{word}" back to {self.shown(had)}', self.restored(has, had), undo=True)
            yield Way(f'set "{word}" back to {self.shown(had)}', [self.copy(has, had)], undo=True)

    def values(self, mine: Spot, theirs: Spot, word: str) -> Iterator[Way]:
        """Restore the missing values of a list, and remove the new ones."""
        have = [self.mine.slice(spot) for spot in mine.values]
        had = [self.theirs.slice(spot) for spot in theirs.values]
        gone = [text for text in had if text not in have]
        extra = [index for index, text in enumerate(have) if text not in had]
        keep = [self.mine.insert(mine, len(mine.values), ", ".join(gone))] if gone else []
        drop = self.mine.remove(mine, extra)
        if keep:
            yield Way(f'keep {", ".join(gone)[:_SHOWN]} in "{word}"', keep, undo=True)
        if drop:
            dropped = ", ".join(have[index] for index in extra)[:_SHOWN]
            yield Way(f'leave {dropped} out of "{word}"', drop, undo=True)

    def required(self, mine: Spot, theirs: Spot, name: str) -> Iterator[Way]:
        """Remove or restore the requirement of a property, or give it a default."""
        listed = mine.member("required")
        if listed is None or name not in self.mine.strings(listed):
            text = json.dumps(name, ensure_ascii=False)
            edit = (
                self.mine.set_member(mine, "required", f"[{text}]")
                if listed is None
                else self.mine.insert(listed, len(listed.values), text)
            )
            yield Way(f"require {quoted(name)} as before", [edit], undo=True)
            return
        yield Way(f"do not require {quoted(name)}", self.unrequired(mine, theirs, name), undo=True)
        yield from self.defaulted(mine, theirs, name)

    def defaulted(self, mine: Spot, theirs: Spot, name: str) -> Iterator[Way]:
        """Give a required property a default, which readers can use."""
        properties = mine.member("properties")
        schema = None if properties is None else properties.member(name)
        known = theirs.member("properties")
        was = None if known is None else known.member(name)
        kind = None if schema is None else self.mine.string(schema.member("type"))
        default = None if was is None else was.member("default")
        text = _EMPTY.get(kind or "") if default is None else self.theirs.slice(default)
        if schema is not None and schema.is_object and text is not None and self.backward:
            edit = self.mine.set_member(schema, "default", text)
            yield Way(f"give the property {quoted(name)} a default, such as {text}", [edit], rank=3)

    def named(self, mine: Spot, theirs: Spot, word: str, name: str) -> Iterator[Way]:
        """Restore an entry of a keyword that maps names to schemas."""
        ours, known = mine.member(word), theirs.member(word)
        has = None if ours is None else ours.member(name)
        had = None if known is None else known.member(name)
        what = f"the property {quoted(name)}" if word == "properties" else f'{quoted(name)} in "{word}"'
        if ours is not None and has is not None and had is None:
            yield from self.added(mine, theirs, ours, name, what)
        elif had is not None and has is None:
            yield from self.removed(mine, theirs, word, name, what)
        elif has is not None and had is not None:
            yield from self.whole(has, had)

    def added(self, mine: Spot, theirs: Spot, ours: Spot, name: str, what: str) -> Iterator[Way]:
        """Relax or remove a new entry."""
        free = self.unrequired(mine, theirs, name)
        gone = self.mine.remove_member(ours, name)
        has = ours.member(name) or ours
        if free:
            yield Way(f"do not require {quoted(name)}", free)
        if has.is_object and has.values:
            yield Way(f"say nothing of the value of {what}", [*free, Edit(has.start + 1, has.end - 1, "")])
        yield Way(f"leave {what} out", [*gone, *free], undo=True)

    def removed(self, mine: Spot, theirs: Spot, word: str, name: str, what: str) -> Iterator[Way]:
        """Restore a removed entry, or allow additional properties in its place."""
        known, ours = theirs.member(word), mine.member(word)
        had = None if known is None else known.member(name)
        if known is None or had is None:
            return
        text = self.fitted(had, ours or mine)
        if ours is None:
            edit = self.mine.set_member(mine, word, f"{{{json.dumps(name, ensure_ascii=False)}: {text}}}")
        else:
            before = [one for one in (known.names or [])[: known.index_of(name)] if ours.member(one) is not None]
            edit = self.mine.set_member(ours, name, text, after=before[-1] if before else "")
        asked = name in self.theirs.strings(theirs.member("required"))
        again = [way.edits[0] for way in self.required(mine, theirs, name)] if asked and word == "properties" else []
        if again and name not in self.mine.strings(mine.member("required")):
            yield Way(f"keep {what}, required", [edit, again[0]], undo=True)
        yield Way(f"keep {what}", [edit], undo=True)
        for closed in _OTHERS:
            if mine.member(closed) is not None:
                edits = self.mine.remove_member(mine, closed)
                yield Way(f'drop "{closed}", so that other properties may stand', edits, rank=3)

    def unrequired(self, mine: Spot, theirs: Spot, name: str) -> list[Edit]:
        """Return the edits after which a property is not required; an empty list stays if there was a list."""
        listed = mine.member("required")
        names = [] if listed is None else self.mine.strings(listed)
        if listed is None or name not in names:
            return []
        if len(names) == 1 and theirs.member("required") is None:
            return self.mine.remove_member(mine, "required")
        return self.mine.remove(listed, [names.index(name)])

    def both_types(self, mine: Spot, theirs: Spot) -> Iterator[Way]:
        """Accept the earlier type in addition to the new one."""
        kind, was = mine.member("type"), theirs.member("type")
        new, old = self.mine.string(kind), self.theirs.string(was)
        if kind is None or new is None or old is None or {new, old} <= {"integer", "number"}:
            return
        if new != old and self.backward:
            edit = Edit(kind.start, kind.end, json.dumps([old, new]))
            yield Way(f'take both types: "type": {json.dumps([old, new])}', [edit], rank=4)

    def restored(self, mine: Spot, theirs: Spot) -> list[Edit]:
        """Return the edits that make a value equal to an earlier one, changing only the differences."""
        if self.same(mine, theirs):
            return []
        if not (mine.is_object and theirs.is_object):
            return [self.copy(mine, theirs)]
        names, known = mine.names or [], theirs.names or []
        edits = self.mine.remove(mine, [index for index, name in enumerate(names) if name not in known])
        for name, had in theirs.members():
            has = mine.member(name)
            if has is None:
                edits.append(self.mine.set_member(mine, name, self.fitted(had, mine)))
            else:
                edits += self.restored(has, had)
        return edits

    def with_definitions(self, way: Way, rank: int) -> Way:
        """Add the definitions that the text of a fix references and the candidate lacks."""
        edits = list(way.edits)
        for word, name in dict.fromkeys(match for edit in way.edits for match in _REFERENCE.findall(edit.text)):
            ours, known = self.mine.root.member(word), self.theirs.root.member(word)
            had = None if known is None else known.member(name)
            if had is None or (ours is not None and ours.member(name) is not None):
                continue
            text = self.fitted(had, ours or self.mine.root)
            if ours is None:
                entry = f"{{{json.dumps(name, ensure_ascii=False)}: {text}}}"
                edits.append(self.mine.set_member(self.mine.root, word, entry))
            else:
                edits.append(self.mine.set_member(ours, name, text))
        return Way(way.sentence, edits, way.undo, rank)

    def copy(self, mine: Spot, theirs: Spot) -> Edit:
        """Replace a value of the candidate by an earlier one."""
        return Source.replace(mine, self.fitted(theirs, mine))

    def fitted(self, theirs: Spot, mine: Spot) -> str:
        """Return the text of an earlier value adapted to a position in the candidate."""
        return fitted(self.theirs.slice(theirs), self.theirs, theirs.start, self.mine, mine.start)

    def same(self, mine: Spot, theirs: Spot) -> bool:
        """Return True if two values are equal apart from whitespace and comments."""
        return tokens(self.mine.slice(mine)) == tokens(self.theirs.slice(theirs))

    def shown(self, theirs: Spot) -> str:
        """Return an earlier value for a sentence, on one line and abbreviated."""
        line = " ".join(self.theirs.slice(theirs).split())
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


_EMPTY: Final = {"string": '""', "integer": "0", "number": "0", "boolean": "false", "array": "[]", "null": "null"}
