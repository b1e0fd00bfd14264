"""Our Avro beside Java's, on random schemas: counts of what was met, and the smallest case of each disagreement.

python -m support.avro_proof [ACCEPTED [PAIRS [REFUSALS]]], in ``tests``, prints them all.
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
from support.avro_spoiled import spoiled_text
from support.avro_versions import FEATURES, RichSchemas, features, version
from support.java_avro import Judge, avro, confluent

__all__ = ["CLASSES", "CORPUS", "Proof", "accepting", "messaging", "reading"]

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

CLASSES: Final = {
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
"""What we and Java see in another way, by how it shows; ``docs/compatibility.md`` says why."""
NEAR: Final = {
    "AVRO_NAME_CHANGED": {"renamed", "renamed with alias", "namespace changed"},
    "AVRO_FIXED_SIZE_CHANGED": {"fixed"},
    "AVRO_ENUM_SYMBOLS_MISSING": {"symbols added", "symbols removed", "enum default set"},
    "AVRO_FIELD_DEFAULT_MISSING": {"field removed", "field with default added"},
    "AVRO_FIELD_AMBIGUOUS": {"field renamed with alias", "field alias of another"},
    "AVRO_TYPE_CHANGED": {"type widened", "type narrowed"},
    "AVRO_UNION_BRANCH_MISSING": {"branch added", "made nullable", "branches reordered"},
}
"""The changes by which a pair comes near a check without having its finding."""
Texts = list[str]


@dataclass
class Proof:
    """What was met, and how often."""

    counts: Counter[str] = field(default_factory=Counter)
    smallest: dict[str, Any] = field(default_factory=dict)

    def disagree(self, shows: str, *case: Any) -> None:
        """Count a disagreement under its class; one without a class is a failure."""
        name = next((name for name, sign in CLASSES.items() if re.search(sign, shows)), f"UNASSIGNED {shows[:200]}")
        self.counts[name] += 1
        if name not in self.smallest or len(str(case)) < len(str(self.smallest[name])):
            self.smallest[name] = case

    @property
    def unassigned(self) -> dict[str, Any]:
        """Disagreements that belong to no class."""
        return {name: case for name, case in self.smallest.items() if name not in CLASSES}

    def thin(self, least: int) -> list[str]:
        """Return the checks and features of which there were too few pairs in one of the verdicts."""
        names = [f"{name} {verdict}" for name in (*NEAR, *AVRO_WARNINGS, *FEATURES) for verdict in ("yes", "no")]
        return [name for name in names if self.counts[name] < least]


def accepting(java: Judge, random: Random, count: int, *, strict: bool) -> Proof:
    """Compare what is a schema, its canonical text, its parsing form and its fingerprints."""
    proof = Proof()
    cases = [[text] for text in CORPUS] + [_spoiled(random) for _ in range(count)]
    answers = java.ask([{"op": "parse", "schema": texts, "strict": strict} for texts in cases])
    stored = "" if strict else " (stored)"
    for texts, theirs in zip(cases, answers, strict=True):
        ours = _parsed(texts, strict=strict)
        if (ours is None) == ("error" in theirs):
            proof.counts["refused by both" if ours is None else "accepted by both"] += 1
        elif ours is None:
            proof.disagree("we refuse", texts, theirs)
        else:
            proof.disagree(f"accepts{stored}: {theirs['error']}", texts, theirs)
        if ours is not None and "error" not in theirs:
            _same_texts(proof, texts, ours, theirs)
    return proof


def reading(java: Judge, random: Random, count: int) -> Proof:
    """Compare verdicts on pairs of versions in both directions; what we accept, Java decodes."""
    proof = Proof()
    pairs = [pair for _ in range(count * 28 // 50) for pair in _pairs(random)]  # some are no schemas
    compared = java.ask([{"op": "compare", "reader": reader, "writer": writer} for reader, writer, _ in pairs])
    decoded = java.ask(
        [{"op": "decode", "reader": one, "writer": other, "seed": 1, "count": 3} for one, other, _ in pairs]
    )
    for (reader, writer, tags), theirs, data in zip(pairs, compared, decoded, strict=True):
        new, old = _parsed(reader, strict=True), _parsed(writer, strict=False)
        if new is None or old is None or "Undefined schema" in theirs.get("error", ""):
            continue
        found = list(compare_schemas(new, old))
        _count(proof, tags, found, list(find_warnings(new, old)))
        refused = bool(theirs.get("findings"))
        proof.counts["verdicts agree"] += refused == bool(found) and "error" not in theirs
        if found and not theirs.get("findings"):
            proof.disagree(f"refuses: {theirs.get('error', 'nothing')}", reader, writer, data)
        elif not found and (theirs.get("error") or theirs["findings"]):
            proof.disagree("Java alone refuses", reader, writer, theirs)
        elif not found:
            proof.counts["values read"] += data.get("read", 0)
            if "error" in data:
                proof.disagree(f"decoding: {data['error']}", reader, writer, data)
    return proof


def messaging(java: Judge, checker: Judge, random: Random, refusals: int) -> Proof:
    """Compare the messages of refusals, to the letter, at the three levels, with their trailer.

    Two judges share the work, because no jar at hand has both: ``java`` (Avro 1.12.1, as the reference pins it) says
    which findings there are, in which order, with their paths; ``checker`` (Confluent's classes on an older Avro) has
    the words around the paths and the trailer.
    """
    proof = Proof()
    while proof.counts["to the letter"] < refusals:
        cases = [(*pair, random.choice(LEVELS)) for _ in range(500) for pair in _pairs(random)]
        requests = [
            {"op": "messages", "candidate": candidate, "earlier": earlier, "level": level.value}
            for candidate, earlier, _, level in cases
        ]
        found = _javas_findings(java, cases)
        for (candidate, earlier, _, level), expected, theirs in zip(cases, found, checker.ask(requests), strict=True):
            new, old = _parsed(candidate, strict=False), _parsed(earlier, strict=False)
            if new is None or old is None or not theirs.get("messages"):
                continue
            proof.counts["refusals"] += 1
            verdict = check_compatibility(new, [ParsedVersion(1, old)], level)
            said = [text for text in format_messages(verdict)[:-1] if not text.startswith("{oldSchemaVersion")]
            ours = [match.groups() for match in map(_MESSAGE.fullmatch, said) if match]
            if ours == expected and list(map(_pathless, said)) == list(map(_pathless, theirs["messages"])):
                proof.counts["to the letter"] += 1
                proof.counts["paths through a branch"] += any(_through_branch(path) for _, path, _ in ours)
            elif any(text.startswith("Unexpected exception") for text in theirs["messages"]):
                proof.disagree(f"messages: {theirs['messages']}", candidate, earlier, said, theirs["messages"])
            elif set(map(_pathless, said)) <= set(map(_pathless, theirs["messages"])) and _named_again(candidate):
                proof.disagree("messages: repeated", candidate, earlier, said, theirs["messages"])
            else:
                proof.disagree("messages differ", candidate, earlier, said, expected, theirs["messages"])
    return proof


_MESSAGE: Final = re.compile(r"\{errorType:'(\w+)', .*path '([^']*)'.*, additionalInfo:'(.*)'\}", re.DOTALL)
_Message = tuple[str, str, str]  #: kind, path, what it says beyond


def _javas_findings(java: Judge, cases: list[tuple[Texts, Texts, set[str], Level]]) -> list[list[_Message]]:
    """Return what Java Avro finds for each case, in the order in which the reference tells it."""
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


def _through_branch(path: str) -> bool:
    """Whether a path leads through a branch of a union that stands for a type."""
    return re.search(r"/(type|items|values)/\d+(/|$)", path) is not None


LEVELS: Final = (Level.BACKWARD, Level.FORWARD, Level.FULL)


def _spoiled(random: Random) -> Texts:
    schemas = RichSchemas(random).schemas()
    return [*map(json.dumps, schemas[:-1]), spoiled_text(schemas[-1], random)]


def _pairs(random: Random) -> list[tuple[Texts, Texts, set[str]]]:
    first = RichSchemas(random).schemas()
    second, changes = version(first, random)
    one, other = ([json.dumps(schema) for schema in schemas] for schemas in (first, second))
    tags = changes | features(first) | features(second)
    return [(other, one, tags), (one, other, tags)]


def _parsed(texts: Texts, *, strict: bool) -> ParsedSchema | None:
    leaned_on = {f"r{index}": text for index, text in enumerate(texts[:-1])}
    try:
        return parse_schema(SchemaDraft(texts[-1]), leaned_on, strict=strict)
    except InvalidSchema:
        return None


def _same_texts(proof: Proof, texts: Texts, ours: ParsedSchema, theirs: dict[str, Any]) -> None:
    prints = compute_fingerprints(ours.root)
    pairs = {
        "parsing form": (write_parsing_form(ours.root), theirs["parsing"]),
        "fingerprints": ((prints.crc64, prints.md5, prints.sha256), (theirs["crc"], theirs["md5"], theirs["sha256"])),
    }
    if len(texts) == 1:  # else Java writes in place what is leaned on
        pairs["canonical"] = (ours.canonical, theirs["canonical"])
    for name, (one, other) in pairs.items():
        proof.counts[f"same {name}"] += one == other
        if one != other:
            proof.disagree(f"{name} differs", texts, one, other)


def _count(proof: Proof, tags: set[str], found: list[Finding], own: list[Finding]) -> None:
    verdict = "no" if found else "yes"
    proof.counts["pairs"] += 1
    ids = {finding.check for finding in (*found, *own)}
    near = {name for name, changes in NEAR.items() if not found and tags & changes}
    for name in (ids & CATALOGUE.keys()) | near | (tags & set(FEATURES)):
        proof.counts[f"{name} {verdict}"] += 1


def _pathless(text: str) -> str:
    """Return a message without its path: where a pair is met again, the reference gives that of the first time."""
    return re.sub(r"path '[^']*'", "", text)


def _named_again(texts: Texts) -> bool:
    """Whether a type is used again after its definition: only then is a pair met twice."""
    names = re.findall(r'"(?:name|type)": "([\w.]+)"|"([\w.]+)"', " ".join(texts))
    counted = Counter((one or other).rpartition(".")[2] for one, other in names)
    return any(times > 1 for name, times in counted.items() if re.fullmatch(r"T\d+x*", name))


def main() -> None:
    """Print what was met at the full sizes, or at those given."""
    accepted, pairs, refusals = [*map(int, sys.argv[1:]), *(20_000, 50_000, 10_000)[len(sys.argv) - 1 :]]
    with avro() as java, confluent() as checker:
        for title, proof in (
            ("acceptance, new schemas", accepting(java, Random(1), accepted, strict=True)),  # noqa: S311
            ("acceptance, stored schemas", accepting(java, Random(2), accepted, strict=False)),  # noqa: S311
            ("verdicts and decoding", reading(java, Random(3), pairs)),  # noqa: S311
            ("messages", messaging(java, checker, Random(4), refusals)),  # noqa: S311
        ):
            print(f"\n{title}")  # noqa: T201 - this is what it is for
            for name, times in sorted(proof.counts.items()):
                print(f"{times:8d}  {name}")  # noqa: T201
            for name, case in proof.smallest.items():
                print(f"smallest of {name}:", *case, sep="\n    ")  # noqa: T201


if __name__ == "__main__":
    main()
