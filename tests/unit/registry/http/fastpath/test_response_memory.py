"""A remembered response is valid until something that it depends on changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.registry.http.fastpath.response_memory import ResponseMemory, StoredResponse

A, B = "a", "b"


def response(text: str = "x") -> StoredResponse:
    return StoredResponse(200, (), text.encode(), None, None)


def test_a_change_invalidates_what_depends_on_its_subject_and_what_depends_on_everything() -> None:
    memory = ResponseMemory(10_000)
    for key, subject in (("a", A), ("b", B), ("all", None)):
        memory.put(key, response(key), name=subject, revision=memory.revision)
    memory.note_changes([A])
    assert [memory.get(key) for key in ("a", "b", "all")] == [None, response("b"), None]


def test_a_response_that_was_read_before_a_change_and_stored_after_it_is_never_returned() -> None:
    memory = ResponseMemory(10_000)
    before = memory.revision
    memory.note_changes([A])
    memory.put("a", response(), name=A, revision=before)
    memory.put("b", response(), name=B, revision=before)
    memory.put("all", response(), name=None, revision=before)
    assert [memory.get(key) for key in ("a", "b", "all")] == [None, response(), None]
    memory.put("a", response(), name=A, revision=memory.revision)
    assert memory.get("a") == response()


def test_after_forgetting_everything_nothing_from_before_is_returned() -> None:
    memory = ResponseMemory(10_000)
    before = memory.revision
    memory.put("a", response(), name=A, revision=before)
    memory.forget_all()
    memory.put("b", response(), name=B, revision=before)
    assert memory.get("a") is None
    assert memory.get("b") is None


def test_its_memory_is_bounded() -> None:
    memory = ResponseMemory(10_000)
    for number in range(100):
        memory.put(number, response("x" * 500), name=A, revision=memory.revision)
        assert 0 < memory.size <= 10_000
    memory.put("large", response("x" * 20_000), name=A, revision=memory.revision)
    assert memory.get("large") is None


def test_many_changed_subjects_take_bounded_memory_and_lose_no_change() -> None:
    memory = ResponseMemory(10_000)
    memory.put("a", response(), name=A, revision=memory.revision)
    memory.note_changes([A])
    for number in range(10_001):
        memory.note_changes([f"s{number}"])
    assert memory.get("a") is None
    assert len(memory._changed) < 10_001


@given(st.lists(st.tuples(st.sampled_from(["change", "forget", "start", "put"]), st.sampled_from([A, B, None]))))
def test_every_returned_response_is_newer_than_each_change_it_depends_on(
    steps: list[tuple[str, str | None]],
) -> None:
    """The value of a subject is the number of its changes; a read takes it between ``start`` and ``put``."""
    memory = ResponseMemory(100_000)
    values: dict[str | None, int] = {A: 0, B: 0, None: 0}
    started: dict[str | None, tuple[int, int]] = {}
    for step, subject in steps:
        if step == "change" and subject is not None:
            values[subject] += 1
            values[None] += 1
            memory.note_changes([subject])
        elif step == "forget":
            values = {name: value + 1 for name, value in values.items()}
            memory.forget_all()
        elif step == "start":
            started[subject] = memory.revision, values[subject]
        elif step == "put" and subject in started:
            revision, value = started[subject]
            memory.put(subject, response(str(value)), name=subject, revision=revision)
        for name, value in values.items():
            stored = memory.get(name)
            assert stored is None or stored.body == str(value).encode()
