"""Any single mutation of a chain is found; with a recorded head also a cut tail and a rewritten chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.contracts.change_log.chain_verification import ProblemKind, RecordedHead, verify_chain
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange

from support.change_chains import COLUMNS, MUTATIONS, Mutation, make_chain

TEXTS = st.text(max_size=8)
HASHES = st.none() | st.text("0123456789abcdef", min_size=64, max_size=64)
CHANGES = st.builds(
    RecordedChange,
    st.just(0),
    st.integers(0, 2**50),
    TEXTS,
    TEXTS,
    TEXTS,
    HASHES,
    HASHES,
    st.none() | st.sampled_from(['{"id":1}', '{"set":{"level":"FULL"}}', '["\\ud800"]']),
)
CHAINS = st.lists(CHANGES, min_size=2, max_size=6).map(
    lambda changes: make_chain(replace(change, sequence=number) for number, change in enumerate(changes, 1))
)


def head_of(chain: list[RecordedChange]) -> ChangeLogHead:
    return ChangeLogHead(chain[-1].sequence, chain[-1].hash)


@given(CHAINS, st.integers(0, 6))
def test_a_chain_and_each_later_part_of_it_are_verified(chain: list[RecordedChange], since: int) -> None:
    since = min(since, len(chain) - 1)
    report = verify_chain(chain[since:], since=since, end=head_of(chain))
    assert report.problem is None
    assert report.head == head_of(chain)
    assert verify_chain([]).problem is None


@settings(max_examples=200)
@given(CHAINS, st.sampled_from(MUTATIONS), st.randoms(use_true_random=False))
def test_any_single_mutation_is_found_at_its_first_entry(
    chain: list[RecordedChange], mutate: Mutation, random: Random
) -> None:
    mutated = list(chain)
    first = mutate(random, mutated)
    report = verify_chain(mutated, end=ChangeLogHead(mutated[-1].sequence, mutated[-1].hash))
    assert report.problem is not None
    assert report.problem.sequence is not None
    # of two entries that do not fit each other, either may be the wrong one
    assert report.problem.sequence in {first, first + 1, mutated[min(first, len(mutated) - 1)].sequence}
    assert report.problem.sequence - 1 <= report.head.sequence <= report.problem.sequence


@given(CHAINS, st.data())
def test_a_cut_tail_is_found_by_the_end_or_by_a_recorded_head(chain: list[RecordedChange], data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(chain) - 1))
    assert verify_chain(chain[:length]).problem is None
    by_end = verify_chain(chain[:length], end=ChangeLogHead(len(chain), None)).problem
    assert by_end is not None
    assert (by_end.kind, by_end.sequence) == (ProblemKind.MISSING, length + 1)
    head = RecordedHead.parse(str(head_of(chain)))
    by_head = verify_chain(chain[:length], head=head).problem
    assert by_head is not None
    assert (by_head.kind, by_head.sequence) == (ProblemKind.REWRITTEN, length + 1)
    by_hash = verify_chain(chain[:length], head=RecordedHead.parse(chain[-1].hash or "")).problem
    assert by_hash is not None
    assert by_hash.kind is ProblemKind.REWRITTEN


@given(CHAINS, st.data())
def test_a_rewritten_chain_is_found_by_a_recorded_head(chain: list[RecordedChange], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(chain) - 1))
    changed = [*chain[:index], replace(chain[index], actor=chain[index].actor + "x"), *chain[index + 1 :]]
    rewritten = make_chain(changed)
    assert verify_chain(rewritten, end=head_of(rewritten)).problem is None
    with_number = verify_chain(rewritten, head=RecordedHead.parse(str(head_of(chain)))).problem
    assert with_number is not None
    assert (with_number.kind, with_number.sequence) == (ProblemKind.REWRITTEN, len(chain))
    assert verify_chain(rewritten, head=RecordedHead.parse(chain[-1].hash or "")).problem is not None


@given(CHAINS, st.data())
def test_every_earlier_head_is_in_the_chain(chain: list[RecordedChange], data: st.DataObject) -> None:
    change = data.draw(st.sampled_from(chain))
    for text in (f"{change.sequence}:{change.hash}", (change.hash or "").upper()):
        assert verify_chain(chain, head=RecordedHead.parse(text)).problem is None
        part = chain[change.sequence :]
        assert not part or verify_chain(part, since=change.sequence, head=RecordedHead.parse(text)).problem is None
    if change is not chain[-1]:
        wrong = RecordedHead(chain[-1].hash or "", change.sequence)
        part = chain[change.sequence :]
        problem = verify_chain(part, since=change.sequence, head=wrong).problem
        assert problem is not None
        assert problem.sequence == change.sequence


def test_the_hash_covers_every_column_and_its_form_stays() -> None:
    change = RecordedChange(1, 5, "me", "version.registered", "s/1", None, "a", '{"id":1}').follow("0" * 64)
    # SHA-256 of ["contractlog.change/1",1,5,"me","version.registered","s/1",null,"a","{\"id\":1}","000…"]
    assert change.hash == "a44fdc66184b4cb82aefa30503c06ea440ffe4ce9b2892a21b91279b4ce65d95"
    for name in set(COLUMNS) - {"hash"}:
        assert replace(change, **{name: "x" if name != "at" else 6}).compute_hash() != change.hash
    assert replace(change, sequence=2).compute_hash() != change.hash


def test_an_entry_that_cannot_be_read_is_a_changed_entry() -> None:
    def read() -> Iterator[RecordedChange]:
        yield from make_chain([RecordedChange(1, 1, "a", "b", "c")])
        raise ValueError("line 2: it is not JSON")

    problem = verify_chain(read()).problem
    assert problem is not None
    assert (problem.kind, problem.sequence) == (ProblemKind.CHANGED, 2)


@pytest.mark.parametrize("text", ["", "12", "x" * 64, "0:" + "a" * 64, "1:2:" + "a" * 64, "a" * 65, "-1:" + "a" * 64])
def test_what_is_no_head_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="a head is"):
        RecordedHead.parse(text)
