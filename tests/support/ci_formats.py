"""CI formats as their documentation describes them, read without our writers; and hostile texts for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding, ReportedRule

#: What a line of a log, an XML document, Markdown or a terminal might act on.
HOSTILE: Final = (
    "::error::x", "\n::set-output name=a::b", "\r::warning::", "##[error]", "##vso[task.complete]",
    "%0A::error::", "]]>", "<![CDATA[", "<script>", "</failure>", "&lt;", "&#0;", "`", "```", "````\n", "~~~\n",
    "|", "@everyone", "#1", "**", "_a_", "[x](https://example.org)", "![x](y)", "www.example.org",
    "https://example.org", "me@example.org", "<!--", "-->", "1. ", "- ", "> ", "    code", "\\", "\x00", "\x08",
    "\x1b[2J", "\u202e", "\u2028", "\u200b", "\ufeff", "\ufffe", "\u00e9", "\U0001f600", "\r\n", "\t", " ", "'",
    '"', ",", ":", "=", "%", "%25",
)  # fmt: skip

plain_texts = st.text(st.characters(codec="utf-8"), max_size=8)
hostile_texts = st.lists(st.sampled_from(HOSTILE) | plain_texts, max_size=5).map("".join)
hostile_paths = hostile_texts.map(lambda text: text.replace("\x00", "").lstrip("/") + "\udcff.avsc")
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


@dataclass(frozen=True)
class WorkflowCommand:
    """A command that the runner of GitHub Actions executes."""

    name: str
    properties: dict[str, str]
    message: str


def read_workflow_command(line: str) -> WorkflowCommand | None:
    """Read a line of a log as the runner does; None if it is an ordinary line.

    From the documentation of workflow commands: ``::command parameter=value,parameter=value::message``. Values are
    escaped: ``%25``, ``%0D`` and ``%0A``, in parameters ``%3A`` and ``%2C`` too. The runner ignores white space before
    a command, and also executes the older form ``##[command parameter=value;]message`` anywhere in a line.
    """
    old = re.search(r"##\[([^\]]+)\](.*)", line, re.DOTALL)
    if old:
        return WorkflowCommand(old[1], {}, old[2])
    match = re.match(r"\s*::(\S+?)(?: (.*?))?::(.*)", line, re.DOTALL)
    if not match:
        return None
    properties = dict(part.partition("=")[::2] for part in (match[2] or "").split(",") if part)
    return WorkflowCommand(
        match[1],
        {name: unescape(value, {"%3A": ":", "%2C": ","}) for name, value in properties.items()},
        unescape(match[3], {}),
    )


def unescape(text: str, more: dict[str, str]) -> str:
    table = {"%25": "%", "%0D": "\r", "%0A": "\n", **more}
    return re.sub("|".join(table), lambda match: table[match[0]], text)


@dataclass(frozen=True)
class TestCase:
    """A test case of a JUnit report."""

    name: str
    file: str
    failure: str | None  #: the text of ``failure``
    error: str | None  #: the text of ``error``
    output: str


def read_junit(text: str) -> list[TestCase]:
    """Read a JUnit report, and check its counts.

    The format has no standard. This is what the schemas of Jenkins and Ant agree on: ``testsuites`` with ``testsuite``
    elements with ``testcase`` elements, each with at most one ``failure`` or ``error``, then ``system-out``; the counts
    are attributes of the first two.
    """
    root = ET.fromstring(text)  # noqa: S314 -- our own output
    assert root.tag == "testsuites"
    cases = []
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "time"} <= {*suite.keys()}
        found = [read_case(element) for element in suite]
        counts = [len(found), sum(c.failure is not None for c in found), sum(c.error is not None for c in found)]
        assert [int(suite.attrib[name]) for name in ("tests", "failures", "errors")] == counts
        cases += found
    assert int(root.attrib["tests"]) == len(cases)
    return cases


def read_case(element: ET.Element) -> TestCase:
    assert element.tag == "testcase"
    assert {"name", "classname", "time"} <= {*element.keys()}
    children = {child.tag: child.text or "" for child in element}
    assert len(children) == len(element)
    assert children.keys() <= {"failure", "error", "system-out"}
    assert not {"failure", "error"} <= children.keys()
    assert all({"message", "type"} <= {*child.keys()} for child in element if child.tag != "system-out")
    return TestCase(
        element.attrib["name"],
        element.attrib["file"],
        children.get("failure"),
        children.get("error"),
        children.get("system-out", ""),
    )


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Return the schema of an object with these properties only."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def several(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


TEXT: Final = {"type": "string"}
POSITIVE: Final = {"type": "integer", "minimum": 1}
LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}
MESSAGE: Final = closed({"text": TEXT, "markdown": TEXT, "id": TEXT, "arguments": several(TEXT)}, "text")
MULTIFORMAT: Final = closed({"text": TEXT, "markdown": TEXT}, "text")
ARTIFACT_LOCATION: Final = closed(
    {"uri": TEXT, "uriBaseId": TEXT, "index": {"type": "integer", "minimum": -1}, "description": MESSAGE}
)
REGION: Final = closed(
    dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), POSITIVE) | {"message": MESSAGE}
)
PHYSICAL: Final = closed({"artifactLocation": ARTIFACT_LOCATION, "region": REGION})
LOGICAL: Final = closed({"name": TEXT, "fullyQualifiedName": TEXT, "decoratedName": TEXT, "kind": TEXT})
LOCATION: Final = closed({"physicalLocation": PHYSICAL, "logicalLocations": several(LOGICAL, uniqueItems=True)})
RULE: Final = closed(
    {
        "id": TEXT,
        "name": TEXT,
        "shortDescription": MULTIFORMAT,
        "fullDescription": MULTIFORMAT,
        "help": MULTIFORMAT,
        "helpUri": TEXT,
        "defaultConfiguration": closed({"level": LEVEL, "enabled": {"type": "boolean"}}),
    },
    "id",
)
RESULT: Final = closed(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": -1},
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": several(LOCATION),
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "fingerprints": {"type": "object", "additionalProperties": TEXT},
    },
    "message",
)
NOTIFICATION: Final = closed({"message": MESSAGE, "level": LEVEL, "locations": several(LOCATION)}, "message")
RUN: Final = closed(
    {
        "tool": closed(
            {
                "driver": closed(
                    {
                        "name": TEXT,
                        "version": TEXT,
                        "semanticVersion": TEXT,
                        "informationUri": TEXT,
                        "rules": several(RULE, uniqueItems=True),
                    },
                    "name",
                )
            },
            "driver",
        ),
        "invocations": several(
            closed(
                {"executionSuccessful": {"type": "boolean"}, "toolExecutionNotifications": several(NOTIFICATION)},
                "executionSuccessful",
            )
        ),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object", "additionalProperties": ARTIFACT_LOCATION},
        "results": several(RESULT),
    },
    "tool",
)

#: The part of SARIF that code scanning reads, written after the text of the specification, version 2.1.0, sections 3.13
#: to 3.58: names, types, required and allowed properties. It is stricter than the official JSON Schema, which allows
#: further properties that we do not write.
SARIF: Final = closed({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": several(RUN)}, "version", "runs")

#: The entries that GitLab's documentation of code quality reports describes.
GITLAB: Final = several(
    closed(
        {
            "description": TEXT,
            "check_name": TEXT,
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": closed({"path": TEXT, "lines": closed({"begin": POSITIVE}, "begin")}, "path", "lines"),
        },
        "description",
        "check_name",
        "fingerprint",
        "severity",
        "location",
    )
)
