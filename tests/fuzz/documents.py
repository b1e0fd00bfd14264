"""A fuzzer of JSON records: mutated documents, whose results ``json`` and ``jsonschema`` verify.

    python tests/fuzz/documents.py --mutants 200000 [--seed 1] [--seconds 3600]

A finding is an exception without a type of ours, more than a second of processor time for a record, an
error of more than 5,000 characters, a text taken for
JSON that is none or the other way round, a value other than that of Python's own parser (to its type: 1, 1.0 and True
differ), a document that is admitted or refused wrongly, and a value that we read and write as something else.
The written rules beyond the judges: no lone surrogates, no numbers beyond the range of floats, at most 1,024 levels.
Exit 1 when there is a finding. The address space is bounded, and a crash ends the process that tells.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

import jsonschema

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema.document_validator import ValidationSettings
from contractlog.serdes.json_schema.readers_and_writers import JsonReader, JsonWriter

SECONDS, MEGABYTES = 20.0, 300
TOLD: Final = 20
LONGEST: Final = 5_000  #: characters of an error
LARGEST: Final = int(sys.float_info.max)
ORDER: Final = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["id", "legs"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "state": {"enum": ["NEW", "PAID", None, 5]},
        "price": {"type": "number", "exclusiveMaximum": 1e9},
        "legs": {"type": "array", "maxItems": 4, "items": {"$ref": "#/definitions/leg"}},
        "note": {"type": ["string", "null"], "maxLength": 12},
    },
    "definitions": {
        "leg": {
            "type": "object",
            "properties": {"carrier": {"type": "string", "minLength": 2}, "minutes": {"type": "integer"}},
            "additionalProperties": False,
        }
    },
}
NODE: Final = {"$ref": "#/definitions/node"}
TREE: Final = {
    "definitions": {
        "node": {
            "anyOf": [
                {"type": "integer"},
                {"type": "object", "properties": {"l": NODE, "r": NODE}, "required": ["l"]},
                {"type": "object", "properties": {"l": NODE}, "required": ["l"], "additionalProperties": False},
                {"type": "array", "items": NODE},
            ]
        }
    },
    **NODE,
}
SCHEMAS: Final[tuple[Any, ...]] = (
    ORDER,
    True,
    {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "uniqueItems": True},
    {"type": ["number", "object"], "additionalProperties": {"type": "boolean"}, "propertyNames": {"maxLength": 3}},
    {"oneOf": [{"type": "integer", "maximum": 100}, {"type": "array", "contains": {"const": 1}}, {"type": "boolean"}]},
    {"not": {"required": ["a", "b"]}, "dependencies": {"a": ["c"]}, "minProperties": 1},
    TREE,
)
DOCUMENTS: Final = (
    '{"id":7,"state":"NEW","price":1.5,"legs":[{"carrier":"UA","minutes":90},{"carrier":"É2"}],"note":null}',
    '{"legs":[],"id":12345678901234567890,"note":"a \\"b\\" \\u00e9 \\ud83d\\ude00"}',
    '[1,2,"x",1e3,-0.0,123456789012345678901234567890]',
    '{"a":true,"b":false,"c":true}',
    "9",
    '{"id":0,"legs":[{"carrier":"UA","minutes":-1}],"price":-1e-7,"x":{"y":[[[[]]]]}}',
    '{"l":{"l":{"l":1,"r":2},"r":{"l":[1,{"l":3}]}},"r":0}',
)
LARGE_EVERY: Final = 1_000  #: mutants, of which one is large, and two are deep
TEXTS: Final = (
    *('"', "\\", "\\u", "\\ud800", "\\udc00x", "\\u0000", "\x00", "\x1f", "\x7f", "\ufeff", "é", "\u2028"),
    *("{", "}", "[", "]", ":", ",", " ", "\n", "//", "null", "true", "NaN", "Infinity", "-", "+", ".", "e", "E9"),
    *(
        "1e400",
        "-1e400",
        "1e-400",
        "1e308",
        "9" * 18,
        "9" * 19,
        "9" * 25,
        "1" + "0" * 308,
        "9" * 400,
        "0.1",
        "00",
        "-0",
    ),
    *("18446744073709551616", "-9223372036854775809", '"9999999999999999999"', "1.0", "[" * 1100 + "]" * 1100),
)
NO_TEXTS: Final = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf")
TOKENS: Final = (*map(str.encode, TEXTS), *NO_TEXTS)
MEMBERS: Final = ('"id":3', '"state":"PAID"', '"a":1', '"b":2.5', '"c":true', '"legs":[]', '"price":1e9', '"note":"x"')
VALUES: Final = (
    "1",
    "1.0",
    "3",
    "-2",
    "0",
    "true",
    "null",
    '"UA"',
    "[]",
    "{}",
    "[1,1.0]",
    "123456789012345678901",
    "1e2",
)


OUTCOMES: Final = {
    "deep": {"TOO_DEEP", "NOT_JSON", "CONFORMS", "SCHEMA_VIOLATION"},
    "none": {"NOT_JSON"},
    "json": {"CONFORMS", "SCHEMA_VIOLATION"},
}
"""What may be said of a text that is nested deeply, that is no JSON, and that is."""


def mutant(text: bytes, random: Random) -> bytes:
    """Return a text with one to three changes."""
    changed = bytearray(text)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randint(0, len(changed))
        match random.randrange(12):
            case 7 | 8 | 9:
                _whole(changed, at, random)
            case 0 | 1 | 2:
                changed[at : at + random.choice((0, 1, 1, 4))] = random.choice(TOKENS)
            case 3:
                del changed[at : at + random.choice((1, 1, 2, 8))]
            case 4:
                changed[at:at] = changed[at : at + random.randint(1, 20)]
            case 5:
                changed[at : at + 1] = random.randbytes(1)
            case _:
                changed[at : at + 1] = random.choice(b"0123456789").to_bytes(1, "big")
    return bytes(changed)


def huge(text: bytes, random: Random) -> bytes:
    """Return a text with many copies of one, or one inside of many levels."""
    if random.random() < 0.3:
        return b"[" + b",".join([text] * (random.choice((3_000, 300_000)) // len(text) + 1)) + b"]"
    levels = random.choice((random.randint(200, 1_100), random.randint(253, 258), random.randint(1_020, 1_026)))
    opening, closing = random.choice(((b"[", b"]"), (b'{"l":', b"}"), (b'{"a":[', b"]}"), (b'{"l":{"r":', b"}}")))
    repeated = levels // len(opening.replace(b'"l":', b"").replace(b'"r":', b"").replace(b'"a":', b""))
    return opening * repeated + text + closing * repeated


def _whole(changed: bytearray, at: int, random: Random) -> None:
    """Put a value in the place of one, or a member before another, so that the text mostly stays JSON."""
    after = changed.find(b"{", at) if random.random() < 0.5 else -1
    if after >= 0:
        rest = b"" if changed[after + 1 : after + 2] == b"}" else b","
        changed[after + 1 : after + 1] = random.choice(MEMBERS).encode() + rest
        return
    start = max(changed.find(b":", at), changed.find(b"[", at)) + 1
    end = start
    while end < len(changed) and changed[end] not in b",]}[{":
        end += 1
    changed[start:end] = random.choice(VALUES).encode()


def judged(text: bytes) -> tuple[str, Any]:
    """Say what Python's parser and the written rules make of a text."""
    depth = deepest = 0
    for byte in text:
        depth += (byte in b"[{") - (byte in b"]}")
        deepest = max(deepest, depth)
    if deepest > 1000:
        return "deep", None  # both give up somewhere near
    try:
        value = json.loads(text.decode(), parse_constant=_refused, parse_float=_float, parse_int=_int)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates have no bytes
    except ValueError:
        return "none", None
    return "json", value


