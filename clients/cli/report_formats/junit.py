"""JUnit XML: a test case for each file, as Jenkins, GitLab and most CI servers read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from contractlog.clients.cli.report_formats.report import Report, ReportedFile, clean_text, finding_lines
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["render_junit"]

# `>` is escaped for `]]>`; quotes for attributes.
_ENTITIES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\t": "&#9;", "\n": "&#10;"}
)
_TEXT_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render_junit(report: Report) -> str:
    """Return the report as JUnit XML, in ASCII.

    A file with errors has one ``failure`` (or ``error`` if it cannot be read) that lists them all, because GitLab shows
    only one; warnings and notes are its ``system-out``. Durations are not measured and stated as 0.
    """
    failures = sum(file.outcome == "failed" for file in report.files)
    errors = sum(file.outcome == "unreadable" for file in report.files)
    counts = f'name={_quote(report.command)} tests="{len(report.files)}" failures="{failures}" errors="{errors}"'
    paths = Counter(file.path for file in report.files)
    class_name = report.command.replace(" ", ".")
    names = [f"{file.path} ({file.subject})" if paths[file.path] > 1 else file.path for file in report.files]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites {counts} time="0">',
        f'  <testsuite {counts} skipped="0" time="0">',
        *(line for file, name in zip(report.files, names, strict=True) for line in _case_lines(file, class_name, name)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "xmlcharrefreplace").decode()


def _case_lines(file: ReportedFile, class_name: str, name: str) -> Iterator[str]:
    case = f'    <testcase classname={_quote(class_name)} name={_quote(name)} file={_quote(file.path)} time="0"'
    errors = [finding for finding in file.findings if finding.severity == "error"]
    others = [finding for finding in file.findings if finding.severity != "error"]
    output = [line for finding in others for line in finding_lines(finding)]
    output += [f"note: {line}" for note in file.notes for line in clean_text(note).split("\n")]
    if file.outcome == "passed" and not output:
        yield f"{case}/>"
        return
    yield f"{case}>"
    if file.outcome != "passed":
        element = "error" if file.outcome == "unreadable" else "failure"
        kind = errors[0].rule if errors else file.outcome
        yield f"      <{element} message={_quote(file.verdict)} type={_quote(kind)}>"
        for finding in errors:
            yield from map(_escape, finding_lines(finding))
            yield from (_escape(f"    {line}") for line in map(escape_line, finding.diff))
        yield f"      </{element}>"
    if output:
        yield "      <system-out>"
        yield from map(_escape, output)
        yield "      </system-out>"
    yield "    </testcase>"


def _quote(text: str) -> str:
    """Return an attribute value with its quotes."""
    return f'"{escape_line(text).translate(_ENTITIES)}"'


def _escape(line: str) -> str:
    """Return a line of character data."""
    return line.translate(_TEXT_ENTITIES)
