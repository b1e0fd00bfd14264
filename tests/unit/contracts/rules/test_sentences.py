"""Rules as English sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.rules.language.parser import parse_expression, parse_rule
from contractlog.contracts.rules.sentences import describe_expression, describe_rule

from support.rule_oracle import expressions


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("message.size >= 1 && message.size <= 64", "size is at least 1 and is at most 64"),
        ("message.name != ''", "name is not empty"),
        ("!(message.a > 1 || message.b == null)", "a is at most 1 and b is not null"),
        ("value.matches('^[A-Z]+$')", 'the value matches the pattern "^[A-Z]+$"'),
        ("!value.startsWith('a')", 'the value does not start with "a"'),
        ("message.state in ['NEW', 'PAID']", 'state is one of "NEW", "PAID"'),
        ("message.tags.all(t, t.size() > 2)", "every t in tags satisfies: the size of t is greater than 2"),
        ("!message.tags.exists(t, t == 'x')", 'no t in tags satisfies: t is "x"'),
        ("has(message.a.b) && message.active", "a.b is present and active is true"),
        ("message.email.isEmail() || message.email == null", "email is an email address or is null"),
        ("(message.a || message.b) && message.c", "(a is true or b is true) and c is true"),
        ("message.price * 2.0 + 1.0 < message.limit", "(price times 2.0) plus 1.0 is less than limit"),
        ("message.at < now", "at is less than the current time"),
        ("message.items.map(i, i.price)", "i.price for each i of items"),
        ("message.a ? 1 : 2", "1 if a is true, otherwise 2"),
        ("foo(message.a)", "foo(a)"),
    ],
)
def test_a_rule_reads_as_a_sentence(text: str, sentence: str) -> None:
    assert describe_expression(parse_expression(text)) == sentence


def test_a_guard_comes_first() -> None:
    assert (
        describe_rule(*parse_rule("message.country == 'CH' ; message.zip != null"))
        == 'if country is "CH", zip is not null'
    )


@given(st.sampled_from(["bool", "int", "strings"]).flatmap(lambda kind: expressions(kind, 5)))
def test_every_expression_has_a_sentence(text: str) -> None:
    assert describe_expression(parse_expression(text)).strip()
