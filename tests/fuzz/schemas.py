"""A fuzzer of schemas: texts are mutated, as structures and as bytes, then parsed, written and judged in pairs.

    python tests/fuzz/schemas.py --seconds 600 [--seed 1] [--type AVRO|JSON]

A finding is anything that is not an answer: an exception other than ``InvalidSchema``, more than two seconds of
processor time for one step, more than 200 MB, a canonical text that is written differently when it is read again, a
schema that is not compatible with itself, a verdict over all levels that is not that of each level, a mend that does
not remove its finding. Findings are printed with the texts that show them; exit 1 when there are
any. The work is done in a child process, which is told apart from the one that counts, so that a crash is a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parent.parent))

from contractlog.compatibility.change import change_between
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.judge import Earlier, differences, judge
from contractlog.compatibility.level import Level
from contractlog.compatibility.mends import mend
from contractlog.compatibility.parsing import parse
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support.avro_schemas import Schemas, evolved

T = TypeVar("T")

SECONDS, MEGABYTES = 2.0, 200
MENDED = 0.1  #: of the turns with a finding; a mend is many comparisons
KEPT = 300  #: texts that were accepted, from which more are made
WORDS: dict[SchemaType, list[Any]] = {
    SchemaType.AVRO: [
        "type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases", "default", "doc",
        "order", "logicalType", "record", "error", "enum", "fixed", "array", "map", "null", "boolean", "int", "long",
        "float", "double", "bytes", "string", "decimal", "T1", "T2", "a.b.T1", ".T1", "é", "", "NaN", "a", "b",
    ],
    SchemaType.JSON: [
        "type", "properties", "required", "additionalProperties", "patternProperties", "items", "additionalItems",
        "prefixItems", "contains", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "#",
        "#/definitions/a",
        "#/$defs/b", "definitions", "$defs", "$id", "$schema", "$anchor", "$dynamicRef", "enum", "const", "minimum",
        "maximum", "exclusiveMinimum", "multipleOf", "minLength", "pattern", "^(a+)+$", "[", "propertyNames", "format",
        "dependencies", "dependentRequired", "unevaluatedProperties", "object", "array", "string", "integer", "number",
        "null", "boolean", "http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema",
        "http://x/", "default", "title", "a", "b", "", "é",
    ],
}  # fmt: skip
ATOMS: list[Any] = [None, True, False, 0, 1, -1, 1.5, 1e300, 2**63, 10**40, [], {}, "", [[]], [{}], "\u0000", "😀"]
SEEDS: dict[SchemaType, list[Any]] = {
    SchemaType.AVRO: [
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R"], "default": None}]},
        {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "A"},
        {"type": "map", "values": {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal"}},
        ["null", {"type": "record", "name": "a.R", "aliases": ["b.S"], "fields": [{"name": "x", "type": "int"}]}],
    ],
    SchemaType.JSON: [
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"], "additionalProperties": False},
        {"definitions": {"a": {"type": ["string", "null"]}}, "oneOf": [{"$ref": "#/definitions/a"}, {"maxLength": 5}]},
        {"type": "array", "items": [{"const": 1}, {"enum": [1, "a", None]}], "additionalItems": {"minimum": 0}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"b": {"$anchor": "x"}}, "$ref": "#x"},
        {"if": {"type": "string"}, "then": {"pattern": "^a"}, "else": {"not": {"multipleOf": 0.5}}},
        {"allOf": [{"properties": {"a": True}}, {"patternProperties": {"^b": False}}], "unevaluatedProperties": False},
    ],
}  # fmt: skip


class Finding(Exception):
    """Something that is no answer."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container with a key or index of it."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        members = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        for key, member in list(members):
            yield here, key
            waiting.append(member)


