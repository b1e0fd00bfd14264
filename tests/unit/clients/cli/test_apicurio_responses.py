"""Commands against a server with the answers of Apicurio Registry: they do what it permits, and say what it does not.

Each answer that differs from the reference's has a test; ``tests/foreign/test_apicurio.py`` runs the real server.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.clients.retry_and_failover import Retries
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.errors import LevelNotConfigured, SubjectNotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.testing import Registries

from support.operations import ID, LINE, NOTE, Run, order, runner

JSON_SCHEMA = '"$schema":"http://json-schema.org/draft-07/schema#"'
ADDRESS = (
    f'{{{JSON_SCHEMA},"type":"object","properties":{{"street":{{"type":"string"}}}},"additionalProperties":false}}'
)


def customer(**properties: str) -> str:
    """Return a JSON schema that refers to an address."""
    others = "".join(f',"{name}":{{"type":"{kind}"}}' for name, kind in properties.items())
    home = '"home":{"$ref":"address.schema.json"}'
    return f'{{{JSON_SCHEMA},"type":"object","properties":{{{home}{others}}},"additionalProperties":false}}'


@pytest.fixture
def registry(apicurio_responses: ASGIApp) -> Registry:
    return Registry(app=apicurio_responses, retries=Retries(attempts=1))


@pytest.fixture
def run(apicurio_responses: ASGIApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(apicurio_responses, monkeypatch, capsys, retries=Retries(attempts=1))


def write(folder: Path, **texts: str) -> str:
    """Write Avro files by subject, and return the folder."""
    for name, text in texts.items():
        (folder / f"{name.replace('_', '-')}.avsc").write_text(text)
    return str(folder)


def test_a_subject_that_does_not_exist_has_the_level_of_the_registry(registry: Registry) -> None:
    registry.set_level(Level.FORWARD)
    assert registry.level("new") is Level.FORWARD
    assert registry.config("new").level is Level.FORWARD
    assert registry.policy("new").value == "STRICT"
    with pytest.raises(SubjectNotFound):
        registry.level("new", inherited=False)


async def ask_level(app: ASGIApp) -> Level:
    async with AsyncRegistry(app=app) as registry:
        return await registry.level("new")


def test_the_asynchronous_client_gets_it_too(apicurio_responses: ASGIApp, registry: Registry) -> None:
    import asyncio

    registry.set_level(Level.FORWARD)
    assert asyncio.run(ask_level(apicurio_responses)) is Level.FORWARD


def test_a_missing_level_of_a_subject_s_own_stays_an_error(registries: Registries) -> None:
    app = registries.make({})
    with Registry(app=app) as registry, pytest.raises(LevelNotConfigured):
        registry.level("new", inherited=False)
    app.state.close()


def test_new_subjects_are_checked(run: Run, tmp_path: Path) -> None:
    ran = run("check", write(tmp_path, orders_value=order().text))
    assert ran.code == exit_codes.CLEAN
    assert "compatible" in ran.out
    assert run("compat", "new", str(tmp_path / "orders-value.avsc")).code == exit_codes.CLEAN


def test_a_check_that_does_not_find_references_leaves_the_verdict_to_the_command(
    run: Run, registry: Registry, tmp_path: Path
) -> None:
    folder = write(tmp_path, orders_value=order().text, lines_value=LINE.text)
    assert run("apply", folder).code == exit_codes.CLEAN
    write(tmp_path, lines_value=LINE.text.replace("]}", f",{NOTE}]}}"))
    ran = run("check", folder)
    assert ran.code == exit_codes.CLEAN
    assert "the registry could not check this schema (its check does not find what a schema refers to)" in ran.out
    write(tmp_path, lines_value=LINE.text.replace("]}", f",{ID}]}}"))
    assert run("check", folder).code == exit_codes.FINDINGS
    assert run("apply", folder).code == exit_codes.FINDINGS
    assert registry.versions("lines-value") == [1]


def test_a_check_that_fails_leaves_the_verdict_to_the_command(run: Run, registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "address.schema.json").write_text(ADDRESS)
    file = tmp_path / "customers-value.schema.json"
    file.write_text(customer())
    assert run("apply", str(tmp_path)).code == exit_codes.CLEAN
    file.write_text(customer(age="integer"))
    ran = run("check", str(tmp_path))
    assert ran.code == exit_codes.CLEAN
    assert "could not check this schema (Unresolved JSON Schema reference: address.schema.json)" in ran.out
    assert run("apply", str(tmp_path)).code == exit_codes.CLEAN
    file.write_text(customer(age="string"))
    assert run("check", str(tmp_path)).code == exit_codes.FINDINGS
    assert run("apply", str(tmp_path)).code == exit_codes.FINDINGS
    assert registry.versions("customers-value") == [1, 2]


MANIFEST = '[[subjects]]\nname = "*-value"\nlevel = "FULL"\n'


def test_settings_that_the_registry_ignores_are_reported_by_plan_and_apply(
    run: Run, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, orders_value=order().text)
    (tmp_path / "contractlog.toml").write_text(f'{MANIFEST}normalize = true\nowner = "team"\n')
    unknown = "whether this registry has the settings normalize, override_metadata is not known"
    assert unknown in run("plan").err
    ran = run("apply")
    assert ran.code == exit_codes.FINDINGS
    assert "level of `orders-value`: BACKWARD -> FULL" in ran.out
    assert "normalize of `orders-value`: not set, because the registry failed: Name is null" in ran.out
    assert "1 version registered, 1 level set" in ran.err
    assert "2 settings could not be set" in ran.err
    assert (registry.versions("orders-value"), registry.level("orders-value")) == ([1], Level.FULL)
    ran = run("apply", "--format", "json")
    assert (ran.code, [each["setting"] for each in ran.body["ignored"]], ran.body["settings"]) == (
        exit_codes.FINDINGS,
        ["normalize", "override_metadata"],
        [],
    )
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    ran = run("plan", "--exit-code")
    assert (ran.code, ran.err) == (exit_codes.CLEAN, "nothing to change\n")


def test_a_setting_that_the_registry_has_is_not_said_to_be_unknown(
    registries: Registries, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, orders_value=order().text)
    (tmp_path / "contractlog.toml").write_text(f'{MANIFEST}normalize = true\nowner = "team"\n')
    assert "is not known" not in run("plan").err
    assert run("apply").code == exit_codes.CLEAN
    assert run("plan", "--exit-code").code == exit_codes.CLEAN
    app.state.close()


def test_config_set_says_what_is_not_set(run: Run, registry: Registry) -> None:
    registry.register("orders-value", order())
    ran = run("config", "set", "orders-value", "--level", "FULL", "--normalize", "true")
    assert (ran.code, ran.out) == (exit_codes.USAGE, "`orders-value`: set level FULL\n")
    assert "this registry ignored what it does not have: normalize" in ran.err
    ran = run("config", "unset", "orders-value", "--setting", "level")
    assert ran.code == exit_codes.UNREACHABLE
    assert "failed: Name is null" in ran.err
    assert "to unset the whole config: contractlog config unset orders-value" in ran.err
    assert run("config", "unset", "orders-value").code == exit_codes.CLEAN


def test_a_setting_that_is_perhaps_inherited_is_not_said_to_be_the_subject_s_own(run: Run, registry: Registry) -> None:
    registry.register("orders-value", order())
    registry.set_level(Level.NONE)
    level = run("config", "get", "orders-value").out.splitlines()[1].split(maxsplit=2)
    assert level == ["level", "NONE", "subject, else global or the server's default"]
    assert run("mode", "get", "orders-value").out.splitlines()[1].split() == ["READWRITE", "subject", "or", "inherited"]
    registry.set_level(Level.FULL, "orders-value")
    registry.set_mode(Mode.READONLY, "orders-value")
    assert run("config", "get", "orders-value").out.splitlines()[1].split() == ["level", "FULL", "subject"]
    assert run("mode", "get", "orders-value").out.splitlines()[1].split() == ["READONLY", "subject"]


def test_a_page_at_the_root_is_no_reason_to_doubt_that_it_is_a_registry(run: Run) -> None:
    ran = run("mode", "unset")
    assert (ran.code, ran.err) == (exit_codes.USAGE, "contractlog: this registry cannot unset a mode\n")


def test_contexts_are_listed_by_their_names(run: Run) -> None:
    ran = run("contexts")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, ".\n")


def test_a_list_of_schemas_that_is_empty_is_not_said_to_be_an_empty_registry(run: Run, registry: Registry) -> None:
    assert run("subjects", "--long").err == "the registry has no subjects\n"
    registry.register("orders-value", order())
    ran = run("subjects", "--long")
    assert ran.out == "orders-value\n"
    assert "this registry cannot list schemas, so only the names are known" in ran.err


def test_soft_deleted_versions_that_are_not_shown_are_listed_and_hard_deleted(run: Run, registry: Registry) -> None:
    registry.register("orders-value", order())
    assert run("delete", "orders-value", "--yes").code == exit_codes.CLEAN
    ran = run("versions", "orders-value", "--deleted")
    assert ran.out.splitlines()[1].split() == ["1", "-", "-", "-", "deleted", "-"]
    assert "does not show soft-deleted versions: only their numbers are known" in ran.err
    ran = run("undelete", "orders-value")
    assert ran.code == exit_codes.USAGE
    assert "version 1 of `orders-value` cannot be restored: register the file of its schema again" in ran.err
    assert run("delete", "orders-value", "--permanent", "--yes").code == exit_codes.CLEAN
    assert registry.subjects(deleted=True) == []


def test_undelete_says_that_another_version_was_registered_instead(run: Run, registry: Registry) -> None:
    registry.register("orders-value", order())
    registry.register("orders-value", order(NOTE))
    registry.delete_version("orders-value", 1)
    ran = run("undelete", "orders-value:1")
    assert ran.code == exit_codes.USAGE
    assert "did not restore version 1 of `orders-value`, but registered version 3" in ran.err
    assert registry.mode("orders-value") is Mode.READWRITE


def test_versions_are_promoted_with_other_ids_and_numbers_where_none_can_be_requested(
    apicurio_responses: ASGIApp,
    registries: Registries,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    apps = {"http://ours": registries.make({}), "http://there": apicurio_responses}

    def connect(url: str, **settings: Any) -> Registry:
        return Registry(app=apps[url], **settings)

    monkeypatch.setattr(cli_options, "Registry", connect)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, orders_value=order(NOTE).text, lines_value=LINE.text)
    environments = "".join(f'[environments.{url[7:]}]\nregistry = "{url}"\n' for url in apps)
    (tmp_path / "contractlog.toml").write_text(environments)
    with connect("http://ours") as ours, connect("http://there") as there:
        ours.register("unrelated", SchemaDraft('"string"'))
        ours.register("orders-value", SchemaDraft('"string"'))
        ours.delete_version("orders-value", 1)
        ours.register("orders-value", order())
        ours.register("orders-value", order(NOTE))
        ours.register("lines-value", replace(LINE, references=(Reference("Order", "orders-value", 2),)))
        assert main(["promote", "ours", "there", "--apply"]) == exit_codes.CLEAN
        assert "version 2 of ours registered as version 1 in there, id 1, which is 2 in ours" in capsys.readouterr().out
        assert there.versions("orders-value") == [1, 2]
        assert there.version("lines-value", 1).references[0].version == 1
    assert main(["promote", "ours", "there", "--exit-code"]) == exit_codes.CLEAN
    apps["http://ours"].state.close()  # type: ignore[attr-defined]


def test_a_context_that_is_taken_for_a_part_of_the_name_is_noticed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, orders_value=order().text)
    (tmp_path / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://there"\ncontext = ".prod"\n')
    ran = run("apply", "--environment", "prod")
    assert (ran.code, "context" in ran.err) == (exit_codes.CLEAN, False)
    assert "subjects in the context `.prod`, but does not list it" in run("plan", "--environment", "prod").err


def test_a_context_that_the_registry_has_is_not_said_to_be_missing(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    run = runner(app, monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, orders_value=order().text)
    (tmp_path / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://there"\ncontext = ".prod"\n')
    assert run("apply", "--environment", "prod").code == exit_codes.CLEAN
    assert run("plan", "--environment", "prod").err == "nothing to change\n"
    app.state.close()
