"""Edits of a text: they do what they say to its value, and leave all else as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.compatibility.json_text import plain, pointer, read
from contractlog.compatibility.mending.edits import Edit, Overlap, Source, applied, difference, tokens

NAMES = st.text('ab/~{}[]:,"\\ü 0', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": False}]
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(NAMES, VALUES, max_size=4)


@given(VALUES, st.sampled_from(LAYOUTS))
def test_every_value_is_found_where_it_stands(value: Any, layout: dict[str, Any]) -> None:
    source = Source(json.dumps(value, **layout))
    waiting = [("", value)]
    while waiting:
        at, member = waiting.pop()
        spot = source.find(at)
        assert spot is not None
        assert plain(source.value(spot)) == member
        inner = member.items() if isinstance(member, dict) else enumerate(member) if isinstance(member, list) else ()
        waiting += [(pointer(at, name), item) for name, item in inner]
    assert source.find("/nowhere/at/all") is None


@given(CONTAINERS, st.sampled_from(LAYOUTS), st.sets(st.integers(0, 3)))
def test_what_is_removed_is_gone_and_the_rest_is_there(value: Any, layout: dict[str, Any], gone: set[int]) -> None:
    source = Source(json.dumps(value, **layout))
    gone = {index for index in gone if index < len(value)}
    after = read(applied(source.text, source.remove(source.root, gone)))
    kept = [item for index, item in enumerate(value) if index not in gone]
    assert plain(after) == ({name: value[name] for name in kept} if isinstance(value, dict) else kept)


@given(st.lists(VALUES, max_size=4), st.sampled_from(LAYOUTS), st.integers(0, 4), VALUES)
def test_what_is_inserted_is_there(value: list[Any], layout: dict[str, Any], index: int, more: Any) -> None:
    source = Source(json.dumps(value, **layout))
    index = min(index, len(value))
    text = applied(source.text, [source.insert(source.root, index, json.dumps(more, **layout))])
    assert plain(read(text)) == [*value[:index], more, *value[index:]]
    assert difference(source.text, text) <= len(tokens(json.dumps(more))) + 1


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from(LAYOUTS), NAMES, VALUES)
def test_a_member_that_is_set_is_there(value: dict[str, Any], layout: dict[str, Any], name: str, more: Any) -> None:
    source = Source(json.dumps(value, **layout))
    text = applied(source.text, [source.set_member(source.root, name, json.dumps(more))])
    assert plain(read(text)) == {**value, name: more}


def test_an_entry_is_written_as_its_neighbours_are() -> None:
    text = '{\n    "a" : 1,\n    "b" : 2\n}'
    source = Source(text)
    assert applied(text, [source.set_member(source.root, "c", "3")]) == '{\n    "a" : 1,\n    "b" : 2,\n    "c" : 3\n}'
    assert applied(text, [source.set_member(source.root, "c", "3", after="a")]) == (
        '{\n    "a" : 1,\n    "c" : 3,\n    "b" : 2\n}'
    )
    assert applied(text, source.remove_member(source.root, "b")) == '{\n    "a" : 1\n}'
    compact = Source("[1,2]")
    assert applied(compact.text, [compact.insert(compact.root, 0, "0")]) == "[0,1,2]"
    one = Source("[\n 1\n]")
    assert applied(one.text, [one.insert(one.root, 1, "2")]) == "[\n 1,\n 2\n]"


def test_comments_stay() -> None:
    text = '{"a": 1, // of a\n "b": 2 /* of b */}'
    source = Source(text)
    after = applied(text, source.remove_member(source.root, "b"))
    assert "// of a\n" in after
    assert plain(read(after, comments=True)) == {"a": 1}
    after = applied(text, source.remove_member(source.root, "a"))
    assert "// of a\n" in after
    assert plain(read(after, comments=True)) == {"b": 2}


def test_a_difference_counts_tokens_not_space() -> None:
    assert difference('{"a": 1}', '{ "a" : 1 } // same') == 0
    assert difference("[1, 2]", "[1, 3]") == 2
    assert difference("[1]", "[1, 2]") == 2


def test_edits_that_want_the_same_stretch_are_refused() -> None:
    assert applied("abc", [Edit(2, 3, "z"), Edit(0, 1, "x")]) == "xbz"
    with pytest.raises(Overlap):
        applied("abc", [Edit(0, 2, "x"), Edit(1, 3, "y")])
