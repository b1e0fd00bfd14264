"""Completion in real shells, with the subjects of a registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.verbs import VERBS
from contractlog.compatibility.schema import SchemaDraft

from support.interactive_shells import Complete
from support.registry import serve_in_thread

pytestmark = pytest.mark.e2e

SUBJECTS = [
    "$(touch hacked)",
    ":.eu:orders-value",
    "`id`;x",
    "it's",
    "my orders",
    "orders-key",
    "orders-value",
    'say "hi"',
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry with subjects whose names shells must quote."""
    with serve_in_thread(f"sqlite:///{tmp_path_factory.mktemp('registry') / 'registry.db'}") as url:
        with Registry(url) as registry:
            for subject in SUBJECTS:
                registry.register(subject, SchemaDraft('"string"'))
        yield url


@pytest.fixture(params=["zsh", "fish"])
def complete(request: pytest.FixtureRequest) -> Complete:
    """Complete in each shell."""
    shell: Complete = request.getfixturevalue(request.param)
    return shell


def test_verbs_actions_and_options(complete: Complete, url: str) -> None:
    assert set(complete("contractlog ", url)) == set(VERBS)
    assert complete("contractlog con", url) == sorted(verb for verb in VERBS if verb.startswith("con"))
    assert complete("contractlog config ", url) == ["get", "set", "unset"]
    assert complete("contractlog check --norm", url) == ["--normalize"]


def test_all_subjects_whatever_their_names(complete: Complete, url: str, tmp_path: Path) -> None:
    assert sorted(complete("contractlog show ", url)) == sorted(SUBJECTS)
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("line", "subjects"),
    [
        ("contractlog config get ord", ["orders-key", "orders-value"]),
        ("contractlog show :.e", [":.eu:orders-value"]),
        ("contractlog show it\\'", ["it's"]),
        ("contractlog show \\$", ["$(touch hacked)"]),
        ("contractlog show 'my", ["my orders"]),
        ('contractlog show "say', ['say "hi"']),
    ],
)
def test_the_beginning_of_a_subject_as_one_types_it(
    complete: Complete, url: str, line: str, subjects: list[str]
) -> None:
    assert complete(line, url) == subjects


def test_files_where_the_verb_takes_files(complete: Complete, url: str, tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    assert complete("contractlog check sch", url) == ["schemas/"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("contractlog check --environment ", ["dev", "prod"]),
        ("contractlog check --environment p", ["prod"]),
        ("contractlog show --environment=p", ["--environment=prod"]),
        ("contractlog promote ", ["dev", "prod"]),
        ("contractlog promote dev p", ["prod"]),
    ],
)
def test_environments_of_the_manifest(
    complete: Complete, url: str, tmp_path: Path, line: str, words: list[str]
) -> None:
    manifest = "".join(f'[environments.{name}]\nregistry = "{url}"\n' for name in ("dev", "prod"))
    (tmp_path / "contractlog.toml").write_text(manifest)
    assert complete(line, url) == words


@pytest.mark.parametrize("option", ["--environment eu", "--environment=eu"])
def test_subjects_of_the_environment_as_its_commands_name_them(
    complete: Complete, url: str, tmp_path: Path, option: str
) -> None:
    manifest = f'[environments.eu]\nregistry = "{url}"\ncontext = ".eu"\n'
    (tmp_path / "contractlog.toml").write_text(manifest)
    assert complete(f"contractlog show {option} ord", "http://127.0.0.1:9") == ["orders-value"]


def test_nothing_when_the_registry_does_not_respond(complete: Complete) -> None:
    assert complete("contractlog show ord", "http://127.0.0.1:9") in ([], ["ord"])
