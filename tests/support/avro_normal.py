"""Our normalized texts beside Confluent's, on random schemas with aliases, documentation and properties everywhere.

Left out is what depends on the Java that prints: floats that a JDK before 19 writes with a digit more.

python -m support.avro_normal [COUNT], in ``tests``, prints what was met, and the smallest case of each departure.
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

from support.avro_decorated import decorated
from support.avro_proof import Proof
from support.avro_versions import RichSchemas
from support.java_avro import Judge, confluent

__all__ = ["DEPARTURES", "normalizing"]

DEPARTURES: Final = {
    "default of a later branch": "the reference loses it, and a reader could fill the field no more",
    "type without a namespace inside one": "the reference moves it into the namespace around it: another type",
    "type that a reference brings": "the reference cannot normalize it, where it lies inside another type",
}
"""Where a normalized text of the reference means another schema, or none: ours does not follow."""


def normalizing(java: Judge, random: Random, count: int) -> Proof:
    """Compare canonical and normalized texts to the letter; a difference belongs to a departure, or is a failure."""
    proof = Proof()
    cases = [[json.dumps(decorated(one, random)) for one in RichSchemas(random).schemas()] for _ in range(count)]
    answers = java.ask([{"op": "normalize", "schema": texts} for texts in cases])
    for texts, theirs in zip(cases, answers, strict=True):
        ours = _parsed(texts)
        if ours is None or "canonical" not in theirs:
            proof.counts["no schema for both" if ours is None and "canonical" not in theirs else "for one alone"] += 1
            continue
        _told(proof, "canonical", {*()} if ours.canonical == theirs["canonical"] else {"canonical differs"}, texts)
        _told(proof, "normalized", set(_departures(ours.normalized, theirs)), texts, ours.normalized, theirs)
        proof.counts["another text than the canonical"] += ours.normalized != ours.canonical
    return proof


def _told(proof: Proof, text: str, departures: set[str], *case: Any) -> None:
    proof.counts[f"same {text}"] += not departures
    for name in departures:
        known = name if name in DEPARTURES else f"UNASSIGNED {name}"
        proof.counts[known] += 1
        if known not in proof.smallest or len(str(case)) < len(str(proof.smallest[known])):
            proof.smallest[known] = case


def _parsed(texts: list[str]) -> ParsedSchema | None:
    try:
        return parse_schema(SchemaDraft(texts[-1]), dict(zip("abc", texts[:-1], strict=False)), strict=False)
    except InvalidSchema:
        return None


def _departures(ours: str, theirs: dict[str, Any]) -> Iterator[str]:
    if "normalized" in theirs:
        apart = set() if ours == theirs["normalized"] else set(_apart(_exact(ours), _exact(theirs["normalized"])))
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


def _apart(ours: Any, theirs: Any) -> Iterator[str]:
    """Name what two texts differ in, place by place."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        lost = [word for word in ours if word not in theirs]
        if [word for word in ours if word in theirs] != list(theirs):
            yield "other words, or in another order"
        for word in lost:
            later = word == "default" and isinstance(ours["type"], list)
            outside = word == "namespace" and ours[word] == ""
            yield from ["default of a later branch"] * later + ["type without a namespace inside one"] * outside
            if not later and not outside:
                yield f"{word} is lost"
        for word in theirs:
            yield from _apart(ours.get(word), theirs[word])
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from _apart(one, other)
    elif ours != theirs:
        yield "another value"


def _exact(text: str) -> Any:
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits))


def main() -> None:
    """Print what was met."""
    with confluent() as java:
        proof = normalizing(java, Random(5), int((sys.argv[1:] or ["10000"])[0]))  # noqa: S311
    for name, times in sorted(proof.counts.items()):
        print(f"{times:8d}  {name}")  # noqa: T201 - this is what it is for
    for name, case in proof.smallest.items():
        print(f"smallest of {name}:", *case, sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()
