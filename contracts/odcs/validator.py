"""Validation of a contract against the tables of the specification, without the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.specification import BLOCKS, LATEST, SERVERS, VERSIONS, WORDS, Block, Member

__all__ = ["SCALARS", "find_minor", "is_number", "validate_contract"]

MAX_FINDINGS: Final = 1_000
_MAX_DEPTH: Final = 128
_MAX_NAME: Final = 64  #: of a member that is compared with those of the standard
_ID: Final = re.compile(r"[A-Za-z0-9_-]+")
_REFERENCE: Final = (
    re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*", re.ASCII),
    re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)+", re.ASCII),
)  #: before 3.2, and from 3.2
_LONG_REFERENCE: Final = re.compile(
    r"((https?://)?[\w.\-/]+\.ya?ml#)?/?[A-Za-z_]\w*/[\w-]+(/[A-Za-z_]\w*/[\w-]+)*", re.ASCII
)
_DEPRECATED: Final = {
    ("contract", "dataProduct"): "use a custom property, or the contract of the product",
    ("contract", "slaDefaultElement"): "name the element of each service level",
    ("quality", "rule"): "the member is called metric",
}
_OPERATORS: Final = tuple(WORDS["operator"])
_OF_QUALITY: Final[Mapping[str, frozenset[str]]] = {
    "library": frozenset({"metric", "rule", "arguments", *_OPERATORS}),
    "sql": frozenset({"query", *_OPERATORS}),
    "custom": frozenset({"engine", "implementation"}),
}  #: members of a quality rule that only one type has
_REQUIRED_OF_QUALITY: Final = {"library": ("metric",), "sql": ("query",), "custom": ("engine", "implementation")}
_INNER_TYPES: Final = {"properties": "object", "items": "array", "map": "map"}
_ADMIT_OPERATORS: Final = ("library", "sql")


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_reference(value: Any, minor: int) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, str) and _is_reference(each, minor) for each in value)
    pattern = _REFERENCE[minor > 1]
    return isinstance(value, str) and bool(pattern.fullmatch(value) or _LONG_REFERENCE.fullmatch(value))


def _is_interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] != value[1]  # noqa: PLR2004 - an interval


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


SCALARS: Final[Mapping[str, tuple[str, Callable[[Any, int], bool]]]] = {
    "any": ("be a value", lambda *_: True),
    "text": ("be a text", lambda value, _: _is_text(value)),
    "flag": ("be true or false", lambda value, _: isinstance(value, bool)),
    "number": ("be a number", lambda value, _: is_number(value)),
    "integer": ("be a whole number", lambda value, _: _is_integer(value)),
    "natural": ("be a whole number from 0", lambda value, _: _is_integer(value) and value >= 0),
    "count": ("be a whole number above 0", lambda value, _: _is_integer(value) and value > 0),
    "positive": ("be a number above 0", lambda value, _: is_number(value) and value > 0),
    "scalar": ("be a text, a number, true, false or null", lambda value, _: not isinstance(value, dict | list)),
    "object": ("be an object", lambda value, _: isinstance(value, dict)),
    "id": ("be letters, digits, - and _", lambda value, _: _is_text(value) and bool(_ID.fullmatch(value))),
    "port": ("be a port", lambda value, minor: _is_integer(value) or (minor > 1 and _is_text(value))),
    "sftpLocation": ("begin with sftp://", lambda value, _: _is_text(value) and value.startswith("sftp://")),
    "duckdbSchema": (
        "be a text (in 3.0, a whole number)",
        lambda value, minor: _is_text(value) if minor else _is_integer(value),
    ),
    "format": (
        "be a text (in 3.0, parquet, delta, json or csv)",
        lambda value, minor: _is_text(value) and (minor > 0 or value in {"parquet", "delta", "json", "csv"}),
    ),
    "delimiter": (
        "be a text (in 3.0, new_line or array)",
        lambda value, minor: _is_text(value) and (minor > 0 or value in {"new_line", "array"}),
    ),
    "interval": ("be a list of two different numbers", lambda value, _: _is_interval(value)),
    "names": ("be a list of different texts", lambda value, _: _is_names(value)),
    "reference": ("refer to properties, such as customers.id", _is_reference),
    "exclusive": (
        "be a number (in 3.0, true or false)",
        lambda value, minor: is_number(value) if minor else isinstance(value, bool),
    ),
    "exclusiveText": (
        "be a text (in 3.0, true or false)",
        lambda value, minor: _is_text(value) if minor else isinstance(value, bool),
    ),
}
"""Kinds of values that are no blocks, by name: what a value must be, and a function of it and the minor version."""


def find_minor(document: Any) -> int | None:
    """Return the minor version of ODCS 3 of a contract; None if it is of no version that is supported."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    return VERSIONS.get(version) if isinstance(version, str) else None


