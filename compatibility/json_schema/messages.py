"""Findings of JSON Schema differences: the reference implementation's message, and a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.json_schema.diff.catalogue import DIFFERENCE_KINDS, check_id
from contractlog.compatibility.json_schema.diff.pairs import LocatedDifference
from contractlog.compatibility.limits import truncate_message

__all__ = ["create_finding"]

_MESSAGES: Final[Mapping[str, str]] = {
    "none": "",
    "keyword": "The keyword at path '%s' in the {reader} schema is not present in the {writer} schema",
    "raised": "The value at path '%s' in the {reader} schema is more than its value in the {writer} schema",
    "lowered": "The value at path '%s' in the {reader} schema is less than its value in the {writer} schema",
    "changed": "The value at path '%s' is different between the {reader} and {writer} schema",
    "fewer": "An array or combined type at path '%s' has fewer elements in the {reader} schema "
    "than the {writer} schema",
    "more": "An array or combined type at path '%s' has more elements in the {reader} schema than the {writer} schema",
    "type": "A type at path '%s' is different between the {reader} schema and the {writer} schema",
    "open": "The {reader} schema has an open content model and has a property or item at path '%s' which is missing in "
    "the {writer} schema",
    "unopen": "The {reader} schema has an unopen content model and has a required property at path '%s' which is "
    "missing in the {writer} schema",
    "closed": "The {reader} has a closed content model and is missing a property or item present at path '%s' in the "
    "{writer} schema",
    "lost": "A property or item is missing in the {reader} schema but present at path '%s' in the "
    "{writer} schema and is not covered by its partially open content model",
    "alien": "The {reader} schema has a property or item at path '%s' which is missing in the {writer} "
    "schema and is not covered by its partially open content model",
}


def create_finding(located: LocatedDifference) -> Finding:
    """Return the finding of a difference.

    The message matches the reference implementation to the letter, including its unbalanced last quote.
    """
    kind = DIFFERENCE_KINDS[located.difference.kind]
    path = "#/" + "/".join(map(str, located.path))
    text = _MESSAGES[kind.family].replace("%s", path.replace("{", "{{").replace("}", "}}"))
    return Finding(
        check_id(kind.name),
        located.reader_at,
        located.writer_at,
        f"{kind.title[0].lower()}{kind.title[1:]} at {path}{_describe_values(located)}",
        f'{{{{errorType:"{kind.name}", description:"{text}\'}}}}',
    )


def _describe_values(located: LocatedDifference) -> str:
    before, after = truncate_message(located.difference.before), truncate_message(located.difference.after)
    if before and after:
        return f": {after}, and not {before}"
    return f": {after or before}" if after or before else ""
