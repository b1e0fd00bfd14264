"""A statement replaces what its origin stated before about the same target."""

from __future__ import annotations

from contractlog.contracts.lineage.statements import (
    EdgeDetails,
    FieldPair,
    LineageDataset,
    LineageStatement,
    apply_statement,
    has_same_derivation,
)

A, B, C = (LineageDataset("kafka://broker:9092", name) for name in "abc")


def state(*pairs: FieldPair, names_fields: bool = True) -> LineageStatement:
    return LineageStatement("shop/enrich", C, "declared", {pair: {} for pair in pairs}, names_fields=names_fields)


def test_edges_between_fields_are_replaced() -> None:
    former = {FieldPair(A, "x", "x"): EdgeDetails(), FieldPair(A, "", ""): EdgeDetails()}
    assert set(apply_statement(former, state(FieldPair(B, "y", "y")))) == {FieldPair(B, "y", "y")}
    assert apply_statement(former, state()) == {}


def test_a_statement_about_whole_datasets_keeps_the_fields_of_the_sources_that_it_names() -> None:
    former = {FieldPair(A, "x", "x"): EdgeDetails(), FieldPair(B, "y", "y"): EdgeDetails()}
    after = apply_statement(former, state(FieldPair(A, "", ""), names_fields=False))
    assert set(after) == {FieldPair(A, "x", "x")}
    after = apply_statement(former, state(FieldPair(C, "", ""), names_fields=False))
    assert set(after) == {FieldPair(C, "", "")}


def test_figures_do_not_change_a_derivation() -> None:
    former = EdgeDetails(method="copy", direction="known", score=0.9, support=10)
    assert has_same_derivation(former, EdgeDetails(method="copy", direction="known", score=0.8, lag_ms=3.0))
    assert not has_same_derivation(former, EdgeDetails(method="copy", direction="unknown", score=0.9, support=10))
