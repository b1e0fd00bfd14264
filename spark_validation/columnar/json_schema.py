"""JSON documents: orjson reads, jsonschema-rs validates; nothing is fetched, patterns are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urljoin

import jsonschema_rs
import numpy as np
import orjson
from numpy.typing import NDArray

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parse import JsonSchema, draft_of
from contractlog.compatibility.json_text import plain, pointer, read
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.json_columns import Flattening
from contractlog.spark_validation.columnar.json_places import root_place
from contractlog.spark_validation.columnar.judged import Judged
from contractlog.spark_validation.columnar.limits import Limits

__all__ = ["JsonValidator"]

_VALIDATORS: Final[Mapping[str, tuple[type[jsonschema_rs.Validator], int]]] = MappingProxyType(
    {
        "draft-04": (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft4),
        "draft-06": (jsonschema_rs.Draft6Validator, jsonschema_rs.Draft6),
        "draft-07": (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7),
        "2019-09": (jsonschema_rs.Draft201909Validator, jsonschema_rs.Draft201909),
        "2020-12": (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012),
    }
)
_BASE: Final = "json-schema:///"
_TOO_DEEP: Final = "depth limit exceeded"
_LONGEST_MESSAGE: Final = 200
_BROKEN_TYPE: Final = "type"


class JsonValidator:
    """Holds documents against one JSON Schema."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str], limits: Limits) -> None:
        kind, number = _VALIDATORS[schema.draft.name]
        contents = _bridged(plain(schema.value))
        base = _BASE
        if isinstance(contents, dict):
            contents = {**contents, "$schema": schema.draft.uri}
            named = contents.get("id" if schema.draft.name == "draft-04" else "$id")
            base = named if isinstance(named, str) and ":" in named else _BASE
        resources: dict[str, Any] = {}
        for name, text in referenced.items():
            value = read(text)
            other = _bridged(plain(value))
            if isinstance(other, dict):
                other = {**other, "$schema": draft_of(value).uri}
            resources |= dict.fromkeys((name, urljoin(base, name)), other)
        try:
            registry = jsonschema_rs.Registry([(base, contents), *resources.items()], draft=number)
            self._validator = kind(
                contents,
                registry=registry,
                offline=True,
                validate_formats=limits.formats,
                mask="the value",
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=limits.backtracking),
            )
            self._root = root_place(contents, registry.resolver(base))
        except (ValueError, jsonschema_rs.ReferencingError) as problem:
            raise InvalidSchema(f"not a schema that documents can be held against: {_cut(str(problem))}") from None
        self._contents = contents
        self._limits = limits

    def judge(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> Judged:
        """Judge the documents that stand at ``data[start:end]``."""
        codes = np.zeros(starts.size, np.uint8)
        places = np.full(starts.size, -1, np.int32)
        numbers: dict[tuple[str, str], int] = {}
        details: dict[int, str] = {}
        flattening = Flattening(self._limits.depth)
        bodies = data.data
        is_valid, root = self._validator.is_valid, self._root
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            try:
                value = orjson.loads(bodies[start:end])
            except orjson.JSONDecodeError as problem:
                codes[row] = Outcome.TOO_DEEP if problem.msg.startswith(_TOO_DEEP) else Outcome.NOT_JSON
                details[row] = f"{problem.msg} (byte {problem.pos} of the body)"
                continue
            if is_valid(value):
                if columns:
                    flattening.add(row, root, value)
                continue
            path, field, details[row] = self._explain(value)
            codes[row] = Outcome.SCHEMA_VIOLATION
            places[row] = numbers.setdefault((path, field), len(numbers))
        return Judged(codes, places, list(numbers), details, list(flattening.pieces()))

    def _explain(self, value: Any) -> tuple[str, str, str]:
        """Return schema pointer, field and sentence of the first thing that a document breaks."""
        first = next(self._validator.iter_errors(value), None)
        if first is None:  # no error to show, as where a pattern gave up
            return "", "", "the document is not valid"
        error = _deepest(first)
        path = error.schema_path if self._is_there(error.schema_path) else error.evaluation_path
        field = self._root.path_of(error.instance_path[: self._limits.depth])
        return pointer("", *path), field, f"{error.kind.name}: {_cut(error.message)}"

    def _is_there(self, path: list[str | int]) -> bool:
        """Whether a path leads through the schema's own text; it does not where it lies in one that is leaned on."""
        node = self._contents
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True


def _deepest(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """Follow alternatives to what speaks most to the point: deepest in the document, or the one of the right type."""
    while True:
        branches = [branch[0] for branch in getattr(error.kind, "context", ()) if branch]
        deeper = [branch for branch in branches if len(branch.instance_path) > len(error.instance_path)]
        typed = [branch for branch in branches if branch.kind.name != _BROKEN_TYPE]
        if deeper:
            error = max(deeper, key=lambda branch: len(branch.instance_path))
        elif len(typed) == 1:
            error = typed[0]
        else:
            return error


def _bridged(contents: Any) -> Any:
    """Let ``definitions`` and ``$defs`` of a root each be named as the other, as the reference does."""
    if isinstance(contents, dict):
        for one, other in (("definitions", "$defs"), ("$defs", "definitions")):
            if one in contents and other not in contents:
                return {**contents, other: contents[one]}
    return contents


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
