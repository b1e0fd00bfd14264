"""Interface of a schema format: its facts and functions as one value, listed in ``formats.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from contractlog.compatibility.check_description import CheckDescription
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.proposed_fix import FixContext, ProposedFix
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.reference_names import SchemaNames
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.search_terms import Term
from contractlog.compatibility.step_budget import StepBudget
from contractlog.compatibility.structural_change import StructuralChange
from contractlog.compatibility.tags import Entity, TagsByEntity

__all__ = ["SchemaFormat"]


class _Parse(Protocol):
    def __call__(self, draft: SchemaDraft, referenced: Mapping[str, str], /, *, strict: bool) -> ParsedSchema: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFormat:
    """A schema format. What has a default is optional: without it, the format lacks that feature."""

    type: SchemaType
    parse: _Parse  #: parses a draft, or raises ``InvalidSchema`` with the position
    #: yields every difference between reader and writer that a policy may count as breaking
    compare: Callable[[ParsedSchema, ParsedSchema, Policy, StepBudget | None], Iterator[Finding]]
    checks: tuple[CheckDescription, ...]  #: the meaning of every id in its findings
    allowed_checks: Mapping[Policy, frozenset[str]]  #: policy -> checks whose findings break nothing
    #: yields the differences that break compatibility only if their check is requested
    find_warnings: Callable[[ParsedSchema, ParsedSchema, StepBudget | None], Iterator[Finding]] = lambda *_: iter(())
    dangerous_checks: frozenset[str] = frozenset()  #: checks of changes after which readers may see other values
    #: yields every change between a later and an earlier schema in words, whether it affects readers or not
    list_changes: Callable[[ParsedSchema, ParsedSchema, StepBudget | None], Iterator[StructuralChange]] = lambda *_: (
        iter(())
    )
    #: returns True if comparing would show nothing; False is inconclusive
    passes_fast_check: Callable[[ParsedSchema, ParsedSchema], bool] = lambda *_: False
    #: returns an interned object that holds what findings depend on, for ``reads_all``; None if there is none
    build_shape: Callable[[ParsedSchema, Memo], Any] = lambda *_: None
    #: returns True if a shape has no breaking finding for any writer; raises ``StepBudgetExceeded`` if unsure
    reads_all: Callable[[Any, frozenset[Any], Policy, Memo, StepBudget], bool] = lambda *_: False
    #: returns True if two schemas of different references have the same content with the references inlined
    is_same_inlined: Callable[[ParsedSchema, ParsedSchema], bool] = lambda *_: False
    #: returns a schema text without what no reader acts on, equal for equal meanings
    strip_annotations: Callable[[str], str] = lambda text: text
    #: returns why the format's meta-schema rejects a schema that is accepted; None if it does not
    find_nonconformity: Callable[[ParsedSchema], InvalidSchema | None] = lambda _: None
    #: returns the names in a schema text by which schemas refer to each other; none if the text is invalid
    list_names: Callable[[str], SchemaNames] = lambda _: SchemaNames()
    #: returns a text with names in place of the definitions that are also in its references; None: it repeats none
    omit_shared_definitions: Callable[[str, Mapping[str, str]], str] | None = None
    write_reference: Callable[[str], str] | None = None  #: returns the least text that refers to a name
    list_top_level_fields: Callable[[ParsedSchema], tuple[str, ...]] = lambda _: ()
    list_tags: Callable[[str], Mapping[Entity, tuple[str, ...]]] = lambda _: {}
    edit_tags: Callable[[str, TagsByEntity, TagsByEntity], str] | None = None  #: adds tags, then removes others
    propose_fixes: Callable[[FixContext], Iterable[ProposedFix]] = lambda _: ()
    extract_terms: Callable[[str], Iterator[Term]] = lambda _: iter(())
    renderings: Mapping[str, Callable[[ParsedSchema], str]] = field(default_factory=dict)  #: alternative texts, by name
    allows_comments: bool = False
    has_policies: bool = False  #: the policy matters for its findings
    parses_canonical_alike: bool = False  #: a draft that equals its canonical text has the tree of the stored schema
    reserved_field_prefix: str = ""  #: no top-level field starts with it, if fields are validated