def _refused(word: str) -> Any:
    raise ValueError(word)


def _float(text: str) -> float:
    number = float(text)
    return number if abs(number) <= sys.float_info.max else _refused(text)


def _int(text: str) -> int | float:
    number = int(text) if len(text) < 400 else 10**400
    if abs(number) > LARGEST:
        return float(_refused(text))
    return number


def typed(value: Any) -> Any:
    """Return a value that equals another only if all types in it do."""
    match value:
        case dict():
            return {name: typed(member) for name, member in value.items()}
        case list():
            return [typed(item) for item in value]
    return (type(value), str(value))


class Fuzzer:
    """Makes mutants and meets them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, str] = {}
        self.judges = [jsonschema.Draft7Validator(schema) for schema in SCHEMAS]
        parsed = [parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False) for schema in SCHEMAS]
        self.readers, self.writers = [JsonReader(one) for one in parsed], [JsonWriter(one) for one in parsed]
        self.telling = [JsonReader(one, None, ValidationSettings(words="jsonschema")) for one in parsed]

    def turn(self) -> None:
        """Make a mutant and meet it."""
        number = self.random.randrange(len(SCHEMAS))
        text = mutant(self.random.choice(DOCUMENTS).encode(), self.random)
        large = self.random.random() < 3 / LARGE_EVERY
        if large:
            text = huge(self.random.choice((text, b"1", b'"x"', b"{}")), self.random)
            self.counts["huge"] += 1
        self.counts["mutants"] += 1
        start = time.thread_time()
        readers = self.readers if self.random.random() < 0.9 else self.telling
        outcome, value = self._read(readers[number], text)
        if time.thread_time() - start > SECONDS:
            self._found("slow", number, text)
        self.counts[outcome] += 1
        wrong = self._wrong(number, text, outcome, value, judge=not large)
        if wrong:
            self._found(f"{wrong} ({outcome})", number, text)

    def _read(self, reader: JsonReader, text: bytes) -> tuple[str, Any]:
        try:
            return "CONFORMS", reader.decode(text)
        except DecodeError as error:
            if max(len(str(each)) for each in (error, *error.facts.values())) > LONGEST:
                return f"untyped, and long: {len(str(error))} characters", None
            return Outcome(error.outcome or 0).name, None
        except BaseException as problem:  # noqa: BLE001 -- that is what is looked for
            return f"untyped {type(problem).__name__}: {problem}"[:200], None

    def _wrong(self, number: int, text: bytes, outcome: str, value: Any, *, judge: bool) -> str | None:
        if outcome.startswith("untyped"):
            return "untyped"
        kind, wanted = judged(text)
        if kind != "json" or outcome in {"NOT_JSON", "TOO_DEEP"}:
            return None if outcome in OUTCOMES[kind] else f"{kind}, and told otherwise"
        valid = self.judges[number].is_valid(wanted) if judge else outcome == "CONFORMS"  # it would take for ever
        if valid != (outcome == "CONFORMS"):
            return "admitted wrongly" if outcome == "CONFORMS" else "refused wrongly"
        if valid and typed(value) != typed(wanted):
            return "another value"
        return self._written(number, value) if valid else None

    def _written(self, number: int, value: Any) -> str | None:
        """What was read is written so that it is read again as it was; but orjson writes 254 levels, and no more."""
        try:
            again = self.writers[number].encode(value)
        except EncodeError as error:
            return None if "Recursion limit" in error.reason else "read, and not written"
        except BaseException as problem:  # noqa: BLE001 -- that is what is looked for
            return f"untyped {type(problem).__name__}: {problem}"[:200]
        return None if typed(json.loads(again)) == typed(value) else "written as something else"

    def _found(self, what: str, number: int, text: bytes) -> None:
        known = self.findings.get(what)
        self.counts["findings"] += 1
        if known is None or len(text) < len(known):
            self.findings[what] = f"schema {number}: {text[:400]!r}"


def main() -> int:
    """Fuzz as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.setrecursionlimit(5_000)
    fuzzer, start = Fuzzer(Random(given.seed)), time.monotonic()  # noqa: S311 -- repeats by its seed
    space = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (space + MEGABYTES * 2**20, space + MEGABYTES * 2**20))
    until = start + given.seconds
    while fuzzer.counts["mutants"] < given.mutants and time.monotonic() < until and len(fuzzer.findings) < TOLD:
        fuzzer.turn()
    for what, case in fuzzer.findings.items():
        print(f"FINDING {what}: {case}")  # noqa: T201 -- a script
    counts = fuzzer.counts
    print(dict(counts.most_common()))  # noqa: T201
    print(f"{counts['mutants']} mutants, {counts['findings']} findings in {time.monotonic() - start:.0f} s")  # noqa: T201
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main())
