"""An ``apply`` of a random folder that is killed at any request and run again ends where one run ends."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.retry_and_failover import Retries
from contractlog.registry.testing import Registries

from support.interrupted_requests import InterruptedApp, KilledError
from support.random_folders import RandomFolder, random_folders, read_state

PERMISSIONS = ("--prune", "--allow-delete")


def prove(
    registries: Registries,
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    random: RandomFolder,
    choose: Callable[[list[int]], list[tuple[int, bool]]],
    *,
    saved: bool,
) -> None:
    """Compare one run with runs that are killed at the chosen requests."""
    monkeypatch.chdir(path)
    random.write(path)

    def run(kill_at: int | None = None, *, processes: bool = False) -> tuple[list[int], object]:
        app = registries.make({})
        wire = InterruptedApp(app)
        with Registry(app=app) as registry:
            random.populate(registry)
            monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", connect_to(wire))
            if saved:
                assert main(["plan", "--prune", "--out", "plan.json"]) == exit_codes.CLEAN
                wire.requests.clear()
            arguments = ["apply", "--plan", "plan.json", "--allow-delete"] if saved else ["apply", *PERMISSIONS]
            if kill_at is not None:
                wire.kill_at, wire.processes = kill_at, processes
                with pytest.raises(KilledError):
                    main(arguments)
                wire.kill_at = None
                wire.requests.clear()
            assert main(arguments) == exit_codes.CLEAN
            writes = wire.writes  # without the look-ups of the plan below
            state = read_state(registry)
            assert main(["plan", "--prune", "--exit-code"]) == exit_codes.CLEAN
        app.state.close()
        return writes, state

    apply_writes, expected = run()
    for kill_at, processes in choose(apply_writes):
        assert run(kill_at, processes=processes)[1] == expected, (kill_at, processes)


def connect_to(wire: InterruptedApp) -> Callable[[Namespace], Registry]:
    return lambda _: Registry(app=wire, retries=Retries(attempts=1))


@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(random_folders(), st.data())
def test_a_random_folder_is_completed(
    registries: Registries,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    random: RandomFolder,
    data: st.DataObject,
) -> None:
    def choose(writes: list[int]) -> list[tuple[int, bool]]:
        event(f"{len(writes)} writes")
        return [(data.draw(st.sampled_from(writes)), data.draw(st.booleans()))] if writes else []

    prove(registries, monkeypatch, tmp_path_factory.mktemp("folder"), random, choose, saved=data.draw(st.booleans()))
