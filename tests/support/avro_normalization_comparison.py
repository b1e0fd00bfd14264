"""Comparison of normalized texts with Confluent's, on random schemas with annotations.

Floats that a JDK before 19 writes with one more digit are not compared.

python -m support.avro_normalization_comparison [COUNT], in ``tests``, prints the counts, and the smallest case of each
difference.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft

from support.avro_annotations import add_annotations
from support.avro_java_comparison import JavaComparison
from support.avro_versions import RichSchemas
from support.java_avro import JavaProcess, start_confluent_checker

__all__ = ["KNOWN_DIFFERENCES", "compare_normalization"]

KNOWN_DIFFERENCES: Final = {
    "default of a later branch": "the reference loses it, and a reader could fill the field no more",
    "type without a namespace inside one": "the reference moves it into the namespace around it: another type",
    "type that a reference brings": "the reference cannot normalize it, where it lies inside another type",
}
"""Cases in which the reference's normalized text is another schema, or invalid; ours deliberately differs."""


def compare_normalization(java: JavaProcess, random: Random, count: int) -> JavaComparison:
    """Compare canonical and normalized texts; an unknown difference is a failure."""
    proof = JavaComparison()
    cases = [
        [json.dumps(add_annotations(schema, random)) for schema in RichSchemas(random).schemas()] for _ in range(count)
    ]
    responses = java.ask([{"op": "normalize", "schema": texts} for texts in cases])
    for texts, theirs in zip(cases, responses, strict=True):
        ours = _parse(texts)
        if ours is None or "canonical" not in theirs:
            proof.counts["no schema for both" if ours is None and "canonical" not in theirs else "for one alone"] += 1
            continue
        _count(proof, "canonical", {*()} if ours.canonical == theirs["canonical"] else {"canonical differs"}, texts)
        _count(proof, "normalized", set(_find_differences(ours.normalized, theirs)), texts, ours.normalized, theirs)
        proof.counts["another text than the canonical"] += ours.normalized != ours.canonical
    return proof


def _count(proof: JavaComparison, form: str, departures: set[str], *case: Any) -> None:
    proof.counts[f"same {form}"] += not departures
    for name in departures:
        difference_name = name if name in KNOWN_DIFFERENCES else f"UNASSIGNED {name}"
        proof.counts[difference_name] += 1
        if difference_name not in proof.smallest or len(str(case)) < len(str(proof.smallest[difference_name])):
            proof.smallest[difference_name] = case


def _parse(texts: list[str]) -> ParsedSchema | None:
    try:
        return parse_schema(SchemaDraft(texts[-1]), dict(zip("abc", texts[:-1], strict=False)), strict=False)
    except InvalidSchema:
        return None


def _find_differences(ours: str, theirs: dict[str, Any]) -> Iterator[str]:
    if "normalized" in theirs:
        apart = (
            set()
            if ours == theirs["normalized"]
            else set(_compare_nodes(_parse_exact(ours), _parse_exact(theirs["normalized"])))
        )
        moved = {"type without a namespace inside one"}  # the names inside go with it
        yield from moved if apart & moved else apart
    elif re.search("Can't redefine|Undefined name|not a defined name", theirs["error"]):
        yield (
            "type without a namespace inside one"
            if "efined name" in theirs["error"]
            else "type that a reference brings"
        )
    else:
        yield theirs["error"]


def _compare_nodes(ours: Any, theirs: Any) -> Iterator[str]:
    """Yield the names of the differences of two texts."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        lost = [keyword for keyword in ours if keyword not in theirs]
        if [keyword for keyword in ours if keyword in theirs] != list(theirs):
            yield "other words, or in another order"
        for keyword in lost:
            later = keyword == "default" and isinstance(ours["type"], list)
            outside = keyword == "namespace" and ours[keyword] == ""
            yield from ["default of a later branch"] * later + ["type without a namespace inside one"] * outside
            if not later and not outside:
                yield f"{keyword} is lost"
        for keyword in theirs:
            yield from _compare_nodes(ours.get(keyword), theirs[keyword])
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for our_item, their_item in zip(ours, theirs, strict=True):
            yield from _compare_nodes(our_item, their_item)
    elif ours != theirs:
        yield "another value"


def _parse_exact(text: str) -> Any:
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits))


def main() -> None:
    """Print the counts and the smallest cases."""
    with start_confluent_checker() as java:
        proof = compare_normalization(java, Random(5), int((sys.argv[1:] or ["10000"])[0]))  # noqa: S311
    for name, times in sorted(proof.counts.items()):
        print(f"{times:8d}  {name}")  # noqa: T201 - a table for people
    for name, case in proof.smallest.items():
        print(f"smallest of {name}:", *case, sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()
