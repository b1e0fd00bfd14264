"""The files of ``integrations/``: their own steps run in a repository, against a registry that is served."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft

from support.ci_formats import WorkflowCommand, read_gitlab, read_junit, read_workflow_command
from support.deadlines import WAIT_SECONDS
from support.gate import NOTE, TOTAL, Gate, order
from support.source_tree import ROOT

pytestmark = pytest.mark.e2e

INTEGRATIONS: Final = ROOT / "integrations"
ACTION: Final = yaml.safe_load((INTEGRATIONS / "github" / "action.yml").read_text("utf-8"))
HOOKS: Final = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
AUTHOR: Final = "github-actions[bot]"
MARKER: Final = "<!-- contractlog check -->\n"
PAGE: Final = (ROOT / "docs" / "ci.md").read_text("utf-8")
#: the workflow, the pipeline and the hooks of the page
WORKFLOW, PIPELINE, HOOK_CONFIGURATION = map(
    yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
TEMPLATE: Final = yaml.safe_load((INTEGRATIONS / "gitlab" / "contractlog.gitlab-ci.yml").read_text("utf-8"))
HOSTILE: Final = "$(touch pwned)`touch pwned`;touch pwned;\"'::error::pwned ${{ secrets.PASSWORD }}"
#: the only expressions that the action may use: in variables of steps, never in scripts
EXPRESSIONS: Final = r"inputs\.[a-z-]+|github\.(token|action_path)|steps\.run\.outputs\.[a-z-]+"


@dataclass
class GitHub:
    """The part of GitHub's API that deals with comments on issues, for one pull request."""

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    writes: list[tuple[str, str]] = field(default_factory=list)  #: method and path
    status: int = 200  #: of the response to writes
    tokens: set[str | None] = field(default_factory=set)

    def add(self, body: str, login: str = AUTHOR) -> None:
        self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": {"login": login}})

    def respond(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        parts = urlsplit(target)
        if method == "GET":
            assert parts.path == "/repos/owner/schemas/issues/7/comments"
            query = {name: int(value) for name, (value,) in parse_qs(parts.query).items()}
            first = (query["page"] - 1) * query["per_page"]
            return 200, self.comments[first : first + query["per_page"]]
        self.writes.append((method, parts.path))
        if self.status >= 400:
            return self.status, {"message": "Resource not accessible by integration"}
        if method == "POST":
            assert parts.path == "/repos/owner/schemas/issues/7/comments"
            self.add(body["body"])
            return 201, self.comments[-1]
        (comment,) = (one for one in self.comments if parts.path == f"/repos/owner/schemas/issues/comments/{one['id']}")
        comment["body"] = body["body"]
        return 200, comment


@pytest.fixture
def github() -> Iterator[GitHub]:
    api = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            api.tokens.add(self.headers["Authorization"])
            content = self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, body = api.respond(self.command, self.path, json.loads(content) if content else None)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = respond  # noqa: N815 -- names of http.server

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()


def command_path() -> str:
    """Return a PATH with the installed command."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run_bash(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as the runners do."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={"PATH": command_path(), "HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


@dataclass
class JobRun:
    """A run of the action in a pull request."""

    code: int
    log: str
    summary: str
    outputs: dict[str, str]

    @property
    def commands(self) -> list[WorkflowCommand]:
        return [command for command in map(read_workflow_command, self.log.split("\n")) if command]


class Job:
    """A job of GitHub Actions that uses our action, for pull request 7."""

    def __init__(self, gate: Gate, github: GitHub, temporary: Path) -> None:
        self.gate = gate
        self.github = github
        self.temporary = temporary
        temporary.mkdir()
        request = {"number": 7, "title": HOSTILE, "body": HOSTILE, "head": {"ref": HOSTILE}}
        (temporary / "event.json").write_text(json.dumps({"pull_request": request}))

    def run_event(self, event: str) -> JobRun:
        """Run the job of the documented workflow that an event starts, in this repository."""
        (started,) = (each for each in WORKFLOW["jobs"].values() if condition(each["if"], {"github.event_name": event}))
        inputs = started["steps"][-1]["with"]
        return self.run(event=event, **{**inputs, "registry": self.gate.url})

    def run(self, *, event: str = "pull_request", **inputs: str) -> JobRun:
        """Run the steps of the action as the runner does: conditions, variables, files for outputs and summary."""
        values = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        values |= {"registry": self.gate.url, "token": "the-token", "install": "false", **inputs}
        context = {f"inputs.{name}": value for name, value in values.items()}
        context |= {"github.action_path": str(INTEGRATIONS / "github"), "github.event_name": event}
        context["github.token"] = "the-token"
        summary, output, path = (self.temporary / name for name in ("summary.md", "output", "path"))
        for file in (summary, output, path):
            file.write_text("")
        environment = {
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_PATH": str(path),
            "GITHUB_API_URL": self.github.url,
            "GITHUB_REPOSITORY": "owner/schemas",
            "GITHUB_EVENT_PATH": str(self.temporary / "event.json"),
            "GITHUB_HEAD_REF": HOSTILE,
        }
        log, code = "", 0
        for step in ACTION["runs"]["steps"]:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"], "inputs in the text of a script could be commands"
            if code or not condition(step.get("if", ""), context):
                continue
            own = {name: expand(value, context) for name, value in step.get("env", {}).items()}
            done = run_bash(step["run"], self.gate.folder, environment | own)
            log, code = log + done.stdout + done.stderr, done.returncode
            if "id" in step:
                for line in output.read_text().splitlines():
                    name, _, value = line.partition("=")
                    context[f"steps.{step['id']}.outputs.{name}"] = value
        outputs = {name: expand(one["value"], context) for name, one in ACTION["outputs"].items()}
        return JobRun(code, log, summary.read_text("utf-8"), outputs)


def expand(text: str, context: dict[str, str]) -> str:
    """Evaluate the expressions of a workflow that our action uses: names of the context, and outputs of steps."""

    def evaluate(match: re.Match[str]) -> str:
        is_output = match[1].startswith("steps.")  # empty if the step did not set it
        return context.get(match[1], "") if is_output else context[match[1]]

    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", evaluate, text)


def condition(text: str, context: dict[str, str]) -> bool:
    """Evaluate a condition of the form that our action uses: comparisons joined with ``&&``."""
    comparisons = [re.fullmatch(r"([\w.-]+) == '(.*)'", part) for part in text.split(" && ") if text]
    return all(match is not None and context[match[1]] == match[2] for match in comparisons)


@pytest.fixture
def repository(gate: Gate, server: Registry) -> Gate:
    """A repository with a registered schema and a branch on which a pull request is based."""
    server.register(gate.subject, SchemaDraft(order()))
    gate.put("schemas/{}-value.avsc", order())
    for command in (
        "init -q -b main",
        "add .",
        "-c user.name=a -c user.email=a@b.c commit -qm first",
        "checkout -qb change",
    ):
        subprocess.run(["git", *command.split()], cwd=gate.folder, check=True, timeout=WAIT_SECONDS)
    return gate


@pytest.fixture
def job(repository: Gate, github: GitHub, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(repository, github, tmp_path_factory.mktemp("runner") / "temp")


def test_a_breaking_change_is_annotated_summarized_and_commented(job: Job, github: GitHub) -> None:
    name = job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    run = job.run(files="schemas")
    assert run.code == 1
    assert run.outputs["exit-code"] == "1"
    (command,) = run.commands
    assert (command.name, command.properties["file"], command.properties["line"]) == ("error", name, "9")
    assert run.summary == Path(run.outputs["report"]).read_text("utf-8")
    (comment,) = github.comments
    assert comment["body"] == MARKER + run.summary
    assert "```diff\n" in comment["body"]
    assert github.tokens == {"Bearer the-token"}
    assert "the-token" not in run.log


def test_a_waived_change_passes_with_a_comment_that_names_the_waiver(job: Job, github: GitHub) -> None:
    name = job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    manifest = f"""
[[subjects]]
name = "{job.gate.subject}"
level = "BACKWARD"

[[waivers]]
subject = "{job.gate.subject}"
check = "AVRO_FIELD_DEFAULT_MISSING"
reason = "not in production yet"
by = "ana@example.com"
until = 2126-03-31
"""
    (job.gate.folder / "contractlog.toml").write_text(manifest)
    run = job.run(files="schemas")
    assert run.code == 0, run.log
    (command,) = run.commands
    assert (command.name, command.properties["file"]) == ("warning", name)
    (comment,) = github.comments
    assert "1 file can be registered, 1 by a waiver" in comment["body"]
    for text in (command.message, comment["body"].replace("`", "")):
        assert "is waived by ana@example.com until 2126-03-31: not in production yet" in text


def test_the_comment_follows_every_check_and_stays_one(job: Job, github: GitHub) -> None:
    for number in range(250):  # of others, and a copy of ours
        github.add(f"{MARKER if number == 120 else ''}comment {number}", "somebody")
    github.comments[3] |= {"user": None, "body": None}
    name = job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    for _ in range(2):
        assert job.run().code == 1
    assert [method for method, _ in github.writes] == ["POST"], "the second check has the same result"
    (gate_file := job.gate.folder / name).write_text(order(NOTE))
    run = job.run()
    assert (run.code, run.commands) == (0, [])
    assert [method for method, _ in github.writes] == ["POST", "PATCH"]
    assert "1 file can be registered" in github.comments[-1]["body"]
    assert len(github.comments) == 251
    gate_file.write_text("{")
    assert job.run().code == 2
    assert "1 unreadable" in github.comments[-1]["body"]


def test_a_check_without_findings_writes_no_first_comment(job: Job, github: GitHub) -> None:
    run = job.run()
    assert (run.code, run.commands, github.comments) == (0, [], [])
    assert run.summary.startswith("### contractlog check: nothing to register")


def test_a_comment_says_that_the_registry_was_not_reached(job: Job, github: GitHub) -> None:
    github.add(f"{MARKER}### contractlog check: all is well")
    run = job.run(registry="http://127.0.0.1:9")
    assert (run.code, run.outputs["exit-code"]) == (3, "3")
    assert "cannot be reached" in run.log
    assert "contractlog check: ended early: the registry cannot be reached" in github.comments[0]["body"]
    assert "all is well" not in github.comments[0]["body"]


def test_an_error_of_the_manifest_is_the_comment(job: Job, github: GitHub) -> None:
    github.add(f"{MARKER}### contractlog check: all is well")
    (job.gate.folder / "contractlog.toml").write_text("[")
    run = job.run()
    assert (run.code, run.outputs["exit-code"]) == (2, "2")
    assert [(each.name, each.file, each.line) for each in run.commands] == [("error", "contractlog.toml", 1)]
    assert "### contractlog check: ended early: the manifest is not valid" in github.comments[0]["body"]
    assert "the text is not TOML" in github.comments[0]["body"]


def test_a_check_that_could_not_be_completed_leaves_no_comment_that_passes(job: Job, github: GitHub) -> None:
    github.add(f"{MARKER}### contractlog check: all is well")
    run = job.run(arguments="--no-such-option")
    assert (run.code, run.outputs["exit-code"]) == (2, "2")
    assert "--no-such-option" in run.log
    assert "the check could not be completed" in github.comments[0]["body"]
    assert "exit code 2" in github.comments[0]["body"]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_comment_that_is_rejected_is_a_warning_and_the_check_decides(job: Job, github: GitHub, status: int) -> None:
    github.status = status
    job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    run = job.run()
    assert run.code == 1
    warning = run.commands[-1]
    assert (warning.name, f"GitHub responded with {status}" in warning.message) == ("warning", True)
    assert ("pull-requests: write" in warning.message) == (status < 500)


def test_other_events_and_other_wishes_write_no_comment(job: Job, github: GitHub) -> None:
    job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    assert job.run(event="push").code == job.run(comment="false").code == 1
    assert github.writes == []


def test_inputs_are_words_not_commands(job: Job) -> None:
    """Lines of an input are arguments; nothing in them is run or split."""
    odd = job.gate.put("sub folder/$(touch pwned) ;-value.avsc", '"string"')
    run = job.run(files=f"\n  \n{odd}\n", arguments="--report=junit=odd name.xml\n--verbose\n")
    assert run.code == 0
    assert not list(job.gate.folder.rglob("pwned*"))
    (case,) = read_junit((job.gate.folder / "odd name.xml").read_text("utf-8"))
    assert case.file == odd


def test_what_the_action_installs_from_is_in_its_repository() -> None:
    (step,) = (step for step in ACTION["runs"]["steps"] if step["name"].startswith("Install"))
    source = expand(step["env"]["SOURCE"], {"github.action_path": str(INTEGRATIONS / "github")})
    (locked,) = re.findall(r'-r "\$SOURCE/(\S+)"', step["run"])
    assert (Path(source) / locked).is_file()
    assert (Path(source) / "pyproject.toml").samefile(ROOT / "pyproject.toml")


def test_merges_are_applied_with_a_summary_and_without_a_comment(job: Job, server: Registry, github: GitHub) -> None:
    job.gate.put("schemas/{}-value.avsc", order(NOTE))
    run = job.run_event("push")
    assert (run.code, run.commands, github.writes) == (0, [], []), run.log
    assert run.summary.startswith("### contractlog apply: 1 version registered")
    assert server.versions(job.gate.subject) == [1, 2]
    again = job.run_event("push")
    assert (again.code, server.versions(job.gate.subject)) == (0, [1, 2])
    assert again.summary.startswith("### contractlog apply: nothing to change")


def test_a_rejected_merge_is_annotated_and_nothing_is_applied(job: Job, server: Registry) -> None:
    name = job.gate.put("schemas/{}-value.avsc", order(TOTAL))
    other = job.gate.put("schemas/{}-key.avsc", '"string"')
    run = job.run_event("push")
    assert (run.code, run.outputs["exit-code"]) == (1, "1")
    assert [(command.name, command.file) for command in run.commands] == [("error", name)]
    assert name in run.summary
    assert not server.subjects(prefix=Path(other).stem)
    assert server.versions(job.gate.subject) == [1]


def test_drift_fails_the_nightly_job_and_nothing_is_written(job: Job, server: Registry, github: GitHub) -> None:
    quiet = job.run_event("schedule")
    assert (quiet.code, quiet.commands) == (0, []), quiet.log
    server.register(job.gate.subject, SchemaDraft(order(NOTE)))
    drifted = job.run_event("schedule")
    assert drifted.code == 1
    by_hand, summary = drifted.commands
    assert (by_hand.name, by_hand.properties["title"].partition(":")[0]) == ("warning", "PLAN_DRIFT")
    assert by_hand.file == f"schemas/{job.gate.subject}.avsc"
    assert (summary.name, summary.properties["title"]) == ("error", "contractlog drift")
    assert f"| {job.gate.subject} | 1 | 2 |" in drifted.summary.replace("`", "")
    job.gate.put("schemas/{}-key.avsc", '"string"')  # a file that nobody applied
    assert job.run_event("schedule").code == 1
    assert not server.subjects(prefix=f"{job.gate.topic}-key")
    assert github.writes == []


@pytest.mark.parametrize("command", ["", "register", HOSTILE])
def test_an_unknown_command_is_an_error_that_runs_nothing(job: Job, command: str) -> None:
    run = job.run(command=command)
    assert run.code == 2
    assert [(each.name, each.message) for each in run.commands] == [
        ("error", "the input `command` is none of check, apply, drift")
    ]
    assert not list(job.gate.folder.rglob("pwned*"))


@pytest.mark.parametrize("event", ["pull_request", "push", "schedule"])
def test_hostile_names_of_branches_files_and_requests_are_not_run(job: Job, server: Registry, event: str) -> None:
    folder = "schemas/$(touch pwned) `touch pwned`;touch pwned"
    subprocess.run(
        ["git", "checkout", "-qb", "$(touch${IFS}pwned);`touch${IFS}pwned`"],
        cwd=job.gate.folder,
        check=True,
        timeout=WAIT_SECONDS,
    )
    name = job.gate.put(f"{folder}/::error::pwned-{job.gate.topic}-key.avsc", '"string"')
    broken = job.gate.put(f"{folder}/\n::error::pwned\n{job.gate.topic}.avsc", "{")
    run = job.run_event(event)
    assert run.code == 2, run.log
    assert all(each.message != "pwned" for each in run.commands)
    (job.gate.folder / broken).unlink()
    run = job.run_event(event)
    assert run.code == (1 if event == "schedule" else 0), run.log
    assert all(each.message != "pwned" for each in run.commands)
    assert not list(job.gate.folder.rglob("pwned"))
    assert not list(job.temporary.rglob("pwned"))
    assert bool(server.subjects(prefix=Path(name).stem)) == (event == "push")


def test_no_expression_is_part_of_a_script_and_none_is_chosen_by_others() -> None:
    """An expression in a script is replaced before the shell reads it: a title could be a command."""
    scripts = [step.get("run", "") for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    scripts += [step["run"] for step in ACTION["runs"]["steps"]]
    assert not any("${{" in script for script in scripts)
    values = [value for step in ACTION["runs"]["steps"] for value in step.get("env", {}).values()]
    expressions = [name for value in values for name in re.findall(r"\$\{\{ *(.*?) *\}\}", value)]
    assert all(re.fullmatch(EXPRESSIONS, name) for name in expressions)
    assert set(re.findall(r"\$\{\{ *(.*?) *\}\}", PAGE)) == {"secrets.REGISTRY_USER", "secrets.REGISTRY_PASSWORD"}


def gitlab_job(name: str) -> dict[str, Any]:
    """Return a job of the template in the pipeline of the page, with what it extends."""
    job = TEMPLATE[name]
    base = TEMPLATE[job["extends"]]
    variables = {**base["variables"], **PIPELINE[job["extends"]]["variables"], **job.get("variables", {})}
    return {**base, **job, "variables": variables}


def gitlab_jobs(variables: dict[str, str]) -> list[str]:
    """Return the jobs that GitLab adds to a pipeline: the first rule that applies to a job decides."""

    def holds(rule: dict[str, str]) -> bool:
        left, right = re.fullmatch(r'\$(\w+) == (\$\w+|"\w+")', rule["if"]).groups()  # type: ignore[union-attr]
        value = variables.get(right[1:]) if right.startswith("$") else right.strip('"')
        return value is not None and variables.get(left) == value

    names = []
    for name, job in TEMPLATE.items():
        rule = next(filter(holds, job["rules"]), None) if "rules" in job else None
        if rule is not None and rule.get("when") != "never":
            names.append(name)
    return names


@pytest.mark.parametrize(
    ("source", "branch", "names"),
    [
        ("merge_request_event", None, ["contractlog-check"]),
        ("push", "main", ["contractlog-apply"]),
        ("push", "$(touch pwned)", []),
        ("web", "main", ["contractlog-apply"]),
        ("schedule", "main", ["contractlog-drift"]),
        ("schedule", "feature", ["contractlog-drift"]),
    ],
)
def test_only_the_default_branch_is_applied(source: str, branch: str | None, names: list[str]) -> None:
    pipeline = {"CI_PIPELINE_SOURCE": source, "CI_DEFAULT_BRANCH": "main"}
    assert gitlab_jobs(pipeline | ({} if branch is None else {"CI_COMMIT_BRANCH": branch})) == names


def run_gitlab_job(name: str, repository: Gate) -> tuple[subprocess.CompletedProcess[str], dict[str, Path]]:
    """Run the script of a job, and return the result with the reports that it leaves."""
    job = gitlab_job(name)
    variables = {name: str(value) for name, value in {**PIPELINE["variables"], **job["variables"]}.items()}
    variables |= {"CONTRACTLOG_REGISTRY_URL": repository.url, "CI": "true", "CI_COMMIT_REF_NAME": HOSTILE}
    assert all("CONTRACTLOG_PACKAGE" in line for line in job["before_script"])  # from a package index: not run here
    assert job["artifacts"]["when"] == "always"
    reports = job["artifacts"]["reports"]
    assert sorted(reports.values()) == sorted(job["artifacts"]["paths"])
    done = run_bash("\n".join(job["script"]), repository.folder, variables)
    return done, {kind: repository.folder / file for kind, file in reports.items()}


def test_the_gitlab_job_leaves_its_reports_whatever_the_result(repository: Gate) -> None:
    name = repository.put("schemas/{}-value.avsc", order(TOTAL))
    done, reports = run_gitlab_job("contractlog-check", repository)
    assert done.returncode == 1
    assert "incompatible with version 1" in done.stdout
    (case,) = read_junit(reports["junit"].read_text("utf-8"))
    assert (case.file, bool(case.failure)) == (name, True)
    quality = read_gitlab(reports["codequality"].read_text("utf-8"))
    assert [(issue.path, issue.line) for issue in quality] == [(name, 9)]


def test_the_gitlab_jobs_apply_a_merge_and_find_what_was_changed_by_hand(repository: Gate, server: Registry) -> None:
    name = repository.put("schemas/{}-value.avsc", order(NOTE))
    assert run_gitlab_job("contractlog-drift", repository)[0].returncode == 1  # not applied yet
    done, reports = run_gitlab_job("contractlog-apply", repository)
    assert (done.returncode, server.versions(repository.subject)) == (0, [1, 2]), done.stderr
    (case,) = read_junit(reports["junit"].read_text("utf-8"))
    assert (case.file, case.failure) == (name, None)
    assert run_gitlab_job("contractlog-drift", repository)[0].returncode == 0
    server.register(repository.subject, SchemaDraft(order(NOTE | {"name": "remark"})))
    done, reports = run_gitlab_job("contractlog-drift", repository)
    assert done.returncode == 1
    quality = read_gitlab(reports["codequality"].read_text("utf-8"))
    assert [(issue.path, issue.check) for issue in quality] == [(name, "PLAN_DRIFT")]
    assert not list(repository.folder.rglob("pwned*"))


def test_the_pre_commit_hook_checks_the_folder_if_a_schema_is_staged(repository: Gate) -> None:
    hook = HOOKS["contractlog-check"]
    good = repository.put("schemas/{}-key.avsc", '"string"')
    bad = repository.put("schemas/{}-value.avsc", order(TOTAL))
    repository.put("schemas/README.md", "text")
    subprocess.run(["git", "add", "."], cwd=repository.folder, check=True, timeout=WAIT_SECONDS)
    listed = subprocess.run(
        ["git", "diff", "--cached", "--name-only"], cwd=repository.folder, check=True, capture_output=True, text=True
    )
    staged = [name for name in listed.stdout.splitlines() if re.search(hook["files"], name)]
    assert staged == [good, bad]
    assert hook["pass_filenames"] is False
    for changed, code in ((True, 1), (False, 0)):
        if not changed:
            (repository.folder / bad).unlink()
        done = run_bash(f"{hook['entry']} schemas", repository.folder, {"CONTRACTLOG_REGISTRY_URL": repository.url})
        assert done.returncode == code
        assert (bad in done.stdout, good in done.stdout) == (bool(code), False)


def test_the_lint_hooks_check_and_fix_the_staged_files(tmp_path: Path) -> None:
    field = {"name": "note", "type": ["null", "string"], "doc": "A note."}
    schema = {"type": "record", "name": "Order", "namespace": "com.acme", "doc": "An order.", "fields": [field]}
    (tmp_path / "the orders.avsc").write_text(json.dumps(schema))
    (tmp_path / "other.avsc").write_text("{")
    names = ["README.md", "package.json", "the orders.avsc", "customers-value.schema.json"]
    for name, code in (("contractlog-lint", 1), ("contractlog-lint-fix", 0), ("contractlog-lint", 0)):
        hook = HOOKS[name]
        assert [each for each in names if re.search(hook["files"], each)] == names[2:]
        assert hook.get("pass_filenames", True)
        # pre-commit adds the arguments of the configuration and the staged files; other files are not read
        arguments = f"--fail-on warning {' '.join(hook['args'])} 'the orders.avsc'"
        done = run_bash(f"{hook['entry']} {arguments}", tmp_path, {})
        assert (done.returncode, "NULLABLE_DEFAULT" in done.stdout) == (code, bool(code)), done.stdout + done.stderr
    assert json.loads((tmp_path / "the orders.avsc").read_text())["fields"][0]["default"] is None


@pytest.mark.parametrize("name", ["contractlog-lint", "contractlog-lint-fix"])
def test_the_lint_hooks_read_no_name_of_a_file_as_an_option(tmp_path: Path, name: str) -> None:
    hook = HOOKS[name]
    staged = Path("--report=sarif=made") / "orders.avsc"
    (tmp_path / staged).parent.mkdir()
    (tmp_path / staged).write_text('"string"')
    (tmp_path / "made").mkdir()
    run_bash(f"{hook['entry']} {' '.join(hook['args'])} {staged}", tmp_path, {})
    assert not list((tmp_path / "made").iterdir())
    configured = [each["args"] for each in HOOK_CONFIGURATION["repos"][0]["hooks"] if each["id"].startswith(name)]
    assert all(arguments[-1] == "--" for arguments in configured)


def kubernetes_arguments(pod: dict[str, Any], folder: Path) -> list[str]:
    """Return the arguments of the only container of a pod, with a folder in place of the one it mounts."""
    (container,) = pod["containers"]
    (mount,) = container["volumeMounts"]
    assert mount["name"] in {volume["name"] for volume in pod["volumes"]}
    (url,) = (one for one in container["env"] if one["name"] == "CONTRACTLOG_REGISTRY_URL")
    assert url["value"].startswith("http")
    return [argument.replace(mount["mountPath"], str(folder)) for argument in container["args"]]


def test_the_kubernetes_job_registers_the_files_of_a_config_map(repository: Gate, server: Registry) -> None:
    job = yaml.safe_load((INTEGRATIONS / "kubernetes" / "job.yaml").read_text("utf-8"))
    pod = job["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == int(
        re.findall(r"^USER (\d+)$", (ROOT / "deploy" / "Containerfile").read_text("utf-8"), re.MULTILINE)[0]
    )
    folder = repository.folder / "mounted"
    versioned = folder / "..2026_11_23"  # a ConfigMap is mounted as links to a hidden folder
    versioned.mkdir(parents=True)
    (folder / "..data").symlink_to(versioned.name)
    name = f"{repository.topic}-value.avsc"
    (versioned / name).write_text(order(NOTE))
    (folder / name).symlink_to(f"..data/{name}")
    arguments = kubernetes_arguments(pod, folder)
    retried_codes = set(job["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"])
    for number in range(2):
        done = repository.run(*arguments)
        assert done.returncode == 0, done.stderr
        assert ("nothing to change" in done.stderr) == bool(number)
    assert server.versions(repository.subject) == [1, 2]
    (versioned / name).write_text(order(NOTE, TOTAL))
    assert repository.run(*arguments).returncode in retried_codes
    assert repository.run(*arguments, url="http://127.0.0.1:9").returncode not in retried_codes


def test_the_kubernetes_drift_job_fails_if_the_registry_differs(repository: Gate, server: Registry) -> None:
    job, drift = (
        yaml.safe_load((INTEGRATIONS / "kubernetes" / name).read_text("utf-8")) for name in ("job.yaml", "drift.yaml")
    )
    spec = drift["spec"]["jobTemplate"]["spec"]
    pod = spec["template"]["spec"]
    (applies,), (compares,) = job["spec"]["template"]["spec"].pop("containers"), pod["containers"]
    assert pod | {"containers": []} == job["spec"]["template"]["spec"] | {"containers": []}, "the same files and user"
    assert {**applies, "args": [], "name": ""} == {**compares, "args": [], "name": ""}, "the same image and registry"
    arguments = kubernetes_arguments(pod, repository.folder / "schemas")
    final_codes = spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"]
    assert repository.run(*arguments).returncode == 0
    server.register(repository.subject, SchemaDraft(order(NOTE)))
    done = repository.run(*arguments)
    assert (done.returncode, done.returncode in final_codes) == (1, True)
    assert f"drift: `{repository.subject}`: version 2 of the registry is not in the files" in done.stdout
    assert repository.run(*arguments, url="http://127.0.0.1:9").returncode not in final_codes
    assert server.versions(repository.subject) == [1, 2]


def test_the_page_uses_inputs_variables_and_hooks_that_exist() -> None:
    actions = [job["steps"][-1] for job in WORKFLOW["jobs"].values()]
    assert all("/integrations/github@" in step["uses"] for step in actions)
    assert all(step["with"].keys() <= ACTION["inputs"].keys() for step in actions)
    assert [step["with"].get("command", ACTION["inputs"]["command"]["default"]) for step in actions] == [
        *re.findall(r"^\| `([a-z]+)` \| `[a-z_]+`", PAGE, re.MULTILINE)
    ]
    assert set(WORKFLOW[True]) == {"pull_request", "push", "schedule"}  # YAML reads `on` as true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    writers = [name for name, job in WORKFLOW["jobs"].items() if "write" in job.get("permissions", {}).values()]
    assert writers == ["check"], "only the comment needs more than the files"
    assert (ROOT / PIPELINE["include"][0]["file"]).is_file()
    assert PIPELINE[".contractlog"]["variables"].keys() <= TEMPLATE[".contractlog"]["variables"].keys()
    hooks = {hook["id"] for hook in HOOK_CONFIGURATION["repos"][0]["hooks"]}
    assert hooks <= HOOKS.keys()
    listed = re.findall(r"^\| `(contractlog-[\w-]+)` \|", PAGE, re.MULTILINE)
    assert set(listed) == {*HOOKS, *(name for name in TEMPLATE if not name.startswith("."))}
