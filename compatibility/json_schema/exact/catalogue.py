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
    "Values of a type were valid, and are not any more",
    "The reader's type refuses a document that the writer admits; the finding shows it.",
    "keep the type that is refused now, beside the new one",
    ('{"type":"string"}', '{"type":["string","null"]}'),
    ('{"type":["string","null"]}', '{"type":"string"}'),
)
_VALUE: Final = ExactCheck(
    "JSON_EXACT_VALUE",
    "A value was valid, and is not among the listed ones any more",
    "The reader's enum or const lacks a value that the writer admits; the finding shows it.",
    "keep the value in the list",
    ('{"enum":["EWR"]}', '{"enum":["EWR","JFK"]}'),
    ('{"enum":["EWR","JFK"]}', '{"enum":["EWR"]}'),
)
_BOUND: Final = ExactCheck(
    "JSON_EXACT_BOUND",
    "A limit is tighter than it was",
    "A number, a length or a count was valid and is beyond the reader's limit, or no multiple of its figure. A limit "
    "of one side is compared with everything that the other side requires of the value.",
    "keep the earlier limit",
    ('{"type":"integer","minimum":1}', '{"type":"integer"}'),
    ('{"type":"integer","minimum":0}', '{"type":"integer","exclusiveMinimum":-1}'),
)
_PATTERN: Final = ExactCheck(
    "JSON_EXACT_PATTERN",
    "A text was valid, and does not fit the pattern any more",
    "Regular patterns are compared as sets of texts, so another way to write a pattern is no change.",
    "keep the pattern, or widen it so that earlier texts fit",
    ('{"type":"string","pattern":"^[a-f]+$"}', '{"type":"string"}'),
    ('{"type":"string","pattern":"^[A-Z]{3}$"}', '{"enum":["EWR","JFK"]}'),
)
_REQUIRED: Final = ExactCheck(
    "JSON_EXACT_REQUIRED",
    "A member is required that earlier documents need not have",
    "Also if the name is not listed in properties, and if another member requires it.",
    "do not require the member",
    ('{"type":"object","required":["gate"]}', '{"type":"object"}'),
    ('{"type":"object"}', '{"type":"object","required":["gate"]}'),
)
_FORBIDDEN: Final = ExactCheck(
    "JSON_EXACT_FORBIDDEN",
    "Earlier documents may have a member or an item that is not permitted any more",
    "Nothing may stand there for the reader, or not under this name.",
    "permit what was permitted before",
    ('{"type":"object","additionalProperties":false}', '{"type":"object"}'),
    (
        '{"type":"object","propertyNames":{"maxLength":4}}',
        '{"type":"object","properties":{"gate":true},"additionalProperties":false}',
    ),
)
_ITEMS: Final = ExactCheck(
    "JSON_EXACT_ITEMS",
    "Arrays were valid, and lack or repeat something now",
    "The reader requires other items to be contained, or distinct items.",
    "do not require more of the items than before",
    ('{"type":"array","uniqueItems":true}', '{"type":"array"}'),
    ('{"type":"array","uniqueItems":true}', '{"type":"array","maxItems":1}'),
)
_COMBINED: Final = ExactCheck(
    "JSON_EXACT_COMBINED",
    "A document was valid, and fits no allowed combination any more",
    "The document that the finding shows meets none of the reader's branches, or too many, or what it must not meet.",
    "let one of the branches admit the document that is shown",
    ('{"anyOf":[{"type":"string"},{"type":"null"}]}', '{"type":["string","integer"]}'),
    ('{"oneOf":[{"type":"string"},{"type":"number"}]}', '{"type":["string","integer"]}'),
)
FORMAT: Final = ExactCheck(
    "JSON_EXACT_FORMAT",
    "A string may not have this format",
    "Formats are distinguished by name. Serializers do not assert them, so this is incompatible only on request.",
    "keep the format",
    ('{"type":"string","format":"date"}', '{"type":"string"}'),
    ('{"type":"string"}', '{"type":"string","format":"date"}'),
)
UNDECIDED: Final = ExactCheck(
    "JSON_UNDECIDED",
    "It is unknown whether earlier documents remain valid",
    "There is neither a proof nor a counterexample: the schemas use keywords that cannot be decided, named in the "
    "finding. The policy EXACT rejects what is not proven.",
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
