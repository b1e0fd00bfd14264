"""Exports with one changed value are rejected by line, or the imported registry works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.file_format import read_lines
from contractlog.registry.transfer.report import TransferReport

from support.exhaustive_reads import empty_registry, read_everything
from support.export_lines import EVERY_KIND, Line, create_content, create_export, generate_mutations
from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

PATH = "/contractlog/v1/import"
LAST = len(EVERY_KIND) + 1


def file_with(number: int, line: Line) -> list[str]:
    """The export in which one line (counted from 0 after the header) is another one."""
    return create_export(*EVERY_KIND[:number], line, *EVERY_KIND[number + 1 :])


@cache
def accepted() -> list[tuple[str, list[str]]]:
    """Every export with one changed value that can be read; all others are refused by a line that it has."""
    found = []
    for number, line in enumerate(EVERY_KIND):
        for place, changed in generate_mutations(line):
            lines, report, name = file_with(number, changed), TransferReport(), f"{line['kind']} {number + 2}: {place}"
            refusal = refusal_of(lines, report)
            refusals = report.conflicts if refusal is None else [refusal]
            assert all(map(_names_a_line, refusals)), (name, refusals)
            found += [] if refusals else [(name, lines)]
    return found


def refusal_of(lines: list[str], report: TransferReport) -> str | None:
    try:
        read_lines(lines, report)
    except UsageError as error:
        return error.message
    return None


def _names_a_line(message: str) -> bool:
    return any(2 <= int(number) <= LAST for number in re.findall(r"line (\d+)", message))


@pytest.fixture(scope="module")
def memory() -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url="sqlite://")) as client:
        yield client


@pytest.fixture(scope="module")
def postgresql(upgraded_postgres_url_of_module: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=upgraded_postgres_url_of_module)) as client:
        yield client


def require(client: httpx2.Client, name: str, lines: list[str]) -> None:
    """Import an export into an empty registry: it is refused by a line, or everything answers."""
    services = client.app.state.services  # type: ignore[attr-defined]
    empty_registry(client)
    answer = client.post(PATH, content=create_content(lines))
    told: dict[str, Any] = answer.json()
    if answer.status_code == 409:
        assert all(map(_names_a_line, told["conflicts"])), (name, told["conflicts"])
        return
    assert answer.status_code == 200, (name, told)
    read_everything(client, services.store)


def test_a_changed_value_is_refused_by_its_line_or_read() -> None:
    assert len(accepted()) > 100


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_accepted_lines_are_stored_and_every_read_succeeds(memory: httpx2.Client, data: st.DataObject) -> None:
    require(memory, *data.draw(st.sampled_from(accepted())))


@pytest.mark.integration
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_accepted_lines_are_stored_on_postgresql_and_every_read_succeeds(
    postgresql: httpx2.Client, data: st.DataObject
) -> None:
    require(postgresql, *data.draw(st.sampled_from(accepted())))


@pytest.mark.slow
def test_every_seventh_that_is_read_is_stored_and_everything_answers(memory: httpx2.Client) -> None:
    for name, lines in accepted()[::7]:
        require(memory, name, lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_value_is_refused_by_its_line_or_everything_answers(memory: httpx2.Client, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(EVERY_KIND) - 1))
    line = dict(EVERY_KIND[number])
    line[data.draw(st.sampled_from(sorted(line.keys() - {"kind"})))] = data.draw(JSON)
    lines = file_with(number, line)
    refusal = refusal_of(lines, TransferReport())
    if refusal is None:
        require(memory, json.dumps(line), lines)
    else:
        assert _names_a_line(refusal), (json.dumps(line), refusal)
