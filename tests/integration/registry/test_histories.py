"""Histories of concurrent clients and failing nodes; see ``tests/histories``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from histories.cluster import Forge, forging
from histories.defects import DEFECTS
from histories.history import Setting, Verdict, run
from support.postgres import temporary_database
from support.temporary_folder import disk_folder

SEEDS = 20  #: on each database


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with forging() as forge:
        yield forge


Place = Callable[..., Setting]


@pytest.fixture
def postgresql(postgres_url: str, tmp_path: Path) -> Place:
    return lambda **more: Setting(postgres_url, tmp_path, **more)


@pytest.fixture
def sqlite() -> Iterator[Place]:
    with disk_folder() as folder:  # in memory, commits are too short for kills inside them
        yield lambda **more: Setting(f"sqlite:///{folder / 'registry.db'}", folder, **{"nodes": 1, **more})


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def place(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def hold(verdict: Verdict) -> None:
    """Print what was done; fail if something is wrong, and if too little was done to know."""
    print(verdict)  # noqa: T201 - every run says how hard it was
    assert not verdict.violations, verdict
    assert not verdict.too_tame, f"too little of: {verdict.too_tame}; {verdict}"


def test_a_short_history_is_right(place: Place, forge: Forge) -> None:
    hold(run(0, place(operations=200, kills=1, cuts=1, jumps=1), forge))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1 + SEEDS))
def test_a_history_is_right(place: Place, forge: Forge, seed: int) -> None:
    hold(run(seed, place(), forge))


@pytest.mark.slow
def test_every_request_is_answered_without_faults(postgresql: Place, forge: Forge) -> None:
    verdict = run(0, postgresql(operations=1_000, clients=12, kills=0, cuts=0), forge)
    hold(verdict)
    assert not verdict.unknown, verdict
    assert not verdict.said, verdict.said


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_the_checker_sees_a_planted_defect(
    request: pytest.FixtureRequest, forge: Forge, tmp_path: Path, name: str
) -> None:
    """Some defects need luck to show themselves; five histories are more than enough."""
    defect = DEFECTS[name]
    for seed in range(5):
        (folder := tmp_path / str(seed)).mkdir()
        with _empty(request, folder, many=defect.many) as url:
            harmless = Setting(url, folder, nodes=3 if defect.many else 1, kills=0, cuts=0, jumps=0, operations=300)
            verdict = run(seed, replace(harmless, defect=name), forge)
        print(f"{name}: {verdict}")  # noqa: T201 - every run says what it saw
        if defect.laws & {one.law for one in verdict.violations}:
            break
    assert defect.laws & {one.law for one in verdict.violations}, verdict


def _empty(request: pytest.FixtureRequest, folder: Path, *, many: bool) -> AbstractContextManager[str]:
    if many:
        return temporary_database(request.getfixturevalue("postgres_server"))
    return nullcontext(f"sqlite:///{folder / 'registry.db'}")
