"""Strict parsers of formats for CI, written after their documentation, without a look at our writers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree as ET

#: The parameters that GitHub documents for ``error``, ``warning`` and ``notice``.
ANNOTATION_PARAMETERS: Final = frozenset({"file", "line", "endLine", "col", "endColumn", "title"})
SEVERITIES: Final = frozenset({"info", "minor", "major", "critical", "blocker"})  #: of GitLab
_TIME: Final = re.compile(r"\d+(\.\d+)?")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")  # those at which the runner splits the output of a step
#: Attributes and children of each element in the schemas of Jenkins and Surefire, and what GitLab reads (``file``).
_JUNIT: Final[dict[str, tuple[set[str], set[str], set[str]]]] = {
    "testsuites": ({"name", "tests"}, {"failures", "errors", "disabled", "time"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests"},
        {"failures", "errors", "skipped", "disabled", "time", "timestamp", "hostname", "id", "package", "file"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name", "classname"},
        {"time", "status", "assertions", "group", "file"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": ({"type"}, {"message"}, set()),
    "error": ({"type"}, {"message"}, set()),
    "skipped": (set(), {"message"}, set()),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}


@dataclass(frozen=True)
class WorkflowCommand:
    """A command that the runner of GitHub Actions executes."""

    name: str
    properties: dict[str, str]
    message: str

    @property
    def file(self) -> str | None:
        """The annotated file."""
        return self.properties.get("file")

    @property
    def line(self) -> int | None:
        """The annotated line, from 1."""
        return int(self.properties["line"]) if "line" in self.properties else None

    @property
    def column(self) -> int | None:
        """The annotated column, from 1."""
        return int(self.properties["col"]) if "col" in self.properties else None


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
    properties = {}
    for part in filter(None, (match[2] or "").split(",")):
        name, equals, value = part.partition("=")
        assert equals, f"the runner ignores the parameter {part}"
        assert name not in properties, f"the parameter {name} is given twice"
        properties[name] = unescape(value, {"%3A": ":", "%2C": ","})
    return WorkflowCommand(match[1], properties, unescape(match[3], {}))


def read_workflow_commands(text: str) -> list[WorkflowCommand]:
    """Read the output of a step; annotations have only documented parameters, with values that the runner accepts."""
    commands = [command for command in map(read_workflow_command, _LINE_END.split(text)) if command]
    for command in commands:
        if command.name in {"error", "warning", "notice"}:
            assert command.properties.keys() <= ANNOTATION_PARAMETERS
            assert all(command.properties.values())
            numbers = [
                command.properties[name]
                for name in ("line", "endLine", "col", "endColumn")
                if name in command.properties
            ]
            assert all(re.fullmatch("[1-9][0-9]*", number) for number in numbers)
            assert "line" in command.properties or not numbers, "a column without a line"
            assert "line" not in command.properties or "file" in command.properties
    return commands


def unescape(text: str, more: dict[str, str]) -> str:
    """Replace the escapes of a value; the documentation knows no others, and none with lower-case letters."""
    table = {"%25": "%", "%0D": "\r", "%0A": "\n", **more}
    return re.sub("|".join(table), lambda match: table[match[0]], text)


@dataclass(frozen=True)
class TestCase:
    """A test case of a JUnit report."""

    class_name: str
    name: str
    file: str
    message: str  #: of ``failure`` or ``error``
    failure: str | None  #: the text of ``failure``
    error: str | None  #: the text of ``error``
    output: str


def read_junit(text: str) -> list[TestCase]:
    """Read a JUnit report, and check its elements, attributes, times and counts.

    The format has no standard. This is what the schemas of Jenkins, Surefire and Ant agree on: ``testsuites`` with
    ``testsuite`` elements with ``testcase`` elements, each with at most one ``failure``, ``error`` or ``skipped``,
    then ``system-out``, then ``system-err``; the counts are attributes of the first two.
    """
    assert text.startswith("<?xml version="), "nothing may come before the declaration"
    assert "<!DOCTYPE" not in text
    root = ET.fromstring(text)  # noqa: S314 -- our own output
    assert root.tag == "testsuites"
    _check_element(root)
    cases = []
    for suite in root:
        listed = [_read_case(element) for element in suite.iter("testcase")]
        counts = {
            "tests": len(listed),
            "failures": sum(case.failure is not None for case in listed),
            "errors": sum(case.error is not None for case in listed),
            "skipped": len([*suite.iter("skipped")]),
        }
        assert {name: int(suite.attrib.get(name, 0)) for name in counts} == counts
        cases += listed
    totals = {name: sum(int(suite.attrib.get(name, 0)) for suite in root) for name in ("tests", "failures", "errors")}
    assert {name: int(root.attrib.get(name, 0)) for name in totals} == totals
    return cases


def _check_element(element: ET.Element) -> None:
    """Check attributes and children of an element, and of all below it."""
    required, optional, children = _JUNIT[element.tag]
    assert required <= element.attrib.keys() <= required | optional, element.attrib
    assert _TIME.fullmatch(element.attrib.get("time", "0"))
    assert {child.tag for child in element} <= children
    if children:
        texts = [element.text, *(child.tail for child in element)]
        assert not "".join(filter(None, texts)).strip(), "text between elements"
    for child in element:
        _check_element(child)


def _read_case(element: ET.Element) -> TestCase:
    tags = [child.tag for child in element]
    order = ["skipped", "error", "failure", "system-out", "system-err"]
    assert tags == sorted(set(tags), key=order.index), "each at most once, the output last"
    assert len({"failure", "error", "skipped"} & set(tags)) <= 1
    texts = {child.tag: child.text or "" for child in element}
    return TestCase(
        element.attrib["classname"],
        element.attrib["name"],
        element.attrib.get("file", ""),
        next((child.attrib["message"] for child in element if child.tag in {"failure", "error"}), ""),
        texts.get("failure"),
        texts.get("error"),
        texts.get("system-out", ""),
    )


@dataclass(frozen=True)
class QualityIssue:
    """An entry of a code quality report of GitLab."""

    description: str
    check: str
    fingerprint: str
    severity: str
    path: str
    line: int


def read_gitlab(text: str) -> list[QualityIssue]:
    """Read a code quality report.

    From the documentation of GitLab: a list of objects, without a byte order mark, with ``description``,
    ``check_name``, ``fingerprint`` (unique), ``severity`` (info, minor, major, critical or blocker), ``location.path``
    (relative to the repository, without ``./``) and ``location.lines.begin``.
    """
    entries: list[dict[str, Any]] = json.loads(text)
    issues = []
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        location = entry["location"]
        assert location.keys() == {"path", "lines"}
        assert location["lines"].keys() == {"begin"}
        line = location["lines"]["begin"]
        texts = [entry[name] for name in ("description", "check_name", "fingerprint", "severity")] + [location["path"]]
        assert all(isinstance(each, str) for each in texts)
        assert type(line) is int
        assert line >= 1
        assert entry["severity"] in SEVERITIES
        assert entry["fingerprint"]
        assert not location["path"].startswith(("./", "/"))
        issues.append(QualityIssue(*texts, line))
    assert len({issue.fingerprint for issue in issues}) == len(issues)
    return issues
