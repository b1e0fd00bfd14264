"""The verb ``completion``: scripts that real shells run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.verbs import VERBS

from support.operations import Run

SUBJECTS = ("orders-value", "orders-key", ":.eu:orders-value", "a b", "$(touch hacked)", "`id`;x")


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """A folder with the bash script, and a `contractlog` that is the real one but for its subjects."""
    (tmp_path / "contractlog.bash").write_text(run("completion", "bash").out)
    names = shlex.quote("\n".join(SUBJECTS))
    real = f'exec {shlex.quote(sys.executable)} -m contractlog.clients.cli.main "$@"'
    command = tmp_path / "contractlog"
    command.write_text(
        f"""#!/bin/bash
echo "$*" >> calls
if [[ $1 == subjects ]]; then printf '%s\\n' {names}; else {real}; fi
"""
    )
    command.chmod(0o755)
    return tmp_path


def complete(folder: Path, line: str) -> list[str]:
    """Return what bash offers for a line with the cursor at its end."""
    script = f"""
    source contractlog.bash
    COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
    _contractlog
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def test_bash_completes_verbs(folder: Path) -> None:
    assert complete(folder, "contractlog ") == list(VERBS)
    assert complete(folder, "contractlog un") == ["undelete", "unused"]
    assert set(complete(folder, "contractlog con")) == {"consume", "config", "contexts", "contract"}


def test_bash_completes_options_and_actions(folder: Path) -> None:
    assert "--registry" in complete(folder, "contractlog config get --")
    assert complete(folder, "contractlog config get --form") == ["--format"]
    assert complete(folder, "contractlog check --norm") == ["--normalize"]
    assert complete(folder, "contractlog check schemas/ --norm") == ["--normalize"]
    assert complete(folder, "contractlog pull --al") == ["--all"]
    assert complete(folder, "contractlog config ") == ["get", "set", "unset"]


def test_bash_completes_subjects(folder: Path) -> None:
    assert complete(folder, "contractlog show orders-") == ["orders-value", "orders-key"]
    assert complete(folder, "contractlog config get orders-v") == ["orders-value"]
    assert complete(folder, "contractlog show :.eu:o") == ["orders-value"]  # what follows the last colon
    assert "--limit 500 -- orders-" in (folder / "calls").read_text()


def test_bash_completes_environments_of_the_manifest(folder: Path) -> None:
    manifest = '[environments.dev]\nregistry = "http://dev"\n[environments.prod]\nregistry = "http://prod"\n'
    (folder / "schemas").mkdir()
    (folder / "schemas" / "contractlog.toml").write_text(manifest)
    assert complete(folder, "contractlog check schemas/ --environment ") == ["dev", "prod"]
    assert complete(folder, "contractlog show --environment p") == []  # no manifest in the working directory
    assert complete(folder, "contractlog show --manifest schemas/contractlog.toml --environment p") == ["prod"]
    (folder / "schemas" / "contractlog.toml").rename(folder / "contractlog.toml")
    assert complete(folder, "contractlog check --environment=") == ["dev", "prod"]
    assert complete(folder, "contractlog config get --environment=p") == ["prod"]
    assert complete(folder, "contractlog promote ") == complete(folder, "contractlog promote dev ") == ["dev", "prod"]
    assert complete(folder, "contractlog promote dev p") == ["prod"]
    assert complete(folder, "contractlog promote dev prod ") == []  # files follow
    assert complete(folder, "contractlog promote --app") == ["--apply"]
    (folder / "contractlog.toml").write_text("[environments")
    assert complete(folder, "contractlog promote ") == []


def test_bash_completes_subjects_of_the_environment_on_the_line(folder: Path) -> None:
    complete(folder, "contractlog show --environment prod orders-")
    complete(folder, "contractlog config get --environment=dev orders-")
    calls = (folder / "calls").read_text().splitlines()
    assert [call.partition("--limit 500 ")[2] for call in calls if call.startswith("subjects")] == [
        "--environment=prod -- orders-",
        "--environment=dev -- orders-",
    ]


def test_bash_completes_a_word_with_backslashes(folder: Path) -> None:
    assert complete(folder, r"contractlog show a\ ") == complete(folder, r"contractlog show a\ b") == [r"a\ b"]
    assert complete(folder, r"contractlog show \$\(t") == [r"\$\(touch\ hacked\)"]


def test_names_of_subjects_are_not_executed_by_bash(folder: Path) -> None:
    offered = complete(folder, "contractlog show ")
    assert r"\$\(touch\ hacked\)" in offered
    assert not (folder / "hacked").exists()


def test_bash_is_silent_when_nothing_answers(folder: Path) -> None:
    (folder / "contractlog").write_text("#!/bin/bash\necho no >&2; exit 3\n")
    assert complete(folder, "contractlog show ord") == []
    assert complete(folder, "contractlog check --") == []


def test_bash_registers_the_function(folder: Path) -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", "source contractlog.bash; complete -p contractlog"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "complete -o default -F _contractlog contractlog\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_reads_its_script(run: Run, tmp_path: Path, shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == exit_codes.CLEAN
    assert not re.search("@[A-Z_]+@", ran.out)
    assert all(verb in ran.out for verb in VERBS)
    program = shutil.which(shell)
    if program is not None:
        file = tmp_path / "script"
        file.write_text(ran.out)
        subprocess.run([program, "-n", str(file)], check=True, timeout=120)


@pytest.mark.parametrize("verb", VERBS)
def test_the_options_of_every_verb_are_known(run: Run, verb: str) -> None:
    assert "--help" in run("completion", "words", verb).out.splitlines()


def test_actions_and_their_options_are_known(run: Run) -> None:
    assert run("completion", "actions", "config").out.split() == ["get", "set", "unset"]
    assert run("completion", "actions", "check").out == ""
    assert "--strict-json-schemas" in run("completion", "words", "config", "set").out
    assert "--level" not in run("completion", "words", "config", "get").out
    assert "--level" in run("completion", "words", "config").out
    assert run("completion", "words", "nonsense").out == ""
    assert run("completion", "words", "--", "check", "--norm").out == run("completion", "words", "check").out


def test_an_unknown_shell_is_usage(run: Run) -> None:
    assert run("completion", "tcsh").code == exit_codes.USAGE
    assert run("completion", "bash", "more").code == exit_codes.USAGE
