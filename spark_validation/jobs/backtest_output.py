"""Result of a back-test for people: lines on a terminal, and the report for CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.output import Tone, count_noun, print_result, with_tone
from contractlog.clients.cli.report_formats.report import (
    Report,
    ReportedFile,
    ReportedFinding,
    ReportedRule,
    relative_path,
)
from contractlog.compatibility.common_check_catalogue import DATA_UNREADABLE
from contractlog.compatibility.text.number_text import format_share

__all__ = ["backtest_report", "print_backtest"]

RULE: Final = ReportedRule(
    DATA_UNREADABLE.id,
    DATA_UNREADABLE.title,
    "The topic has records of a version of the subject that the proposed schema cannot read. Each record that conforms "
    "to its own schema was read with the proposed one; the examples have the first value of a record that fails.",
)
_SHOWN_EXAMPLES: Final = 3
_UNTESTED: Final = (
    ("violating", "violating their own schema"),
    ("not_usable", "of a schema that validators cannot use"),
    ("not_framed", "without schema id"),
    ("unknown_ids", "with an id that the registry does not have"),
    ("other_subjects", "of other subjects"),
    ("tombstones", "with null"),
)


def print_backtest(result: Mapping[str, Any]) -> None:
    """Print the result of each topic and version."""
    for topic in result["topics"]:
        tone = Tone.BAD if topic["unreadable"] else Tone.GOOD if topic["readable"] else Tone.PLAIN
        print_result(with_tone(tone, f"{result['file']}: {_describe_topic(topic)}"))
        for version in topic["versions"]:
            if version["records"]:
                print_result(f"    {_describe_version(version)}")
            for cause in version["causes"]:
                print_result(f"        {count_noun(cause['records'], 'record')}: {_describe_cause(cause)}")
                print_result(f"            {_describe_examples(cause)}")
        untested = _describe_untested(topic)
        if untested:
            print_result(f"    not tested: {untested}")


def backtest_report(result: Mapping[str, Any], root: Path, tool_version: str, *, command: str) -> Report:
    """Return the report: a test case for each topic.

    Args:
        result: the JSON object of the back-test.
        root: the folder that paths are relative to, if they are below it.
        tool_version: the version of contractlog.
        command: the command.
    """
    path = relative_path(Path(result["file"]), root)
    files = tuple(
        ReportedFile(
            path,
            "failed" if topic["unreadable"] else "passed",
            _describe_topic(topic),
            tuple(_report_cause(path, topic, *each) for each in _list_causes(topic)),
            notes=(f"not tested: {untested}",) if (untested := _describe_untested(topic)) else (),
            subject=topic["topic"],
            listed=True,
        )
        for topic in result["topics"]
    )
    tested = sum(topic["readable"] + topic["unreadable"] for topic in result["topics"])
    summary = f"{count_noun(tested, 'record')} tested, {result['unreadable']:,} unreadable"
    return Report(command, summary, files, {RULE.id: RULE}, tool_version)


def _list_causes(topic: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for version in topic["versions"]:
        for cause in version["causes"]:
            yield version, cause


def _report_cause(
    path: str, topic: Mapping[str, Any], version: Mapping[str, Any], cause: Mapping[str, Any]
) -> ReportedFinding:
    message = (
        f"the new schema cannot read {_format_part(cause['records'], version['records'])} of version "
        f"{version['version']} in topic `{topic['topic']}`: {_describe_cause(cause)}; {_describe_examples(cause)}"
    )
    identity = "\0".join((topic["topic"], str(version["version"]), cause["code"], cause["field"], cause["detail"]))
    return ReportedFinding(path, None, None, RULE.id, "error", message, identity=identity)


def _describe_topic(topic: Mapping[str, Any]) -> str:
    name = f"topic `{topic['topic']}`" + (" (keys)" if topic["part"] == "key" else "")
    tested = topic["readable"] + topic["unreadable"]
    if topic["unreadable"]:
        return f"cannot read {_format_part(topic['unreadable'], tested)} of {name}"
    if tested:
        return f"reads {_format_part(tested, tested)} of {name}"
    return f"{name} has no records of this subject"


def _describe_version(version: Mapping[str, Any]) -> str:
    deleted = ", deleted" if version["deleted"] else ""
    text = f"version {version['version']} (id {version['schema_id']}{deleted}): "
    tested = version["readable"] + version["unreadable"]
    if version["unreadable"]:
        text += f"cannot read {_format_part(version['unreadable'], tested)}"
    else:
        text += f"reads {count_noun(version['readable'], 'record')}"
    return text + (f", {version['first_seen']} to {version['last_seen']}" if version["first_seen"] else "")


def _describe_cause(cause: Mapping[str, Any]) -> str:
    detail = cause["detail"] or "for other causes"
    pointer = f" at {cause['pointer']}" if cause["pointer"] else ""
    return f"`{cause['field']}`: {detail}{pointer}" if cause["field"] else f"{detail}{pointer}"


def _describe_examples(cause: Mapping[str, Any]) -> str:
    """Return the positions of the first records, with the paths of values where these add to the field."""
    positions = [
        f"partition {example['partition']} offset {example['offset']}"
        + (f" (`{example['path']}`)" if example["path"] != cause["field"] else "")
        for example in cause["examples"][:_SHOWN_EXAMPLES]
    ]
    return f"first: {', '.join(positions)}" + (", …" if cause["records"] > len(positions) else "")


def _describe_untested(topic: Mapping[str, Any]) -> str:
    parts = [f"{count_noun(topic[name], 'record')} {text}" for name, text in _UNTESTED if topic[name]]
    return ", ".join(parts)


def _format_part(part: int, whole: int) -> str:
    return f"{format_share(part, whole)} record{'' if whole == 1 else 's'}"
