"""A pulled manifest has the settings and associations of the registry, and creates them in an empty one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry, Resource
from contractlog.clients.calls.associations import AssociationDraft
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.association_keys import association_key
from contractlog.clients.cli.pull.manifest_import import import_subject_rules
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.operations import runner

LONG = SchemaDraft('"long"')
SUBJECTS = ("orders-value", "a.b*?[c]", ":.lkc-1:owner-key")
NAMES = st.sampled_from(["domain", "a.b", 'x"y', "é", "."])
TEXTS = st.sampled_from(["sales", "", 'a"b\\c\n', "é\x7f", "." * 300])
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(NAMES, TEXTS, max_size=2),
        "tags": st.dictionaries(NAMES, st.lists(st.sampled_from(["PII", "x.y"]), min_size=1, unique=True), max_size=2),
        "sensitive": st.lists(NAMES, max_size=2, unique=True),
    },
)
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["positive", "other"]),
            "kind": st.just("CONDITION"),
            "type": st.just("CUSTOM"),  # rules of type CEL are checked against the schema
            "mode": st.just("WRITE"),
            "expr": st.sampled_from(["message.n > 0", "a" + ".b" * 300]),
        },
        optional={
            "params": st.dictionaries(NAMES, TEXTS, max_size=2),
            "tags": st.just(["PII"]),
            "disabled": st.booleans(),
        },
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda rule: str(rule["name"]),
)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "compatibility": st.sampled_from(["FULL", "NONE", "BACKWARD"]),
        "normalize": st.booleans(),
        "validateFields": st.booleans(),
        "validateRules": st.booleans(),
        "compatibilityPolicy": st.sampled_from(["STRICT", "LENIENT"]),
        "contractlogPolicy": st.just("EXACT"),
        "compatibilityGroup": st.sampled_from(["major", "a.b"]),
        "defaultMetadata": METADATA,
        "overrideMetadata": METADATA,
        "defaultRuleSet": st.fixed_dictionaries({"domainRules": RULES}),
        "overrideRuleSet": st.fixed_dictionaries({"domainRules": RULES}),
    },
)
ASSOCIATIONS = st.dictionaries(
    st.tuples(st.sampled_from(["orders", "retries"]), st.sampled_from(["key", "value"])),
    st.sampled_from(SUBJECTS[:2]),
    max_size=3,
)


def state_of(registry: Registry) -> dict[str, Any]:
    """Return the settings and associations, with empty values left out."""
    associations = registry.associations_by_resource_name("-", namespace="-")
    subjects = {}
    for subject in registry.subjects():
        members = registry.config(subject).body()
        if "contractlogPolicy" in members:  # decides; the manifest has one policy
            members.pop("compatibilityPolicy", None)
        shown = {name: value for name, value in members.items() if value not in ({}, False, "STRICT")}
        subjects[subject] = (shown, registry.mode(subject))
    bound = {(association_key(each), each.resource_id, each.subject, each.lifecycle) for each in associations}
    return {"subjects": subjects, "associations": bound}


@settings(max_examples=4, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    configs=st.fixed_dictionaries(dict.fromkeys(SUBJECTS, CONFIGS)),
    modes=st.fixed_dictionaries(dict.fromkeys(SUBJECTS, st.sampled_from(["", "READWRITE", "READONLY"]))),
    associations=ASSOCIATIONS,
    is_owned=st.booleans(),
    topic_id=st.sampled_from(["lkc-1:{}", "uuid-{}"]),
)
def test_a_pulled_manifest_creates_the_same_settings_in_an_empty_registry(
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    configs: dict[str, dict[str, Any]],
    modes: dict[str, str],
    associations: dict[tuple[str, str], str],
    is_owned: bool,
    topic_id: str,
) -> None:
    folder = tmp_path_factory.mktemp("pulled")
    monkeypatch.chdir(folder)
    first, second = registries.make({}), registries.make({})
    source, target = Registry(app=first), Registry(app=second)
    for subject in SUBJECTS:
        source.register(subject, LONG)
    if is_owned:  # first, because default metadata would make another version of it
        owned = AssociationDraft(association_type="key", schema=LONG)
        source.bind(Resource("owner", "lkc-1", "lkc-1:owner"), [owned])
    for subject in SUBJECTS:
        if configs[subject]:
            source.set_config(configs[subject], subject)
    for (topic, part), subject in associations.items():
        draft = AssociationDraft(association_type=part, subject=subject)
        source.bind(Resource(topic, "lkc-1", topic_id.format(topic)), [draft])
    for subject, mode in modes.items():
        if mode:
            source.set_mode(mode, subject)

    run = runner(first, monkeypatch, capsys)
    assert run("pull", "--all", "--out", ".").code == exit_codes.CLEAN
    ran = run("plan", "--exit-code")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, ""), (folder / "contractlog.toml").read_text()
    run = runner(second, monkeypatch, capsys)
    ran = run("apply")
    assert ran.code == exit_codes.CLEAN, ran.out + ran.err
    assert state_of(target) == state_of(source)
    assert run("plan", "--exit-code").code == exit_codes.CLEAN
    for app in (first, second):
        app.state.close()


def test_a_name_with_different_settings_in_two_contexts_has_no_rule(registry: Registry) -> None:
    for subject in ("a", ":.x:a", "b", ":.x:b"):
        registry.register(subject, LONG)
    registry.set_config({"normalize": True}, "a")
    registry.set_config({"normalize": True}, "b")
    registry.set_config({"normalize": True}, ":.x:b")
    assert [rule.name for rule in import_subject_rules(registry, registry.subjects())] == ["b"]


def test_only_modes_that_a_manifest_may_set_are_written(registry: Registry) -> None:
    registry.set_mode(Mode.IMPORT, "a")
    assert list(import_subject_rules(registry, ["a"])) == []


def test_init_counts_settings_and_associations(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    registry = Registry(app=app)
    registry.register("orders-value", LONG)
    registry.set_config({"normalize": True}, "orders-value")
    registry.bind(Resource("orders", "k", "k:orders"), [AssociationDraft(subject="orders-value")])
    monkeypatch.chdir(tmp_path)
    ran = runner(app, monkeypatch, capsys)("init", "--from-registry")
    assert "settings of 1 subject, 1 association" in ran.err
    assert (
        '[[associations]]\ntopic = "orders"\nsubject = "orders-value"\nnamespace = "k"\n'
        in Path("contractlog.toml").read_text()
    )
    app.state.close()
