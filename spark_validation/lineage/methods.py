"""Lineage methods whose edges are found in values: their descriptions, and their forms in OpenLineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contractlog.contracts.lineage.edges import LineageEdge, LineageMethod

__all__ = ["LIMITS_NOTE", "METHODS", "DerivationMethod", "describe_method"]


@dataclass(frozen=True, slots=True)
class DerivationMethod:
    """A way in which a field is made from another one."""

    label: str
    subtype: str = "TRANSFORMATION"  #: of OpenLineage
    masking: bool = False  #: whether it hides the values of the source, as OpenLineage understands it
    #: the derivation in words, with ``{source}`` and ``{target}``; empty if each edge has a description of its own
    description: str = ""


METHODS: Final[Mapping[LineageMethod, DerivationMethod]] = {
    "aggregate": DerivationMethod("aggregated by a key in windows of time", subtype="AGGREGATION"),
    "bijection": DerivationMethod(
        "a conversion or masking: each value stands for one value of the source",
        description="{target} stands for {source}: each value of one has one value of the other",
    ),
    "case": DerivationMethod("the same text in another case, or with other spaces around it"),
    "concatenation": DerivationMethod("joined with other texts"),
    "copy": DerivationMethod("copied row by row", subtype="IDENTITY", description="{target} = {source}"),
    "digest": DerivationMethod("a digest of the value", masking=True),
    "function": DerivationMethod(
        "computed: equal values of the source have equal values",
        description="{target} depends on {source}: equal values of {source} have equal values of {target}",
    ),
    "linear": DerivationMethod("a linear conversion"),
    "lookup": DerivationMethod(
        "looked up by a shared key",
        subtype="JOIN",
        description="{target} = {source} of the table's record with the same key",
    ),
    "split": DerivationMethod("a part of the text"),
    "truncation": DerivationMethod("the beginning or end of the text"),
}

LIMITS_NOTE: Final = (
    "Lineage covers fields that were copied row by row, looked up by a key, made by a common function, computed from\n"
    "one recurring field, or aggregated in windows of at most a day. Record keys are not covered yet."
)


def describe_method(edge: LineageEdge) -> str:
    """Return how the target was made; methods of later versions are named as they are."""
    method = METHODS.get(edge["method"])
    return edge["method"] if method is None else method.label
