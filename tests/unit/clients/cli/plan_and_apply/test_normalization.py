"""Plans with ``normalize`` in the manifest: they show what `apply` does, and nothing afterwards."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.testing import Registries


@st.composite
def _layouts(draw: st.DrawFn, name: str, *types: str) -> dict[str, Any]:
    """Return a record that is the same when normalized, whatever is drawn."""
    aliases = draw(st.permutations(["B", "A"]))
    members = draw(st.permutations([("zone", 1), ("area", 2)]))
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    doc = {"doc": ""} if draw(st.booleans()) else {}
    return {"type": "record", "name": name, "aliases": aliases, **dict(members), **doc, "fields": fields}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    registered=st.lists(st.tuples(_layouts("Money", "long"), _layouts("Order", "Money")), max_size=2),
    files=st.tuples(_layouts("Money", "long"), _layouts("Order", "Money")),
    normalize=st.tuples(st.sampled_from([None, True, False]), st.sampled_from([True, False])),
)
def test_a_plan_shows_what_apply_does_and_nothing_afterwards(
    registered: list[tuple[Any, Any]],
    files: tuple[Any, Any],
    normalize: tuple[bool | None, bool],
    *,
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, after = normalize
    folder = tmp_path_factory.mktemp("folder")
    app = registries.make({})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        for module in ("plan_and_apply.runner", "check.runner"):
            monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
        for money, order in registered:
            version = int(registry.register("Money", SchemaDraft(json.dumps(money))).version or 0)
            reference = Reference("Money", "Money", version)
            registry.register("orders-value", SchemaDraft(json.dumps(order), references=(reference,)))
        if before is not None:
            registry.set_config({"normalize": before})
        for name, schema in zip(("Money", "orders-value"), files, strict=True):
            (folder / f"{name}.avsc").write_text(json.dumps(schema))
        (folder / "contractlog.toml").write_text(f'[[subjects]]\nname = "*"\nnormalize = {str(after).lower()}\n')
        arguments = (str(folder), "--format", "json")
        capsys.readouterr()
        assert main(["check", *arguments]) == exit_codes.CLEAN
        checked = [file["subject"] for file in json.loads(capsys.readouterr().out)["files"] if not file["version"]]
        assert main(["plan", *arguments]) == exit_codes.CLEAN
        steps = json.loads(capsys.readouterr().out)["steps"]
        versions = _count_versions(registry)
        assert main(["apply", *arguments]) == exit_codes.CLEAN
        made = {subject: number - versions.get(subject, 0) for subject, number in _count_versions(registry).items()}
        planned = [step["subject"] for step in steps if step["action"] == "register"]
        assert sorted(planned) == sorted(subject for subject, number in made.items() if number)
        assert planned == checked
        assert main(["plan", str(folder), "--exit-code"]) == exit_codes.CLEAN
        capsys.readouterr()


@pytest.mark.parametrize(("normalize", "outcome"), [("true", "unchanged"), ("false", "compatible")])
def test_the_manifest_decides_whether_normalized_texts_are_compared_with_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], normalize: str, outcome: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, aliases in (("now", ["A", "B"]), ("then", ["B", "A"])):
        (tmp_path / folder).mkdir()
        schema = {"type": "record", "name": "Money", "aliases": aliases, "fields": []}
        (tmp_path / folder / "Money.avsc").write_text(json.dumps(schema))
    (tmp_path / "contractlog.toml").write_text(f'[[subjects]]\nname = "*"\nnormalize = {normalize}\n')
    assert main(["check", "now", "--against", "then", "--format", "json"]) == exit_codes.CLEAN
    assert [file["outcome"] for file in json.loads(capsys.readouterr().out)["files"]] == [outcome]


def _count_versions(registry: Registry) -> dict[str, int]:
    return {subject: len(registry.versions(subject)) for subject in registry.subjects()}