@dataclass
class Fuzzer:
    """Makes texts and meets them."""

    random: Random
    type: SchemaType
    texts: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    memo: Memo = field(default_factory=lambda: Memo(shapes=5_000, verdicts=5_000))
    note: Callable[[str], None] = lambda _: None  #: where it stands is noted before anything that may be the last

    def __post_init__(self) -> None:
        self.texts = [json.dumps(seed) for seed in SEEDS[self.type]]

    def text(self) -> str:
        """Make a text: a new schema, a mutated one, or one with mutated bytes."""
        choice = self.random.random()
        if choice < 0.1 and self.type is SchemaType.AVRO:
            return json.dumps(Schemas(self.random).schema())
        text = self.random.choice(self.texts)
        if choice < 0.8:
            try:
                return json.dumps(self.mutated(json.loads(text)))
            except (ValueError, RecursionError):
                pass
        return self.bytewise(text)

    def mutated(self, value: Any) -> Any:
        """Change some places of a structure."""
        random = self.random
        if self.type is SchemaType.AVRO and random.random() < 0.3:
            try:
                return evolved(value, random, 1)
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                pass
        for _ in range(random.choice([1, 1, 1, 2, 5])):
            found = list(islice(places(value), 2_000))
            if not found:
                return random.choice([*SEEDS[self.type], *WORDS[self.type], *ATOMS])
            self.change(*random.choice(found), *random.choice(found))
        return value

    def change(self, container: Any, key: Any, other: Any, place: Any) -> None:
        """Change one place, perhaps by what stands at another."""
        random, words = self.random, WORDS[self.type]
        match random.randrange(8):
            case 0:
                container[key] = random.choice(ATOMS)
            case 1:
                container[key] = random.choice(words)
            case 2:
                container[key] = json.loads(json.dumps(other[place]))
            case 3:
                del container[key]
            case 4 if isinstance(container, dict):
                container[random.choice(words)] = random.choice([container[key], *ATOMS, *words])
            case 5 if isinstance(container, list):
                container.insert(random.randrange(len(container) + 1), json.loads(json.dumps(other[place])))
            case 6:
                container[key] = json.loads(random.choice(self.texts))
            case _:
                container[key] = [container[key]]

    def bytewise(self, text: str) -> str:
        """Change some characters."""
        random, characters = self.random, list(text)
        for _ in range(random.choice([1, 1, 2, 8])):
            at = random.randrange(len(characters) + 1)
            match random.randrange(4):
                case 0:
                    characters[at:at] = random.choice('{}[]",:\\/#.0e-+\u0000\ud800é😀 \n')
                case 1:
                    del characters[at : at + random.choice([1, 1, 10])]
                case 2:
                    end = min(len(characters), at + random.choice([1, 5, 50]))
                    characters[at:at] = characters[at:end] * random.choice([1, 2, 100])
                case _:
                    characters[at : at + 1] = random.choice(["/*", "*/", "//", "\\u0000", "\\ud800", "1e999", "NaN"])
        return "".join(characters)[:20_000]

    def timed(self, what: str, work: Callable[[], T]) -> T | None:
        """Do a step; None when the schema is refused."""
        start = time.process_time()
        try:
            return work()
        except InvalidSchema:
            self.counts[f"{what}: refused"] += 1
            return None
        except Exception as problem:  # noqa: BLE001 - that is what is looked for
            raise Finding(f"{what}: {type(problem).__name__}: {problem}\n{traceback.format_exc(limit=-4)}") from None
        finally:
            taken = time.process_time() - start
            if taken > SECONDS:
                raise Finding(f"{what} takes {taken:.1f} s")

    def parsed(self, what: str, text: str, *, strict: bool) -> ParsedSchema | None:
        return self.timed(what, lambda: parse(SchemaDraft(text, self.type), strict=strict))

    def turn(self) -> None:
        """Make a text and another one, and meet them."""
        text, other = self.text(), self.random.choice(self.texts)
        self.note(json.dumps([text, other]))
        self.counts["texts"] += 1
        new = self.parsed("parse", text, strict=True)
        stored = self.parsed("tolerant parse", text, strict=False)
        if new is not None and stored is None:
            raise Finding("accepted when new, refused when stored")
        schema = new or stored
        if schema is None:
            return
        self.counts["accepted"] += 1
        self.rewritten(schema)
        if new is not None:
            self.keep(text)
        variant = self.parsed("variant", other, strict=False)
        for policy in Policy if self.type is SchemaType.JSON else (Policy.STRICT,):
            self.judged(schema, schema, policy, clean=policy is not Policy.EXACT or new is not None)
            if variant is not None:
                self.judged(schema, variant, policy)
                self.judged(variant, schema, policy)
                self.changed(text, schema, variant, policy)
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEGABYTES * 1024:
            raise Finding(f"takes more than {MEGABYTES} MB")

    def rewritten(self, schema: ParsedSchema) -> None:
        for name, text in (("canonical", schema.canonical), ("normalized", schema.normalized)):
            again = self.parsed(f"parse {name}", text, strict=False)
            if again is None:
                raise Finding(f"the {name} text is refused")
            written = again.canonical if name == "canonical" else again.normalized
            if written != text:
                raise Finding(f"the {name} text is written differently when it is read again:\n{text}\n{written}")

    def judged(self, schema: ParsedSchema, earlier: ParsedSchema, policy: Policy, *, clean: bool = False) -> None:
        history = [Earlier(1, earlier)]
        bare, known = (
            self.timed(
                f"judge {policy}", lambda memo=memo: judge(schema, history, Level.FULL, policy=policy, memo=memo)
            )
            for memo in (None, self.memo)
        )
        assert bare is not None
        if bare != known:
            raise Finding(f"a memo changes the verdict under {policy}")
        ambiguous = {finding.check for finding in bare.findings} <= {"AVRO_FIELD_AMBIGUOUS"}
        if clean and not ambiguous:  # a record one of whose fields is another's alias does not read itself
            raise Finding(f"not compatible with itself under {policy}: {bare.findings[0].check}")
        self.counts[f"{policy}: {'compatible' if bare.compatible else 'not compatible'}"] += 1

    def changed(self, text: str, schema: ParsedSchema, earlier: ParsedSchema, policy: Policy) -> None:
        """The verdict over all levels is that of each level, and a mended text is a schema without the finding."""
        history = [Earlier(1, earlier)]
        change = self.timed(f"change {policy}", lambda: change_between(earlier, schema, policy=policy))
        assert change is not None
        json.dumps(change.body())
        limited = any(finding.check == "WORK_LIMIT_EXCEEDED" for finding in change.findings)
        for level in (Level.BACKWARD, Level.FORWARD):
            if not limited and change.satisfies(level) is not judge(schema, history, level, policy=policy).compatible:
                raise Finding(f"the verdict over all levels differs at {level} under {policy}")
        if not change.comparisons or self.random.random() > MENDED:
            return
        comparison = change.comparisons[0]
        found, direction = comparison.findings[0], comparison.direction
        mended = self.timed("mend", lambda: mend(text, found, schema, earlier, direction, policy=policy))
        if mended is not None:
            self.counts["mended"] += 1
            again = self.parsed("parse mended", mended.text, strict=False)
            if again is None:
                raise Finding(f"the mended text is refused: {mended.text}")
            left = [one for one in differences(again, earlier, direction, policy) if one.check == found.check]
            before = [one for one in differences(schema, earlier, direction, policy) if one.check == found.check]
            if len(left) >= len(before):
                raise Finding(f"the mend removes nothing: {mended.text}")

    def keep(self, text: str) -> None:
        if len(text) < 4_000:
            self.texts.append(text)
            if len(self.texts) > KEPT:
                del self.texts[self.random.randrange(len(SEEDS[self.type]), len(self.texts))]


