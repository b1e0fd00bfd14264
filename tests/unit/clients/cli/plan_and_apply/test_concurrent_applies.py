"""Two ``apply`` runs of contradicting folders: one runs between two requests of the other."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.calls import Call
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.level import Level
from contractlog.registry.testing import Registries

from support.random_folders import RandomFolder, random_folders, read_state

T = TypeVar("T")
PERMISSIONS = ("--prune", "--allow-delete")


class InterleavedRegistry(Registry):
    """A client that does something else before one of its requests."""

    def __init__(self, app: ASGIApp, number: int | None, act: Callable[[], None]) -> None:
        super().__init__(app=app)
        self.requests = 0
        self.number, self.act = number, act

    def send(self, call: Call[T]) -> T:
        self.requests += 1
        if self.requests == self.number:
            self.act()
        return super().send(call)


class Race:
    """Two folders for one registry, and the runs of ``apply`` in them."""

    def __init__(self, patch: pytest.MonkeyPatch, app: ASGIApp, paths: tuple[Path, Path]) -> None:
        self.patch, self.app, self.paths = patch, app, paths

    def run(self, index: int, *arguments: str, client: Registry | None = None) -> int:
        """Run a command in a folder, with a client of its own."""
        connected: AbstractContextManager[Registry] = Registry(app=self.app) if client is None else client

        def connect(_: Namespace) -> Any:
            return connected

        with self.patch.context() as patch, chdir(self.paths[index]):
            patch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", connect)
            return main(list(arguments))

    def interleave(self, number: int | None, *arguments: str) -> tuple[int, int | None, int]:
        """Run the first folder, and the second one before a request of the first.

        Returns:
            Both exit codes, and the number of requests of the first.
        """
        codes: list[int] = []
        client = InterleavedRegistry(self.app, number, lambda: codes.append(self.run(1, "apply", *PERMISSIONS)))
        first = self.run(0, *arguments, client=client)
        return first, codes[0] if codes else None, client.requests


def prove(
    registries: Registries,
    patch: pytest.MonkeyPatch,
    paths: tuple[Path, Path],
    folders: tuple[RandomFolder, RandomFolder],
    choose: Callable[[int], list[int]],
    *,
    saved: bool,
) -> None:
    """Run the folders interleaved at the chosen requests, and check the state that they end in."""
    for path, folder in zip(paths, folders, strict=True):
        folder.write(path)
    arguments = ["apply", "--plan", "plan.json", "--allow-delete"] if saved else ["apply", *PERMISSIONS]

    def attempt(number: int | None) -> int:
        app = registries.make({})
        with Registry(app=app) as registry:
            folders[0].populate(registry)
            race = Race(patch, app, paths)
            if saved:
                assert race.run(0, "plan", "--prune", "--out", "plan.json") == exit_codes.CLEAN
            before = read_state(registry)
            first, second, requests = race.interleave(number, *arguments)
            assert {first, second} <= {exit_codes.CLEAN, exit_codes.FINDINGS, exit_codes.REFUSED, None}
            check_state(read_state(registry), before, folders)
            for index, code in enumerate((first, second)):
                if code == exit_codes.CLEAN:
                    check_registered(registry, folders[index], paths[index])
            # a run of one alone then makes the settings its own, or changes nothing
            if race.run(0, "apply", *PERMISSIONS) == exit_codes.CLEAN:
                assert race.run(0, "plan", "--prune", "--exit-code") in {exit_codes.CLEAN, exit_codes.FINDINGS}
                check_registered(registry, folders[0], paths[0])
        app.state.close()
        return requests

    for number in choose(attempt(None)):
        attempt(number)


def check_state(state: Any, before: Any, folders: tuple[RandomFolder, RandomFolder]) -> None:
    """Every setting is one that a folder or the registry had, and no version is there twice."""
    manifests = " ".join(folder.files["contractlog.toml"] for folder in folders)
    for subject, (own, level, mode, versions) in state.items():
        old_own, old_level, old_mode, _ = before[subject]
        assert level in {old_level, *(each for each in Level if f'level = "{each}"' in manifests)}
        assert mode is old_mode or f'mode = "{mode.value}"' in manifests
        owner = own.get("overrideMetadata", {}).get("properties", {}).get("owner")
        assert owner is None or f'owner = "{owner}"' in manifests or own == old_own
        contents = [repr(content[1:]) for content in versions]
        assert len(set(contents)) == len(contents), subject


def check_registered(registry: Registry, folder: RandomFolder, path: Path) -> None:
    """Each file of a folder whose run succeeded is a version, even if the other run registered a later one."""
    for name, text in folder.files.items():
        if name.endswith((".avsc", ".json")):
            subject = Path(name).name.removesuffix(".avsc").removesuffix(".schema.json")
            texts = [json.loads(registry.version(subject, number).text) for number in registry.versions(subject)]
            assert json.loads(text) in texts, (subject, path)


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.tuples(random_folders(), random_folders(with_state=False)), st.data())
def test_two_folders_at_once_end_in_one_consistent_state(
    registries: Registries,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    folders: tuple[RandomFolder, RandomFolder],
    data: st.DataObject,
) -> None:
    def choose(requests: int) -> list[int]:
        return [data.draw(st.integers(1, requests)) for _ in range(2)]

    paths = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    prove(registries, monkeypatch, paths, folders, choose, saved=data.draw(st.booleans()))
