"""A green check is a promise: what the registry refuses, `check` and `plan` say before anything is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry, Resource, Security
from contractlog.clients.calls.associations import AssociationDraft
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.testing import Registries

from support.limited_servers import remove_extensions
from support.operations import Run, runner

LONG = SchemaDraft('"long"')
SECRET = "secret"  # noqa: S105 - of a registry in memory
#: Read and write patterns; the steps are about subjects `s-…`, and about topics whose own subjects are `topic-…-value`.
USERS = {
    "admin": ([], ["*"]),
    "reader": (["*"], ["other-*"]),
    "subject-writer": (["*"], ["s-*"]),
    "topic-writer": (["*"], ["topic-*"]),
}
RULE = '[[domainRules]]\nname = "positive"\nkind = "CONDITION"\ntype = "CEL"\nmode = "WRITE"\nexpr = "true"\n'
WAIVER = """
[[waivers]]
subject = "{subject}"
check = "AVRO_TYPE_CHANGED"
reason = "no reader yet"
by = "ana@example.com"
until = 2999-01-01
"""


def bind(registry: Registry, subject: str, topic: str) -> None:
    draft = AssociationDraft(association_type="value", subject=subject)
    registry.bind(Resource(topic, "lkc-1", f"lkc-1:{topic}"), [draft])


def association(subject: str, **members: str) -> str:
    entries = {"topic": f"topic-{subject}", "subject": subject, "namespace": "lkc-1", **members}
    return "[[associations]]\n" + "".join(f'{key} = "{value}"\n' for key, value in entries.items())


@dataclass(frozen=True)
class Case:
    """A folder with a file of a subject, whose plan has one kind of step."""

    name: str
    manifest: str = ""  #: below `[[subjects]]` and the name; has `{subject}`
    text: str = '"long"'
    registered: bool = True
    prepare: Callable[[Registry, str], None] | None = None
    arguments: tuple[str, ...] = ()  #: of `plan` and `apply`

    @property
    def subject(self) -> str:
        return f"s-{self.name}-value"

    def write(self, folder: Path) -> None:
        folder.mkdir()
        (folder / f"{self.subject}.avsc").write_text(self.text)
        pattern = f"{self.subject}*" if "--prune" in self.arguments else self.subject
        rule = f'[[subjects]]\nname = "{pattern}"\n'
        (folder / "contractlog.toml").write_text(rule + self.manifest.replace("{subject}", self.subject))


def settings() -> Iterator[Case]:
    values = {
        "level": '"FULL"',
        "mode": '"READONLY"',
        "normalize": "true",
        "policy": '"LENIENT"',
        "compatibility_group": '"major"',
        "validate_fields": "true",
        "validate_rules": "true",
        "owner": '"team"',
    }
    for key, value in values.items():
        yield Case(key, f"{key} = {value}\n")
    for key in ("default_metadata", "override_metadata"):
        yield Case(key, f'[subjects.{key}.properties]\ndomain = "sales"\n')
    for key in ("default_rule_set", "override_rule_set"):
        yield Case(key, RULE.replace("[[", f"[[subjects.{key}."))
    yield Case("closed", 'level = "FULL"\nmode = "READONLY"\n')
    yield Case("opened", 'level = "FULL"\nmode = "READWRITE"\n')
    yield Case("opened-version", 'level = "NONE"\nmode = "READWRITE"\n', '"string"')
    yield Case("closed-version", 'mode = "READONLY"\n', '"double"')


def rebind(registry: Registry, subject: str) -> None:
    registry.register(f"{subject}-old", LONG)
    bind(registry, f"{subject}-old", f"topic-{subject}")


def unbind(registry: Registry, subject: str) -> None:
    bind(registry, subject, f"topic-{subject}")


CASES = (
    *settings(),
    Case("version", text='"double"'),
    Case("first-version", registered=False),
    Case("waived", f'level = "BACKWARD"\n{WAIVER}', '"string"', arguments=("--use-waivers",)),
    Case("bound", association("{subject}")),
    Case("bound-first", association("{subject}"), registered=False),
    Case("bound-opened", f'mode = "READWRITE"\n{association("{subject}")}'),
    Case("rebound", association("{subject}"), prepare=rebind),
    Case("rebound-opened", f'mode = "READWRITE"\n{association("{subject}")}', prepare=rebind),
    Case("unbound", prepare=unbind, arguments=("--prune",)),
    Case("unbound-opened", 'mode = "READWRITE"\n', prepare=unbind, arguments=("--prune",)),
    Case(
        "deleted",
        prepare=lambda registry, subject: registry.register(f"{subject}-old", LONG) and None,
        arguments=("--prune",),
    ),
)


@dataclass(frozen=True)
class Obstacle:
    """A caller, and a mode of the subjects, of their context or of the whole registry."""

    user: str = "admin"
    mode: Mode | None = None
    scope: str = ""  #: empty: each subject


OBSTACLES = (
    Obstacle(),
    *(Obstacle(user) for user in USERS if user != "admin"),
    *(Obstacle(mode=mode) for mode in (Mode.READONLY, Mode.READONLY_OVERRIDE, Mode.IMPORT)),
    Obstacle(mode=Mode.READONLY, scope=":.:"),
    Obstacle(mode=Mode.FORWARD, scope=":.__GLOBAL:"),
    Obstacle("subject-writer", Mode.READONLY),
)


#: Settings that each obstacle treats like others: tried with three obstacles, of which one lets everything pass.
ALIKE = {
    "normalize",
    "policy",
    "compatibility_group",
    "validate_fields",
    "validate_rules",
    "owner",
    "default_metadata",
    "override_metadata",
    "default_rule_set",
    "override_rule_set",
}
THOROUGH = (Obstacle(), Obstacle("reader"), Obstacle(mode=Mode.READONLY))


@pytest.fixture
def app(registries: Registries, tmp_path: Path) -> Iterator[Any]:
    file = tmp_path / "users.toml"
    password = HashedPassword.of(SECRET, n=2, r=1, p=1)
    file.write_text("".join(format_entry(name, password, *permitted) for name, permitted in USERS.items()))
    made = registries.make({"users_file": str(file)})
    yield made
    made.state.close()


@pytest.fixture
def admin(app: Any) -> Iterator[Registry]:
    with Registry(app=app, security=Security(user="admin", password=SECRET)) as registry:
        yield registry


@pytest.fixture
def run_as(app: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Run]:
    """Return the command line of a user."""

    def log_in(user: str) -> Run:
        monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", user)
        monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", SECRET)
        return runner(app, monkeypatch, capsys)

    return log_in


def test_a_subject_that_may_not_be_read_is_named_with_its_file(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    users = tmp_path / "users.toml"
    users.write_text(format_entry("ci", HashedPassword.of(SECRET, n=2, r=1, p=1), [], ["s-*"]))
    app = registries.make({"users_file": str(users)})
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "ci")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", SECRET)
    run = runner(app, monkeypatch, capsys)
    for subject in ("s-value", "t-value"):
        (tmp_path / f"{subject}.avsc").write_text(LONG.text)
    for verb in ("check", "plan", "apply"):
        ran = run(verb, str(tmp_path))
        assert ran.code == exit_codes.REFUSED
        assert "user `ci` has no permission to read `t-value`: ask an operator of the registry\n" in ran.err
        assert ran.err.endswith(f"it is the subject of {tmp_path / 't-value.avsc'}\n")
    app.state.close()


def prepare(admin: Registry, case: Case) -> None:
    if case.registered:
        admin.register(case.subject, LONG)
    if case.prepare is not None:
        case.prepare(admin, case.subject)
    if "waivers" in case.manifest:
        admin.set_level(Level.BACKWARD, case.subject)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=str)
def test_a_plan_that_the_registry_refuses_is_refused_before_anything_is_written(
    admin: Registry,
    run_as: Callable[[str], Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    obstacle: Obstacle,
) -> None:
    cases = [case for case in CASES if obstacle in THOROUGH or case.name not in ALIKE]
    for case in cases:
        prepare(admin, case)
    if obstacle.mode is not None:
        scopes = [obstacle.scope] if obstacle.scope else [*admin.subjects(), *(case.subject for case in cases)]
        for scope in dict.fromkeys(scopes):
            admin.set_mode(obstacle.mode, scope, force=True)
    run = run_as(obstacle.user)
    applied = []
    for case in cases:
        folder = tmp_path / case.name
        case.write(folder)
        monkeypatch.chdir(folder)
        before = admin.changes("latest")
        permission = ("--allow-delete",) if "--prune" in case.arguments else ()
        options = tuple(each for each in case.arguments if each == "--prune")
        checked, planned = run("check"), run("plan", *options)
        assert admin.changes("latest") == before
        ran = run("apply", *case.arguments, *permission)
        assert planned.code == ran.code, (case.name, planned, ran)
        if not options:
            assert checked.code == ran.code, (case.name, checked, ran)
        if ran.code == exit_codes.CLEAN:
            applied.append(case.name)
            assert run("plan", *options, "--exit-code").code == exit_codes.CLEAN, case.name
            continue
        assert ran.code == exit_codes.REFUSED, (case.name, ran)
        assert admin.changes("latest") == before, case.name
        words = ("no permission", "denied", " in mode ", "in read-only mode")
        causes = {line for line in ran.out.splitlines() if any(word in line for word in words)}
        assert causes, ran
        assert causes <= set(planned.out.splitlines())
        if not options:
            assert causes <= set(checked.out.splitlines())
    assert bool(applied) is (obstacle.user in {"admin", "subject-writer"})
    assert len(applied) == len(cases) if obstacle == Obstacle() else len(applied) < len(cases)


def test_a_refused_change_has_the_line_of_the_manifest_in_every_format(
    admin: Registry, run_as: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case("level", 'level = "FULL"\nowner = "team"\n')
    prepare(admin, case)
    case.write(tmp_path / "folder")
    monkeypatch.chdir(tmp_path / "folder")
    admin.set_mode(Mode.READONLY, case.subject)
    run = run_as("admin")
    expected = (
        f"level and override_metadata of `{case.subject}` cannot be set: it is in mode READONLY, which rejects "
        f"changes; to permit them: contractlog mode set {case.subject} READWRITE"
    )
    for verb in ("check", "plan", "apply"):
        ran = run(verb)
        assert f"contractlog.toml:1: {expected}" in ran.out
        assert "1 change is not permitted: ask an operator of the registry" in ran.err
    for verb in ("check", "plan"):
        [refused] = run(verb, "--format", "json").body["refused_changes"]
        assert (refused["action"], refused["settings"], refused["line"]) == ("set", ["level", "override_metadata"], 1)
        [result] = run(verb, "--format", "sarif").body["runs"][0]["results"]
        location = result["locations"][0]["physicalLocation"]
        assert (result["ruleId"], result["message"]["text"]) == ("NOT_PERMITTED", expected)
        assert (location["artifactLocation"]["uri"], location["region"]["startLine"]) == ("contractlog.toml", 1)
        assert "::error file=contractlog.toml,line=1,title=NOT_PERMITTED" in run(verb, "--format", "github").out
        for name in ("gitlab", "junit", "markdown"):
            assert "NOT_PERMITTED" in run(verb, "--format", name).out
    assert run("check", "--format", "json").body["permitted"] is False
    assert run("mode", "set", case.subject, "READWRITE").code == exit_codes.CLEAN
    assert run("apply").code == exit_codes.CLEAN


def test_permissions_of_a_context_are_requested_once(
    app: Any, admin: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "contractlog.toml").write_text('[[subjects]]\nname = "*"\nlevel = "FULL"\n')
    for number in range(10):
        (tmp_path / f"s{number}-value.avsc").write_text('"long"')
        admin.register(f"s{number}-value", LONG)
    monkeypatch.chdir(tmp_path)
    targets: list[str] = []

    async def count_requests(scope: Any, receive: Any, send: Any) -> None:
        targets.append(scope["path"])
        await app(scope, receive, send)

    monkeypatch.setenv("CONTRACTLOG_REGISTRY_USER", "admin")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", SECRET)
    assert runner(count_requests, monkeypatch, capsys)("check").code == exit_codes.CLEAN
    assert [target for target in targets if "/permissions/" in target] == ["/contractlog/v1/permissions/:.:"]


def test_a_registry_without_permissions_is_named(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = registries.make({})
    run = runner(remove_extensions(made), monkeypatch, capsys)
    case = Case("level", 'level = "FULL"\n', registered=False)
    case.write(tmp_path / "folder")
    monkeypatch.chdir(tmp_path / "folder")
    assert run("register", f"{case.subject}.avsc").code == exit_codes.CLEAN
    note = "note: this registry does not show permissions: whether you may make these changes is not known"
    for verb in ("check", "plan"):
        ran = run(verb)
        assert ran.code == exit_codes.CLEAN
        assert note in ran.err
    assert run("mode", "set", case.subject, "READONLY").code == exit_codes.CLEAN
    assert [run(verb).code for verb in ("check", "plan", "apply")] == [exit_codes.REFUSED] * 3
    made.state.close()


def test_the_mode_of_an_aliased_subject_is_that_of_its_target(
    admin: Registry, run_as: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.register("s-target-value", LONG)
    admin.set_mode(Mode.READONLY, "s-target-value")
    admin.set_config({"alias": "s-target-value"}, "s-alias-value")
    (tmp_path / "s-alias-value.avsc").write_text('"double"')
    monkeypatch.chdir(tmp_path)
    run = run_as("admin")
    for verb in ("check", "plan", "apply", "register"):
        ran = run(verb, "s-alias-value.avsc")
        assert ran.code == exit_codes.REFUSED
        assert (
            "cannot be registered under `s-alias-value`: `s-target-value` is in mode READONLY, and new versions can be "
            "registered only in mode READWRITE\n"
        ) in ran.out
    admin.set_mode(Mode.READWRITE, "s-target-value")
    assert [run(verb, "s-alias-value.avsc").code for verb in ("check", "apply")] == [exit_codes.CLEAN] * 2


def test_a_schema_does_not_refer_to_a_subject_that_a_topic_owns(
    admin: Registry, run_as: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    money = json.dumps({"type": "record", "name": "Money", "fields": []})
    draft = AssociationDraft(association_type="value", subject=":.lkc-1:s-money-value", schema=SchemaDraft(money))
    admin.bind(Resource("s-money", "lkc-1", "lkc-1:s-money"), [draft])
    line = {"type": "record", "name": "Line", "fields": [{"name": "total", "type": "Money"}]}
    (tmp_path / "s-line-value.avsc").write_text(json.dumps(line))
    monkeypatch.chdir(tmp_path)
    run = run_as("admin")
    before = admin.changes("latest")
    for verb in ("check", "plan", "apply", "register"):
        ran = run(verb, "s-line-value.avsc", "--reference", "Money=:.lkc-1:s-money-value:1")
        assert ran.code == exit_codes.REFUSED, ran
        assert (
            "topic `s-money` owns `:.lkc-1:s-money-value` (lifecycle STRONG), to which no schema may refer" in ran.out
        )
    assert admin.changes("latest") == before
