"""Comparison of schema parsing and verdicts with Java Avro, on random schemas.

python -m support.avro_java_comparison [ACCEPTED [PAIRS [REFUSALS]]], in ``tests``, prints them all.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from contractlog.compatibility.avro.check_catalogue import AVRO_WARNINGS
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import CATALOGUE, compare_schemas, find_warnings, parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.compatibility.verdict_messages import format_messages

from support.avro_fingerprints import compute_fingerprints, write_parsing_form
from support.avro_versions import FEATURES, RichSchemas, create_version, find_features
from support.invalid_avro_schemas import corrupt_schema
from support.java_avro import JavaProcess, start_confluent_checker, start_java_avro

__all__ = [
    "CORPUS",
    "KNOWN_DIFFERENCES",
    "JavaComparison",
    "compare_acceptance",
    "compare_messages",
    "compare_verdicts",
]

CORPUS: Final = (
    *("null", "true", "{}", "[]", '""', '"int"', '{"type":"int"}', '"Int"', '{"type":{"type":"int"}}', '["int","int"]'),
    *('["null",["int"]]', '[{"type":"array","items":"int"},{"type":"array","items":"long"}]', '{"type":"array"}'),
    *('{"type":"map"}', '{"type":"enum","name":"E","symbols":[]}', '{"type":"enum","name":"E","symbols":["A","A"]}'),
    *('{"type":"enum","name":"E","symbols":["a-b"]}', '{"type":"enum","name":"E","symbols":["A"],"default":"B"}'),
    *('{"type":"fixed","name":"F","size":-1}', '{"type":"fixed","name":"F","size":0}', '{"type":"fixed","name":"F"}'),
    *('{"type":"record","name":"R"}', '{"type":"record","fields":[]}', '{"type":"record","name":"1R","fields":[]}'),
    *('{"type":"record","name":"int","fields":[]}', '{"type":"record","name":"a..b","fields":[]}'),
    *('{"type":"record","name":"R","namespace":"","fields":[]}', '{"type":"error","name":"R","fields":[]}'),
    *('{"type":"record","name":"é","fields":[]}', '{"type":"record","name":"R","aliases":"S","fields":[]}'),
    *(f'{{"type":"record","name":"R","fields":[{{"name":"a",{rest}}}]}}' for rest in (
        '"type":"int","default":1.5', '"type":"int","default":2147483648', '"type":"long","default":"1"',
        '"type":"double","default":"NaN"', '"type":"double","default":3', '"type":["null","int"],"default":3',
        '"type":["null","int"],"default":"x"', '"type":["float"],"default":"NaN"', '"type":"bytes","default":"\\u00ff"',
        '"type":{"type":"fixed","name":"F","size":2},"default":"a"', '"type":"R"', '"type":["null","R"],"default":null',
        '"type":{"type":"enum","name":"E","symbols":["A"]},"default":"B"', '"type":"int","order":"up"',
        '"type":{"type":"record","name":"S","fields":[{"name":"b","type":"int"}]},"default":{}',
        '"type":{"type":"record","name":"S","fields":[{"name":"b","type":"int","default":1}]},"default":{}',
        '"type":"Later"},{"name":"b","type":{"type":"fixed","name":"Later","size":1}',
        '"type":"int"},{"name":"a","type":"int"', '"type":{"type":"bytes","logicalType":"decimal","precision":0}',
        '"type":{"type":"fixed","name":"F","size":1}},{"name":"b","type":{"type":"fixed","name":"F","size":1}',
        '"type":{"type":"fixed","name":"F","size":1}},{"name":"b","type":{"type":"fixed","name":"F","size":2}',
    )),
)  # fmt: skip

KNOWN_DIFFERENCES: Final = {
    "default beside an open record": r"^accepts.*: .*Schema fields not set yet",
    "recursive type defined twice alike": r"^accepts.*: .*Can't redefine",
    "stored name that is older than strictness": r"^accepts \(stored\): .*(Namespace part|Undefined schema)",
    "field that is several": r"^(refuses|messages): .*matches multiple fields",
    "verdict under an open assumption": r"^refuses: nothing",
    "branch under another namespace": r"^decoding: .*Found (?:\w+\.)?(\w+), expecting union\[.*\b\1\b",
    "alias that Java's decoder takes in another way": (
        r"^decoding: .*(Found (?:\w+\.)?(\w+), expecting (?:\w+\.)?\2, missing|Duplicate field)"
    ),
    "default that Java accepts and cannot read": (
        r"^decoding: .*(Not a|nvalid default|enum value '|No default value|default value for union|Schema fields)"
    ),
    "endless default": r"^decoding: .*StackOverflowError",
    "finding told once": r"^messages: repeated",
}
"""Documented differences from Java, and the patterns that identify them; ``docs/compatibility.md`` has the reasons."""
NEAR_CHANGES: Final = {
    "AVRO_NAME_CHANGED": {"definition renamed", "definition renamed with alias", "namespace changed"},
    "AVRO_FIXED_SIZE_CHANGED": {"fixed"},
    "AVRO_ENUM_SYMBOLS_MISSING": {"symbols added", "symbols removed", "enum default set"},
    "AVRO_FIELD_DEFAULT_MISSING": {"field removed", "field with default added"},
    "AVRO_FIELD_AMBIGUOUS": {"field renamed with alias", "field alias of another"},
    "AVRO_TYPE_CHANGED": {"type widened", "type narrowed"},
    "AVRO_UNION_BRANCH_MISSING": {"branch added", "made nullable", "branches reordered"},
}
"""Changes with which a pair is close to a check's finding but does not have it."""
Texts = list[str]


