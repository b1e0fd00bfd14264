"""Violations of the manifest's JSON Schema, in the words of its descriptions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files as package_files
from typing import Any, Final

__all__ = ["find_schema_errors"]

_TYPES: Final = {"string": "a string", "array": "a list", "object": "a table", "boolean": "`true` or `false`"}
_EMPTY: Final = {"minLength": "this string is empty", "minItems": "this list is empty"}
_NAMED_VIOLATIONS: Final = {"required", "type", "uniqueItems", *_EMPTY}  #: keywords with a reason of their own
_SHOWN: Final = re.compile(r"[\w .-]{1,40}")  #: other texts may be credentials, or too long


def find_schema_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield what the schema of manifests rejects: the keys that lead there, and the reason."""
    from jsonschema_rs import validator_for  # noqa: PLC0415 - not needed without a manifest

    schema = json.loads((package_files("contractlog.clients.cli.schema_folder") / "manifest.schema.json").read_text())
    for error in validator_for(schema, mask="this value").iter_errors(value):  # values may have passwords
        keys, path = list(error.instance_path), list(error.schema_path)
        unexpected = re.match(r"Additional properties are not allowed \('([^']+)'", error.message)
        if unexpected:
            yield [*keys, unexpected[1]], _describe_unknown_key(schema, path, unexpected[1])
            continue
        violation = error.kind.as_dict()
        if error.kind.name == "required":
            path = path[:-1]
            if violation["property"] in _follow(schema, path).get("properties", ()):
                path += ["properties", violation["property"]]
        wrong = _follow(value, keys)
        reason = _describe_violation(error.kind.name, violation, wrong, keys)
        if (
            error.kind.name == "type"
            and violation["types"] == ["array"]
            and isinstance(wrong, Mapping)
            and len(keys) == 1
        ):
            reason += f": write `[[{keys[0]}]]`, and tables such as `[{keys[0]}.{next(iter(wrong), 'NAME')}]` below it"
        yield keys, reason + _describe_expected(error.kind.name, _describe(schema, path))


def _describe_violation(keyword: str, violation: Mapping[str, Any], value: Any, keys: Sequence[str | int]) -> str:
    """Return what is wrong with a value, and what its keyword allows."""
    match keyword:
        case "required":
            return f"the key `{violation['property']}` is missing"
        case "type":
            needed = " or ".join(_TYPES.get(each, each) for each in violation["types"])
            return f"expected {needed}, found {_describe_type(value)}"
        case "enum":
            options = violation["options"]
            given = value if isinstance(value, str) else ""
            quoted = f"`{given}`" if _SHOWN.fullmatch(given) else "this value"
            close = get_close_matches(given.upper(), options, 1) or get_close_matches(given.lower(), options, 1)
            hint = f"did you mean `{close[0]}`? Allowed" if close else "allowed"
            return f"{quoted} is not allowed; {hint}: {', '.join(options)}"
        case "uniqueItems":
            return "this list has an entry twice"
    key = next((each for each in reversed(keys) if isinstance(each, str) and _SHOWN.fullmatch(each)), None)
    return _EMPTY.get(keyword, "this value is not allowed" if key is None else f"the value of `{key}` is not allowed")


def _describe_expected(keyword: str, description: str) -> str:
    """Return the end of a message: the description of the key, unless its values are listed."""
    if keyword == "enum":
        return ""
    return f". {description}" if keyword in _NAMED_VIOLATIONS else f"; expected: {description}"


def _describe_type(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{json.dumps(value)}`"
    kinds = ((str, "a string"), (list, "a list"), (Mapping, "a table"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "a number")


def _follow(value: Any, keys: Sequence[str | int]) -> Any:
    for key in keys:
        value = value[key]
    return value


def _describe(schema: Any, path: Sequence[str | int]) -> str:
    """Return the description nearest to a part of a schema."""
    description = ""
    for key in path:
        schema = schema[key]
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            description = schema["description"]
    return description


def _describe_unknown_key(schema: Any, path: Sequence[str | int], name: str) -> str:
    keys_allowed = list(_follow(schema, path[:-1]).get("properties", ()))
    close = get_close_matches(name, keys_allowed, 1)
    return f"there is no key `{name}` here; " + (
        f"did you mean `{close[0]}`?" if close else f"use {', '.join(keys_allowed)}"
    )
