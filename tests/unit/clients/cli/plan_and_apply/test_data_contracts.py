"""Metadata and rules of versions: pulled to the lock, registered by ``apply``, compared by ``plan``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.lock_file import LOCK
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

SUBJECT = "a-value"
RECORD = {"type": "record", "name": "A", "fields": []}
OWNED = Metadata(properties={"owner": "ana"}, tags={"A.f": ("PII",)})
CHECKED = RuleSet(domain_rules=(Rule("positive", type="CEL", kind="CONDITION", expr="size(message) > 0"),))

Run = Callable[..., tuple[int, str, str]]
Use = Callable[[Registry], None]


def record(*fields: str) -> str:
    return json.dumps(RECORD | {"fields": [{"name": each, "type": "string", "default": ""} for each in fields]})


def contract(*fields: str, metadata: Metadata | None = None, rule_set: RuleSet | None = None) -> SchemaDraft:
    return SchemaDraft(record(*fields), metadata=metadata, rule_set=rule_set)


def list_contracts(registry: Registry, subject: str = SUBJECT) -> list[tuple[Any, Any]]:
    """Return metadata and rules of each version."""
    versions = (registry.version(subject, number) for number in registry.versions(subject))
    return [(each.metadata, each.rule_set) for each in versions]


def locked_contents(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the lock without what depends on the registry."""
    entries = json.loads((folder / LOCK).read_text())["schemas"]
    return [{name: value for name, value in each.items() if name != "id"} for each in entries]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Use:
    """Return a function that makes a registry that of all commands, which run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def use_registry(registry: Registry) -> None:
        for module in ("pull.runner", "plan_and_apply.runner", "check.against_option", "check.runner"):
            monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))

    return use_registry


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command, and returns its exit code and output."""

    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return run_command


@pytest.fixture
def empty(registries: Registries) -> Iterator[Registry]:
    """Return another registry, which is empty."""
    app = registries.make({})
    with Registry(app=app) as registry:
        yield registry
    app.state.close()


def test_a_pulled_folder_registers_metadata_and_rules_in_an_empty_registry(
    registry: Registry, empty: Registry, use: Use, run: Run
) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED, rule_set=CHECKED))
    registry.register("b-value", contract("f"))
    use(registry)
    assert run("pull", "--all", "--out", ".")[0] == exit_codes.CLEAN
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN
    use(empty)
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert list_contracts(empty) == [(OWNED, CHECKED)]
    assert list_contracts(empty, "b-value") == [(None, None)]
    assert empty.version(SUBJECT, 1).guid == registry.version(SUBJECT, 1).guid
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN


def test_the_same_text_with_other_metadata_is_drift(registry: Registry, use: Use, run: Run) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED, rule_set=CHECKED))
    use(registry)
    run("pull", "--all", "--out", ".")
    registry.register(SUBJECT, contract("f", metadata=Metadata(properties={"owner": "bob"}), rule_set=CHECKED))
    code, out, err = run("plan", ".", "--exit-code")
    assert code == exit_codes.FINDINGS
    assert "which have version 1: it has the same text, and other metadata. Pull the version" in out
    assert "nothing to change; the registry has drifted from the files" in err
    body = json.loads(run("plan", ".", "--format", "json")[1])
    assert body["drift"] == [{"subject": SUBJECT, "file": 1, "latest": 2, "differs_in": ["metadata"]}]
    assert run("pull", SUBJECT, "--out", ".")[0] == exit_codes.CLEAN
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN, "pulled, it is the version of the files"


def test_a_registered_text_with_other_metadata_than_locked_is_a_new_version(
    registry: Registry, empty: Registry, use: Use, run: Run
) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED))
    empty.register(SUBJECT, contract("f", rule_set=CHECKED))
    use(registry)
    run("pull", "--all", "--out", ".")
    use(empty)
    code, out, _ = run("plan", ".", "--out", "plan.json")
    assert code == exit_codes.CLEAN
    assert f"would be a new version of `{SUBJECT}`: it has the text of version 1, and other metadata" in out
    step = json.loads(run("plan", ".", "--format", "json")[1])["steps"][0]
    assert (step["metadata"], step["same_text_as"]) == (OWNED.body(), 1)
    assert run("apply", "--plan", "plan.json")[0] == exit_codes.CLEAN
    assert list_contracts(empty) == [(None, CHECKED), (OWNED, CHECKED)], "rules are copied from version 1"
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN


