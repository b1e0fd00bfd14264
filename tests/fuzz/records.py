"""A fuzzer of Avro records: mutated bodies, whose results Java and explicit rules verify.

    python tests/fuzz/records.py --mutants 1000000 [--seed 1]

A finding is a crash, more than a second of processor time for a record, more than 100 MB, an exception without a type
of ours, a record that is accepted or refused wrongly, a code that is not the rule's that is broken, a value that is not
Java's, and generated code that does not do what the interpreter does. Java reads each mutant as it was written, and as
the reader wants it; where it takes what the rules of ``docs/outcomes.md`` refuse, ``WatchedDecoder`` and ``AvroFates``
say which rule. Our readers live in a process of their own. Findings are printed with the schema and the bytes; exit 1
when there are any, or when fewer than 30 % of the mutants are read past their half.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.java_avro import JavaProcess, start_java_avro
from support.java_value_comparison import describe_difference
from support.limited_readers import MISMATCH, SECONDS, ConfinedReaders, ReaderDied, ReadResult
from support.record_corpus import Subject, create_corpus
from support.record_mutants import create_mutant

CORPUS: Final = 1_000_000  #: mutants of a corpus, at most; then another one is made
BATCH: Final = 400  #: mutants of one schema at once
ABREAST: Final = 8  #: batches that Java is asked about at once
THOROUGH: Final = 10  #: of so many batches one is compared value by value, and with the interpreter
PAST_HALF: Final = 0.3
NOT_JUDGED: Final = 0.01  #: of the mutants, at most
TOLD: Final = 20  #: findings are told, at most
NOT_STRUCTURAL: Final = {"TRAILING_BYTES", "LOGICAL_TYPE"}
JAVAS_FAULT: Final = 'Cannot read field "kind"'  #: how Java's parser of recursive records fails on some valid ones
Fate = Sequence[
    Any
]  # the error of Java's reading or None, how far it came, broken rules, the reader's error, its value


@dataclass
class Fuzzer:
    """Makes mutants and compares what becomes of them."""

    subjects: list[Subject]
    random: Random
    java: JavaProcess
    readers: ConfinedReaders
    hand: Executor
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)

    def turn(self, number: int) -> None:
        """Make batches of mutants and meet them."""
        batches = [self._batch((number * ABREAST + index) % len(self.subjects)) for index in range(ABREAST)]
        thorough = [(number * ABREAST + index) % THOROUGH == 0 for index in range(ABREAST)]
        reading = self.hand.submit(self._read, batches, thorough)
        fates = self.java.ask([self._question(*batch, deep) for batch, deep in zip(batches, thorough, strict=True)])
        for (subject, bodies), answers, told in zip(batches, reading.result(), fates, strict=True):
            if isinstance(answers, ReaderDied):
                body = bodies[min(answers.index, len(bodies) - 1)]
                self._found(f"{answers}".partition(" at record")[0], subject, body, str(answers))
                continue
            for body, answer, fate in zip(bodies, answers, told["fates"], strict=True):
                self._met(subject, body, answer, fate)

    def _read(
        self, batches: Sequence[tuple[int, list[bytes]]], thorough: list[bool]
    ) -> list[list[ReadResult] | ReaderDied]:
        """Let our readers read while Java does."""
        answers: list[list[ReadResult] | ReaderDied] = []
        for (subject, bodies), deep in zip(batches, thorough, strict=True):
            self.readers.ask(subject, bodies, thorough=deep)
            try:
                answers.append(self.readers.answers())
            except ReaderDied as death:
                answers.append(death)
        return answers

    def _batch(self, subject: int) -> tuple[int, list[bytes]]:
        bodies = self.subjects[subject].bodies
        random = self.random
        return subject, [create_mutant(random.choice(bodies), random.choice(bodies), random) for _ in range(BATCH)]

    def _question(self, subject: int, bodies: list[bytes], thorough: bool) -> dict[str, Any]:  # noqa: FBT001
        one = self.subjects[subject]
        question = {"op": "fates", "writer": one.writer, "bodies": [body.hex() for body in bodies], "values": thorough}
        return question | ({} if one.reader is None else {"reader": one.reader})

    def _met(self, subject: int, body: bytes, answer: ReadResult, fate: Fate) -> None:
        self.counts["mutants"] += 1
        self.counts["past their half"] += fate[0] is None or 2 * fate[1] >= len(body)
        self.counts[answer.outcome] += 1
        if JAVAS_FAULT in str(fate[0]):
            self.counts["not judged"] += 1
            return
        wrong = _wrong(answer, fate)
        if wrong:
            self._found(wrong, subject, body, f"{answer}\n  Java: {fate}")

    def _found(self, what: str, subject: int, body: bytes, more: str) -> None:
        one = self.subjects[subject]
        cause = f"{what.partition(':')[0]} ({one.name})"
        self.counts["findings"] += 1
        if cause not in self.findings or len(body) < len(self.findings[cause]):
            self.findings[cause] = f"{what}\n  {one.writer}\n  {one.reader}\n  {body.hex()}\n  {more}"[:3_000]


def _wrong(answer: ReadResult, fate: Fate) -> str | None:
    """Say what is wrong with an answer, if anything is."""
    problem, _, broken, mismatch, value = fate
    if answer.outcome.startswith("untyped") or answer.outcome == "NO OUTCOME":
        return answer.outcome
    if answer.seconds > SECONDS:
        return f"slow: {answer.seconds:.1f} s"
    if not answer.as_interpreted:
        return "another answer than the interpreter's"
    return _misjudged(answer.outcome, problem, set(broken), mismatch) or _misread(answer, value)


def _misjudged(outcome: str, problem: str | None, broken: set[str], mismatch: str | None) -> str | None:
    if outcome == "CONFORMS":
        accepted = problem is None and not broken and mismatch is None
        return None if accepted else f"wrongly accepted: {problem or broken or mismatch}"
    if problem is None and not broken:
        right = mismatch is not None and outcome in {MISMATCH, "LOGICAL_TYPE"}  # ours may meet the rule before it
        return None if right else f"wrongly refused: {outcome}"
    structural = broken - NOT_STRUCTURAL
    if problem is not None:
        expected = outcome not in {*NOT_STRUCTURAL, MISMATCH}
    elif structural:
        expected = outcome in structural
    else:
        expected = outcome == ("TRAILING_BYTES" if "TRAILING_BYTES" in broken else "LOGICAL_TYPE")
    return None if expected else f"another code: {outcome} for {problem or broken}"


def _misread(answer: ReadResult, value: Any) -> str | None:
    if answer.outcome != "CONFORMS" or not answer.has_value:
        return None
    differs = describe_difference(answer.value, value)
    return None if differs is None or differs.startswith("a number for") else f"another value: {differs}"


def say(sentence: str) -> None:
    """Write a line at once."""
    print(sentence, flush=True)  # noqa: T201 -- a script


def fuzz(mutants: int, seed: int) -> int:
    """Fuzz so many mutants of one corpus, and return the exit code."""
    random = Random(seed)  # noqa: S311 -- repeats by its seed
    subjects, start, number = create_corpus(random), time.monotonic(), 0
    with ConfinedReaders(subjects) as readers, start_java_avro() as java, ThreadPoolExecutor(1) as hand:
        fuzzer = Fuzzer(subjects, random, java, readers, hand)
        while fuzzer.counts["mutants"] < mutants and len(fuzzer.findings) < TOLD:
            fuzzer.turn(number)
            number += 1
    counts = fuzzer.counts
    for cause, finding in fuzzer.findings.items():
        say(f"FINDING {cause}: {finding}")
    share = counts["past their half"] / max(1, counts["mutants"])
    say(f"{dict(counts.most_common())}")
    say(f"seed {seed}: {counts['mutants']} mutants of {len(subjects)} schemas, {share:.0%} read past their half, "
        f"{counts['findings']} findings in {time.monotonic() - start:.0f} s")  # fmt: skip
    judged = counts["not judged"] < NOT_JUDGED * counts["mutants"]
    return 0 if not fuzzer.findings and share >= PAST_HALF and judged else 1


def main() -> int:
    """Fuzz as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + -(-given.mutants // CORPUS))
    return max([fuzz(min(CORPUS, given.mutants - index * CORPUS), seed) for index, seed in enumerate(seeds)])


if __name__ == "__main__":
    sys.exit(main())