def say(sentence: str) -> None:
    """Write a line at once."""
    print(sentence, flush=True)  # noqa: T201 - a script


def work(until: float, seed: int, kind: SchemaType, notes: Path) -> int:
    """Fuzz in this process until a time; each cause is told once."""
    at = os.open(notes, os.O_WRONLY | os.O_CREAT)

    def note(text: str) -> None:
        os.pwrite(at, text.encode(errors="surrogatepass"), 0)
        os.ftruncate(at, len(text.encode(errors="surrogatepass")))

    fuzzer = Fuzzer(Random(seed), kind, note=note)  # noqa: S311 - repeats by its seed
    found: set[str] = set()
    while time.monotonic() < until:
        try:
            fuzzer.turn()
        except Finding as finding:
            sentence, _, rest = str(finding).partition("\n")
            cause = f"{sentence} {rest.splitlines()[-3:]}"
            if cause not in found:
                found.add(cause)
                say(f"FINDING {kind} seed {seed}: {finding}")
                say(f"  texts: {notes.read_text(errors='replace')[:4_000]}")
    say(f"{kind} seed {seed}: {dict(fuzzer.counts)}")
    return 1 if found else 0


def fuzz(seconds: float, seed: int, kinds: list[SchemaType]) -> int:
    """Fuzz in child processes, a minute each at most, and return how many had findings."""
    end, found, start = time.monotonic() + seconds, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            for kind in kinds:
                until = min(end, time.monotonic() + min(60.0, max(5.0, seconds / len(kinds))))
                notes = Path(folder) / f"{seed}"
                sys.stdout.flush()
                child = os.fork()
                if child == 0:
                    resource.setrlimit(resource.RLIMIT_AS, (2 * 1024**3, 2 * 1024**3))
                    resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
                    status = 2
                    try:
                        status = work(until, seed, kind, notes)
                    except BaseException:  # noqa: BLE001 - the child ends here
                        traceback.print_exc()
                    finally:
                        sys.stdout.flush()
                        os._exit(status)
                _, status, _ = os.wait4(child, 0)
                if status:
                    found += 1
                    if os.waitstatus_to_exitcode(status) != 1:
                        texts = notes.read_text(errors="replace") if notes.exists() else ""
                        say(f"FINDING {kind} seed {seed}: died with {status}\n  texts: {texts[:4_000]}")
                seed += 1
    say(f"{found} findings in {time.monotonic() - start:.0f} s")
    return found


def main() -> int:
    """Fuzz as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("CONTRACTLOG_FUZZ_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--type", choices=["AVRO", "JSON"])
    arguments = parser.parse_args()
    kinds = [SchemaType(arguments.type)] if arguments.type else [SchemaType.AVRO, SchemaType.JSON]
    return 1 if fuzz(arguments.seconds, arguments.seed, kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
