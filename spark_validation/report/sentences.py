"""Sentences of the report: the result, the verdicts, the counts, and the command that shows a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.terminal_text import quote_word
from contractlog.contracts.audit.report import AuditReport, AuditVerdict, TopicPart, ViolatingProducer, ViolationLine
from contractlog.contracts.audit.summary import newest_audited, newest_in_use
from contractlog.spark_validation.report.formatters import (
    format_count,
    format_percent,
    format_plural,
    format_share,
    format_time,
)

__all__ = [
    "VERDICT_ORDER",
    "consume_command",
    "describe_counts",
    "describe_exit_code",
    "describe_producers",
    "describe_result",
    "describe_selection",
    "describe_strategy",
    "describe_verdict",
    "describe_verdict_rule",
    "format_conformance",
    "group_by_code",
    "name_producer",
    "only_producer",
    "summarize_verdict",
]

VERDICT_ORDER: Final[tuple[AuditVerdict, ...]] = ("failing", "degraded", "unknown", "passing")  #: most urgent first
MAX_PRODUCERS: Final = 3  #: in a sentence
MAX_PATTERNS: Final = 10  #: names and globs of topics in a sentence


def describe_result(report: AuditReport) -> Markup:
    """Return the result of the audit in one to three sentences, for a reader with little time."""
    parts = report["topics"]
    topics = sorted({part["topic"] for part in parts})
    if not topics:
        return Markup("Nothing was audited: no topic was found.")
    failing = [part for part in parts if part["verdict"] in {"failing", "degraded"}]
    unknown = {part["topic"] for part in parts if part["verdict"] == "unknown"} - {
        part["topic"] for part in parts if part["verdict"] != "unknown"
    }
    failing_topics = {part["topic"] for part in failing}
    keeping = len(topics) - len(failing_topics) - len(unknown)
    sentences = [
        Markup("{} of {} {} schemas.").format(
            format_count(keeping),
            format_plural(len(topics), "topic"),
            "conforms to its" if keeping == 1 else "conform to their",
        )
    ]
    if unknown:
        sentences.append(
            Markup("{} could not be audited: no usable schema, or no records.").format(
                format_plural(len(unknown), "topic")
            )
        )
    if failing:
        sentences.append(
            _describe_worst(
                max(failing, key=lambda part: (part["verdict"] == "failing", part["violating"])), len(failing_topics)
            )
        )
    return Markup(" ").join(sentences)


def _describe_worst(part: TopicPart, failing: int) -> Markup:
    first = min((line["first_seen"] for line in part["violations"] if line["first_seen"]), default="")
    ids = {line["schema_id"] for line in part["violations"]}
    where = Markup("<code>{}</code>{}").format(part["topic"], "" if part["part"] == "value" else " (key)")
    lead = Markup("{} does not").format(where) if failing == 1 else Markup("Most violations are in {}").format(where)
    since = f", the first of {format_time(first)}" if first else ""
    source = f", all with schema id {next(iter(ids))}" if len(ids) == 1 and None not in ids else ""
    producer = only_producer(part["violations"])
    writer = Markup(", all from the producer <code>{}</code>").format(producer) if producer else ""
    records = part["conforming"] + part["violating"]
    return Markup("{}: {} records{}{}{}.").format(lead, format_share(part["violating"], records), since, source, writer)


def only_producer(lines: Sequence[ViolationLine]) -> str | None:
    """Return the producer of all violating records; None if there are several, or headers do not name it."""
    producers = {(use["kind"], use["producer"]) for line in lines for use in line["producers"]}
    if len(producers) != 1 or not all(line["producers"] for line in lines):
        return None
    ((kind, name),) = producers
    return name if kind == "named" else None


def name_producer(use: ViolatingProducer) -> str:
    """Return the name of a producer, or words for those that are counted together."""
    match use["kind"]:
        case "named":
            return f"`{use['producer']}`"
        case "others":
            return "other producers"
        case _:
            return "no producer header"


def describe_producers(producers: Sequence[ViolatingProducer]) -> str:
    """Return the producers with the most records, with their counts unless there is only one."""
    if len(producers) == 1:
        return name_producer(producers[0])
    words = [f"{name_producer(use)} ({format_count(use['records'])})" for use in producers[:MAX_PRODUCERS]]
    more = len(producers) - MAX_PRODUCERS
    return ", ".join([*words, *([f"{more} more"] if more > 0 else [])])


def format_conformance(part: TopicPart) -> str:
    """Return the share of audited records that conform."""
    audited = part["conforming"] + part["violating"]
    return format_share(part["conforming"], audited) if audited else "nothing was audited"


def describe_counts(part: TopicPart) -> str:
    """Return one line with the counts of a part, which add up to its offsets."""
    total = sum(partition["to_offset"] - partition["from_offset"] for partition in part["partitions"])
    counts = [
        f"{format_count(part['conforming'])} conforming",
        f"{format_count(part['violating'])} violating",
        format_plural(part["tombstones"], "tombstone"),
        f"{format_count(part['absent'])} absent",
    ]
    if part["unaudited"]:
        counts.append(f"{format_count(part['unaudited'])} not audited")
    return f"{format_plural(total, 'offset')} = {' + '.join(counts)}."


def describe_verdict_rule(threshold: float) -> str:
    """Return the rule by which verdicts are given, which is the same for every part."""
    return (
        f"A part is failing when less than {format_percent(threshold)} of its audited records conform, of all versions "
        "together or of the newest version in use (by its number); degraded when records violate within that; "
        "passing when none does; unknown when nothing was audited."
    )


def describe_verdict(part: TopicPart) -> Markup:
    """Return the reason for a part's verdict."""
    audited = part["conforming"] + part["violating"]
    if part["verdict"] == "unknown":
        return Markup("Nothing was audited.")
    if part["verdict"] == "passing":
        return Markup("{} records conform.").format(format_share(part["conforming"], audited))
    threshold = format_percent(part["threshold"])
    whole = format_share(part["conforming"], audited)
    if "all versions" in part["missed"]:
        return Markup("Below the threshold of {}: {} records conform.").format(threshold, whole)
    newest = newest_audited(part["schemas"])
    if not newest:
        return Markup("Within the threshold of {}: {} records conform.").format(threshold, whole)
    lowest = min(newest, key=lambda use: use["conforming"] / (use["conforming"] + use["violating"]))
    newest_share = Markup("of version {} of <code>{}</code> (id {}), the newest {}, {} records conform").format(
        lowest["version"],
        lowest["subject"],
        lowest["schema_id"],
        "in use" if lowest in newest_in_use(part["schemas"]) else "that validators can use",
        format_share(lowest["conforming"], lowest["conforming"] + lowest["violating"]),
    )
    if part["missed"]:
        return Markup("Below the threshold of {}: {}; of all versions together {}.").format(
            threshold, newest_share, whole
        )
    return Markup("Within the threshold of {}: {} records conform, and {}.").format(threshold, whole, newest_share)


