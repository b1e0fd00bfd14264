"""The checker accepts permitted histories and rejects others, shown with handwritten ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from histories import checker
from histories.contents import Content, Field, compatible, pool, reads
from histories.model import step
from histories.replay import Replay
from histories.words import Evidence, Line, Operation, Tables, context_of
from histories.workload import SUBJECTS
from histories.world import View

ONE = Content((Field("a", "int", default=True),), "x")
TWO = Content((Field("a", "int", default=True), Field("b", "int", default=True)), "x")
TEXT = Content((Field("a", "string", default=True),), "x")


@dataclass
class Scribe:
    """Writes down a history in which one thing happens after the other, as it should be."""

    operations: list[Operation] = field(default_factory=list)
    journal: list[Line] = field(default_factory=list)
    now: float = 0.0

    def do(self, kind: str, subject: str = "a", **more: Any) -> Operation:
        self.now += 1.0
        one = Operation(f"o{len(self.operations)}", 0, more.pop("node", 0), kind, subject, self.now, **more)
        view = View(Replay(self.operations, self.journal).world, len(self.journal))
        wanted = step(view, one, view.largest_id(context_of(subject)) + 1)
        one.status = 200 if wanted.error is None else wanted.error // 100
        one.body = {"error_code": wanted.error} if wanted.error else wanted.answer
        one.ended = self.now + 0.5
        self.operations.append(one)
        for effect in wanted.effects:
            after = None if one.content is None else hash_of(one.content)
            before, after = effect.hashes or (None, after)
            line = Line(len(self.journal) + 1, one.name, effect.action, effect.target, before, after, effect.details)
            self.journal.append(line)
        return one

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.operations, self.journal, tables_of(Replay(self.operations, self.journal), self.journal))

    @property
    def laws(self) -> set[str]:
        """The laws that do not hold."""
        return laws(self.evidence)


def hash_of(content: Content) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()


def laws(evidence: Evidence) -> set[str]:
    return {violation.law for violation in checker.check(evidence)}


def tables_of(replay: Replay, journal: list[Line]) -> Tables:
    view = View(replay.world, len(journal))
    held = {key: view.content(*key) for key in view.world.keys("id") if view.holders(*key)}
    return Tables(
        versions=checker._versions(view),
        schemas={key: (hash_of(content), content.text) for key, content in held.items() if content},
        retired=frozenset(checker._retired(view)),
        settings=checker._settings(view),
        current=checker._current(view, replay),
        next_ids={".": view.largest_id(".") + 1},
        next_sequence=len(journal) + 1,
    )


@pytest.fixture
def scribe() -> Scribe:
    """A subject with two versions, of which the first is deleted for good."""
    scribe = Scribe()
    scribe.do("register", content=ONE)
    scribe.do("register", content=TWO)
    scribe.do("hide", version=1)
    scribe.do("erase", version=1)
    scribe.do("configure", patch={"level": "FULL"})
    return scribe


@pytest.mark.parametrize("seed", range(30))
def test_histories_of_the_model_are_accepted(seed: int) -> None:
    random, scribe = Random(seed), Scribe()  # noqa: S311 - a seed is the point
    contents = pool(random, 6)
    for _ in range(60):
        kind = random.choice(
            ["register"] * 4 + ["hide", "erase", "configure", "list", "latest", "lookup", "by-id", "set-mode"]
        )
        subject = random.choice(SUBJECTS)
        more: dict[str, Any] = {"content": random.choice(contents)} if kind in {"register", "lookup"} else {}
        more |= {"schema_id": random.randint(1, 9)} if kind == "by-id" else {}
        more |= {"version": random.choice([None, 1, 2])} if kind in {"hide", "erase"} else {}
        more |= {"patch": {"level": random.choice(["FULL", "NONE"])}} if kind == "configure" else {}
        more |= {"patch": {"mode": random.choice(["READWRITE", "READONLY"])}} if kind == "set-mode" else {}
        scribe.do(kind, subject, **more)
    assert checker.check(scribe.evidence) == []


def test_a_row_that_is_not_there_is_missed(scribe: Scribe) -> None:
    del scribe.journal[1]
    assert {"the journal has no gaps", "what was acknowledged is there"} <= scribe.laws


def test_lost_acknowledged_writes_are_detected(scribe: Scribe) -> None:
    scribe.do("register", content=Content(ONE.fields, "y"))
    scribe.journal.pop()
    assert "what was acknowledged is there" in scribe.laws


def test_a_row_of_nobody_is_seen(scribe: Scribe) -> None:
    scribe.journal[-1] = replace(scribe.journal[-1], actor="somebody")
    assert "every row was asked for" in scribe.laws


def test_a_write_without_an_answer_may_be_there_or_not(scribe: Scribe) -> None:
    lost = scribe.do("configure", patch={"level": "NONE"})
    lost.status, lost.ended = None, float("inf")
    assert scribe.laws == set()
    scribe.journal.pop()
    assert scribe.laws == set()


def test_a_write_that_was_refused_must_not_be_there(scribe: Scribe) -> None:
    refused = scribe.do("configure", patch={"level": "NONE"})
    refused.status, refused.body = 422, {"error_code": 42205}
    assert "answers tell what was done" in scribe.laws


def test_an_id_that_is_used_again_is_seen(scribe: Scribe) -> None:
    again = scribe.do("register", "b", content=TEXT)
    again.body = {"id": 1, "version": 1}
    scribe.journal[-1] = replace(scribe.journal[-1], details={**scribe.journal[-1].details, "id": 1})
    assert {"ids and contents are one to one", "ids are never used again"} <= scribe.laws


def test_a_second_id_of_a_content_is_seen(scribe: Scribe) -> None:
    again = scribe.do("register", "b", content=TWO)
    again.body = {"id": 7, "version": 1}
    scribe.journal[-1] = replace(scribe.journal[-1], details={**scribe.journal[-1].details, "id": 7})
    assert "ids and contents are one to one" in scribe.laws


def test_a_hash_of_two_contents_is_seen(scribe: Scribe) -> None:
    scribe.do("register", "b", content=TEXT)
    scribe.journal[-1] = replace(scribe.journal[-1], after=hash_of(TWO))
    assert "hashes and contents are one to one" in scribe.laws


def test_a_number_that_was_left_out_is_seen(scribe: Scribe) -> None:
    more = scribe.do("register", content=Content(TWO.fields, "y"))
    more.body = more.body | {"version": 4}
    scribe.journal[-1] = replace(scribe.journal[-1], target="a/4")
    assert "the journal equals effects" in scribe.laws


@pytest.mark.parametrize(
    "wrong", [{"level": "BACKWARD"}, {"baseline": []}, {"group": "g"}, {"bypass": "NONE", "level": "NONE"}]
)
def test_a_registration_by_another_measure_is_seen(scribe: Scribe, wrong: dict[str, Any]) -> None:
    scribe.do("register", content=Content(TWO.fields, "y"))
    assert scribe.laws == set()
    scribe.journal[-1] = replace(scribe.journal[-1], details={**scribe.journal[-1].details, **wrong})
    assert scribe.laws == {"the journal equals effects"}


@pytest.mark.parametrize("wrong", [{"before": "0"}, {"before": None}, {"after": "0"}, {"after": None}])
def test_a_change_of_settings_with_another_hash_is_seen(scribe: Scribe, wrong: dict[str, Any]) -> None:
    scribe.do("configure", patch={"level": "NONE"})
    scribe.do("set-mode", patch={"mode": "READONLY"})
    assert scribe.laws == set()
    scribe.journal[-1] = replace(scribe.journal[-1], **wrong)
    assert scribe.laws == {"the journal equals effects"}


def test_a_registration_that_breaks_its_level_is_seen(scribe: Scribe) -> None:
    asked = scribe.do("register", content=TEXT)
    assert asked.body == {"error_code": 40901}
    asked.status, asked.body = 200, {"id": 3, "version": 3}
    details = {"id": 3, "level": "FULL", "policy": "STRICT", "group": None, "baseline": [2]}
    scribe.journal.append(Line(6, asked.name, "version.registered", "a/3", None, hash_of(TEXT), details))
    assert "the journal equals effects" in scribe.laws


def test_a_read_of_the_past_is_seen(scribe: Scribe) -> None:
    scribe.do("list").body = [1, 2]
    assert scribe.laws == {"no answer is stale"}


def test_a_read_beside_a_write_may_see_it_or_not_but_not_go_back(scribe: Scribe) -> None:
    write = scribe.do("configure", patch={"level": "NONE"})
    for place, (told, fine) in enumerate([("FULL", True), ("NONE", True), ("FULL", False)]):
        read = scribe.do("level")
        read.began, read.ended = write.began + 0.1 + place / 10, write.began + 0.15 + place / 10
        read.body = {"compatibilityLevel": told}
        assert (scribe.laws == set()) == fine


def test_stale_reads_of_another_node_are_permitted_for_five_seconds(scribe: Scribe) -> None:
    def read(node: int, after: float) -> set[str]:
        one = scribe.do("by-id", "", schema_id=1, node=node)
        one.began, one.ended = scribe.operations[3].ended + after, scribe.operations[3].ended + after + 0.1
        one.status, one.body = 200, {"content": ONE}
        found = scribe.laws
        scribe.operations.pop()
        return found

    assert read(1, 4.0) == set()
    assert read(1, 7.0) == {"no answer is stale"}
    assert read(0, 0.1) == {"no answer is stale"}


def test_a_node_that_wrote_something_else_may_serve_what_another_one_deleted(scribe: Scribe) -> None:
    write = scribe.do("configure", "c", node=1, patch={"level": "NONE"})
    read = scribe.do("by-id", "", schema_id=1, node=1)
    read.began, read.ended = write.ended + 0.1, write.ended + 0.2
    read.status, read.body = 200, {"content": ONE}
    assert scribe.laws == set()


def test_an_id_never_shows_another_content(scribe: Scribe) -> None:
    scribe.do("by-id", "", schema_id=2, node=1).body = {"content": ONE}
    assert scribe.laws == {"no answer is stale"}


def test_a_row_before_what_was_over_is_seen(scribe: Scribe) -> None:
    scribe.do("configure", "b", patch={"level": "NONE"})
    scribe.do("configure", "c", patch={"level": "NONE"})
    earlier, later = scribe.journal[-2:]
    scribe.journal[-2:] = [replace(later, sequence=earlier.sequence), replace(earlier, sequence=later.sequence)]
    assert "the journal keeps the order of time" in scribe.laws


def test_a_subject_is_deleted_as_a_whole() -> None:
    scribe = Scribe()
    for content in (ONE, TWO):
        scribe.do("register", content=content)
    scribe.do("hide")
    scribe.do("configure", "b", patch={"level": "NONE"})
    second, between = scribe.journal[-2:]
    scribe.journal[-2:] = [replace(between, sequence=second.sequence), replace(second, sequence=between.sequence)]
    assert "an operation is one" in scribe.laws


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (lambda t: replace(t, versions={"a": {2: (2, True)}}), "versions are what the journal tells"),
        (lambda t: replace(t, settings={}), "settings are what the journal tells"),
        (lambda t: replace(t, schemas={(".", 2): (hash_of(TWO), ONE.text)}), "ids are what the journal tells"),
        (lambda t: replace(t, retired=frozenset()), "hard-deleted ids are retired"),
        (lambda t: replace(t, current={}), "contents lead to their ids"),
        (lambda t: replace(t, next_sequence=9), "the journal's counter is its end"),
        (lambda t: replace(t, next_ids={".": 2}), "counters only grow"),
    ],
)
def test_tables_that_tell_something_else_are_seen(scribe: Scribe, spoil: Callable[[Tables], Tables], law: str) -> None:
    evidence = scribe.evidence
    assert laws(evidence) == set()
    assert laws(replace(evidence, tables=spoil(evidence.tables))) == {law}


def test_followers_get_every_row_once_and_in_order(scribe: Scribe) -> None:
    journal = scribe.journal

    def followed(lines: list[Line]) -> set[str]:
        return laws(replace(scribe.evidence, followed=[lines]))

    assert followed(journal) == set()
    wrong = [journal[:2] + journal[3:], journal[:-1], [*journal, journal[-1]], [journal[1], journal[0], *journal[2:]]]
    assert [followed(lines) for lines in wrong] == [{"followers miss nothing"}] * len(wrong)


def test_a_failure_that_is_not_the_databases_is_seen(scribe: Scribe) -> None:
    lost = scribe.do("list")
    lost.status, lost.body = 500, {"error_code": 50002}
    assert scribe.laws == set()
    lost.body = {"error_code": 500}
    assert scribe.laws == {"no request breaks the service"}


def test_writes_after_an_error_that_denies_them_are_detected(scribe: Scribe) -> None:
    lost = scribe.do("configure", patch={"level": "NONE"})
    lost.status, lost.body = 500, {"error_code": 50002}
    assert scribe.laws == set()
    lost.body = {"error_code": 50001}
    assert scribe.laws == {"what was refused was not done"}


def test_replaced_versions_must_have_the_same_id(scribe: Scribe) -> None:
    scribe.do("hide", version=2)
    scribe.do("register", content=TWO)
    line = Line(len(scribe.journal) + 1, "o6", "version.hard_deleted", "a/2", details={"id": 2, "replaced_by": 3})
    scribe.journal.append(line)
    assert scribe.laws == set()
    scribe.journal[-1] = replace(line, target="a/3")
    assert "only what is replaced is dropped" in scribe.laws


def test_the_small_oracle_agrees_with_the_engine() -> None:
    from contractlog.compatibility.compatibility_policy import Policy
    from contractlog.compatibility.engine import ParsedVersion, check_compatibility
    from contractlog.compatibility.formats import parse_schema
    from contractlog.compatibility.level import Level
    from contractlog.compatibility.schema import SchemaDraft, SchemaType

    contents = pool(Random(1), 24)  # noqa: S311 - a seed is the point
    parsed = {one: parse_schema(SchemaDraft(one.text, SchemaType.AVRO)) for one in contents}
    for level in Level:
        for one in contents:
            for other in contents:
                verdict = check_compatibility(
                    parsed[one], [ParsedVersion(1, parsed[other])], level, policy=Policy.STRICT
                )
                assert verdict.compatible == compatible(one, [other], level.value), (one, other, level)
    assert not all(reads(one, other) for one in contents for other in contents)
