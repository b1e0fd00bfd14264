"""Untrusted text cannot break lines, control a terminal, or command a CI runner."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line

TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("\n\r\t\x1b\x85\x9b\u202e\u2028\ufeff:#[ a")), max_size=40
) | st.sampled_from(["::error::x", "\t ::add-mask::x", "a##[error]b", "##VSO[task]", "##teamcity[x", "###[x", ":::x"])


def shows_all(line: str) -> bool:
    return not any(c != "\t" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in line)


@given(TEXTS)
@settings(deadline=None)
def test_a_line_stays_one_line_and_commands_nothing(text: str) -> None:
    line = escape_line(text)
    assert shows_all(line)
    assert not line.lstrip().startswith("::")
    assert not any(command in line.lower() for command in ("##[", "##vso[", "##teamcity["))
    assert escape_line(line) == line


@given(TEXTS)
@settings(deadline=None)
def test_a_json_line_keeps_its_value(text: str) -> None:
    for document in (json.dumps({"a": text}), json.dumps([text], ensure_ascii=False)):
        line = escape_json_line(document)
        assert shows_all(line)
        assert "##" not in line
        assert json.loads(line) == json.loads(document)


def test_a_json_line_keeps_its_tabs() -> None:
    assert escape_json_line('\t"a":\t"\x85"') == '\t"a":\t"\\u0085"'


def test_ordinary_text_is_unchanged() -> None:
    for text in ("Größe: 3 µs, «ok»", "a :: b", "# head", ":.eu:orders-value", "日本語"):
        assert escape_line(text) == text
