"""Possible fixes for JSON Schema findings: restore a keyword, remove a new one, relax a requirement."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.fixes.json_text_edits import (
    MAX_WIDTH,
    Edit,
    JsonSource,
    JsonSpan,
    abbreviate,
    fit_layout,
    split_tokens,
)
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.json_schema.vocabulary import (
    CLOSING_KEYWORDS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
)
from contractlog.compatibility.json_text import parse_pointer, quote_json

__all__ = ["propose_json_fixes"]

_RANK_PER_ENCLOSING_SCHEMA: Final = 5  #: rank penalty per enclosing schema
_REFERENCE: Final = re.compile(r'"\$ref"\s*:\s*"#/(definitions|\$defs)/([^"/]+)"')


def propose_json_fixes(case: FixContext) -> Iterator[ProposedFix]:
    """Yield possible fixes for a finding; they are not verified yet."""
    pair_of_texts = _JsonTextPair(case)
    for distance, schema_pair in enumerate(
        find_schema_pairs(pair_of_texts.candidate, case.at, pair_of_texts.earlier, case.earlier_at)
    ):
        for tail in schema_pair.tails:
            for fix in pair_of_texts.propose(schema_pair, tail):
                yield pair_of_texts.add_definitions(fix, rank=fix.rank + _RANK_PER_ENCLOSING_SCHEMA * distance)


class _JsonTextPair:
    """The two texts of a case."""

    def __init__(self, context: FixContext) -> None:
        self.backward = context.backward
        self.candidate = JsonSource(context.text)
        self.earlier = JsonSource(context.earlier_text)

    def propose(self, pair: SchemaPair, tail: Sequence[str]) -> Iterator[ProposedFix]:
        """Restore the differences between two schemas, in one keyword or in all."""
        candidate, earlier = pair.candidate, pair.earlier
        if not tail or not (candidate.is_object and earlier.is_object):
            yield from self.restore_schema(candidate, earlier)
        elif tail[0] == "required":
            for name in self.names_required_on_one_side(candidate, earlier, tail):
                yield from self.restore_requirement(candidate, earlier, name)
        elif len(tail) == 2 and not tail[1].isdecimal():  # noqa: PLR2004  - a keyword and a name
            yield from self.restore_entry(candidate, earlier, tail[0], tail[1])
        else:
            yield from self.restore_keyword(candidate, earlier, tail[0])

    def names_required_on_one_side(self, candidate: JsonSpan, earlier: JsonSpan, tail: Sequence[str]) -> Iterator[str]:
        """Yield the required names at a position that the other side does not require.

        Without an index in ``tail``, the position is the whole list.
        """
        candidate_names, earlier_names = (
            self.candidate.strings(candidate.member("required")),
            self.earlier.strings(earlier.member("required")),
        )
        index = int(tail[1]) if len(tail) > 1 and tail[1].isdecimal() else None
        for names, others in ((candidate_names, earlier_names), (earlier_names, candidate_names)):
            required_names = names if index is None else names[index : index + 1]
            yield from (name for name in required_names if name not in others)

    def restore_schema(self, candidate: JsonSpan, earlier: JsonSpan) -> Iterator[ProposedFix]:
        """Restore a whole schema: one keyword of it, or all differences."""
        if candidate.is_object and earlier.is_object:
            for keyword in dict.fromkeys((*(earlier.names or ()), *(candidate.names or ()))):
                yield from self.restore_keyword(candidate, earlier, keyword)
            yield from self.accept_both_types(candidate, earlier)
            yield ProposedFix(
                f"set the schema back to {self.abbreviate_earlier(earlier)}",
                self.restoring_edits(candidate, earlier),
                undo=True,
                rank=2,
            )
        yield ProposedFix(
            f"set the schema back to {self.abbreviate_earlier(earlier)}",
            [self.replace_by_earlier(candidate, earlier)],
            undo=True,
            rank=2,
        )

    def restore_keyword(self, candidate: JsonSpan, earlier: JsonSpan, keyword: str) -> Iterator[ProposedFix]:
        """Restore one keyword of a schema."""
        earlier_value, candidate_value = earlier.member(keyword), candidate.member(keyword)
        if candidate_value is None and earlier_value is not None:
            edit = self.candidate.set_member(candidate, keyword, self.fit_earlier(earlier_value, candidate))
            yield ProposedFix(f'keep "{keyword}": {self.abbreviate_earlier(earlier_value)}', [edit], undo=True)
        elif candidate_value is not None and earlier_value is None:
            yield ProposedFix(f'drop "{keyword}"', self.candidate.remove_member(candidate, keyword), undo=True)
        elif (
            candidate_value is not None
            and earlier_value is not None
            and not self.are_equal(candidate_value, earlier_value)
        ):
            if keyword in {"enum", "required"}:
                yield from self.restore_list_items(candidate_value, earlier_value, keyword)
            if candidate_value.is_object and earlier_value.is_object:
                yield ProposedFix(
                    f'set "{keyword}" back to {self.abbreviate_earlier(earlier_value)}',
                    self.restoring_edits(candidate_value, earlier_value),
                    undo=True,
                )
            yield ProposedFix(
                f'set "{keyword}" back to {self.abbreviate_earlier(earlier_value)}',
                [self.replace_by_earlier(candidate_value, earlier_value)],
                undo=True,
            )

    def restore_list_items(self, candidate: JsonSpan, earlier: JsonSpan, keyword: str) -> Iterator[ProposedFix]:
        """Restore the missing values of a list, and remove the new ones."""
        candidate_values = [self.candidate.slice(spot) for spot in candidate.values]
        earlier_values = [self.earlier.slice(spot) for spot in earlier.values]
        missing = [text for text in earlier_values if text not in candidate_values]
        extra = [index for index, text in enumerate(candidate_values) if text not in earlier_values]
        keep = [self.candidate.insert(candidate, len(candidate.values), ", ".join(missing))] if missing else []
        drop = self.candidate.remove(candidate, extra)
        if keep:
            yield ProposedFix(f'keep {", ".join(missing)[:MAX_WIDTH]} in "{keyword}"', keep, undo=True)
        if drop:
            dropped = ", ".join(candidate_values[index] for index in extra)[:MAX_WIDTH]
            yield ProposedFix(f'leave {dropped} out of "{keyword}"', drop, undo=True)

    def restore_requirement(self, candidate: JsonSpan, earlier: JsonSpan, name: str) -> Iterator[ProposedFix]:
        """Remove or restore the requirement of a property, or give it a default."""
        listed = candidate.member("required")
        if listed is None or name not in self.candidate.strings(listed):
            text = json.dumps(name, ensure_ascii=False)
            edit = (
                self.candidate.set_member(candidate, "required", f"[{text}]")
                if listed is None
                else self.candidate.insert(listed, len(listed.values), text)
            )
            yield ProposedFix(f"require {quote_json(name)} as before", [edit], undo=True)
            return
        yield ProposedFix(
            f"do not require {quote_json(name)}", self.remove_requirement(candidate, earlier, name), undo=True
        )
        yield from self.add_default(candidate, earlier, name)

    def add_default(self, candidate: JsonSpan, earlier: JsonSpan, name: str) -> Iterator[ProposedFix]:
        """Give a required property a default, which readers can use."""
        properties = candidate.member("properties")
        schema = None if properties is None else properties.member(name)
        earlier_properties = earlier.member("properties")
        earlier_property = None if earlier_properties is None else earlier_properties.member(name)
        kind = None if schema is None else self.candidate.string(schema.member("type"))
        default = None if earlier_property is None else earlier_property.member("default")
        text = _EMPTY_VALUES.get(kind or "") if default is None else self.earlier.slice(default)
        if schema is not None and schema.is_object and text is not None and self.backward:
            edit = self.candidate.set_member(schema, "default", text)
            yield ProposedFix(f"give the property {quote_json(name)} a default, such as {text}", [edit], rank=3)

    def restore_entry(self, candidate: JsonSpan, earlier: JsonSpan, keyword: str, name: str) -> Iterator[ProposedFix]:
        """Restore an entry of a keyword that maps names to schemas."""
        candidate_entries, earlier_entries = candidate.member(keyword), earlier.member(keyword)
        candidate_value = None if candidate_entries is None else candidate_entries.member(name)
        earlier_value = None if earlier_entries is None else earlier_entries.member(name)
        what = f"the property {quote_json(name)}" if keyword == "properties" else f'{quote_json(name)} in "{keyword}"'
        if candidate_entries is not None and candidate_value is not None and earlier_value is None:
            yield from self.relax_new_entry(candidate, earlier, candidate_entries, name, what)
        elif earlier_value is not None and candidate_value is None:
            yield from self.restore_removed_entry(candidate, earlier, keyword, name, what)
        elif candidate_value is not None and earlier_value is not None:
            yield from self.restore_schema(candidate_value, earlier_value)

    def relax_new_entry(
        self, candidate: JsonSpan, earlier: JsonSpan, candidate_entries: JsonSpan, name: str, what: str
    ) -> Iterator[ProposedFix]:
        """Relax or remove a new entry."""
        free = self.remove_requirement(candidate, earlier, name)
        removal_edits = self.candidate.remove_member(candidate_entries, name)
        candidate_value = candidate_entries.member(name) or candidate_entries
        if free:
            yield ProposedFix(f"do not require {quote_json(name)}", free)
        if candidate_value.is_object and candidate_value.values:
            yield ProposedFix(
                f"say nothing of the value of {what}",
                [*free, Edit(candidate_value.start + 1, candidate_value.end - 1, "")],
            )
        yield ProposedFix(f"leave {what} out", [*removal_edits, *free], undo=True)

    def restore_removed_entry(
        self, candidate: JsonSpan, earlier: JsonSpan, keyword: str, name: str, what: str
    ) -> Iterator[ProposedFix]:
        """Restore a removed entry, or allow additional properties in its place."""
        earlier_entries, candidate_entries = earlier.member(keyword), candidate.member(keyword)
        earlier_value = None if earlier_entries is None else earlier_entries.member(name)
        if earlier_entries is None or earlier_value is None:
            return
        text = self.fit_earlier(earlier_value, candidate_entries or candidate)
        if candidate_entries is None:
            edit = self.candidate.set_member(candidate, keyword, f"{{{json.dumps(name, ensure_ascii=False)}: {text}}}")
        else:
            before = [
                entry_name
                for entry_name in (earlier_entries.names or [])[: earlier_entries.index_of(name)]
                if candidate_entries.member(entry_name) is not None
            ]
            edit = self.candidate.set_member(candidate_entries, name, text, after=before[-1] if before else "")
        required_before = name in self.earlier.strings(earlier.member("required"))
        requirement_edits = (
            [way.edits[0] for way in self.restore_requirement(candidate, earlier, name)]
            if required_before and keyword == "properties"
            else []
        )
        if requirement_edits and name not in self.candidate.strings(candidate.member("required")):
            yield ProposedFix(f"keep {what}, required", [edit, requirement_edits[0]], undo=True)
        yield ProposedFix(f"keep {what}", [edit], undo=True)
        for closed in CLOSING_KEYWORDS:
            if candidate.member(closed) is not None:
                edits = self.candidate.remove_member(candidate, closed)
                yield ProposedFix(f'drop "{closed}", so that other properties may stand', edits, rank=3)

    def remove_requirement(self, candidate: JsonSpan, earlier: JsonSpan, name: str) -> list[Edit]:
        """Return the edits after which a property is not required; an empty list stays if there was a list."""
        listed = candidate.member("required")
        names = [] if listed is None else self.candidate.strings(listed)
        if listed is None or name not in names:
            return []
        if len(names) == 1 and earlier.member("required") is None:
            return self.candidate.remove_member(candidate, "required")
        return self.candidate.remove(listed, [names.index(name)])

    def accept_both_types(self, candidate: JsonSpan, earlier: JsonSpan) -> Iterator[ProposedFix]:
        """Accept the earlier type in addition to the new one."""
        kind, earlier_type = candidate.member("type"), earlier.member("type")
        new, old = self.candidate.string(kind), self.earlier.string(earlier_type)
        if kind is None or new is None or old is None or {new, old} <= {"integer", "number"}:
            return
        if new != old and self.backward:
            edit = Edit(kind.start, kind.end, json.dumps([old, new]))
            yield ProposedFix(f'accept both types: "type": {json.dumps([old, new])}', [edit], rank=4)

    def restoring_edits(self, candidate: JsonSpan, earlier: JsonSpan) -> list[Edit]:
        """Return the edits that make a value equal to an earlier one, changing only the differences."""
        if self.are_equal(candidate, earlier):
            return []
        if not (candidate.is_object and earlier.is_object):
            return [self.replace_by_earlier(candidate, earlier)]
        names, earlier_names = candidate.names or [], earlier.names or []
        edits = self.candidate.remove(
            candidate, [index for index, name in enumerate(names) if name not in earlier_names]
        )
        for name, earlier_value in earlier.members():
            candidate_value = candidate.member(name)
            if candidate_value is None:
                edits.append(self.candidate.set_member(candidate, name, self.fit_earlier(earlier_value, candidate)))
            else:
                edits += self.restoring_edits(candidate_value, earlier_value)
        return edits

    def add_definitions(self, fix: ProposedFix, rank: int) -> ProposedFix:
        """Add the definitions that the text of a fix references and the candidate lacks."""
        edits = list(fix.edits)
        for keyword, name in dict.fromkeys(match for edit in fix.edits for match in _REFERENCE.findall(edit.text)):
            candidate_entries, earlier_entries = self.candidate.root.member(keyword), self.earlier.root.member(keyword)
            earlier_value = None if earlier_entries is None else earlier_entries.member(name)
            if earlier_value is None or (candidate_entries is not None and candidate_entries.member(name) is not None):
                continue
            text = self.fit_earlier(earlier_value, candidate_entries or self.candidate.root)
            if candidate_entries is None:
                entry = f"{{{json.dumps(name, ensure_ascii=False)}: {text}}}"
                edits.append(self.candidate.set_member(self.candidate.root, keyword, entry))
            else:
                edits.append(self.candidate.set_member(candidate_entries, name, text))
        return ProposedFix(fix.sentence, edits, fix.undo, rank)

    def replace_by_earlier(self, candidate: JsonSpan, earlier: JsonSpan) -> Edit:
        """Replace a value of the candidate by an earlier one."""
        return JsonSource.replace(candidate, self.fit_earlier(earlier, candidate))

    def fit_earlier(self, earlier: JsonSpan, candidate: JsonSpan) -> str:
        """Return the text of an earlier value adapted to a position in the candidate."""
        return fit_layout(self.earlier.slice(earlier), self.earlier, earlier.start, self.candidate, candidate.start)

    def are_equal(self, candidate: JsonSpan, earlier: JsonSpan) -> bool:
        """Return True if two values are equal apart from whitespace and comments."""
        return split_tokens(self.candidate.slice(candidate)) == split_tokens(self.earlier.slice(earlier))

    def abbreviate_earlier(self, earlier: JsonSpan) -> str:
        """Return an earlier value for a sentence, on one line and abbreviated."""
        return abbreviate(self.earlier.slice(earlier))


_EMPTY_VALUES: Final = {
    "string": '""',
    "integer": "0",
    "number": "0",
    "boolean": "false",
    "array": "[]",
    "null": "null",
}


_MAX_PAIRS: Final = 3


@dataclass(frozen=True, slots=True)
class SchemaPair:
    """Two corresponding schemas, and the pointer tokens within them that a finding is about."""

    candidate: JsonSpan
    earlier: JsonSpan
    tails: tuple[tuple[str, ...], ...]  #: an empty tail stands for the whole schema


def find_schema_pairs(candidate: JsonSource, at: str, earlier: JsonSource, earlier_at: str) -> list[SchemaPair]:
    """Return the pairs of schemas that a finding may be about, innermost first.

    If one side lacks something, its pointer ends at the enclosing schema.

    >>> candidate = JsonSource('{"properties": {"a": {"maximum": 1}}}')
    >>> earlier = JsonSource('{"properties": {"a": {}}}')
    >>> [pair.tails for pair in find_schema_pairs(candidate, "/properties/a/maximum", earlier, "/properties/a")]
    [(('maximum',),), (('properties', 'a'),)]
    """
    candidate_chain, earlier_chain = _enclosing_schemas(candidate, at), _enclosing_schemas(earlier, earlier_at)
    depth = min(len(candidate_chain), len(earlier_chain))
    pairs = [
        SchemaPair(
            candidate_chain[index][0],
            earlier_chain[index][0],
            tuple({candidate_chain[index][1]: None, earlier_chain[index][1]: None}),
        )
        for index in reversed(range(depth))
    ]
    if len(candidate_chain) != len(earlier_chain) and depth < max(len(candidate_chain), len(earlier_chain)) - 1:
        # the pointers lead into different parts of the texts
        pairs.insert(0, SchemaPair(candidate_chain[-1][0], earlier_chain[-1][0], ((),)))
    return [_drop_empty_tails(pair, innermost=index == 0) for index, pair in enumerate(pairs[:_MAX_PAIRS])]


def _drop_empty_tails(pair: SchemaPair, *, innermost: bool) -> SchemaPair:
    """Drop empty tails if there are others, and for all levels but the innermost."""
    tails = tuple(tail for tail in pair.tails if tail)
    return SchemaPair(pair.candidate, pair.earlier, tails or (((),) if innermost else ()))


def _enclosing_schemas(source: JsonSource, pointer: str) -> list[tuple[JsonSpan, tuple[str, ...]]]:
    """Return the schemas along a pointer, each with the tokens that follow it."""
    parts = parse_pointer(pointer)
    schemas: list[tuple[JsonSpan, tuple[str, ...]]] = []
    schema: JsonSpan | None = source.root
    while schema is not None:
        tail, next_schema = _next_schema(schema, parts)
        parts = parts[len(tail) :]
        schemas.append((schema, tail))
        schema = next_schema
    return schemas


def _next_schema(span: JsonSpan, parts: list[str]) -> tuple[tuple[str, ...], JsonSpan | None]:
    """Return the tokens from a schema to the next one, and that schema; None if there is none."""
    if not parts or not span.is_object:
        return tuple(parts), None
    keyword = parts[0]
    value = span.member(keyword)
    if value is None:
        return tuple(parts), None
    is_schema = keyword in SCHEMA_KEYWORDS or keyword == "items"
    if is_schema and not value.is_list:
        return (keyword,), value
    if len(parts) > 1 and (keyword in SCHEMA_MAP_KEYWORDS or keyword == "dependentRequired"):
        return tuple(parts[:2]), value.member(parts[1])
    if len(parts) > 1 and (is_schema or keyword in SCHEMA_LIST_KEYWORDS) and value.is_list and parts[1].isdecimal():
        index = int(parts[1])
        return tuple(parts[:2]), value.values[index] if index < len(value.values) else None
    return tuple(parts), None
