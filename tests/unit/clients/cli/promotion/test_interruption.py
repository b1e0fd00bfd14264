"""A ``promote --apply`` that is killed at any request and run again ends where one run ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.clients.retry_and_failover import Retries
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.registry.testing import Registries

from support.environments import MANIFEST
from support.interrupted_requests import InterruptedApp, KilledError
from support.random_folders import FILES, RandomFolder, random_folders, read_state

MODES = '[[subjects]]\nname = "*"\nmode = "READWRITE"\n'
PROMOTE = ["promote", "dev", "prod", "--apply"]


class Target:
    """Two environments: the first has the versions of a folder, the second some of them or none."""

    def __init__(self, registries: Registries, patch: pytest.MonkeyPatch, folder: RandomFolder, versions: int) -> None:
        self.apps = {name: registries.make({}) for name in ("dev", "prod")}
        self.wire = InterruptedApp(self.apps["prod"])
        self.patch = patch
        wires = {"dev": self.apps["dev"], "prod": self.wire}

        def connect(url: str, **options: Any) -> Registry:
            return Registry(app=wires[url.removeprefix("http://")], **options | {"retries": Retries(attempts=1)})

        patch.setattr(cli_options, "Registry", connect)
        with Registry(app=self.apps["dev"]) as dev, Registry(app=self.apps["prod"]) as prod:
            for number, registry in enumerate((dev, prod)):
                for subject, draft in list(folder.earlier.items())[: None if number == 0 else versions]:
                    registry.set_level(Level.NONE, subject)
                    registry.register(subject, draft)
            assert main(["apply", "--environment", "dev"]) == exit_codes.CLEAN
            for subject in dev.subjects():
                dev.set_mode(Mode.READWRITE, subject)
        self.wire.requests.clear()

    def read(self) -> dict[str, Any]:
        """Return the versions, ids and modes in the second environment."""
        with Registry(app=self.apps["prod"]) as prod:
            ids = {
                subject: [prod.version(subject, number).schema_id for number in prod.versions(subject)]
                for subject in prod.subjects()
            }
            return {
                subject: (mode, versions, ids.get(subject))
                for subject, (_, _, mode, versions) in read_state(prod).items()
            }

    def close(self) -> None:
        for app in self.apps.values():
            app.state.close()


def prove(target: Callable[[], Target], choose: Callable[[list[int]], list[tuple[int, bool]]]) -> None:
    """Compare one promotion with promotions that are killed at the chosen requests."""
    once = target()
    assert main(PROMOTE) == exit_codes.CLEAN
    expected, writes = once.read(), once.wire.writes
    once.close()
    for kill_at, processes in choose(writes):
        killed = target()
        killed.wire.kill_at, killed.wire.processes = kill_at, processes
        with pytest.raises(KilledError):
            main(PROMOTE)
        killed.wire.kill_at = None
        assert main(PROMOTE) == exit_codes.CLEAN
        state = killed.read()
        assert state == expected, (kill_at, processes)
        assert Mode.IMPORT not in {mode for mode, _, _ in state.values()}
        assert main([*PROMOTE, "--exit-code"]) == exit_codes.CLEAN
        killed.close()


def write(path: Path, patch: pytest.MonkeyPatch, folder: RandomFolder) -> None:
    """Write the folder, with environments and modes in its manifest."""
    patch.chdir(path)
    folder.write(path)
    rules = folder.files["contractlog.toml"].partition("[[subjects]]")[0]
    (path / "contractlog.toml").write_text(MANIFEST + rules + MODES)


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(random_folders(), st.data())
def test_a_killed_promotion_is_completed_and_leaves_no_subject_in_mode_import(
    registries: Registries,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    folder: RandomFolder,
    data: st.DataObject,
) -> None:
    write(tmp_path_factory.mktemp("folder"), monkeypatch, folder)
    versions = data.draw(st.integers(0, len(FILES)))

    def choose(writes: list[int]) -> list[tuple[int, bool]]:
        return [(data.draw(st.sampled_from(writes)), data.draw(st.booleans()))] if writes else []

    prove(lambda: Target(registries, monkeypatch, folder, versions), choose)
