"""A fuzzer of schemas: mutated texts are parsed, written, and compared in pairs.

    python tests/fuzz/schemas.py --seconds 600 [--seed 1] [--type AVRO|JSON] [--step-seconds 2]

A finding is anything that is not an answer: an exception other than ``InvalidSchema``, more than two seconds of
processor time for one step (or what the machine is told to be allowed), more than 200 MB, a canonical text that is
written differently when it is read again, a schema that is not compatible with itself or that a lookup with it does
not find, a verdict over all levels that is not that of each level, one over a history that is not that over each
version, a mend that does not remove its finding. Some texts lean on others. Findings are printed with the texts that
show them; exit 1 when there are any. The work is done in a child process, which is told apart from the one that
counts, so that a crash is a finding.
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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parent.parent))

from contractlog.compatibility.change_classification import classify_change_between
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility, find_differences
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding as Broken
from contractlog.compatibility.formats import are_equivalent, format_schema, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft, SchemaType

from support.fix_search import find_fix
from support.schema_texts import Texts

T = TypeVar("T")

SECONDS, MEGABYTES = 2.0, 200
LONGER = 4  #: times as long may one call take that judges many versions: all steps that it may take
HISTORIES = 0.02  #: of the turns with a schema; a history is many comparisons
NOTHING: Mapping[str, str] = {}
MENDED = 0.1  #: of the turns with a finding; a mend is many comparisons


class Finding(Exception):
    """Something that is no answer."""


@dataclass
class Fuzzer:
    """Makes texts and meets them."""

    texts: Texts
    counts: Counter[str] = field(default_factory=Counter)
    memo: Memo = field(default_factory=lambda: Memo(shapes=5_000, verdicts=5_000))
    note: Callable[[str], None] = lambda _: None  #: where it stands is noted before anything that may be the last
    seconds: float = SECONDS  #: of processor time that a step may take
    slowest: tuple[float, str] = (0.0, "")  #: seconds and step

    @property
    def random(self) -> Random:
        return self.texts.random

    @property
    def type(self) -> SchemaType:
        return self.texts.type

    @property
    def policies(self) -> tuple[Policy, ...]:
        return tuple(Policy) if self.type is SchemaType.JSON else (Policy.STRICT,)

    def timed(self, what: str, work: Callable[[], T], times: int = 1) -> T | None:
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
            self.slowest = max(self.slowest, (taken, what))
            if taken > self.seconds * times:
                raise Finding(f"{what} takes {taken:.1f} s")

    def parsed(
        self, what: str, text: str, *, strict: bool, referenced: Mapping[str, str] = NOTHING
    ) -> ParsedSchema | None:
        draft = SchemaDraft(text, self.type, tuple(Reference(name, name, 1) for name in referenced))
        return self.timed(what, lambda: parse_schema(draft, referenced, strict=strict))

    def turn(self) -> None:
        """Make a text and another one, and meet them."""
        text, other = self.texts.text(), self.random.choice(self.texts.accepted_texts)
        referenced = self.texts.references()
        self.note(json.dumps([text, other, referenced]))
        self.counts["texts"] += 1
        new = self.parsed("parse", text, strict=True, referenced=referenced)
        stored = self.parsed("tolerant parse", text, strict=False, referenced=referenced)
        if new is not None and stored is None:
            raise Finding("accepted when new, refused when stored")
        schema = new or stored
        if schema is None:
            return
        self.counts["accepted with references" if referenced else "accepted"] += 1
        self.rewritten(schema)
        if new is not None and not referenced:
            self.texts.add_accepted(text)
        variant = self.parsed("variant", other, strict=False, referenced=self.random.choice([{}, referenced]))
        self.looked_up(schema, variant or schema)
        for policy in self.policies:
            known = new is not None and not referenced  # what is leaned on may be no schema: EXACT says so
            self.judged(schema, schema, policy, clean=policy is not Policy.EXACT or known)
            if variant is not None:
                self.judged(schema, variant, policy)
                self.judged(variant, schema, policy)
                self.changed(text, schema, variant, policy)
        if self.random.random() < HISTORIES:
            self.followed(text, schema)
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEGABYTES * 1024:
            raise Finding(f"takes more than {MEGABYTES} MB")

    def looked_up(self, schema: ParsedSchema, other: ParsedSchema) -> None:
        """A lookup finds a schema by itself, and answers for any other; written out, a text may be too long."""
        self.timed("resolved", lambda: format_schema(schema, "resolved"))
        self.timed("lookup of another", lambda: are_equivalent(schema, other))
        if self.timed("lookup", lambda: are_equivalent(schema, schema)) is False:
            raise Finding("a lookup does not find the schema itself")

    def followed(self, text: str, first: ParsedSchema) -> None:
        """Meet a candidate with a history, each version made from the one before it."""
        history, texts = [ParsedVersion(1, first)], [text]
        wanted = self.random.randint(5, 20)
        for _ in range(2 * wanted):
            try:
                text = json.dumps(self.texts.mutate(json.loads(texts[-1])))
            except (ValueError, RecursionError):
                return
            version = self.parsed("version", text[:4_000], strict=False, referenced=first.referenced)
            if version is not None and len(history) < wanted:
                history.append(ParsedVersion(len(history) + 1, version))
                texts.append(text)
        self.note(json.dumps([texts, dict(first.referenced)]))
        candidate = history.pop().parsed
        if history:
            for policy in self.policies:
                self.held(candidate, history, policy)

    def held(self, candidate: ParsedSchema, history: list[ParsedVersion], policy: Policy) -> None:
        """At every level the verdict over a history is that over each of its versions, with a memo and without one."""
        for level in Level:
            bare, known = (
                self.timed(
                    f"judge {policy} {level} over {len(history)} versions",
                    lambda memo=memo, level=level: check_compatibility(
                        candidate, history, level, policy=policy, memo=memo
                    ),
                    LONGER,
                )
                for memo in (None, self.memo)
            )
            assert bare is not None
            if bare != known:
                raise Finding(f"a memo changes the verdict over a history at {level} under {policy}")
            self.counts[f"{policy} history: {'compatible' if bare.compatible else 'not compatible'}"] += 1
            asked = reversed(history if level.transitive else history[-1:])
            alone = ((one.version, check_compatibility(candidate, [one], level, policy=policy)) for one in asked)
            version, verdict = next(((number, one) for number, one in alone if not one.compatible), (0, None))
            if verdict is None and not bare.compatible and not _is_limited(bare.findings):
                raise Finding(f"the history is refused at {level} under {policy}, and no version of it")
            told = {comparison.version for comparison in bare.comparisons}
            if verdict is not None and (told != {version} or bare.findings != verdict.findings):
                raise Finding(f"at {level} under {policy} version {version} fails first, and {told} is told")

    def rewritten(self, schema: ParsedSchema) -> None:
        for name, text in (("canonical", schema.canonical), ("normalized", schema.normalized)):
            again = self.parsed(f"parse {name}", text, strict=False, referenced=schema.referenced)
            if again is None:
                raise Finding(f"the {name} text is refused")
            written = again.canonical if name == "canonical" else again.normalized
            if written != text:
                raise Finding(f"the {name} text is written differently when it is read again:\n{text}\n{written}")

    def judged(self, schema: ParsedSchema, earlier: ParsedSchema, policy: Policy, *, clean: bool = False) -> None:
        history = [ParsedVersion(1, earlier)]
        bare, known = (
            self.timed(
                f"judge {policy}",
                lambda memo=memo: check_compatibility(schema, history, Level.FULL, policy=policy, memo=memo),
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
        history = [ParsedVersion(1, earlier)]
        change = self.timed(f"change {policy}", lambda: classify_change_between(earlier, schema, policy=policy))
        assert change is not None
        json.dumps(change.body())
        limited = _is_limited(change.findings)
        for level in (Level.BACKWARD, Level.FORWARD):
            if (
                not limited
                and change.satisfies(level) is not check_compatibility(schema, history, level, policy=policy).compatible
            ):
                raise Finding(f"the verdict over all levels differs at {level} under {policy}")
        if not change.comparisons or self.random.random() > MENDED:
            return
        comparison = change.comparisons[0]
        found, direction = comparison.findings[0], comparison.direction
        mended = self.timed("mend", lambda: find_fix(text, found, schema, earlier, direction, policy=policy))
        if mended is not None:
            self.counts["mended"] += 1
            again = self.parsed("parse mended", mended.text, strict=False, referenced=schema.referenced)
            if again is None:
                raise Finding(f"the mended text is refused: {mended.text}")
            left = [one for one in find_differences(again, earlier, direction, policy) if one.check == found.check]
            before = [one for one in find_differences(schema, earlier, direction, policy) if one.check == found.check]
            if len(left) >= len(before):
                raise Finding(f"the mend removes nothing: {mended.text}")


def _is_limited(findings: Iterable[Broken]) -> bool:
    return any(finding.check == "WORK_LIMIT_EXCEEDED" for finding in findings)


def say(sentence: str) -> None:
    """Write a line at once."""
    print(sentence, flush=True)  # noqa: T201 - a script


def work(until: float, seed: int, kind: SchemaType, notes: Path, step_seconds: float) -> int:
    """Fuzz in this process until a time; each cause is told once."""
    at = os.open(notes, os.O_WRONLY | os.O_CREAT)

    def note(text: str) -> None:
        os.pwrite(at, text.encode(errors="surrogatepass"), 0)
        os.ftruncate(at, len(text.encode(errors="surrogatepass")))

    fuzzer = Fuzzer(Texts(Random(seed), kind), note=note, seconds=step_seconds)  # noqa: S311 - repeats by its seed
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
    say(f"{kind} seed {seed}: {dict(fuzzer.counts)}; slowest step {fuzzer.slowest[0]:.2f} s, {fuzzer.slowest[1]}")
    return 1 if found else 0


def fuzz(seconds: float, seed: int, kinds: list[SchemaType], step_seconds: float) -> int:
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
                        status = work(until, seed, kind, notes, step_seconds)
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
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--type", choices=["AVRO", "JSON"])
    parser.add_argument("--step-seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    kinds = [SchemaType(arguments.type)] if arguments.type else [SchemaType.AVRO, SchemaType.JSON]
    return 1 if fuzz(arguments.seconds, arguments.seed, kinds, arguments.step_seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