def test_metadata_that_the_manifest_is_about_to_add_are_no_difference(
    registry: Registry, empty: Registry, use: Use, run: Run
) -> None:
    Path("a-value.avsc").write_text(record("f"))
    Path("contractlog.toml").write_text(
        '[[files]]\npath = "a-value.avsc"\nmetadata = { properties = { team = "t" } }\n'
        '[[subjects]]\nname = "a-value"\nowner = "ana"\n'
    )
    promoted = Metadata(properties={"owner": "ana", "team": "t"})
    registry.register(SUBJECT, contract("f", metadata=promoted))
    for target in (registry, empty):
        use(target)
        code, out, err = run("plan")
        assert (code, "and other metadata" in out) == (exit_codes.CLEAN, False), out
        assert ("1 setting would be set" in err, "would be registered" in err) == (True, target is empty)
        assert run("apply")[0] == exit_codes.CLEAN
        assert list_contracts(target) == [(promoted, None)]
        assert run("plan", "--exit-code")[0] == exit_codes.CLEAN


def test_a_saved_plan_is_for_its_metadata(registry: Registry, empty: Registry, use: Use, run: Run) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED))
    use(registry)
    run("pull", "--all", "--out", ".")
    use(empty)
    run("plan", ".", "--out", "plan.json")
    lock = Path(LOCK)
    lock.write_text(lock.read_text().replace("ana", "bob"))
    code, _, err = run("apply", "--plan", "plan.json")
    assert code == exit_codes.FINDINGS
    assert "have changed since the plan" in err
    assert empty.subjects() == []


def test_a_new_text_has_the_metadata_of_the_latest_version(registry: Registry, use: Use, run: Run) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED))
    use(registry)
    run("pull", "--all", "--out", ".")
    later = Metadata(properties={"owner": "bob"})
    registry.register(SUBJECT, contract("f", metadata=later))
    Path("a-value.avsc").write_text(record("f", "g"))
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert [metadata for metadata, _ in list_contracts(registry)] == [OWNED, later, later]
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN


def test_an_edited_file_of_a_subject_without_versions_keeps_the_locked_metadata_and_rules(
    registry: Registry, empty: Registry, use: Use, run: Run
) -> None:
    registry.register(SUBJECT, contract("f", metadata=OWNED, rule_set=CHECKED))
    registry.register(SUBJECT, contract("f", "g", metadata=Metadata(), rule_set=CHECKED))
    use(registry)
    run("pull", "--all", "--history", "--out", ".")
    Path("2/a-value.avsc").write_text(record("f", "g", "h"))
    use(empty)
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert list_contracts(empty) == [(OWNED, CHECKED), (None, CHECKED)]


def test_a_folder_without_metadata_requests_and_shows_what_it_did_before(
    registry: Registry, use: Use, run: Run
) -> None:
    registry.register(SUBJECT, contract("f"))
    use(registry)
    run("pull", "--all", "--out", ".")
    registry.delete_subject(SUBJECT)
    registry.register(SUBJECT, contract("f", metadata=OWNED, rule_set=CHECKED))
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN
    Path("a-value.avsc").write_text(record("f", "g"))
    body = json.loads(run("plan", ".", "--format", "json")[1])
    assert body["steps"][0].keys() == {"action", "subject", "after_version", "file", "sha256", "references"}


MANIFEST = """
[[files]]
path = "**/a-value.avsc"
[files.metadata.properties]
owner = "ana"
[files.metadata.tags]
"A.f" = ["PII"]
[[files.rule_set.domainRules]]
name = "positive"
type = "CEL"
kind = "CONDITION"
expr = "size(message) > 0"
"""


def test_the_manifest_declares_metadata_and_rules_of_a_file(registry: Registry, use: Use, run: Run) -> None:
    use(registry)
    Path("contractlog.toml").write_text(MANIFEST)
    Path("a-value.avsc").write_text(record("f"))
    Path("b-value.avsc").write_text(record("f"))
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert list_contracts(registry) == [(OWNED, CHECKED)]
    assert list_contracts(registry, "b-value") == [(None, None)]
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN
    Path("contractlog.toml").write_text(MANIFEST.replace("ana", "bob"))
    assert "it has the text of version 1, and other metadata" in run("plan", ".")[1]
    code, out, _ = run("check", ".")
    assert code == exit_codes.CLEAN
    assert "note: it has the text of version 1, and other metadata\n" in out
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert [None if metadata is None else metadata.properties for metadata, _ in list_contracts(registry)] == [
        {"owner": "ana"},
        {"owner": "bob"},
    ]
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN


