"""Possible fixes for Avro findings: one generator per check, the undo of the change included."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from contractlog.compatibility.fixes.avro_fields import fix_ambiguous_field, fix_missing_default
from contractlog.compatibility.fixes.avro_names import (
    fix_changed_name,
    fix_enum_symbols,
    restore_fixed_size,
    suggest_enum_default,
)
from contractlog.compatibility.fixes.avro_text_pair import AvroTextPair, abbreviate
from contractlog.compatibility.fixes.avro_types import fix_changed_type, fix_missing_branch
from contractlog.compatibility.fixes.edits import Edit, JsonSource
from contractlog.compatibility.fixes.proposal import FixContext, ProposedFix

__all__ = [
    "add_enum_default",
    "alias_renamed_field",
    "propose_avro_fixes",
    "restore_default",
    "restore_doc",
    "restore_logical_type",
]

_LOGICAL = ("logicalType", "precision", "scale")


def restore_logical_type(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the logical type, or the whole type."""
    earlier_occurrence = pair.earlier_types.at(pair.earlier_at)
    for occurrence in pair.occurrences() if earlier_occurrence is not None else ():
        if earlier_occurrence is not None:
            if occurrence.span.is_object and earlier_occurrence.span.is_object:
                edits = [edit for keyword in _LOGICAL for edit in _restoring_edits(pair, keyword)]
                earlier_value = earlier_occurrence.span.member("logicalType")
                shown_type = "none" if earlier_value is None else pair.earlier_types.source.slice(earlier_value)
                yield ProposedFix(f"set the logical type back to {shown_type}", edits, undo=True)
            yield from pair.propose_restore(occurrence, earlier_occurrence, rank=2)


def restore_default(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the default."""
    yield from _restore_member(pair, "default")


def restore_doc(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Restore the documentation."""
    yield from _restore_member(pair, "doc")


def add_enum_default(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Give the enum a default for unknown symbols."""
    if pair.candidate_span is None:
        return
    source = pair.candidate_types.source
    earlier_default = (
        None if pair.earlier_span is None else pair.earlier_types.source.string(pair.earlier_span.member("default"))
    )
    symbols = source.strings(pair.candidate_span.member("symbols"))
    default = earlier_default if earlier_default in symbols else suggest_enum_default(symbols)
    if default is not None:
        edit = source.set_member(pair.candidate_span, "default", json.dumps(default), after="symbols")
        yield ProposedFix(f'give the enum the default "{default}" for symbols that a reader does not know', [edit])


def alias_renamed_field(pair: AvroTextPair) -> Iterator[ProposedFix]:
    """Add the old name as an alias, or restore it."""
    field, earlier = pair.candidate_span, pair.earlier_span
    old = None if earlier is None else pair.earlier_types.source.string(earlier.member("name"))
    name = None if field is None else field.member("name")
    if field is None or name is None or old is None:
        return
    source = pair.candidate_types.source
    aliases, text = field.member("aliases"), json.dumps(old)
    edit = (
        source.set_member(field, "aliases", f"[{text}]", after="name")
        if aliases is None
        else source.insert(aliases, len(aliases.values), text)
    )
    yield ProposedFix(f'give the field the alias "{old}"', [edit])
    yield ProposedFix(f'name the field "{old}" again', [JsonSource.replace(name, text)], undo=True)


def _restore_member(pair: AvroTextPair, keyword: str) -> Iterator[ProposedFix]:
    earlier_value = None if pair.earlier_span is None else pair.earlier_span.member(keyword)
    if earlier_value is not None:
        text = abbreviate(pair.earlier_types.source.slice(earlier_value))
        yield ProposedFix(f'set "{keyword}" back to {text}', list(_restoring_edits(pair, keyword)), undo=True)


def _restoring_edits(pair: AvroTextPair, keyword: str) -> Iterator[Edit]:
    """Yield the edits that restore a member, or remove it if it did not exist."""
    earlier_value = None if pair.earlier_span is None else pair.earlier_span.member(keyword)
    if pair.candidate_span is None:
        return
    if earlier_value is None:
        yield from pair.candidate_types.source.remove_member(pair.candidate_span, keyword)
    else:
        after = "type" if keyword == "default" else "name"
        yield pair.candidate_types.source.set_member(
            pair.candidate_span, keyword, pair.earlier_types.source.slice(earlier_value), after=after
        )


_PROPOSERS: Final[Mapping[str, Callable[[AvroTextPair], Iterator[ProposedFix]]]] = {
    "AVRO_DEFAULT_CHANGED": restore_default,
    "AVRO_DOC_LOST": restore_doc,
    "AVRO_ENUM_DEFAULT_MISSING": add_enum_default,
    "AVRO_ENUM_SYMBOLS_MISSING": fix_enum_symbols,
    "AVRO_FIELD_AMBIGUOUS": fix_ambiguous_field,
    "AVRO_FIELD_DEFAULT_MISSING": fix_missing_default,
    "AVRO_FIELD_RENAMED": alias_renamed_field,
    "AVRO_FIXED_SIZE_CHANGED": restore_fixed_size,
    "AVRO_LOGICAL_TYPE_CHANGED": restore_logical_type,
    "AVRO_NAME_CHANGED": fix_changed_name,
    "AVRO_TYPE_CHANGED": fix_changed_type,
    "AVRO_UNION_BRANCH_MISSING": fix_missing_branch,
}


def propose_avro_fixes(context: FixContext) -> Iterator[ProposedFix]:
    """Yield possible fixes for a finding; they are not verified yet."""
    propose = _PROPOSERS.get(context.finding.check)
    return iter(()) if propose is None else propose(AvroTextPair(context))
