"""Change requests on the command line, against a server with users and an owners file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry

from support.command_line import run_verb
from support.registry import create_sqlite, serve_in_thread

OWNERS = '[owners."orders-*"]\nowners = ["alice", "bob"]\napprovals = 1\nprotect = "all"\n'
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("owned")
    users = {"ci": ([], ["*"]), "alice": (["*"], []), "root": ([], ["*"])}
    entries = "".join(
        format_entry(name, HashedPassword.of(name, n=2, r=1, p=1), *patterns) for name, patterns in users.items()
    )
    (folder / "users.toml").write_text(entries.replace("[users.root]\n", '[users.root]\nbreak_glass = ["*"]\n'))
    (folder / "owners.toml").write_text(OWNERS)
    (folder / "orders-value.avsc").write_text(json.dumps(ORDER))
    files = {"CONTRACTLOG_USERS_FILE": "users.toml", "CONTRACTLOG_OWNERS_FILE": "owners.toml"}
    settings = {name: str(folder / file) for name, file in files.items()}
    with serve_in_thread(create_sqlite(folder / "registry.db"), **settings) as url:

        def run_as(user: str, *arguments: str) -> subprocess.CompletedProcess[str]:
            names = ("URL", "USER", "PASSWORD")
            values = dict(zip(names, (url, user, user), strict=True))
            environment = {f"CONTRACTLOG_REGISTRY_{name}": value for name, value in values.items()}
            return run_verb(arguments, environment=environment, folder=folder)

        yield run_as


def test_a_change_is_asked_for_approved_and_merged(run: Run) -> None:
    checked = run("ci", "check", "orders-value.avsc")
    assert checked.returncode == exit_codes.CLEAN, checked.stderr
    assert "contractlog change open" in checked.stdout + checked.stderr
    refused = run("ci", "register", "orders-value.avsc")
    assert refused.returncode == exit_codes.REFUSED
    assert "contractlog change open orders-value SCHEMA_FILE --reason REASON" in refused.stdout + refused.stderr
    opened = run("ci", "change", "open", "orders-value", "orders-value.avsc", "--reason", "first", "--format", "json")
    assert opened.returncode == exit_codes.CLEAN, opened.stderr
    number = str(json.loads(opened.stdout)["id"])
    early = run("ci", "change", "merge", number)
    assert early.returncode != exit_codes.CLEAN
    assert "needs 1 more approval by its owners (alice)" in early.stderr
    own = run("ci", "change", "approve", number, "--revision", "1")
    assert "nobody approves their own request" in own.stderr
    assert run("alice", "change", "comment", number, "fine").returncode == exit_codes.CLEAN
    unseen = run("alice", "change", "approve", number, "--revision", "2")
    assert "its revision is 1, not 2" in unseen.stderr
    seen = run("alice", "change", "show", number)
    assert '"name": "Order"' in seen.stdout or '"name":"Order"' in seen.stdout  # what is approved
    assert f"change approve {number} --revision 1" in seen.stderr
    assert run("alice", "change", "approve", number, "--revision", "1").returncode == exit_codes.CLEAN
    merged = run("ci", "change", "merge", number)
    assert "merged" in merged.stdout
    listed = run("ci", "change", "list", "orders-value", "--status", "merged")
    assert "first" in listed.stdout
    shown = run("ci", "change", "show", number)
    assert "alice" in shown.stdout
    assert "fine" in shown.stdout
    again = run("ci", "register", "orders-value.avsc")
    assert again.returncode == exit_codes.CLEAN


def test_settings_deletions_and_waivers_are_proposed(run: Run) -> None:
    for arguments, fact in {
        ("open", "orders-value", "--level", "FULL", "--reason", "r"): '{"compatibility": "FULL"}',
        ("open", "orders-value", "--mode", "readonly", "--reason", "r", "--days", "2"): '{"mode": "READONLY"}',
        ("waive", "orders-value", "--kind", "deletion", "--reason", "r"): "changes of kind deletion by ci for 7 days",
    }.items():
        opened = run("ci", "change", *arguments, "--format", "json")
        assert opened.returncode == exit_codes.CLEAN, opened.stderr
        number = str(json.loads(opened.stdout)["id"])
        assert fact in run("alice", "change", "show", number).stdout
        assert run("ci", "change", "close", number).returncode == exit_codes.CLEAN
    wrong = run("ci", "change", "open", "orders-value", "--reason", "r")
    assert wrong.returncode == exit_codes.USAGE
    assert "name one change" in wrong.stderr


def test_break_glass_is_listed_among_the_changes(run: Run) -> None:
    arguments = ("config", "set", "orders-value", "--level", "FULL", "--break-glass", "incident 42: größer")
    refused = run("ci", *arguments)
    assert refused.returncode == exit_codes.REFUSED
    assert "as the user has no permission `break_glass` on it" in refused.stderr
    assert run("root", *arguments).returncode == exit_codes.CLEAN
    listed = run("ci", "changes", "--break-glass")
    assert "protection.bypassed" in listed.stdout
    assert "incident 42: größer" in listed.stdout
    for reason in ("", "two\nlines"):
        wrong = run("root", *arguments[:-1], reason)
        assert wrong.returncode == exit_codes.USAGE
        assert "a reason in one line is needed" in wrong.stderr
    assert "settings.changed" not in listed.stdout