@dataclass
class JavaComparison:
    """Counts of agreements and differences, and the smallest case of each difference."""

    counts: Counter[str] = field(default_factory=Counter)
    smallest: dict[str, Any] = field(default_factory=dict)

    def disagree(self, shows: str, *case: Any) -> None:
        """Count a difference under its name; an unknown difference is a failure."""
        name = next(
            (name for name, sign in KNOWN_DIFFERENCES.items() if re.search(sign, shows)), f"UNASSIGNED {shows[:200]}"
        )
        self.counts[name] += 1
        if name not in self.smallest or len(str(case)) < len(str(self.smallest[name])):
            self.smallest[name] = case

    @property
    def unassigned(self) -> dict[str, Any]:
        """Differences that are not documented."""
        return {name: case for name, case in self.smallest.items() if name not in KNOWN_DIFFERENCES}

    def list_rare_features(self, least: int) -> list[str]:
        """Return the checks and features that too few pairs had, for one of the verdicts."""
        names = [
            f"{name} {verdict}" for name in (*NEAR_CHANGES, *AVRO_WARNINGS, *FEATURES) for verdict in ("yes", "no")
        ]
        return [name for name in names if self.counts[name] < least]


def compare_acceptance(java: JavaProcess, random: Random, count: int, *, strict: bool) -> JavaComparison:
    """Compare acceptance, canonical texts, parsing forms and fingerprints of schemas."""
    proof = JavaComparison()
    cases = [[text] for text in CORPUS] + [_create_invalid_schema(random) for _ in range(count)]
    answers = java.ask([{"op": "parse", "schema": texts, "strict": strict} for texts in cases])
    stored = "" if strict else " (stored)"
    for texts, theirs in zip(cases, answers, strict=True):
        ours = _parse(texts, strict=strict)
        if (ours is None) == ("error" in theirs):
            proof.counts["refused by both" if ours is None else "accepted by both"] += 1
        elif ours is None:
            proof.disagree("we refuse", texts, theirs)
        else:
            proof.disagree(f"accepts{stored}: {theirs['error']}", texts, theirs)
        if ours is not None and "error" not in theirs:
            _compare_texts(proof, texts, ours, theirs)
    return proof


