"""``contractlog promote``: versions from one environment to another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.errors import ModeNotConfigured
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference

from support.environments import MANIFEST, MONEY, NOTE, Environments, draft, more


def test_promote_shows_the_missing_versions_and_writes_nothing(environments: Environments) -> None:
    code, out, err = environments.promote()
    assert code == exit_codes.CLEAN
    assert "`Money`: version 1 of dev would become version 1 in prod, with id 3 as in dev" in out
    assert out.index("`Money`: version 2") < out.index("`orders-value`: version 3")
    assert "5 versions would be registered in prod: contractlog promote dev prod --apply" in err
    code, _, err = environments.promote("--exit-code")
    assert code == exit_codes.FINDINGS
    assert "contractlog promote dev prod --apply" in err, "--exit-code has no effect on what was applied"
    assert environments.prod.subjects() == []
    assert environments.promote("--exit-code")[0] == exit_codes.FINDINGS


def test_an_empty_target_gets_the_same_versions_ids_and_guids(environments: Environments) -> None:
    code, out, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN, out + err
    assert environments.prod.subjects() == ["Money", "orders-value"]
    for subject in environments.prod.subjects():
        assert environments.history(environments.prod, subject) == environments.history(environments.dev, subject)
        with pytest.raises(ModeNotConfigured):
            environments.prod.mode(subject, inherited=False)
    assert "`orders-value`: version 3 of dev registered as version 3 in prod, id 5, as in dev" in out
    code, out, err = environments.promote("--apply", "--exit-code")
    assert (code, out) == (exit_codes.CLEAN, "")
    assert "nothing to promote: prod has 5 versions, all of dev" in err


def test_a_source_without_versions_is_named(environments: Environments) -> None:
    for subject in ("orders-value", "Money"):
        environments.dev.delete_subject(subject)
    code, _, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN
    assert "nothing to promote: dev has no versions of these subjects" in err


def test_only_missing_arguments_are_said_to_be_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "dev"]) == exit_codes.USAGE
    assert capsys.readouterr().err.endswith("the following arguments are required: TO\n")


def test_later_versions_get_new_ids_and_refer_to_the_versions_of_the_target(environments: Environments) -> None:
    prod = environments.prod
    prod.set_level(Level.NONE)
    prod.register("other-value", draft("long"))
    prod.register("Money", draft({**MONEY, "fields": []}))
    prod.delete_version("Money", 1)
    prod.register("Money", draft(MONEY))
    planned = environments.promote()[1]
    assert "`Money`: version 2 of dev would become version 3 in prod, with an id that prod assigns" in planned
    code, out, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN, out + err
    assert "`Money`: version 2 of dev registered as version 3 in prod, id 4, which is 2 in dev" in out
    assert [each.version for each in prod.version("orders-value", 3).references] == [3]
    assert environments.promote("--exit-code")[0] == exit_codes.CLEAN


@pytest.mark.parametrize("keeps_ids", [True, False])
def test_versions_have_the_metadata_and_rules_of_the_source(environments: Environments, *, keeps_ids: bool) -> None:
    dev, prod = environments.dev, environments.prod
    owned = Metadata(properties={"owner": "ana"})
    checked = RuleSet(domain_rules=(Rule("positive", type="CEL", kind="CONDITION", expr="true"),))
    contracts = [(owned, checked), (None, checked), (owned, None), (None, None)]
    for number, (metadata, rule_set) in enumerate(contracts):
        fields = [{**NOTE, "name": f"note{each}"} for each in range(number)]
        explicit = {"metadata": metadata or Metadata(), "rule_set": rule_set or RuleSet()}
        dev.register("notes-value", replace(draft(more(MONEY, *fields)), **explicit))
    (environments.folder / "notes-value.avsc").write_text(json.dumps(MONEY))
    if not keeps_ids:
        prod.set_level(Level.NONE)
        for number in range(10):  # which have the ids of the source
            prod.register("other-value", draft({**MONEY, "name": f"Other{number}"}))
    code, out, err = environments.promote("--apply", "notes-value.avsc")
    assert code == exit_codes.CLEAN, out + err
    versions = [prod.version("notes-value", number) for number in prod.versions("notes-value")]
    assert [(each.metadata, each.rule_set) for each in versions] == contracts
    assert environments.promote("notes-value.avsc", "--exit-code")[0] == exit_codes.CLEAN


def test_an_id_that_the_target_uses_for_another_schema_is_not_kept(environments: Environments) -> None:
    environments.prod.set_level(Level.NONE)
    for number in range(3):
        environments.prod.register(f"s{number}-value", draft({"type": "fixed", "name": "F", "size": number + 1}))
    code, out, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN, out + err
    assert "note: `Money` gets new ids: prod has another schema with id 3" in err
    assert environments.prod.versions("orders-value") == [1, 2, 3]


def test_a_later_version_that_the_target_rejects_is_refused_before_anything_is_written(
    environments: Environments,
) -> None:
    environments.prod.register("s-value", draft({"type": "fixed", "name": "F", "size": 1}))
    environments.prod.register("s-key", draft({"type": "fixed", "name": "F", "size": 2}))
    for arguments in ((), ("--apply",)):
        code, out, err = environments.promote("orders-value.avsc", "Money.avsc", *arguments)
        assert code == exit_codes.FINDINGS
        assert "`orders-value`: version 2 is incompatible with the versions in prod at its level BACKWARD" in out
        assert "1 subject cannot be promoted to prod: nothing was registered" in err
    assert environments.prod.subjects() == ["s-key", "s-value"]
    environments.prod.set_level(Level.NONE, "orders-value")
    assert environments.promote("--apply")[0] == exit_codes.CLEAN
    assert environments.promote("--exit-code")[0] == exit_codes.CLEAN


def test_an_environment_may_have_credentials_of_its_own(
    environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = {}
    connect = cli_options.Registry

    def record(url: str, **settings: Any) -> Registry:
        users[url] = settings["security"].user, settings["security"].password
        return connect(url, **settings)

    monkeypatch.setattr(cli_options, "Registry", record)
    for name, value in {"USER": "ci", "PASSWORD": "a", "USER_PROD": "release", "PASSWORD_PROD": "b"}.items():
        monkeypatch.setenv(f"CONTRACTLOG_REGISTRY_{name}", value)
    environments.promote()
    assert users == {"http://dev": ("ci", "a"), "http://prod": ("release", "b")}


def test_promotion_does_not_depend_on_the_environment_default(
    environments: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = '[environments.default]\nregistry = "http://elsewhere"\ncontext = ".other"\n'
    (tmp_path / "contractlog.toml").write_text(MANIFEST + default)
    for variable in ("CONTRACTLOG_REGISTRY_URL", "SCHEMA_REGISTRY_URL"):
        monkeypatch.delenv(variable, raising=False)
    assert environments.promote("--apply")[0] == exit_codes.CLEAN
    assert environments.prod.subjects() == ["Money", "orders-value"]


def test_a_history_that_differs_is_refused_and_nothing_is_written(environments: Environments) -> None:
    environments.prod.register("Money", draft(more(MONEY, {**NOTE, "name": "other"})))
    before = environments.prod.subjects()
    for arguments in ((), ("--apply",)):
        code, out, err = environments.promote(*arguments)
        assert code == exit_codes.FINDINGS
        assert "`Money`: version 1 in prod differs from version 1 in dev: the histories differ" in out
        assert "which cannot be promoted" in out
        assert "2 subjects cannot be promoted to prod: nothing was registered" in err
    assert environments.prod.subjects() == before


def test_a_target_that_is_ahead_is_refused(environments: Environments) -> None:
    environments.promote("--apply")
    environments.prod.register("Money", draft(more(MONEY, {**NOTE, "name": "other"})))
    code, out, _ = environments.promote()
    assert code == exit_codes.FINDINGS
    assert "`Money`: prod has version 3, which dev lacks: register its schema in dev first" in out


WAIVER = """
[[subjects]]
name = "Money"
level = "BACKWARD"
[[waivers]]
subject = "Money"
check = "AVRO_TYPE_CHANGED"
reason = "amounts become texts"
by = "ana@example.com"
until = 2999-01-01
"""


def promote_twice_incompatibly(environments: Environments) -> None:
    """Give `Money` two more versions, each of which the level of the target rejects."""
    assert environments.promote("Money.avsc", "--apply")[0] == exit_codes.CLEAN
    environments.dev.set_level(Level.NONE, "Money")
    for kind in ("string", "int"):
        environments.dev.register("Money", draft({**MONEY, "fields": [{"name": "amount", "type": kind}]}))


def test_a_waived_version_is_promoted_with_use_waivers_and_the_level_is_restored(environments: Environments) -> None:
    promote_twice_incompatibly(environments)
    (environments.folder / "contractlog.toml").write_text(MANIFEST + WAIVER)
    for arguments in ((), ("--apply",)):
        code, out, _ = environments.promote("Money.avsc", *arguments)
        assert code == exit_codes.FINDINGS
        assert "is incompatible with the versions in prod at its level BACKWARD, and waived by the manifest" in out
        assert "--use-waivers sets level NONE, registers it, and restores level BACKWARD" in out
    assert environments.prod.versions("Money") == [1, 2]
    code, out, err = environments.promote("Money.avsc", "--use-waivers")
    assert code == exit_codes.CLEAN, out
    assert "at its level BACKWARD, which a waiver sets to NONE meanwhile" in err
    assert "contractlog promote dev prod Money.avsc --use-waivers --apply" in err
    assert environments.prod.versions("Money") == [1, 2]
    code, out, err = environments.promote("Money.avsc", "--use-waivers", "--apply")
    assert code == exit_codes.CLEAN, out + err
    assert environments.prod.versions("Money") == [1, 2, 3, 4]
    assert environments.prod.level("Money") is Level.BACKWARD
    assert "nothing to promote" in environments.promote("Money.avsc")[2]


def use_through_two_levels(environments: Environments) -> None:
    """Change `A` incompatibly in dev, which `B` uses, which `c-value` uses; prod has all three before the change."""
    types = {
        "A": {"type": "record", "name": "A", "fields": [{"name": "x", "type": "string"}]},
        "B": {"type": "record", "name": "B", "fields": [{"name": "a", "type": "A"}]},
        "c-value": {"type": "record", "name": "C", "fields": [{"name": "b", "type": "B"}]},
    }
    changed = {**types, "A": {**types["A"], "fields": [{"name": "x", "type": "int"}]}}
    before = {"A": "", "B": "A", "c-value": "B"}
    for version, schemas in enumerate((types, changed), 1):
        for subject, schema in schemas.items():
            (environments.folder / f"{subject}.avsc").write_text(json.dumps(schema))
            environments.dev.set_level(Level.NONE, subject)
            references = [Reference(before[subject], before[subject], version)] if before[subject] else []
            environments.dev.register(subject, draft(schema, *references))
        if version == 1:
            assert environments.promote(*FILES, "--apply")[0] == exit_codes.CLEAN
    for subject in types:
        environments.prod.set_level(Level.FULL, subject)


FILES = ("A.avsc", "B.avsc", "c-value.avsc")


def test_the_waiver_of_a_type_covers_those_that_use_it_through_others(environments: Environments) -> None:
    use_through_two_levels(environments)
    waiver = WAIVER.replace('"Money"', '"A"') + '[[subjects]]\nname = "*"\nlevel = "FULL"\n'
    (environments.folder / "contractlog.toml").write_text(MANIFEST + waiver.replace("BACKWARD", "FULL"))
    code, out, err = environments.promote(*FILES)
    assert code == exit_codes.FINDINGS
    assert out.count("waived by the manifest: --use-waivers sets level NONE") == 1, out
    assert out.count("which cannot be promoted") == 2, out
    code, out, err = environments.promote(*FILES, "--use-waivers")
    assert code == exit_codes.CLEAN, out + err
    for subject in ("A", "B", "c-value"):
        assert f"note: `{subject}`: version 2 is incompatible" in err
    code, out, err = environments.promote(*FILES, "--use-waivers", "--apply")
    assert code == exit_codes.CLEAN, out + err
    assert "nothing to promote" in environments.promote(*FILES)[2]
    assert {environments.prod.level(each) for each in ("A", "B", "c-value")} == {Level.FULL}


def test_a_version_whose_dependencies_change_is_checked_before_anything_is_written(environments: Environments) -> None:
    use_through_two_levels(environments)
    environments.prod.set_level(Level.NONE, "A")
    environments.prod.set_level(Level.NONE, "B")
    for arguments in ((), ("--apply",)):
        code, out, err = environments.promote(*FILES, *arguments)
        assert code == exit_codes.FINDINGS
        assert "`c-value`: version 2 is incompatible with the versions in prod at its level FULL" in out
        assert "1 subject cannot be promoted to prod: nothing was registered" in err
    assert environments.prod.versions("A") == [1]


def test_the_level_is_restored_if_the_registry_rejects_a_waived_version(
    environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    promote_twice_incompatibly(environments)
    (environments.folder / "contractlog.toml").write_text(MANIFEST + WAIVER)
    environments.prod.set_mode(Mode.READONLY)
    code, out, _ = environments.promote("Money.avsc", "--use-waivers", "--apply")
    assert (code, "READONLY" in out) == (exit_codes.REFUSED, True)
    assert environments.prod.level("Money") is Level.BACKWARD


@pytest.mark.parametrize("change", ["no waiver", "other check", "expired", "no level"])
def test_a_version_without_a_valid_waiver_is_not_promoted(environments: Environments, change: str) -> None:
    promote_twice_incompatibly(environments)
    manifest = {
        "no waiver": "",
        "other check": WAIVER.replace("AVRO_TYPE_CHANGED", "AVRO_NAME_CHANGED"),
        "expired": WAIVER.replace("2999", "2020"),
        "no level": WAIVER.replace('level = "BACKWARD"', "normalize = false"),
    }[change]
    (environments.folder / "contractlog.toml").write_text(MANIFEST + manifest)
    code, out, err = environments.promote("Money.avsc", "--use-waivers", "--apply")
    if change == "no level":
        assert (code, "needs a level to return to" in err) == (exit_codes.USAGE, True), out + err
    else:
        assert code == exit_codes.FINDINGS
        assert "accept its findings in [[waivers]] of the manifest, and pass --use-waivers" in out
    assert environments.prod.versions("Money") == [1, 2]
    assert environments.prod.level("Money") is Level.BACKWARD


def test_an_incompatible_version_is_refused_before_anything_is_written(environments: Environments) -> None:
    environments.promote("--apply")
    environments.prod.set_level(Level.FULL, "orders-value")
    environments.dev.register("orders-value", draft({**MONEY, "name": "Order"}))
    environments.dev.register("Money", draft(more(MONEY, NOTE, {**NOTE, "name": "b"})))
    code, out, _ = environments.promote("--apply")
    assert code == exit_codes.FINDINGS
    assert "version 4 is incompatible with the versions in prod at its level FULL" in out
    assert environments.prod.versions("Money") == [1, 2]


def test_a_mode_without_writes_is_refused_as_not_permitted(environments: Environments) -> None:
    environments.prod.set_mode(Mode.READONLY)
    code, out, _ = environments.promote("Money.avsc")
    assert code == exit_codes.REFUSED
    assert "`Money`: it is in mode READONLY in prod" in out


def test_a_reference_outside_the_folder_has_to_exist_in_the_target(environments: Environments) -> None:
    environments.prod.register("pad-value", draft("string"))
    code, out, _ = environments.promote("orders-value.avsc")
    assert code == exit_codes.FINDINGS
    assert "version 2 refers to version 1 of `Money`, which prod lacks: add its file to the folder" in out
    environments.promote("Money.avsc", "--apply")
    assert environments.promote("orders-value.avsc", "--apply")[0] == exit_codes.CLEAN
    assert environments.history(environments.prod, "orders-value") == environments.history(
        environments.dev, "orders-value"
    )


def test_an_environment_may_be_a_context_of_the_same_registry(environments: Environments) -> None:
    code, out, err = environments.promote("--apply", target="staging")
    assert code == exit_codes.CLEAN, out + err
    assert environments.dev.versions(":.staging:orders-value") == [1, 2, 3]
    assert environments.promote("--exit-code", target="staging")[0] == exit_codes.CLEAN
    assert environments.promote(target="dev")[0] == exit_codes.USAGE


def test_an_interrupted_promotion_is_completed_by_the_next(environments: Environments) -> None:
    environments.prod.set_mode(Mode.IMPORT, "Money")
    environments.prod.register("Money", draft(MONEY), schema_id=3, version=1)
    code, out, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN, out + err
    note = "note: `Money` is in mode IMPORT in prod; when all is imported: contractlog mode unset --registry="
    assert note in err
    assert environments.history(environments.prod, "Money") == environments.history(environments.dev, "Money")
    code, _, err = environments.promote("--exit-code")
    assert code == exit_codes.CLEAN
    assert note in err


@pytest.mark.parametrize("registered", [0, 1, 2])
def test_a_subject_left_in_mode_import_gets_the_mode_of_the_manifest(
    environments: Environments, tmp_path: Path, registered: int
) -> None:
    prod = environments.prod
    prod.set_mode(Mode.IMPORT, "Money")
    for number, schema in enumerate((MONEY, more(MONEY, NOTE))[:registered]):
        schema_id = environments.dev.version("Money", number + 1).schema_id
        prod.register("Money", draft(schema), schema_id=schema_id, version=number + 1)
    (tmp_path / "contractlog.toml").write_text(f'{MANIFEST}[[subjects]]\nname = "Money"\nmode = "READWRITE"\n')
    code, _, err = environments.promote("Money.avsc", "--exit-code")
    assert code == exit_codes.FINDINGS
    assert "note: `Money` is in mode IMPORT in prod: `--apply` sets READWRITE, as in the manifest" in err
    assert prod.mode("Money") is Mode.IMPORT
    code, out, err = environments.promote("Money.avsc", "--apply")
    assert code == exit_codes.CLEAN, out + err
    assert "`Money`: mode IMPORT -> READWRITE in prod, as in the manifest" in out
    assert "is in mode IMPORT" not in err
    assert prod.mode("Money") is Mode.READWRITE
    assert environments.history(prod, "Money") == environments.history(environments.dev, "Money")
    assert environments.promote("Money.avsc", "--exit-code")[:2] == (exit_codes.CLEAN, "")


def test_settings_of_the_manifest_are_left_to_apply(environments: Environments, tmp_path: Path) -> None:
    (tmp_path / "contractlog.toml").write_text(f'{MANIFEST}[[subjects]]\nname = "orders-*"\nlevel = "FULL"\n')
    note = "1 setting of prod differs from the manifest, such as the level of `orders-value`; promotion does not"
    assert note in environments.promote()[2]
    code, _, err = environments.promote("--apply")
    assert (code, note in err, err.count("contractlog apply --environment=prod")) == (exit_codes.CLEAN, True, 1)
    assert environments.prod.level("orders-value") is Level.BACKWARD
    environments.prod.set_level(Level.FULL, "orders-value")
    assert "settings" not in environments.promote()[2]


def test_json_has_each_version_and_its_ids(environments: Environments) -> None:
    code, out, _ = environments.promote("Money.avsc", "--format", "json", "--apply")
    body = json.loads(out)
    assert code == exit_codes.CLEAN
    assert (body["format"], body["from"], body["to"], body["applied"]) == ("contractlog.promote/1", "dev", "prod", True)
    assert (body["refused"], body["notes"]) == ([], [])
    assert body["versions"][0] == {
        "subject": "Money",
        "outcome": "registered",
        "version": 1,
        "schema_id": 3,
        "target_version": 1,
        "target_schema_id": 3,
        "keeps_id": True,
    }


def test_a_subject_without_versions_in_the_source_is_named(environments: Environments, tmp_path: Path) -> None:
    (tmp_path / "new-value.avsc").write_text('"int"')
    assert "note: `new-value` has no version in dev: register its file there first" in environments.promote()[2]


def test_promote_needs_a_manifest_with_both_environments(environments: Environments, tmp_path: Path) -> None:
    assert "has no environment `qa`; it has dev, prod, staging" in environments.promote(target="qa")[2]
    (tmp_path / "contractlog.toml").unlink()
    code, _, err = environments.promote("Money.avsc")
    assert code == exit_codes.USAGE
    assert "promote needs a manifest with environments" in err


def test_associations_are_not_promoted_and_a_note_says_so(environments: Environments, tmp_path: Path) -> None:
    entry = '[[associations]]\ntopic = "orders"\nsubject = "Money"\nnamespace = "lkc-1"\n'
    (tmp_path / "contractlog.toml").write_text(f"{MANIFEST}\n{entry}")
    code, _, messages = environments.promote("--apply")
    assert code == exit_codes.CLEAN
    expected = "1 association of the manifest is not in prod, such as that of the value of topic `orders` with `Money`"
    assert expected in messages
    assert main(["apply", "--environment", "prod", "--quiet"]) == exit_codes.CLEAN
    assert "association" not in environments.promote("--apply")[2]
