"""Edits of a JSON text change only the intended value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.fixes.json_text_edits import (
    Edit,
    JsonSource,
    OverlappingEdits,
    apply_edits,
    count_changed_tokens,
    split_tokens,
)
from contractlog.compatibility.json_text import join_pointer, parse_json, to_plain_numbers

NAMES = st.text('ab/~{}[]:,"\\ü 0', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": False}]
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(NAMES, VALUES, max_size=4)


@given(VALUES, st.sampled_from(LAYOUTS))
@settings(deadline=None)
def test_every_value_is_found_where_it_stands(value: Any, layout: dict[str, Any]) -> None:
    source = JsonSource(json.dumps(value, **layout))
    waiting = [("", value)]
    while waiting:
        at, member = waiting.pop()
        spot = source.find(at)
        assert spot is not None
        assert to_plain_numbers(source.value(spot)) == member
        inner = member.items() if isinstance(member, dict) else enumerate(member) if isinstance(member, list) else ()
        waiting += [(join_pointer(at, name), item) for name, item in inner]
    assert source.find("/nowhere/at/all") is None


@given(CONTAINERS, st.sampled_from(LAYOUTS), st.sets(st.integers(0, 3)))
@settings(deadline=None)
def test_a_removal_changes_nothing_else(value: Any, layout: dict[str, Any], gone: set[int]) -> None:
    source = JsonSource(json.dumps(value, **layout))
    gone = {index for index in gone if index < len(value)}
    after = parse_json(apply_edits(source.text, source.remove(source.root, gone)))
    kept = [item for index, item in enumerate(value) if index not in gone]
    assert to_plain_numbers(after) == ({name: value[name] for name in kept} if isinstance(value, dict) else kept)


@given(st.lists(VALUES, max_size=4), st.sampled_from(LAYOUTS), st.integers(0, 4), VALUES)
@settings(deadline=None)
def test_an_insertion_adds_the_value(value: list[Any], layout: dict[str, Any], index: int, more: Any) -> None:
    source = JsonSource(json.dumps(value, **layout))
    index = min(index, len(value))
    text = apply_edits(source.text, [source.insert(source.root, index, json.dumps(more, **layout))])
    assert to_plain_numbers(parse_json(text)) == [*value[:index], more, *value[index:]]
    assert count_changed_tokens(source.text, text) <= len(split_tokens(json.dumps(more))) + 1


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from(LAYOUTS), NAMES, VALUES)
@settings(deadline=None)
def test_a_member_that_is_set_is_there(value: dict[str, Any], layout: dict[str, Any], name: str, more: Any) -> None:
    source = JsonSource(json.dumps(value, **layout))
    text = apply_edits(source.text, [source.set_member(source.root, name, json.dumps(more))])
    assert to_plain_numbers(parse_json(text)) == {**value, name: more}


def test_an_entry_is_written_as_its_neighbours_are() -> None:
    text = '{\n    "a" : 1,\n    "b" : 2\n}'
    source = JsonSource(text)
    assert (
        apply_edits(text, [source.set_member(source.root, "c", "3")]) == '{\n    "a" : 1,\n    "b" : 2,\n    "c" : 3\n}'
    )
    assert apply_edits(text, [source.set_member(source.root, "c", "3", after="a")]) == (
        '{\n    "a" : 1,\n    "c" : 3,\n    "b" : 2\n}'
    )
    assert apply_edits(text, source.remove_member(source.root, "b")) == '{\n    "a" : 1\n}'
    compact = JsonSource("[1,2]")
    assert apply_edits(compact.text, [compact.insert(compact.root, 0, "0")]) == "[0,1,2]"
    one = JsonSource("[\n 1\n]")
    assert apply_edits(one.text, [one.insert(one.root, 1, "2")]) == "[\n 1,\n 2\n]"


def test_comments_stay() -> None:
    text = '{"a": 1, // of a\n "b": 2 /* of b */}'
    source = JsonSource(text)
    after = apply_edits(text, source.remove_member(source.root, "b"))
    assert "// of a\n" in after
    assert to_plain_numbers(parse_json(after, comments=True)) == {"a": 1}
    after = apply_edits(text, source.remove_member(source.root, "a"))
    assert "// of a\n" in after
    assert to_plain_numbers(parse_json(after, comments=True)) == {"b": 2}


def test_a_difference_counts_tokens_not_space() -> None:
    assert count_changed_tokens('{"a": 1}', '{ "a" : 1 } // same') == 0
    assert count_changed_tokens("[1, 2]", "[1, 3]") == 2
    assert count_changed_tokens("[1]", "[1, 2]") == 2


def test_edits_that_want_the_same_stretch_are_refused() -> None:
    assert apply_edits("abc", [Edit(2, 3, "z"), Edit(0, 1, "x")]) == "xbz"
    with pytest.raises(OverlappingEdits):
        apply_edits("abc", [Edit(0, 2, "x"), Edit(1, 3, "y")])
