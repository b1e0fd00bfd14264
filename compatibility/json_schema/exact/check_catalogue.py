"""Catalogue of the checks of policy EXACT: ids by keyword, with explanations and suggested fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from contractlog.compatibility.json_schema.vocabulary import COUNT_KEYWORDS, KEYWORDS_BY_TYPE, SAME_VALUE_KEYWORDS

__all__ = [
    "ALLOWED_EXACT_CHECKS",
    "CHECKS_BY_KEYWORD",
    "EXACT_CHECKS",
    "FORMAT",
    "UNDECIDED",
    "ExactCheck",
    "find_check",
]


@dataclass(frozen=True, slots=True)
class ExactCheck:
    """A check of the policy; the examples are (reader, writer) texts."""

    id: str
    title: str
    explanation: str
    fix: str
    bad: tuple[str, str]
    good: tuple[str, str]


_TYPE: Final = ExactCheck(
    "JSON_EXACT_TYPE",
    "A type that was valid is no longer allowed",
    "The reader's type rejects a document that is valid for the writer; the finding shows the document.",
    "allow the old type beside the new one",
    ('{"type":"string"}', '{"type":["string","null"]}'),
    ('{"type":["string","null"]}', '{"type":"string"}'),
)
_VALUE: Final = ExactCheck(
    "JSON_EXACT_VALUE",
    "A value that was valid is no longer listed",
    "The reader's enum or const lacks a value that is valid for the writer; the finding shows the value.",
    "keep the value in the list",
    ('{"enum":["EWR"]}', '{"enum":["EWR","JFK"]}'),
    ('{"enum":["EWR","JFK"]}', '{"enum":["EWR"]}'),
)
_BOUND: Final = ExactCheck(
    "JSON_EXACT_BOUND",
    "A limit is tighter than before",
    "A number, length or count that is valid for the writer is outside the reader's limit, or not a multiple of its "
    "multipleOf. Each limit is compared with everything that the other schema requires of the value.",
    "keep the earlier limit",
    ('{"type":"integer","minimum":1}', '{"type":"integer"}'),
    ('{"type":"integer","minimum":0}', '{"type":"integer","exclusiveMinimum":-1}'),
)
_PATTERN: Final = ExactCheck(
    "JSON_EXACT_PATTERN",
    "A string that was valid no longer matches the pattern",
    "Regular expressions are compared as sets of strings: rewriting a pattern without changing the set is no change.",
    "keep the pattern, or widen it so that existing strings match",
    ('{"type":"string","pattern":"^[a-f]+$"}', '{"type":"string"}'),
    ('{"type":"string","pattern":"^[A-Z]{3}$"}', '{"enum":["EWR","JFK"]}'),
)
_REQUIRED: Final = ExactCheck(
    "JSON_EXACT_REQUIRED",
    "A property that existing documents may lack is required",
    "This includes names that properties does not list, and properties that another property requires.",
    "do not require the property",
    ('{"type":"object","required":["gate"]}', '{"type":"object"}'),
    ('{"type":"object"}', '{"type":"object","required":["gate"]}'),
)
_FORBIDDEN: Final = ExactCheck(
    "JSON_EXACT_FORBIDDEN",
    "Existing documents may have a property or an item that is no longer allowed",
    "The reader allows no value there, or no property of this name.",
    "allow what was allowed before",
    ('{"type":"object","additionalProperties":false}', '{"type":"object"}'),
    (
        '{"type":"object","propertyNames":{"maxLength":4}}',
        '{"type":"object","properties":{"gate":true},"additionalProperties":false}',
    ),
)
_ITEMS: Final = ExactCheck(
    "JSON_EXACT_ITEMS",
    "Arrays that were valid lack a required item or repeat an item",
    "The reader's contains asks for an item that existing arrays may lack, or its uniqueItems forbids repeated items.",
    "do not require more of the items than before",
    ('{"type":"array","uniqueItems":true}', '{"type":"array"}'),
    ('{"type":"array","uniqueItems":true}', '{"type":"array","maxItems":1}'),
)
_COMBINED: Final = ExactCheck(
    "JSON_EXACT_COMBINED",
    "A document that was valid no longer matches the combined schemas",
    "The document in the finding matches none of the reader's branches, too many of them, or a schema under not.",
    "let one of the branches allow the document that is shown",
    ('{"anyOf":[{"type":"string"},{"type":"null"}]}', '{"type":["string","integer"]}'),
    ('{"oneOf":[{"type":"string"},{"type":"number"}]}', '{"type":["string","integer"]}'),
)
FORMAT: Final = ExactCheck(
    "JSON_EXACT_FORMAT",
    "Existing strings may not have this format",
    "Formats are distinguished by name. Serializers do not assert them, so this is incompatible only on request.",
    "keep the format",
    ('{"type":"string","format":"date"}', '{"type":"string"}'),
    ('{"type":"string"}', '{"type":"string","format":"date"}'),
)
UNDECIDED: Final = ExactCheck(
    "JSON_UNDECIDED",
    "It is unknown whether existing documents remain valid",
    "There is neither a proof nor a counterexample: the schemas use keywords that cannot be decided, named in the "
    "finding. The policy EXACT rejects what is not proven compatible.",
    "use simpler keywords, or leave this part unchanged",
    ('{"type":"string","pattern":"^(?!x)"}', '{"type":"string"}'),
    ('{"type":"string","pattern":"^(?!x)"}', '{"type":"string","minLength":1,"pattern":"^(?!x)"}'),
)
EXACT_CHECKS: Final = (
    _BOUND, _COMBINED, FORMAT, _FORBIDDEN, _ITEMS, _PATTERN, _REQUIRED, _TYPE, _VALUE, UNDECIDED,
)  # fmt: skip
ALLOWED_EXACT_CHECKS: Final = frozenset({FORMAT.id})  #: reported, but breaking only on request
CHECKS_BY_KEYWORD: Final[Mapping[str, ExactCheck]] = MappingProxyType(
    {
        "type": _TYPE,
        **dict.fromkeys(("enum", "const"), _VALUE),
        "pattern": _PATTERN,
        **dict.fromkeys(("required", "dependentRequired", "dependencies", "dependentSchemas"), _REQUIRED),
        **dict.fromkeys(("contains", "uniqueItems"), _ITEMS),
        **dict.fromkeys(SAME_VALUE_KEYWORDS, _COMBINED),
        **dict.fromkeys((*COUNT_KEYWORDS, *KEYWORDS_BY_TYPE["number"]), _BOUND),
    }
)


def find_check(keyword: str) -> ExactCheck:
    """Return the check of a keyword; by default the one for members and items that are not permitted."""
    return CHECKS_BY_KEYWORD.get(keyword, _FORBIDDEN)
