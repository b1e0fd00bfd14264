"""Rules for audits: each outcome is explained once, and schema ids are read as unsigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from contractlog.contracts.audit.outcomes import Outcome

from support.source_tree import modules, modules_with


def mappings_by_outcome(tree: ast.Module) -> Iterator[ast.Dict]:
    """Yield each dict of a module that has texts for several outcomes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = [(ast.unparse(key), value) for key, value in zip(node.keys, node.values, strict=True) if key]
            texts = [key for key, value in pairs if isinstance(value, ast.Constant) and isinstance(value.value, str)]
            if sum(key.startswith("Outcome.") for key in texts) > 1:
                yield node


def test_outcomes_are_explained_in_their_catalogue() -> None:
    assert all(outcome.meaning and (outcome.fix or not outcome.violating) for outcome in Outcome)
    described = {path for path, tree in modules() if any(mappings_by_outcome(tree))}
    assert described <= {"spark_validation/columnar/avro_validator.py"}  # sentences with the value that failed


def test_schema_ids_of_records_are_unsigned_where_they_are_read() -> None:
    masks = ("0xFFFF_FFFF", "0xFFFFFFFF", "view(np.int32)", "view(np.uint32)")
    for part in ("contracts/", "serdes/", "spark_validation/"):
        assert not {path for mask in masks for path in modules_with(part, mask)}
