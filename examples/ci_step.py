"""The CI step of the demo: a git repository of schemas, rejected branches, an applied plan."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from contractlog.compatibility.errors import ContractlogError

from demo_environment import EXAMPLES, DemoEnvironment
from flights.topics import DEPARTED, SCHEMAS

__all__ = ["CIStep"]

MANIFEST: Final = EXAMPLES / "flights" / "contractlog.toml"
REJECTED_SCHEMAS: Final = EXAMPLES / "flights" / "rejected"
AUTHOR: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,  # neither hooks nor signatures of the user
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{role}_NAME": "demo" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "demo@example.com" for role in ("AUTHOR", "COMMITTER")},
}
SUMMARY_LINES: Final = 3  #: of the first check: the second one prints the same finding in full


class CIStep:
    """A repository of schemas, and the commands that CI runs in it."""

    def __init__(self, environment: DemoEnvironment) -> None:
        self._environment, self._output = environment, environment.output
        self._folder = environment.folder / "repository"

    def run(self) -> None:
        """Apply version 1 of all schemas, reject a breaking change on a branch, and apply a compatible one."""
        self._create_repository()
        self._run("contractlog", "apply", "schemas")
        self._check_breaking_change()
        self._apply_compatible_change()

    def reject_renamed_field(self) -> None:
        """Check a branch that renames the field of the rule; the alias keeps the schema itself compatible."""
        self._output.print_command(["cd", self._folder])
        self._run("git", "switch", "--quiet", "--create", "miles")
        file = self._folder / "schemas" / f"{DEPARTED}-value.avsc"
        text = file.read_text("utf-8")
        file.write_text(text.replace('"name": "distance"', '"name": "miles", "aliases": ["distance"]'), "utf-8")
        self._commit("Rename distance to miles")
        self._run("contractlog", "check", f"schemas/{file.name}", expected_code=1)
        self._output.print_indented("exit code 1: compatible by its alias, but the rule cannot read the new schema")
        self._run("git", "switch", "--quiet", "main")
        self._output.print_command(["cd", "-"])

    def _create_repository(self) -> None:
        shutil.copytree(SCHEMAS / "1", self._folder / "schemas")
        shutil.copy(MANIFEST, self._folder)
        self._git("init", "--quiet", "--initial-branch", "main")
        self._commit("Version 1 of all schemas")
        self._output.print_command(["cd", self._folder])
        self._output.print_command(["cat", MANIFEST.name])
        self._output.print_indented(MANIFEST.read_text("utf-8"))

    def _check_breaking_change(self) -> None:
        self._run("git", "switch", "--quiet", "--create", "arrivals")
        self._replace_schemas(REJECTED_SCHEMAS)
        self._commit("Add arrival and gate")
        self._run(
            "contractlog", "check", "schemas", "--against", "git:main", "--quiet",
            expected_code=1, max_lines=SUMMARY_LINES,
        )  # fmt: skip
        self._output.print_indented("that was without the registry; now with its versions")
        self._run("contractlog", "check", "schemas", "--quiet", expected_code=1)
        self._output.print_indented("exit code 1: CI stops here; the next commit leaves the field out")

    def _apply_compatible_change(self) -> None:
        self._replace_schemas(SCHEMAS / "2")
        self._commit("Leave gate out")
        self._run("contractlog", "plan", "schemas", "--out", "../plan.json")
        self._run("git", "switch", "--quiet", "main")
        self._run("git", "merge", "--quiet", "arrivals")
        self._run("contractlog", "apply", "--plan", "../plan.json")
        self._run("contractlog", "plan", "schemas", "--exit-code")
        self._output.print_command(["cd", "-"])

    def _run(self, *command: str, expected_code: int = 0, max_lines: int | None = None) -> None:
        self._environment.run_command(
            *command, expected=[expected_code], folder=self._folder, variables=AUTHOR, max_lines=max_lines
        )

    def _replace_schemas(self, source: Path) -> None:
        shutil.copytree(source, self._folder / "schemas", dirs_exist_ok=True)

    def _commit(self, message: str) -> None:
        self._git("add", ".")
        self._git("commit", "--quiet", "--message", message)

    def _git(self, *arguments: str) -> None:
        """Run git without printing the command.

        Raises:
            ContractlogError: it failed.
        """
        command = ["git", *arguments]
        environment = {**self._environment.command_environment, **AUTHOR}
        done = subprocess.run(command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ContractlogError(f"`git {arguments[0]}` failed: {done.stderr.strip()}")
