"""Qualified and plain names of subjects are equivalent."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.identifiers import (
    GLOBAL_CONTEXT,
    MAX_CONTEXT_LENGTH,
    MAX_ENCODED_SUBJECT,
    Subject,
    find_context_problem,
    qualify_subject,
    split_topic_subject,
    topic_subject,
    validate_schema_subject,
    validate_scope,
)


@given(
    st.from_regex(r"\.[a-z0-9]*", fullmatch=True),
    st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1),
)
@settings(deadline=None)
def test_a_subject_is_what_its_text_says(context: str, name: str) -> None:
    subject = Subject(context, name)
    if subject.ambiguous:
        assert context == "."
        assert name.startswith((":.", ":*:"))
    else:
        assert Subject.parse(str(subject)) == subject


@given(st.lists(st.sampled_from([":", ".", "*", "a", ":.", ":.eu:"]), max_size=6).map("".join))
@settings(deadline=None)
def test_accepted_names_have_one_spelling(text: str) -> None:
    subject = Subject.parse(text)
    try:
        subject.validate()
    except InvalidSubject:
        assert text.startswith((":*:", ":.:"))
    else:
        assert Subject.parse(str(subject)) == subject
        assert not str(subject).startswith(":*:")


@pytest.mark.parametrize(
    ("text", "context", "name"),
    [
        ("orders", ".", "orders"),
        (":.:orders", ".", "orders"),
        (":.ctx:orders", ".ctx", "orders"),
        (":.ctx:a:b", ".ctx", "a:b"),
        (":.ctx:", ".ctx", ""),
        (":orders", ".", ":orders"),
        (":.ctx", ".", ":.ctx"),
    ],
)
def test_only_the_first_two_colons_are_structural(text: str, context: str, name: str) -> None:
    assert Subject.parse(text) == Subject(context, name)


@pytest.mark.parametrize("name", ["a\nb", "\x00", "__GLOBAL", "__EMPTY", ":.eu:a", ":.:a", ":.eu:", ":*:", ":*:a"])
def test_control_characters_and_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidSubject, match=r"is not a valid\.$"):
        Subject(".", name).validate()


@pytest.mark.parametrize(("letter", "encoded"), [("a", 1), ("é", 6), ("\U0001f600", 12)])
def test_a_subject_too_long_for_a_url_is_invalid(letter: str, encoded: int) -> None:
    longest = Subject.parse(letter * (MAX_ENCODED_SUBJECT // encoded))
    assert longest.validate() is longest
    with pytest.raises(InvalidSubject) as caught:
        Subject.parse(letter * (MAX_ENCODED_SUBJECT // encoded + 1)).validate()
    assert len(caught.value.message) < 200


@given(
    st.sampled_from(["", ".", ".eu"]), st.lists(st.sampled_from([":", ".", "*", "a", ":.us:"]), max_size=5).map("".join)
)
@settings(deadline=None)
def test_a_subject_without_a_context_is_one_of_the_context_that_is_given(context: str, text: str) -> None:
    """A colon alone names no context, nor does `:*:`."""
    subject = Subject.parse(qualify_subject(text, context))
    if text.startswith(":."):
        assert subject == Subject.parse(text)
    else:
        assert subject == Subject(context or ".", text)
    assert qualify_subject(qualify_subject(text, context), context) == qualify_subject(text, context)


@pytest.mark.parametrize("name", [".", ".eu", ".a b", f".{'x' * (MAX_CONTEXT_LENGTH - 1)}"])
def test_a_context_name_has_a_dot_and_no_colon(name: str) -> None:
    assert find_context_problem(name) is None
    assert validate_schema_subject(Subject(name, "orders")) == Subject(name, "orders")


@pytest.mark.parametrize("name", ["", "eu", ".a:b", ".\0", GLOBAL_CONTEXT, f".{'x' * MAX_CONTEXT_LENGTH}"])
def test_other_context_names_are_refused(name: str) -> None:
    assert find_context_problem(name) is not None


def test_a_scope_may_be_a_context_and_a_subject_of_schemas_may_not() -> None:
    for context in (".eu", GLOBAL_CONTEXT):
        assert validate_scope(Subject(context, "")) == Subject(context, "")
        with pytest.raises(InvalidSubject):
            validate_schema_subject(Subject(context, ""))


@given(st.text(st.sampled_from("a-keyvlu:."), min_size=1), st.sampled_from(["key", "value"]))
def test_the_topic_of_a_subject_is_the_one_that_it_was_named_after(topic: str, part: str) -> None:
    assert split_topic_subject(topic_subject(topic, part)) == (topic, part)


@given(st.lists(st.sampled_from(["-", "key", "value", "a", "Key"])).map("".join))
def test_a_subject_that_has_a_topic_is_named_after_it(name: str) -> None:
    named = split_topic_subject(name)
    is_named = name.endswith(("-key", "-value")) and name not in {"-key", "-value"}
    assert (named is not None) == is_named
    assert named is None or topic_subject(*named) == name