def compare_verdicts(java: JavaProcess, random: Random, count: int) -> JavaComparison:
    """Compare verdicts on pairs of versions in both directions; Java must decode accepted pairs."""
    proof = JavaComparison()
    pairs = [pair for _ in range(count * 28 // 50) for pair in _create_pairs(random)]  # some are no schemas
    compared = java.ask([{"op": "compare", "reader": reader, "writer": writer} for reader, writer, _ in pairs])
    decoded = java.ask(
        [{"op": "decode", "reader": reader, "writer": writer, "seed": 1, "count": 3} for reader, writer, _ in pairs]
    )
    for (reader, writer, tags), theirs, data in zip(pairs, compared, decoded, strict=True):
        reader_schema, writer_schema = _parse(reader, strict=True), _parse(writer, strict=False)
        if reader_schema is None or writer_schema is None or "Undefined schema" in theirs.get("error", ""):
            continue
        findings = list(compare_schemas(reader_schema, writer_schema))
        _count(proof, tags, findings, list(find_warnings(reader_schema, writer_schema)))
        refused = bool(theirs.get("findings"))
        proof.counts["verdicts agree"] += refused == bool(findings) and "error" not in theirs
        if findings and not theirs.get("findings"):
            proof.disagree(f"refuses: {theirs.get('error', 'nothing')}", reader, writer, data)
        elif not findings and (theirs.get("error") or theirs["findings"]):
            proof.disagree("Java alone refuses", reader, writer, theirs)
        elif not findings:
            proof.counts["values read"] += data.get("read", 0)
            if "error" in data:
                proof.disagree(f"decoding: {data['error']}", reader, writer, data)
    return proof


def compare_messages(java: JavaProcess, checker: JavaProcess, random: Random, refusals: int) -> JavaComparison:
    """Compare the messages of rejections, including the trailer, at three levels.

    No available jar has both parts: ``java`` (Avro 1.12.1, the reference's version) returns the findings in order, with
    paths; ``checker`` (Confluent's classes on an older Avro) returns the text around the paths, and the trailer.
    """
    proof = JavaComparison()
    while proof.counts["to the letter"] < refusals:
        cases = [(*pair, random.choice(LEVELS)) for _ in range(500) for pair in _create_pairs(random)]
        requests = [
            {"op": "messages", "candidate": candidate, "earlier": earlier, "level": level.value}
            for candidate, earlier, _, level in cases
        ]
        expected_findings = _ask_java_for_findings(java, cases)
        for (candidate, earlier, _, level), expected, theirs in zip(
            cases, expected_findings, checker.ask(requests), strict=True
        ):
            candidate_schema, earlier_schema = _parse(candidate, strict=False), _parse(earlier, strict=False)
            if candidate_schema is None or earlier_schema is None or not theirs.get("messages"):
                continue
            proof.counts["refusals"] += 1
            verdict = check_compatibility(candidate_schema, [ParsedVersion(1, earlier_schema)], level)
            our_messages = [text for text in format_messages(verdict)[:-1] if not text.startswith("{oldSchemaVersion")]
            ours = [match.groups() for match in map(_MESSAGE.fullmatch, our_messages) if match]
            if ours == expected and list(map(_remove_path, our_messages)) == list(
                map(_remove_path, theirs["messages"])
            ):
                proof.counts["to the letter"] += 1
                proof.counts["paths through a branch"] += any(_leads_through_branch(path) for _, path, _ in ours)
            elif any(text.startswith("Unexpected exception") for text in theirs["messages"]):
                proof.disagree(f"messages: {theirs['messages']}", candidate, earlier, our_messages, theirs["messages"])
            elif set(map(_remove_path, our_messages)) <= set(
                map(_remove_path, theirs["messages"])
            ) and _uses_type_again(candidate):
                proof.disagree("messages: repeated", candidate, earlier, our_messages, theirs["messages"])
            else:
                proof.disagree("messages differ", candidate, earlier, our_messages, expected, theirs["messages"])
    return proof


_MESSAGE: Final = re.compile(r"\{errorType:'(\w+)', .*path '([^']*)'.*, additionalInfo:'(.*)'\}", re.DOTALL)
_Message = tuple[str, str, str]  #: kind, path, additional information


def _ask_java_for_findings(
    java: JavaProcess, cases: list[tuple[Texts, Texts, set[str], Level]]
) -> list[list[_Message]]:
    """Return Java Avro's findings for each case, in the reference's order."""
    requests = []
    for candidate, earlier, _, level in cases:
        for direction in level.directions:
            reader, writer = (candidate, earlier) if direction is Direction.BACKWARD else (earlier, candidate)
            requests.append({"op": "compare", "reader": reader, "writer": writer})
    answers = iter(java.ask(requests))
    return [
        [(kind, path, info) for _ in level.directions for kind, path, info in next(answers).get("findings", ())]
        for *_, level in cases
    ]


def _leads_through_branch(path: str) -> bool:
    """Return whether a path leads through a branch of a union."""
    return re.search(r"/(type|items|values)/\d+(/|$)", path) is not None


LEVELS: Final = (Level.BACKWARD, Level.FORWARD, Level.FULL)


def _create_invalid_schema(random: Random) -> Texts:
    schemas = RichSchemas(random).schemas()
    return [*map(json.dumps, schemas[:-1]), corrupt_schema(schemas[-1], random)]


def _create_pairs(random: Random) -> list[tuple[Texts, Texts, set[str]]]:
    first = RichSchemas(random).schemas()
    second, changes = create_version(first, random)
    first_texts, second_texts = ([json.dumps(schema) for schema in schemas] for schemas in (first, second))
    tags = changes | find_features(first) | find_features(second)
    return [(second_texts, first_texts, tags), (first_texts, second_texts, tags)]


def _parse(texts: Texts, *, strict: bool) -> ParsedSchema | None:
    references = {f"r{index}": text for index, text in enumerate(texts[:-1])}
    try:
        return parse_schema(SchemaDraft(texts[-1]), references, strict=strict)
    except InvalidSchema:
        return None


def _compare_texts(proof: JavaComparison, texts: Texts, ours: ParsedSchema, theirs: dict[str, Any]) -> None:
    fingerprints = compute_fingerprints(ours.root)
    pairs = {
        "parsing form": (write_parsing_form(ours.root), theirs["parsing"]),
        "fingerprints": (
            (fingerprints.crc64, fingerprints.md5, fingerprints.sha256),
            (theirs["crc"], theirs["md5"], theirs["sha256"]),
        ),
    }
    if len(texts) == 1:  # with references, Java inlines the referenced types
        pairs["canonical"] = (ours.canonical, theirs["canonical"])
    for name, (our_text, java_text) in pairs.items():
        proof.counts[f"same {name}"] += our_text == java_text
        if our_text != java_text:
            proof.disagree(f"{name} differs", texts, our_text, java_text)


def _count(proof: JavaComparison, tags: set[str], findings: list[Finding], warnings: list[Finding]) -> None:
    verdict = "no" if findings else "yes"
    proof.counts["pairs"] += 1
    ids = {finding.check for finding in (*findings, *warnings)}
    near = {name for name, changes in NEAR_CHANGES.items() if not findings and tags & changes}
    for name in (ids & CATALOGUE.keys()) | near | (tags & set(FEATURES)):
        proof.counts[f"{name} {verdict}"] += 1


def _remove_path(text: str) -> str:
    """Remove the path from a message: for a repeated pair, the reference returns its first path."""
    return re.sub(r"path '[^']*'", "", text)


def _uses_type_again(texts: Texts) -> bool:
    """Return whether a type is used again after its definition, so that a pair is compared twice."""
    names = re.findall(r'"(?:name|type)": "([\w.]+)"|"([\w.]+)"', " ".join(texts))
    counted = Counter((defined or used).rpartition(".")[2] for defined, used in names)
    return any(times > 1 for name, times in counted.items() if re.fullmatch(r"T\d+x*", name))


def main() -> None:
    """Print the counts for the full sizes, or for the given ones."""
    accepted, pairs, refusals = [*map(int, sys.argv[1:]), *(20_000, 50_000, 10_000)[len(sys.argv) - 1 :]]
    with start_java_avro() as java, start_confluent_checker() as checker:
        for title, proof in (
            ("acceptance, new schemas", compare_acceptance(java, Random(1), accepted, strict=True)),  # noqa: S311
            ("acceptance, stored schemas", compare_acceptance(java, Random(2), accepted, strict=False)),  # noqa: S311
            ("verdicts and decoding", compare_verdicts(java, Random(3), pairs)),  # noqa: S311
            ("messages", compare_messages(java, checker, Random(4), refusals)),  # noqa: S311
        ):
            print(f"\n{title}")  # noqa: T201 - a table for people
            for name, times in sorted(proof.counts.items()):
                print(f"{times:8d}  {name}")  # noqa: T201
            for name, case in proof.smallest.items():
                print(f"smallest of {name}:", *case, sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()