def validate_contract(document: Any, limit: int | None = MAX_FINDINGS) -> list[ContractFinding]:
    """Return what is wrong with a contract by the version that it names, at most ``limit`` findings."""
    minor = find_minor(document)
    return list(islice(_check(document, "contract", (), VERSIONS[LATEST] if minor is None else minor), limit))


def _check(value: Any, kind: str, path: DocumentPath, minor: int) -> Iterator[ContractFinding]:
    kind = _choose(value, kind, minor)
    if len(path) > _MAX_DEPTH:
        yield ContractFinding(path, ContractCheck.VALUE, f"is nested deeper than {_MAX_DEPTH}")
    elif kind.startswith("["):
        if not isinstance(value, list):
            yield ContractFinding(path, ContractCheck.VALUE, "must be a list")
            return
        for index, item in enumerate(value):
            yield from _check(item, kind[1:-1], (*path, index), minor)
        if kind == "[enumValue]":
            yield from _check_enum(value, path)
    elif kind in BLOCKS:
        if isinstance(value, dict):
            yield from _check_block(value, kind, path, minor)
        else:
            yield ContractFinding(path, ContractCheck.VALUE, "must be an object")
    elif kind in WORDS:
        yield from _check_word(value, kind, path, minor)
    elif not SCALARS[kind][1](value, minor):
        yield ContractFinding(path, ContractCheck.VALUE, f"must {SCALARS[kind][0]}")


def _choose(value: Any, kind: str, minor: int) -> str:
    """Return the kind that is meant, of alternatives by the type of the value."""
    if kind == "team":
        return "[member]" if isinstance(value, list) or not minor else "teamObject"
    first, _, second = kind.partition("|")
    return second if second and isinstance(value, dict) else first


def _check_word(value: Any, kind: str, path: DocumentPath, minor: int) -> Iterator[ContractFinding]:
    words = [word for word, since in WORDS[kind].items() if since <= minor or kind == "version"]
    if value not in words:
        written = f"`{value}`" if isinstance(value, str) and len(value) <= _MAX_NAME else "this"
        hint = "; contracts of 2.x have another structure, and must be converted first" if kind == "version" else ""
        yield ContractFinding(path, ContractCheck.VALUE, f"must be one of {', '.join(words)}, not {written}{hint}")


def _check_enum(values: list[Any], path: DocumentPath) -> Iterator[ContractFinding]:
    texts = [repr(value) for value in values]
    if not values or len(set(texts)) < len(texts):
        yield ContractFinding(path, ContractCheck.VALUE, "must be a list of at least one value, each of them once")


def _check_block(value: dict[Any, Any], kind: str, path: DocumentPath, minor: int) -> Iterator[ContractFinding]:
    block = BLOCKS[kind]
    members = {**block.members, **(_server_members(value) if kind == "server" else {})}
    if kind in {"property", "item"} and "logicalType" in value:
        for name, logical_type in _INNER_TYPES.items():
            if value["logicalType"] != logical_type and (kind, name) != ("item", "properties"):
                del members[name]
    for name, member in members.items():
        if name not in value and _is_required(kind, name, member, value, minor):
            yield ContractFinding((*path, name), ContractCheck.MISSING, "is missing")
    for name, each in value.items():
        at = (*path, name)
        if name not in members or members[name].since > minor:
            yield _unknown(at, members, block, minor)
        elif kind in {"property", "item"} and name == "logicalTypeOptions":
            yield from _check_options(each, value, at, minor)
        else:
            yield from _check(each, members[name].kind, at, minor)
        if minor and (kind, name) in _DEPRECATED:
            message = f"is deprecated: {_DEPRECATED[kind, name]}"
            yield ContractFinding(at, ContractCheck.DEPRECATED, message, Severity.NOTE)
    yield from _check_together(value, kind, path, minor)


