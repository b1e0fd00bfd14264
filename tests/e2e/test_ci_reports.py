"""Reports of ``contractlog check`` for CI, made by the installed command against a running registry."""

from __future__ import annotations

import re
import shlex

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.options import REPORT_FORMATS
from contractlog.compatibility.schema import SchemaDraft

from support.ci_formats import read_gitlab, read_junit, read_workflow_command, read_workflow_commands
from support.gate import NOTE, TOTAL, Gate, order, told
from support.sarif import read_sarif
from support.source_tree import ROOT

pytestmark = pytest.mark.e2e


@pytest.fixture
def folder(gate: Gate, server: Registry) -> Gate:
    """A folder with an incompatible file, an unreadable one and one that passes."""
    server.register(gate.subject, SchemaDraft(order()))
    gate.put("schemas/{}-value.avsc", order(TOTAL))
    gate.put("schemas/{}-key.avsc", '"string"')
    gate.put("schemas/{}-bad-value.avsc", '{\n"type":')
    return gate


def test_every_format_is_printed_and_nothing_else_is_on_stdout(folder: Gate) -> None:
    name = f"schemas/{folder.topic}-value.avsc"
    texts = {each: told(folder.run("check", "schemas", "--format", each), 2) for each in REPORT_FORMATS}
    assert told(folder.process("check", "schemas", "--format", "github"), 2) == texts["github"]
    cases = read_junit(texts["junit"])
    assert [(bool(case.failure), bool(case.error)) for case in cases] == [(False, False), (True, False), (False, True)]
    assert cases[1].file == name
    commands = read_workflow_commands(texts["github"])
    assert [(command.name, command.file) for command in commands] == [
        ("error", name),
        ("error", f"schemas/{folder.topic}-bad-value.avsc"),
    ]
    assert [issue.line for issue in read_gitlab(texts["gitlab"])] == [9, 2]
    assert [result.line for result in read_sarif(texts["sarif"]).results] == [9, 2]
    assert texts["markdown"].startswith("### contractlog check: 2 of 3 files cannot be registered")
    assert "```diff\n" in texts["markdown"]


def test_reports_are_written_to_files_while_the_text_goes_on(folder: Gate) -> None:
    reports = [argument for each in REPORT_FORMATS for argument in ("--report", f"{each}={each}.out")]
    done = folder.run("check", f"schemas/{folder.topic}-value.avsc", *reports)
    assert "incompatible with version 1" in told(done, 1)
    for each in REPORT_FORMATS:
        printed = told(folder.run("check", f"schemas/{folder.topic}-value.avsc", "--format", each), 1)
        assert (folder.folder / f"{each}.out").read_text("utf-8") == printed


def test_a_suggested_command_has_no_options_of_check_alone(folder: Gate) -> None:
    name = f"schemas/{folder.topic}-key.avsc"
    done = folder.run("check", name, "--report", "junit=a.xml", "--report=gitlab=b.json")
    told(done, 0)
    assert done.stderr == f"1 file can be registered: contractlog register {name}\n"


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("junit", "`junit` names no file: write junit=FILE"),
        ("xml=a", "does not have the form FORMAT=FILE with junit, sarif"),
        ("junit=", "`junit=` names no file: write junit=FILE"),
        ("json=", "`json` is not a format of --report: pass --format json"),
        ("junit=no/a.xml", "there is no folder `no`"),
        ("junit=.", "is not a regular file"),
        ("junit=link", "is not a regular file; --format junit prints the report"),
    ],
)
def test_a_report_that_cannot_be_written_is_usage_before_anything_is_checked(
    gate: Gate, report: str, said: str
) -> None:
    target = gate.folder / "target"
    target.write_text("kept")
    (gate.folder / "link").symlink_to(target)
    done = gate.run("check", ".", "--report", report)
    assert told(done, 2) == ""
    assert said in done.stderr
    assert target.read_text() == "kept"


def test_a_report_that_cannot_be_written_after_all_is_an_error(gate: Gate) -> None:
    done = gate.run("check", gate.put("{}-value.avsc", order()), "--report", "junit=/proc/report.xml")
    assert "compatible" in told(done, 2)
    assert "the report `/proc/report.xml` cannot be written" in done.stderr


def test_names_that_break_lines_break_no_report(gate: Gate) -> None:
    name = "a\n::error::b]]>`%0A-value.avsc"
    (gate.folder / name).write_text('"string')
    for each in REPORT_FORMATS:
        done = gate.run("check", name, "--format", each)
        lines = told(done, 2).split("\n")
        commands = [command for command in map(read_workflow_command, lines) if command]
        assert [command.name for command in commands] == (["error"] if each == "github" else [])
        assert not any(map(read_workflow_command, done.stderr.split("\n")))


def test_quiet_prints_findings_alone_for_every_verb(folder: Gate, server: Registry) -> None:
    bad, good = f"schemas/{folder.topic}-value.avsc", f"schemas/{folder.topic}-key.avsc"
    done = folder.run("check", bad, good, "--quiet")
    assert told(done, 1).startswith(f"✗ {bad}: incompatible")
    assert "key" not in done.stdout
    assert done.stderr == ""
    for arguments in (("check", good), ("register", good), ("register", good), ("pull", "--all", "--out", "out")):
        done = folder.run(*arguments, "--quiet")
        assert (told(done, 0), done.stderr) == ("", "")
    assert server.versions(f"{folder.topic}-key") == [1]
    done = folder.run("check", "schemas", "--quiet")
    assert "the text is not JSON" in done.stderr
    told(done, 2)


def test_verbose_prints_requests_without_credentials(folder: Gate) -> None:
    url = folder.url.replace("http://", "http://me:secret@")
    for arguments in (
        ("check", f"schemas/{folder.topic}-key.avsc"),
        ("register", f"schemas/{folder.topic}-key.avsc"),
        ("diff", f"{folder.subject}:1", f"{folder.subject}:latest"),
        ("pull", folder.subject, "--out", "out"),
    ):
        done = folder.run(*arguments, "--verbose", url=url)
        told(done, 0)
        requests = [line for line in done.stderr.splitlines() if line.startswith(("GET ", "POST "))]
        assert requests
        assert any(f"{folder.url}/subjects/{folder.topic}-" in line for line in requests)
        assert all(re.search(r": (200|404) \(\d+ ms\)$", line) for line in requests)
        assert "secret" not in done.stderr + done.stdout
        assert "me:" not in done.stderr


def test_quiet_and_verbose_exclude_each_other(gate: Gate) -> None:
    told(gate.run("check", ".", "--quiet", "--verbose"), 2)


def test_color_is_forced_and_forbidden(folder: Gate) -> None:
    name = folder.put("schemas/{}-value.avsc", order(NOTE))
    assert told(folder.run("check", name, "--color", "always"), 0).startswith("\x1b[32m✓ ")
    assert told(folder.run("check", name, "--color", "never"), 0).startswith("✓ ")
    assert told(folder.run("check", name), 0).startswith("✓ ")


def test_the_examples_of_the_page_are_what_the_command_prints(gate: Gate, server: Registry) -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    earlier, later = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    server.register("orders-value", SchemaDraft(earlier))
    gate.put("schemas/orders-value.avsc", later)
    examples = re.findall(r"^(````?)text\n\$ contractlog (.*?)\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2 + len(REPORT_FORMATS)
    for _, arguments, output in examples:
        printed = told(gate.run(*shlex.split(arguments)), 1)
        parts = map(re.escape, output.split("…\n"))
        assert re.fullmatch(".*".join(parts), printed, re.DOTALL), arguments
