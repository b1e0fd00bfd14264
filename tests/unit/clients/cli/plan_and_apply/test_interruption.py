"""An ``apply`` that is killed at any request and run again ends where one run ends."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contractlog.clients import Registry, Resource
from contractlog.clients.calls.associations import AssociationDraft
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.association_keys import association_key
from contractlog.clients.cli.main import main
from contractlog.clients.retry_and_failover import Retries
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.interrupted_requests import InterruptedApp, KilledError

MONEY: Final = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER: Final = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
MANIFEST: Final = """
[[subjects]]
name = "*-value"
level = "FULL"
normalize = true
owner = "team-orders"

[[associations]]
topic = "orders"
subject = "orders-value"
namespace = "lkc-1"

[[associations]]
topic = "money"
part = "key"
subject = "other-value"
namespace = "lkc-1"

[[associations]]
topic = "owner"
part = "key"
subject = ":.lkc-1:owner-key"
lifecycle = "STRONG"
namespace = "lkc-1"

[[waivers]]
subject = "other-value"
check = "AVRO_TYPE_CHANGED"
reason = "the topic is empty"
by = "ana"
until = 2999-01-01
"""
SUBJECTS: Final = ("Money", "gone-value", "old-value", "orders-value", "other-value", ":.lkc-1:owner-key")
PERMISSIONS: Final = ("--allow-delete", "--use-waivers")
APPLY: Final = ("apply", "--prune", *PERMISSIONS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"Money": MONEY, "orders-value": ORDER, "other-value": "int", "%3A.lkc-1%3Aowner-key": "int"}
    for name, schema in files.items():
        (tmp_path / f"{name}.avsc").write_text(json.dumps(schema))
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    return tmp_path


@pytest.fixture
def wires(registries: Registries, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that makes a registry with three subjects, which the next verb meets."""
    apps = []

    def make() -> tuple[InterruptedApp, Registry]:
        app = registries.make({})
        apps.append(app)
        wire, registry = InterruptedApp(app), Registry(app=app)
        for subject in ("gone-value", "old-value"):
            registry.register(subject, SchemaDraft('"long"'))
        registry.register("other-value", SchemaDraft('"string"'))
        for part, subject in (("key", "old-value"), ("value", "gone-value")):
            draft = AssociationDraft(association_type=part, subject=subject)
            registry.bind(Resource("money", "lkc-1", "lkc-1:money"), [draft])

        def connect(_: Namespace) -> Registry:
            return Registry(app=wire, retries=Retries(attempts=1))

        monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", connect)
        return wire, registry

    yield make
    for app in apps:
        app.state.close()


def state_of(registry: Registry) -> dict[str, Any]:
    """Return everything that the plan is about."""
    live = registry.subjects()
    associations = registry.associations_by_resource_name("-", namespace="-")
    return {"associations": [(association_key(each), each.subject, each.lifecycle) for each in associations]} | {
        subject: (
            registry.config(subject).body(),
            [
                (text.draft.text, text.references, text.metadata)
                for text in (registry.version(subject, number) for number in registry.versions(subject))
            ]
            if subject in live
            else None,
        )
        for subject in SUBJECTS
    }


@pytest.mark.parametrize("saved", [False, True])
def test_an_apply_killed_at_any_request_is_completed(folder: Path, wires: Any, *, saved: bool) -> None:
    wire, registry = wires()
    assert main(["plan", "--prune", "--out", "plan.json"]) == exit_codes.CLEAN
    wire.requests.clear()
    arguments = ["apply", "--plan", "plan.json", *PERMISSIONS] if saved else list(APPLY)
    assert main(arguments) == exit_codes.CLEAN
    expected, writes = state_of(registry), list(wire.writes)
    assert main(["plan", "--prune", "--exit-code"]) == exit_codes.CLEAN
    first = next(n for n in writes if wire.requests[n - 1].startswith("PUT"))
    assert {"PUT", "POST", "DELETE"} <= {request.split()[0] for request in wire.requests[first - 1 :]}
    # Between two writes the registry is the same: only the last one makes a difference by being processed.
    # A saved plan is carried out by the same code, so each of the two is killed at every second write.
    kills = [n for n in writes if n >= first][int(saved) :: 2]
    for number, processes in [*((n, False) for n in kills), (writes[-1], True)]:
        wire, registry = wires()
        wire.kill_at, wire.processes = number, processes
        with pytest.raises(KilledError):
            main(arguments)
        wire.kill_at = None
        assert main(arguments) == exit_codes.CLEAN, wire.requests[number - 1]
        assert state_of(registry) == expected


def test_an_interrupted_apply_says_what_was_done(folder: Path, wires: Any, capsys: pytest.CaptureFixture[str]) -> None:
    wire, _ = wires()
    assert main(list(APPLY)) == exit_codes.CLEAN
    registrations = [n for n, request in enumerate(wire.requests, 1) if request == "POST /subjects/Money/versions"]
    settings = sum(request.startswith("PUT") for request in wire.requests[: registrations[0]])
    for kill_at, registered in ((registrations[0], 1), (registrations[0] + 1, 2)):
        wire, _ = wires()
        wire.kill_at = kill_at
        capsys.readouterr()
        with pytest.raises(KilledError):
            main(list(APPLY))
        message = (
            f"{registered} of 4 files were registered and {settings} settings set before the error; run the command"
        )
        assert message in capsys.readouterr().err