def summarize_verdict(part: TopicPart) -> str:
    """Return the reason for a part's verdict in a few words."""
    threshold = format_percent(part["threshold"])
    match part["verdict"]:
        case "unknown":
            return "nothing audited"
        case "passing" if part["unaudited"]:
            return f"no violation; {format_count(part['unaudited'])} not audited"
        case "passing":
            return "no violation"
        case "degraded":
            return f"violations, within {threshold}"
        case "failing" if "all versions" in part["missed"]:
            return f"below {threshold}"
        case _:
            return f"newest version below {threshold}"


def describe_exit_code(report: AuditReport) -> str:
    """Return a sentence on ``--fail-under`` and the resulting exit code."""
    limit = report["thresholds"]["fail_under"]
    missed = sum(part["conformance"] is not None and part["conformance"] < limit for part in report["topics"])
    outcome = (
        f"missed by {format_plural(missed, 'part')}, so the exit code is 1" if missed else "met, so the exit code is 0"
    )
    return f"The exit code follows another share, `--fail-under` {format_percent(limit)}: {outcome}."


def describe_selection(report: AuditReport) -> str:
    """Return sentences on the selected records and those audited before; empty if all were read."""
    scope = report["scope"]
    conditions = []
    if "topics" in scope:
        conditions.append(f"of topics {_list_patterns(scope['topics'])}")
    if "excluded" in scope:
        conditions.append(f"except {_list_patterns(scope['excluded'])}")
    if "partitions" in scope:
        conditions.append(f"of partitions {scope['partitions']}")
    if "since" in scope:
        conditions.append(f"since {format_time(scope['since'], seconds=True)}")
    if "until" in scope:
        conditions.append(f"before {format_time(scope['until'], seconds=True)}")
    sentences = [f"Only records {', '.join(conditions)} were selected."] if conditions else []
    if before := scope.get("audited_before", 0):
        new = format_plural(scope.get("new_offsets", 0), "offset")
        sentences.append(f"{new} were read now; {format_count(before)} were audited before, and are included.")
    return " ".join(sentences)


def _list_patterns(patterns: Sequence[str]) -> str:
    return list_first([f"`{pattern}`" for pattern in patterns], MAX_PATTERNS)


def describe_strategy(part: TopicPart) -> str:
    """Return a part's subject name strategy and how it was chosen; empty if it has none."""
    strategy = part["strategy"]
    if strategy is None:
        return ""
    return f"Subject name strategy: {strategy['name']}, {strategy['reason']}."


def consume_command(report: AuditReport, part: TopicPart, line: ViolationLine) -> str | None:
    """Return the command that shows a violating record, or None if it cannot be read again from Kafka."""
    if report["source"].get("kind") != "kafka" or not line["examples"]:
        return None
    position = line["first"] or line["examples"][0]
    servers = report["source"].get("bootstrap_servers")
    options = ["--partition", str(position["partition"]), "--offset", str(position["offset"]), "--limit", "1"]
    options += ["--bootstrap-servers", servers] if servers else []
    options += ["--registry", report["source"]["registry"]] if "registry" in report["source"] else []
    topic = part["topic"]
    words = [*options, "--", topic] if topic.startswith("-") else [topic, *options]
    return " ".join(map(quote_word, ("contractlog", "consume", *words)))


def group_by_code(lines: Sequence[ViolationLine]) -> dict[str, list[ViolationLine]]:
    """Group violations by code; codes, and the lines within them, by descending number of records."""
    groups: dict[str, list[ViolationLine]] = {}
    for line in sorted(lines, key=lambda line: -line["records"]):
        groups.setdefault(line["code"], []).append(line)
    return dict(sorted(groups.items(), key=lambda item: -sum(line["records"] for line in item[1])))