def _is_required(kind: str, name: str, member: Member, value: Mapping[Any, Any], minor: int) -> bool:
    match kind, name:
        case "contract", "status":
            return minor < 2  # noqa: PLR2004 - version 3.2
        case "support", "url":
            return not minor
        case "server", "stagingDir":
            return minor < 2 and value.get("type") == "athena"  # noqa: PLR2004 - as above
        case _, "map":
            return value.get("logicalType") == "map"
        case _:
            return member.required and member.since <= minor


def _server_members(value: Mapping[Any, Any]) -> Mapping[str, Member]:
    kind = value.get("type")
    return SERVERS.get(kind, {}) if isinstance(kind, str) else {}


def _unknown(path: DocumentPath, members: Mapping[str, Member], block: Block, minor: int) -> ContractFinding:
    name = path[-1]
    severity = Severity.ERROR if minor >= block.closed_since else Severity.WARNING
    if name in members:
        message = f"came with ODCS 3.{members[str(name)].since}: set apiVersion, or use a custom property"
        return ContractFinding(path, ContractCheck.UNKNOWN, message, severity)
    near = get_close_matches(str(name), members, 1) if len(str(name)) <= _MAX_NAME else []
    hint = f"did you mean {near[0]}?" if near else "move it to customProperties"
    return ContractFinding(path, ContractCheck.UNKNOWN, f"is no member of ODCS 3.{minor}: {hint}", severity)


def _check_options(
    options: Any, element: Mapping[Any, Any], path: DocumentPath, minor: int
) -> Iterator[ContractFinding]:
    kind = element.get("logicalType")
    name = f"options:{'timestamp' if kind == 'time' else kind}"
    yield from _check(options, name if isinstance(kind, str) and name in BLOCKS else "object", path, minor)


def _check_together(value: dict[Any, Any], kind: str, path: DocumentPath, minor: int) -> Iterator[ContractFinding]:
    """Check what members of a block mean for each other."""
    if kind in {"property", "item"} and "logicalType" not in value:
        message = "is missing; the official JSON Schema requires it"
        yield ContractFinding((*path, "logicalType"), ContractCheck.TYPE_MISSING, message, Severity.NOTE)
    elif kind in {"property", "item"} and value["logicalType"] == "vector" and "logicalTypeOptions" not in value:
        yield ContractFinding((*path, "logicalTypeOptions"), ContractCheck.MISSING, "is missing: it has the dimensions")
    if kind == "relationship" and "from" in value and "to" in value:
        lengths = {len(each) if isinstance(each, list) else 0 for each in (value["from"], value["to"])}
        if len(lengths) > 1:
            yield ContractFinding((*path, "to"), ContractCheck.VALUE, "must have as many properties as from")
    if kind == "quality":
        yield from _check_quality(value, path, minor)


def _check_quality(value: dict[Any, Any], path: DocumentPath, minor: int) -> Iterator[ContractFinding]:
    kind = value.get("type")
    if not minor:
        required = ("rule",) if kind is None or kind == "library" else _REQUIRED_OF_QUALITY.get(str(kind), ())
        wrong = [(*path, name) for name in required if name not in value]
        yield from (ContractFinding(at, ContractCheck.MISSING, "is missing") for at in wrong)
        return
    if (kind is None and "rule" in value) or (kind in (None, "text") and isinstance(value.get("metric"), str)):
        kind = "library"
    for name in _REQUIRED_OF_QUALITY.get(str(kind), ()):
        if name not in value:
            yield ContractFinding((*path, name), ContractCheck.MISSING, f"is missing in a rule of the type {kind}")
    operators = [name for name in value if name in _OPERATORS]
    if kind in _ADMIT_OPERATORS and len(operators) != 1:
        wrong = [(*path, name) for name in operators[1:]] or [(*path, "mustBe")]
        check = ContractCheck.VALUE if operators else ContractCheck.MISSING
        yield from (ContractFinding(at, check, "must be the only operator of the rule") for at in wrong)
    foreign = frozenset().union(*_OF_QUALITY.values()) - _OF_QUALITY.get(str(kind), frozenset())
    for name in value:
        if name in foreign and name in BLOCKS["quality"].members:
            message = f"is no member of a rule of the type {kind or 'text'}"
            yield ContractFinding((*path, name), ContractCheck.UNKNOWN, message, Severity.WARNING)
