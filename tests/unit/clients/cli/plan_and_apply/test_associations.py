"""Associations of the manifest: planned, checked, applied once, pruned, and promoted by nobody."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry, Resource
from contractlog.clients.calls.associations import AssociationDraft
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.testing import Registries

from support.limited_servers import imitate_release
from support.operations import runner

LONG = SchemaDraft('"long"')
ENVIRONMENT = """
[environments.prod]
registry = "http://prod:8081"
context = ".prod"
"""
VALUE = """
[[associations]]
topic = "orders"
subject = "shop"
namespace = "lkc-1"
"""
KEY = """
[[associations]]
topic = "orders"
part = "key"
subject = "shop-key"
namespace = "lkc-1"
"""
OWNED = """
[[associations]]
topic = "orders"
subject = "orders-value"
lifecycle = "STRONG"
"""
FILES = '[[files]]\npath = "shop.avsc"\nsubjects = ["shop"]\n'


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("plan_and_apply.runner", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    for name in ("shop", "shop-key", "orders-value"):
        (tmp_path / f"{name}.avsc").write_text('"long"')
    return tmp_path


def write(folder: Path, *tables: str) -> None:
    (folder / "contractlog.toml").write_text("\n".join((*tables, FILES)))


def listed(registry: Registry) -> list[tuple[str | None, ...]]:
    found = registry.associations_by_resource_name("-", namespace="-")
    return sorted(
        (each.resource_namespace, each.resource_name, each.association_type, each.subject, each.lifecycle)
        for each in found
    )


def bind(registry: Registry, subject: str, topic: str = "orders", part: str = "value", **more: Any) -> None:
    draft = AssociationDraft(association_type=part, subject=subject, **more)
    registry.bind(Resource(topic, "lkc-1", f"lkc-1:{topic}"), [draft])


def test_associations_are_set_once_after_the_registrations(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, VALUE, KEY)
    assert main(["check"]) == exit_codes.CLEAN
    assert main(["plan", "--out", "plan.json"]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "bind the value of topic `orders` to `shop` (WEAK)" in output.out
    assert "3 versions would be registered, 2 associations would be set" in output.err
    assert main(["apply", "--plan", "plan.json", "--format", "json"]) == exit_codes.CLEAN
    body = json.loads(capsys.readouterr().out)
    assert [(each["topic_id"], each["part"]) for each in body["associations"]] == [
        ("lkc-1:orders", "value"),
        ("lkc-1:orders", "key"),
    ]
    expected = [("lkc-1", "orders", "key", "shop-key", "WEAK"), ("lkc-1", "orders", "value", "shop", "WEAK")]
    assert listed(registry) == expected
    for arguments in (["plan", "--exit-code"], ["apply"], ["apply", "--plan", "plan.json"]):
        assert main(arguments) == exit_codes.CLEAN
    assert listed(registry) == expected


def test_a_topic_owns_the_subject_of_its_context(registry: Registry, folder: Path) -> None:
    write(folder, ENVIRONMENT, OWNED)
    (folder / "orders-value.avsc").unlink()
    for version, text in (("1", '"long"'), ("2", '"double"')):
        (folder / version).mkdir()
        (folder / version / "orders-value.avsc").write_text(text)
    assert main(["apply", "--environment", "prod"]) == exit_codes.CLEAN
    assert listed(registry) == [("prod", "orders", "value", ":.prod:orders-value", "STRONG")]
    assert registry.versions(":.prod:orders-value") == [1, 2]
    assert main(["plan", "--environment", "prod", "--exit-code"]) == exit_codes.CLEAN


def test_a_subject_with_one_version_is_owned_before_its_next_one(registry: Registry, folder: Path) -> None:
    registry.register(":.prod:orders-value", SchemaDraft('"int"'))
    write(folder, ENVIRONMENT, OWNED)
    assert main(["apply", "--environment", "prod"]) == exit_codes.CLEAN
    assert listed(registry) == [("prod", "orders", "value", ":.prod:orders-value", "STRONG")]


def test_the_registry_may_know_another_id_of_the_topic(registry: Registry, folder: Path) -> None:
    registry.register("other", LONG)
    draft = AssociationDraft(association_type="key", subject="other")
    registry.bind(Resource("orders", "lkc-1", "a-uuid"), [draft])
    write(folder, VALUE)
    assert main(["apply"]) == exit_codes.CLEAN
    assert {each.resource_id for each in registry.associations_of_subject("shop")} == {"a-uuid"}
    write(folder, f'{VALUE}topic_id = "b-uuid"\n')
    assert main(["plan"]) == exit_codes.FINDINGS


@pytest.mark.parametrize("part", ["key", "value"])
def test_a_topic_whose_default_id_belongs_to_another_resource_gets_a_new_id(
    registry: Registry, folder: Path, part: str
) -> None:
    registry.register("other", LONG)
    draft = AssociationDraft(association_type=part, subject="other")
    registry.bind(Resource("squatter", "lkc-1", "lkc-1:orders"), [draft])
    write(folder, VALUE, KEY)
    assert main(["check"]) == exit_codes.CLEAN
    assert main(["plan", "--out", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    found = registry.associations_by_resource_name("orders", namespace="lkc-1")
    assert sorted(str(each.association_type) for each in found) == ["key", "value"]
    (topic_id,) = {str(each.resource_id) for each in found}
    assert topic_id.startswith("lkc-1:orders:")
    for arguments in (["plan", "--exit-code"], ["apply"]):
        assert main(arguments) == exit_codes.CLEAN


def test_another_subject_takes_the_place_of_the_one_that_is_bound(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("old", LONG)
    bind(registry, "old")
    write(folder, VALUE)
    assert main(["check"]) == exit_codes.CLEAN
    assert main(["plan", "--out", "plan.json"]) == exit_codes.CLEAN
    assert "bind the value of topic `orders` to `shop` (WEAK), not to `old`" in capsys.readouterr().out
    registry.unbind("lkc-1:orders")  # an apply was killed in between
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert listed(registry) == [("lkc-1", "orders", "value", "shop", "WEAK")]
    bind_again = VALUE.replace("shop", "orders-value")
    write(folder, bind_again)
    assert main(["apply"]) == exit_codes.CLEAN
    assert listed(registry) == [("lkc-1", "orders", "value", "orders-value", "WEAK")]


def test_a_plan_is_stale_if_another_subject_was_bound_since(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, VALUE)
    assert main(["plan", "--out", "plan.json"]) == exit_codes.CLEAN
    registry.register("other", LONG)
    bind(registry, "other")
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    assert "the subject has changed since" in capsys.readouterr().err
    assert registry.subjects() == ["other"]


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([VALUE.replace('"lkc-1"', '"lkc.1"')], "toml:2: the value of topic `orders` cannot be bound to `shop`: The "),
        ([VALUE.replace('namespace = "lkc-1"', "")], "the topic has no namespace: set `namespace` for it or for the"),
        ([VALUE.replace('"shop"', '"missing"')], "this subject has neither a version nor a file"),
        ([OWNED], "the topic has no namespace"),
        ([f'{OWNED}namespace = "lkc-1"\n'], "a topic can own (STRONG) only the subject `:.lkc-1:orders-value`"),
        ([VALUE, VALUE], "line 8 binds it, too"),
        (
            [VALUE, f'{KEY}lifecycle = "STRONG"'],
            "all associations of a topic have one lifecycle, and line 8 has STRONG",
        ),
        ([VALUE, f'{KEY}topic_id = "x"'], "the topic has another id in line 2"),
        (
            [VALUE.replace("orders", "owner")],
            "the key of topic `own` is bound to this subject with the lifecycle STRONG",
        ),
    ],
)
def test_an_association_that_cannot_be_set_is_found_before_anything_is_written(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], tables: list[str], reason: str
) -> None:
    if "owner" in tables[0]:
        registry.bind(Resource("own", "k", "k:own"), [AssociationDraft(association_type="key", schema=LONG)])
        tables = [tables[0].replace('"shop"', '":.k:own-key"')]
    before = registry.subjects()
    write(folder, *tables)
    for verb in ("check", "plan", "apply"):
        assert main([verb]) == exit_codes.FINDINGS
        output = capsys.readouterr()
        assert reason in output.out
        assert "cannot be set: change [[associations]]" in output.err
    assert registry.subjects() == before
    assert main(["check", "--format", "json"]) == exit_codes.FINDINGS
    rejected = json.loads(capsys.readouterr().out)["rejected_associations"]
    assert any(each["reason"] in output.out for each in rejected)


def test_a_subject_that_a_file_refers_to_cannot_be_owned(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "orders-value.avsc").write_text('{"type": "record", "name": "Money", "fields": []}')
    order = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
    (folder / "lines-value.avsc").write_text(json.dumps(order))
    write(folder, ENVIRONMENT, OWNED)
    assert main(["plan", "--environment", "prod"]) == exit_codes.FINDINGS
    assert "`lines-value.avsc` refers to this subject, which a topic cannot own then" in capsys.readouterr().out


def test_a_read_only_subject_is_bound_if_the_manifest_ends_the_mode(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("shop", LONG)
    registry.set_mode(Mode.READONLY, "shop")
    write(folder, VALUE)
    for verb in ("check", "plan", "apply"):
        assert main([verb]) == exit_codes.REFUSED
        assert "Subject shop in context . is in read-only mode" in capsys.readouterr().out
    write(folder, '[[subjects]]\nname = "shop"\nlevel = "FULL"\nmode = "READWRITE"\n', VALUE)
    assert main(["check"]) == exit_codes.CLEAN
    assert main(["apply"]) == exit_codes.CLEAN
    assert listed(registry) == [("lkc-1", "orders", "value", "shop", "WEAK")]
    write(folder, '[[subjects]]\nname = "*"\nmode = "READONLY"\n', VALUE, KEY)
    assert main(["apply"]) == exit_codes.CLEAN
    assert [registry.mode(each) for each in registry.subjects()] == [Mode.READONLY] * 3
    assert main(["plan", "--exit-code"]) == exit_codes.CLEAN


def test_only_associations_of_owned_subjects_are_drift_and_pruned(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, '[[subjects]]\nname = "shop*"\n', VALUE)
    assert main(["apply"]) == exit_codes.CLEAN
    bind(registry, "shop-key", part="key")
    bind(registry, "orders-value", "foreign")
    registry.register("shop-gone", LONG)
    bind(registry, "shop-gone", "gone")
    capsys.readouterr()
    assert main(["plan", "--exit-code"]) == exit_codes.FINDINGS
    output = capsys.readouterr().out
    assert "drift: `shop-key`: the key of topic `orders` is bound to it, and [[associations]] has no such" in output
    assert "foreign" not in output
    assert main(["apply"]) == exit_codes.CLEAN
    assert len(listed(registry)) == 4
    assert main(["plan", "--prune", "--out", "plan.json"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert main(["apply", "--plan", "plan.json", "--allow-delete"]) == exit_codes.CLEAN
    assert [each[1] for each in listed(registry)] == ["foreign", "orders"]
    assert "shop-gone" not in registry.subjects()
    assert main(["plan", "--prune", "--exit-code"]) == exit_codes.CLEAN
    assert main(["apply", "--plan", "plan.json", "--allow-delete"]) == exit_codes.CLEAN


def test_a_subject_without_a_file_is_not_deleted_while_a_topic_needs_it(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("old", LONG)
    write(folder, '[[subjects]]\nname = "old"\n', VALUE.replace("shop", "old"))
    assert main(["apply"]) == exit_codes.CLEAN
    assert main(["plan", "--prune"]) == exit_codes.FINDINGS
    expected = "`old` has no file, and cannot be deleted: it is referenced by an association (WEAK) of the value of"
    assert expected in capsys.readouterr().out


def test_a_part_of_the_folder_has_only_the_associations_of_its_subjects(registry: Registry, folder: Path) -> None:
    write(folder, '[[subjects]]\nname = "*"\n', VALUE, KEY)
    assert main(["apply", "shop-key.avsc", "--manifest", "contractlog.toml"]) == exit_codes.CLEAN
    assert listed(registry) == [("lkc-1", "orders", "key", "shop-key", "WEAK")]


def test_the_report_has_tables_of_associations(folder: Path, registry: Registry) -> None:
    registry.register("old", LONG)
    bind(registry, "old", part="key")
    write(folder, VALUE, KEY)
    assert main(["plan", "--report", "markdown=.plan.md"]) == exit_codes.CLEAN
    text = (folder / ".plan.md").read_text()
    assert "Associations" in text
    assert "| orders | key | WEAK | old | shop-key |" in text
    write(folder, VALUE.replace("lkc-1", "lkc.1"))
    assert main(["check", "--report", "sarif=.check.sarif"]) == exit_codes.FINDINGS
    [result] = json.loads((folder / ".check.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["locations"][0]["physicalLocation"]["region"]["startLine"]) == (
        "ASSOCIATION_REJECTED",
        2,
    )


def test_a_registry_without_associations_is_named_and_the_rest_is_applied(
    registries: Registries, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    app = registries.make({"response_profile": Profile.SEVEN})
    run = runner(imitate_release(app, Profile.SEVEN), monkeypatch, capsys)
    write(folder, VALUE)
    assert run("check").code == exit_codes.CLEAN
    planned = run("plan", "--out", "plan.json")
    assert planned.code == exit_codes.CLEAN
    assert "note: whether this registry has associations is not known" in planned.err
    ran = run("apply", "--plan", "plan.json")
    assert ran.code == exit_codes.FINDINGS
    expected = (
        "✗ association of the value of topic `orders` with `shop`: not set, because this registry has no associations"
    )
    assert expected in ran.out
    assert "1 association could not be set: remove from the manifest what this registry does not have" in ran.err
    write(folder)
    assert run("plan", "--exit-code").err.endswith("nothing to change\n")
    app.state.close()


def test_a_topic_with_a_dot_is_rejected_with_the_rule_of_the_api(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("contractlog.clients.cli.check.runner.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    Path("Order.avsc").write_text('{"type": "record", "name": "Order", "namespace": "com.acme", "fields": []}')
    manifest = '[[associations]]\ntopic = "{}"\nsubject = "com.acme.Order"\nnamespace = "lkc-1"\n'
    Path("contractlog.toml").write_text(manifest.format("orders"))
    assert main(["check", "."]) == exit_codes.CLEAN, "a subject may have dots"
    Path("contractlog.toml").write_text(manifest.format("orders.v1"))
    assert main(["check", "."]) == exit_codes.FINDINGS
    assert "only for topics named with letters, digits, `_` and `-`" in capsys.readouterr().out
