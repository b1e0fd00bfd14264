"""Validator of JSON documents, with orjson and jsonschema-rs; no URL is fetched, patterns are bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_text import join_pointer
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.json_schema.exact_json import has_long_numbers, read_document
from contractlog.serdes.json_schema.prepared_schema import prepare_schema, shorten_message
from contractlog.spark_validation.columnar.json_columns import DocumentFlattener
from contractlog.spark_validation.columnar.json_paths import root_path
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.outcomes import RecordOutcomes

__all__ = ["JsonValidator"]

_TOO_DEEP: Final = "depth limit exceeded"


class JsonValidator:
    """Validates documents against one JSON Schema."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str], limits: ValidationLimits) -> None:
        ready = prepare_schema(
            schema, referenced, formats=limits.formats, backtracking=limits.backtracking, mask="the value"
        )
        self._validator = ready.validator
        self._faults = ready.violation_finder
        self._contents = ready.contents
        self._root = root_path(ready.contents, ready.resolver)
        self._limits = limits

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the documents at ``data[start:end]``."""
        codes = np.zeros(starts.size, np.uint8)
        places = np.full(starts.size, -1, np.int32)
        numbers: dict[tuple[str, str], int] = {}
        details: dict[int, str] = {}
        flattening = DocumentFlattener(self._limits.depth)
        bodies = data.data
        is_valid, root = self._validator.is_valid, self._root
        load = read_document if has_long_numbers(bodies) else orjson.loads
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            try:
                value = load(bodies[start:end])
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
        return RecordOutcomes(codes, places, list(numbers), details, list(flattening.pieces()))

    def _explain(self, value: Any) -> tuple[str, str, str]:
        """Return schema pointer, field and description of a document's first violation."""
        fault = self._faults.find_violation(value, deepest=True)
        path = fault.schema_path if self._is_there(fault.schema_path) else fault.evaluation_path
        field = self._root.path_of(fault.instance_path[: self._limits.depth])
        return join_pointer("", *path), field, shorten_message(fault.sentence)

    def _is_there(self, path: Sequence[str | int]) -> bool:
        """Return true if a path is in the schema's own text, false if it leads into a referenced schema."""
        node = self._contents
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True
