"""Reports whose names and messages are hostile to logs, XML, Markdown, JSON and terminals."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import strategies as st

from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, ReportedRule

#: What a line of a log, an XML document, Markdown or a terminal might act on.
HOSTILE: Final = (
    "::error::x", "\n::set-output name=a::b", "\r::warning::", "##[error]", "##vso[task.complete]",
    "%0A::error::", "]]>", "<![CDATA[", "<script>", "</failure>", "&lt;", "&#0;", "`", "```", "````\n", "~~~\n",
    "|", "@everyone", "#1", "**", "_a_", "[x](https://example.org)", "![x](y)", "www.example.org",
    "https://example.org", "me@example.org", "<!--", "-->", "1. ", "- ", "> ", "    code", "\\", "\x00", "\x08",
    "\x1b[2J", "\x85", "\x85::error::x", "\x9b2J", "\x9d", "\ud800", "\udc80", "\u2066", "\u2069",
    "\u202e", "\u2028", "\u200b", "\ufeff", "\ufffe", "\u00e9", "\U0001f600", "\r\n", "\t", " ", "'",
    '"', ",", ":", "=", "%", "%25",
)  # fmt: skip

plain_texts = st.text(st.characters(codec="utf-8"), max_size=8)
hostile_texts = st.lists(st.sampled_from(HOSTILE) | plain_texts, max_size=5).map("".join)
#: Names of files: without NUL, and with no other surrogates than those of bytes that are not UTF-8.
hostile_paths = hostile_texts.map(lambda text: re.sub("[\x00\ud800]", "", text).lstrip("/") + "\udcff.avsc")
positions = st.none() | st.integers(1, 10_000)
findings = st.builds(
    ReportedFinding,
    path=hostile_paths,
    line=positions,
    column=positions,
    rule=st.sampled_from(["A_RULE", "ANOTHER_RULE"]) | hostile_texts,
    severity=st.sampled_from(["error", "warning", "note"]),
    message=hostile_texts,
    details=st.lists(hostile_texts, max_size=2).map(tuple),
    pointer=hostile_texts,
    diff=st.lists(hostile_texts, max_size=2).map(tuple),
    group=st.just("") | hostile_texts,
    identity=hostile_texts,
)
files = st.builds(
    ReportedFile,
    path=hostile_paths,
    outcome=st.sampled_from(["passed", "failed", "unreadable"]),
    verdict=hostile_texts,
    findings=st.lists(findings, max_size=2).map(tuple),
    notes=st.lists(hostile_texts, max_size=1).map(tuple),
)
reports = st.builds(
    Report,
    command=st.just("contractlog check"),
    summary=st.just("2 of 4 files cannot be registered"),
    files=st.lists(files, max_size=2).map(tuple),
    rules=st.just({}) | hostile_texts.map(lambda text: {"A_RULE": ReportedRule("A_RULE", text, text, ((text, text),))}),
    tool_version=st.just("1.2.3"),
)
