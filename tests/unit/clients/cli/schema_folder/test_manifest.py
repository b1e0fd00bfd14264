"""The manifest of a folder of schemas."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.schema_folder.collection import collect_files
from contractlog.clients.cli.schema_folder.environment import resolve_environment, select_environment
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, find_manifest, load_manifest
from contractlog.clients.settings import environment_variables
from contractlog.compatibility.errors import UsageError
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroSerializer
from contractlog.serdes.json_schema import JSONSerializer

LINT = '[[lint]]\nrule = "LINT_AVRO_ENUM_EMPTY"\nseverity = "off"\n'
RECORD = json.dumps({"type": "record", "name": "a.Order", "fields": []})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def subjects(folder: Path, manifest: str, *names: str, text: str = RECORD, **more: Any) -> dict[str, list[str]]:
    """Write the manifest and files; return the files of each subject."""
    (folder / MANIFEST).write_text(manifest)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    groups = collect_files(["."], manifest=load_manifest(Path(MANIFEST)), **more)
    return {subject: [str(file.path) for file in files] for subject, files in groups.items()}


def test_a_file_has_the_subjects_of_the_first_rule_that_matches(folder: Path) -> None:
    manifest = """
        [[files]]
        path = "events/*.avsc"
        subjects = ["{type}", "{name}-events"]
        [[files]]
        path = "**"
        subjects = ["all-{name}"]
    """
    assert subjects(folder, manifest, "events/placed.avsc", "other/x.avsc", "events/deep/y.avsc") == {
        "a.Order": ["events/placed.avsc"],
        "placed-events": ["events/placed.avsc"],
        "all-y": ["events/deep/y.avsc"],
        "all-x": ["other/x.avsc"],
    }


@pytest.mark.parametrize("path", ["events/*.json", "events/order.json", "**/*.json"])
def test_a_rule_for_json_files_makes_them_schemas_without_a_meta_schema(folder: Path, path: str) -> None:
    manifest = f'[[files]]\npath = "**"\nsubjects = ["all-{{name}}"]\n[[files]]\npath = "{path}"\n'
    names = ("events/order.json", "events/a.avsc")
    expected = {"all-order": ["events/order.json"], "all-a": ["events/a.avsc"]}
    assert subjects(folder, manifest, *names, text='{"type": "string"}') == expected


@pytest.mark.parametrize("path", ["**", "events/*", "events/order.*", "other/*.json"])
def test_other_rules_leave_json_files_without_a_meta_schema_out(folder: Path, path: str) -> None:
    manifest = f'[[files]]\npath = "{path}"\nsubjects = ["{{name}}"]\n'
    names = ("events/order.json", "a-value.avsc")
    assert not any("order.json" in name for files in subjects(folder, manifest, *names).values() for name in files)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('topic = "orders"', {"orders-value"}),
        ('topics = ["orders", "retries"]\npart = "key"', {"orders-key", "retries-key"}),
        ('topic = "{name}.v1"\nstrategy = "topic"', {"placed.v1-value"}),
        ('strategy = "record"', {"a.Order"}),
        ('topics = ["orders", "retries"]\nstrategy = "topic-record"', {"orders-a.Order", "retries-a.Order"}),
    ],
)
def test_subjects_follow_from_topics_and_strategy(folder: Path, rule: str, expected: set[str]) -> None:
    assert set(subjects(folder, f'[[files]]\npath = "**"\n{rule}\n', "events/placed.avsc")) == expected


@pytest.mark.parametrize("strategy", ["topic", "record", "topic-record"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.avsc", RECORD),
        ("x.avsc", '{"type": "enum", "name": "Color", "namespace": "b", "symbols": ["RED"]}'),
        ("x.schema.json", '{"title": "Click", "type": "object"}'),
    ],
)
def test_a_manifest_names_the_subjects_that_serializers_use(
    folder: Path, registry: Registry, strategy: str, name: str, text: str
) -> None:
    context = SerializationContext("clicks", MessageField.VALUE)
    conf = {"subject.name.strategy.type": strategy.upper().replace("-", "_")}
    serializer = (
        AvroSerializer(registry, text, conf=conf)
        if name.endswith(".avsc")
        else JSONSerializer(text, registry, conf=conf)
    )
    serializer({"x.avsc": {} if text == RECORD else "RED", "x.schema.json": {}}[name], context)
    topic = "" if strategy == "record" else 'topic = "clicks"\n'
    rule = f'[[files]]\npath = "**"\n{topic}strategy = "{strategy}"\n'
    assert list(subjects(folder, rule, name, text=text)) == registry.subjects()


def test_references_of_a_rule_are_those_of_its_files(folder: Path) -> None:
    (folder / MANIFEST).write_text(
        '[[files]]\npath = "a-value.avsc"\n[files.references]\n"a.Money" = "money:3"\n"b" = "x:y:latest"\n'
    )
    (folder / "a-value.avsc").write_text(RECORD)
    [[file]] = collect_files(["."], manifest=load_manifest(folder / MANIFEST)).values()
    assert [(each.name, each.subject, each.version) for each in file.draft.references] == [
        ("a.Money", "money", 3),
        ("b", "x:y", -1),
    ]


def test_a_context_is_part_of_every_subject(folder: Path) -> None:
    files = ("a-value.avsc", "%3A.other%3Ab-value.avsc")
    assert subjects(folder, "", *files, context=".prod") == {
        ":.other:b-value": ["%3A.other%3Ab-value.avsc"],
        ":.prod:a-value": ["a-value.avsc"],
    }


def test_an_environment_is_chosen_by_name(folder: Path) -> None:
    text = '[environments.prod]\nregistry = "https://registry.acme.com"\ncontext = ".p"\n'
    (folder / MANIFEST).write_text(text)
    manifest = load_manifest(folder / MANIFEST)
    assert manifest.environment("prod").context == ".p"
    with pytest.raises(UsageError, match=r"has no environment `dev`; it has prod"):
        manifest.environment("dev")


def test_a_variable_of_the_environment_takes_the_place_of_its_url(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / MANIFEST).write_text('[environments.eu-prod]\nregistry = "https://attacker.example"\ncontext = ".p"\n')
    manifest = load_manifest(folder / MANIFEST)
    assert resolve_environment(manifest, "eu-prod") == Environment("https://attacker.example", ".p")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://other.example")
    assert resolve_environment(manifest, "eu-prod") == Environment("https://attacker.example", ".p")
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL_EU_PROD", "https://registry.example")
    assert resolve_environment(manifest, "eu-prod") == Environment("https://registry.example", ".p")


@pytest.mark.parametrize("name", ["password", "Password", "PASSWORD"])
def test_an_environment_does_not_change_the_meaning_of_a_variable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (folder / MANIFEST).write_text(
        f'[environments.prod]\nregistry = "http://a"\n[environments.{name}]\nregistry = "http://b"\n'
    )
    with pytest.raises(UsageError, match=rf"toml:3:1: .*`{name}`: CONTRACTLOG_REGISTRY_KEY_PASSWORD is a variable"):
        load_manifest(folder / MANIFEST)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_KEY_PASSWORD", "secret")
    assert environment_variables(name) == {}


def test_the_default_environment_is_chosen_if_nothing_names_a_registry(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / MANIFEST).write_text('[environments.default]\nregistry = "http://a"\ncontext = ".c"\n')

    def choose(registry: str | None = None) -> tuple[str | None, str]:
        options = Namespace(manifest=folder / MANIFEST, files=[], environment=None, registry=registry)
        select_environment(options)
        return options.registry, options.context

    monkeypatch.delenv("CONTRACTLOG_REGISTRY_URL", raising=False)
    monkeypatch.delenv("SCHEMA_REGISTRY_URL", raising=False)
    assert choose() == ("http://a", ".c")
    assert choose("http://b") == ("http://b", "")
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", "http://c")
    assert choose() == (None, "")


@pytest.mark.parametrize(
    "text", ["a = " + 5_000 * "1", "a = nan", "a = -inf", "a = [" * 2_000, ".".join(["a"] * 100_000) + " = 1"]
)
def test_a_value_that_python_cannot_hold_is_a_usage_error(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=r"contractlog\.toml"):
        load_manifest(folder / MANIFEST)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[files]\n", r"contractlog.toml:1:8: the text is not TOML: "),
        (
            '[[files]]\npath = "a"\nsubject = "x"\n',
            r"contractlog.toml:3:1: there is no key `subject` here; did you mean `subjects`\?",
        ),
        ("\n[other]\n", r"contractlog.toml:2:1: there is no key `other` here; use environments, files"),
        (
            '[[files]]\npath = "a"\n[[files]]\n  path = 7\n',
            r"contractlog.toml:4:3: expected a string, found a number\. Path relative",
        ),
        ('[[files]]\nsubjects = ["a"]\n', r"contractlog.toml:1:1: the key `path` is missing. Path relative"),
        (
            '[[files]]\npath = "../a"\n',
            r"contractlog.toml:2:1: the value of `path` is not allowed; expected: Path .*, without `\.\.`",
        ),
        ("<<<<<<< HEAD\n[[files]]\n=======\n>>>>>>> b\n", r"contractlog.toml:1:1: a merge conflict is not resolved"),
        ('[[files]]\npath = "/etc/*"\n', r"contractlog.toml:2:1: "),
        ('[environments.dev]\nregistry = "http://me:secret@x"\n', r"contractlog.toml:2:1: "),
        ('[environments.dev]\nregistry = "file:///x"\n', r"contractlog.toml:2:1: "),
        ('[[files]]\npath = "a"\n[files.references]\nn = "x"\n', r"contractlog.toml:4:1: "),
        (
            '[[files]]\npath = "a"\n  topic = "t"\nsubjects = ["x"]\n',
            r"contractlog.toml:3:3: `topic` and `subjects` both determine the subjects",
        ),
        ('[[files]]\npath = "a"\ntopic = "t"\ntopics = ["u"]\n', r"contractlog.toml:4:1: .*put all topics into"),
        ('[[files]]\npath = "a"\nstrategy = "topic-record"\n', r"contractlog.toml:3:1: .*add `topic` or `topics`"),
        ('[[files]]\npath = "a"\npart = "key"\n', r"contractlog.toml:3:1: .*add `topic` or `topics`"),
        ('[[files]]\npath = "a"\nstrategy = "record"\ntopics = ["t"]\n', r"toml:4:1: .*remove `topics`"),
        ('[[files]]\npath = "a"\ntopic = "t"\nstrategy = "topic-record"\npart = "key"\n', r"toml:5:1: .*remove `part`"),
        (
            '[[files]]\npath = "a"\nstrategy = "Record"\n',
            r"contractlog.toml:3:1: `Record` is not allowed; did you mean `record`\? Allowed: topic, ",
        ),
        (
            f'{LINT}reason = "r"\n[[lint]]\nseverity = "off"\nreason = "r"\n  rule = "LINT_AVRO_ENUM_EMTY"\n',
            r"contractlog.toml:8:3: there is no lint rule .*; did you mean `LINT_AVRO_ENUM_EMPTY`\?",
        ),
        (f'{LINT}reason = "r"\nuntil = "2026-02-30"\n', r"contractlog.toml:5:1: `2026-02-30` is not a day"),
        (f'{LINT}reason = "r"\nuntil = 2026-02-03T10:00:00\n', r"contractlog.toml:5:1: .*Last day"),
        (f'{LINT}reason = " "\n', r"contractlog.toml:4:1: .*Why"),
        (LINT, r"contractlog.toml:1:1: the key `reason` is missing. Why"),
        (
            '[[subjects]]\nname = "a"\n  level = "FUL"\n',
            r"toml:3:3: `FUL` is not allowed; did you mean `FULL`\? Allowed: BACKWARD, .*, FULL_TRANSITIVE, NONE$",
        ),
        (
            '[[subjects]]\nname = "a"\nmode = "full"\n',
            r"toml:3:1: `full` is not allowed; allowed: READWRITE, READONLY$",
        ),
        ('[[subjects]]\nname = "a"\nnormalize = "yes"\n', r"toml:3:1: expected `true` or `false`, found a string"),
        ('[[subjects]]\nname = "a"\nowner = true\n', r"toml:3:1: expected a string, found `true`. Owner"),
        ('[[subjects]]\nname = ""\n', r"toml:2:1: this string is empty. Subject"),
        ('[[files]]\npath = "a"\nsubjects = []\n', r"toml:3:1: this list is empty. Subjects of"),
        ('[[files]]\npath = "a"\nsubjects = ["x", "x"]\n', r"toml:3:1: this list has an entry twice. Subjects of"),
        (
            '[environments.dev]\nregistry = "localhost:8081"\n',
            r"toml:2:1: the value of `registry` is not allowed; expected: URL .* `http://`",
        ),
        ("[environments.dev]\n", r"toml:1:1: the key `registry` is missing. URL of the registry"),
        ('[files]\npath = "a"\n', r"toml:1:1: expected a list, found a table: write `\[\[files\]\]`"),
        (
            '[environments.dev]\nregistry = "http://a"\n\n[files.references]\n"a" = "b:1"\n',
            r"toml:4:1: expected a list, found a table: write `\[\[files\]\]`, .* `\[files.references\]` below it",
        ),
        ('[[associations]]\ntopic = "t"\n', r"toml:1:1: the key `subject` is missing. Subject of this part"),
        (
            '[[associations]]\ntopic = "t"\nsubject = "s"\npart = "Key"\n',
            r"toml:4:1: `Key` .* `key`\? Allowed: key, value",
        ),
    ],
)
def test_a_wrong_manifest_is_located(folder: Path, text: str, said: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=said):
        load_manifest(Path(MANIFEST))


def test_an_entry_for_a_lint_rule_holds_on_its_last_day(folder: Path) -> None:
    (folder / MANIFEST).write_text(f'{LINT}reason = "r"\nuntil = 2026-02-28\n')
    [entry] = load_manifest(Path(MANIFEST)).lint
    assert [entry.is_expired(date(2026, *day)) for day in ((2, 28), (3, 1))] == [False, True]


def test_no_message_has_the_words_of_json_schema(folder: Path) -> None:
    context, level = ('registry = "http://x"\n' + each for each in ('context = "p:"', "level = []"))
    wrong = ('registry = "x"', "registry = 1", context, level)
    for text in wrong:
        (folder / MANIFEST).write_text(f"[environments.dev]\n{text}\n")
        with pytest.raises(UsageError) as caught:
            load_manifest(Path(MANIFEST))
        assert not {"^", "match", "pattern", "candidates", "property"} & set(
            str(caught.value).replace('"', " ").split()
        )
        assert "^" not in str(caught.value)


def test_credentials_in_a_url_are_not_repeated(folder: Path) -> None:
    (folder / MANIFEST).write_text('[environments.dev]\nregistry = "http://me:secret@x"\n')
    with pytest.raises(UsageError) as caught:
        load_manifest(Path(MANIFEST))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("subject", "text", "said"),
    [
        ("{type}", '"string"', "its schema is not a named Avro type"),
        ("{topic}", RECORD, r"contractlog.toml:3:1: `\{topic\}` in `\{topic\}` is unknown: use"),
        ("__GLOBAL", RECORD, "contractlog.toml:1: the subject `__GLOBAL` of `x.avsc` cannot be used"),
    ],
)
def test_a_subject_that_cannot_be_is_refused(folder: Path, subject: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        subjects(folder, f'[[files]]\npath = "*.avsc"\nsubjects = ["{subject}"]\n', "x.avsc", text=text)


@pytest.mark.parametrize(("name", "text"), [("x.avsc", '"string"'), ("x.schema.json", '{"type": "object"}')])
def test_a_strategy_by_record_needs_a_name(folder: Path, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=r"the strategy `record` of contractlog.toml:2 .* has no name: give it one"):
        subjects(folder, '\n[[files]]\npath = "x.*"\nstrategy = "record"\n', name, text=text)


def test_the_rules_of_a_manifest_that_is_a_link_are_for_the_folder_of_the_link(folder: Path) -> None:
    for name in (".git", "shared", "in"):
        (folder / name).mkdir()
    (folder / "shared" / MANIFEST).write_text('[[files]]\npath = "x.avsc"\nsubjects = ["x-value"]\n')
    (folder / "in" / "x.avsc").write_text(RECORD)
    (folder / "in" / MANIFEST).symlink_to(f"../shared/{MANIFEST}")
    assert list(collect_files(["in"], manifest=find_manifest(None, ["in"]))) == ["x-value"]


@pytest.mark.parametrize("is_repository", [False, True])
def test_a_manifest_that_is_a_link_out_of_the_tree_is_rejected(folder: Path, *, is_repository: bool) -> None:
    (folder / "in").mkdir()
    (folder / MANIFEST).write_text("")
    (folder / "in" / MANIFEST).symlink_to(f"../{MANIFEST}")
    if is_repository:
        (folder / "in" / ".git").touch()
    with pytest.raises(UsageError, match=r"`in/contractlog.toml` is a symbolic link to a file outside .*/in`: copy"):
        load_manifest(Path("in") / MANIFEST)


def test_a_manifest_that_is_a_link_to_nothing_is_an_error(folder: Path) -> None:
    (folder / MANIFEST).symlink_to("none.toml")
    with pytest.raises(UsageError, match=r"`contractlog.toml` cannot be read: No such file"):
        find_manifest(None, [])


@pytest.mark.parametrize(
    ("manifest", "named"),
    [
        ('[[files]]\npath = "*.avsc"\nsubjects = ["all"]\n', "contractlog.toml:1"),
        (
            '[[files]]\npath = "x.avsc"\nsubjects = ["all"]\n[[files]]\npath = "y.avsc"\nsubjects = ["all"]\n',
            "contractlog.toml:1 and contractlog.toml:4",
        ),
    ],
)
def test_rules_that_name_two_files_alike_are_named(folder: Path, manifest: str, named: str) -> None:
    with pytest.raises(UsageError) as caught:
        subjects(folder, manifest, "x.avsc", "y.avsc")
    assert str(caught.value) == (
        f"`x.avsc` and `y.avsc` are both `all`, named by {named}: give each file its own subject there, for example "
        "with `{name}`, or put versions into folders 1/, 2/ or name one file"
    )