def test_the_manifest_declares_the_metadata_of_the_last_version_and_precedes_the_lock(
    registry: Registry, use: Use, run: Run
) -> None:
    bob = Metadata(properties={"owner": "bob"})
    for fields in (("f",), ("f", "g")):
        registry.register(SUBJECT, contract(*fields, metadata=bob, rule_set=CHECKED))
    use(registry)
    run("pull", "--all", "--history", "--out", ".")
    with Path("contractlog.toml").open("a") as manifest:
        manifest.write(MANIFEST)
    assert run("apply", ".")[0] == exit_codes.CLEAN
    assert list_contracts(registry) == [(bob, CHECKED), (bob, CHECKED), (OWNED, CHECKED)]
    assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN


def test_rules_that_a_registry_rejects_have_a_line(registry: Registry, use: Use, run: Run) -> None:
    use(registry)
    Path("contractlog.toml").write_text(f"{MANIFEST}{MANIFEST.replace('positive', '1st')}")
    Path("a-value.avsc").write_text(record("f"))
    code, _, err = run("check", ".")
    assert code == exit_codes.USAGE
    lines = [number for number, line in enumerate(f"{MANIFEST}{MANIFEST}".split("\n"), 1) if "domainRules" in line]
    reason = "the registry would reject these rules: Illegal initial character: 1st"
    assert err == f"contractlog: contractlog.toml:{lines[1]}:1: {reason}\n"


def test_a_registry_that_ignores_rules_is_named(registries: Registries, use: Use, run: Run) -> None:
    app = registries.make({})

    async def ignore_rules(scope: Any, receive: Any, send: Any) -> None:
        async def receive_less() -> Any:
            message = await receive()
            if scope["path"].endswith("/versions") and message.get("body"):
                body = json.loads(message["body"])
                body.pop("ruleSet", None)
                message = {**message, "body": json.dumps(body).encode()}
            return message

        await app(scope, receive_less if scope["type"] == "http" else receive, send)

    with Registry(app=ignore_rules) as registry:
        registry.register(SUBJECT, contract("f", metadata=OWNED))
        use(registry)
        Path("contractlog.toml").write_text(MANIFEST)
        Path("a-value.avsc").write_text(record("f"))
        code, out, _ = run("apply", ".")
        assert code == exit_codes.FINDINGS
        assert "a-value.avsc is not registered with its metadata or rules, because this registry ignores them" in out
        assert list_contracts(registry) == [(OWNED, None)]
    app.state.close()


CONTRACTS = st.tuples(
    st.sampled_from(["f", "g", "h"]),
    st.sampled_from([None, Metadata(), OWNED, Metadata(properties={"owner": "bob", "confluent:version": "7"})]),
    st.sampled_from([None, RuleSet(), CHECKED]),
)


@settings(max_examples=6, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    subjects=st.dictionaries(
        st.sampled_from(["a-value", "b-value"]), st.lists(CONTRACTS, min_size=1, max_size=4), min_size=1
    )
)
def test_what_was_pulled_and_applied_to_an_empty_registry_is_pulled_again(
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    use: Use,
    run: Run,
    *,
    subjects: dict[str, list[tuple[str, Metadata | None, RuleSet | None]]],
) -> None:
    first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    with open_registry(registries) as source, open_registry(registries) as target:
        for subject, drafts in subjects.items():
            source.set_level("NONE", subject)
            for field, metadata, rule_set in drafts:
                source.register(subject, contract(field, metadata=metadata, rule_set=rule_set))
        use(source)
        monkeypatch.chdir(first)
        assert run("pull", "--all", "--history", "--out", ".")[0] == exit_codes.CLEAN
        assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN
        use(target)
        assert run("apply", ".")[0] == exit_codes.CLEAN
        assert run("plan", ".", "--exit-code")[0] == exit_codes.CLEAN
        monkeypatch.chdir(second)
        assert run("pull", "--all", "--history", "--out", ".")[0] == exit_codes.CLEAN
        assert locked_contents(second) == locked_contents(first)


@contextmanager
def open_registry(registries: Registries) -> Iterator[Registry]:
    app = registries.make({})
    with Registry(app=app) as registry:
        yield registry
    app.state.close()
