"""All outputs of the installed command during the life of a repository of schemas.

Two registries with users, a git repository, and the command as a shell finds it: pull, change, check, plan, apply,
promote, break, revert. CONTRIBUTING.md describes how the golden files are rewritten.

The SARIF files are validated with ``pydantic-sarif``, a strict model generated from the official JSON Schema of SARIF
2.1.0, by ``support.sarif.read_sarif``; the other formats with parsers written from their documentation.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from contractlog.clients import Registry
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

from support.ci_formats import read_gitlab, read_junit, read_workflow_commands
from support.golden import REWRITE, require_golden
from support.registry import serve_in_thread
from support.sarif import read_sarif
from support.schema_repository import Login, SchemaRepository, command_environment

pytestmark = pytest.mark.e2e

GOLDEN: Final = Path(__file__).parent / "golden" / "schema_repository"
DEV: Final = Login("ci", "dév: p4ss/+%42@word?")
WRONG: Final = Login("ci", "wröng: gu3ss/+%40@&#")
PROD: Final = Login("release bot", "pröd: s3cret/+%3A@&#")
DRAFT_7: Final = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
FOLDER: Final = ("schemas", "--environment", "dev")
PROMOTE: Final = ("promote", "dev", "prod", "--manifest", "schemas/contractlog.toml")
NOWHERE: Final = "http://127.0.0.1:1"  # nobody listens
MANIFEST: Final = """
[environments.prod]
registry = "{prod}"

[[subjects]]
name = "payments-value"
level = "FULL"
owner = "team-payments"
"""
DISCOUNT: Final = """{
  "type": "record",
  "name": "Discount",
  "namespace": "com.acme",
  "doc": "A reduction of a price.",
  "fields": [
    {"name": "percent", "type": "int"},
    {"name": "Code", "type": "string"}
  ]
}
"""


def record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": each, "type": kind} for each, kind in fields.items()]
    return {"type": "record", "name": name, "namespace": "com.acme", "fields": listed}


def fill(registry: Registry) -> None:
    """Register twelve subjects: shared types, keys, a union, record names, and a JSON ``$ref``."""

    def register(subject: str, schema: Any, *references: str, kind: SchemaType = SchemaType.AVRO) -> None:
        listed = tuple(Reference(name, name.removesuffix(".schema.json"), 1) for name in references)
        registry.register(subject, SchemaDraft(json.dumps(schema), kind, references=listed))

    currency, money, address = "com.acme.Currency", "com.acme.Money", "com.acme.Address"
    made, refused = "com.acme.PaymentMade", "com.acme.PaymentRefused"
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
    text = {"type": "string"}
    closed = {"additionalProperties": False}
    register(currency, {"type": "enum", "name": "Currency", "namespace": "com.acme", "symbols": ["EUR", "USD"]})
    register(money, record("Money", amount=decimal, currency=currency), currency)
    register(address, record("Address", street="string", city="string"))
    register("orders-key", "string")
    order = record("Order", id="long", total=money, ship_to=address)
    register("orders-value", order, address, money)
    register(made, record("PaymentMade", order="long", paid=money), money)
    register(refused, record("PaymentRefused", order="long", reason="string"))
    register("payments-value", [made, refused], made, refused)
    register("payments-key", "long")
    register("shipments-com.acme.Shipped", record("Shipped", order="long", to=address), address)
    places = {"street": text, "city": text}
    register("address", {**DRAFT_7, "properties": places, "required": [*places], **closed}, kind=SchemaType.JSON)
    customer = {"name": text, "address": {"$ref": "address.schema.json"}}
    register(
        "customers-value",
        {**DRAFT_7, "properties": customer, "required": ["name"], **closed},
        "address.schema.json",
        kind=SchemaType.JSON,
    )


@dataclass
class Life:
    """A life that was lived."""

    repository: SchemaRepository
    logs: list[str]
    folder: Path  #: of the repository, the reports, the users and the databases


def add_user(file: Path, login: Login) -> None:
    subprocess.run(
        ["contractlog", "users", "add", login.user, "--write", "*", "--file", str(file)],
        input=f"{login.password}\n".encode(),
        env=command_environment(),
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    folder = tmp_path_factory.mktemp("life")
    with ExitStack() as servers:
        urls = {}
        for name, login in (("dev", DEV), ("prod", PROD)):
            add_user(folder / f"{name}.toml", login)
            database, users = f"sqlite:///{folder / name}.db", str(folder / f"{name}.toml")
            urls[name] = servers.enter_context(serve_in_thread(database, CONTRACTLOG_USERS_FILE=users))
        with Registry(DEV.url(urls["dev"])) as registry:
            fill(registry)
        (folder / "repository").mkdir()
        repository = SchemaRepository(
            folder / "repository",
            folder / "reports",
            {urls["dev"]: "http://dev.example.com", urls["prod"]: "http://prod.example.com", str(folder): "/home/ana"},
            {**DEV.variables(), **PROD.variables("_PROD"), "CONTRACTLOG_REGISTRY_URL": DEV.url(urls["dev"])},
        )
        yield Life(repository, live(repository, urls), folder)


def live(repository: SchemaRepository, urls: dict[str, str]) -> list[str]:
    """Live the life, and return the logs of the verbs' requests."""
    pull_registry(repository, urls)
    change_compatibly(repository)
    promote(repository)
    break_readers(repository)
    merge_with_conflict(repository)
    revert_field(repository)
    delete_reverted_version(repository, urls)
    fail_to_connect(repository)
    return trace_verbs(repository, urls)


def pull_registry(repository: SchemaRepository, urls: dict[str, str]) -> None:
    """Bring an existing registry under version control, and set what the manifest adds."""
    schemas = repository.folder / "schemas"
    repository.git("init", "--quiet", "--initial-branch", "main")
    repository.change("01-pull", "pull", "--all", "--out", "schemas")
    for name in ("contractlog.lock", "contractlog.toml", "orders-value.avsc", "customers-value.schema.json"):
        repository.keep_file("01-pull", f"schemas/{name}")
    repository.look("02-pull-again", "pull", "--all", "--out", "schemas", formats=())
    repository.look("03-check-what-was-pulled", "check", "schemas")
    repository.look("04-plan-what-was-pulled", "plan", "schemas", "--exit-code")
    manifest = schemas / "contractlog.toml"
    text = manifest.read_text().replace("[environments.default]", "[environments.dev]")
    manifest.write_text(text + MANIFEST.format(prod=urls["prod"]))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "schemas of the registry")
    repository.look("05-plan-settings", "plan", *FOLDER, "--exit-code", code=1)
    repository.change("06-apply-settings", "apply", *FOLDER)


def change_compatibly(repository: SchemaRepository) -> None:
    """Add a type, its user, and a property of a shared JSON schema on a branch; merge and apply it."""
    schemas = repository.folder / "schemas"
    repository.git("switch", "--quiet", "--create", "discounts")
    (schemas / "com.acme.Discount.avsc").write_text(DISCOUNT)
    field = '{"name": "discount", "type": ["null", "Discount"], "default": null}'
    repository.edit("orders-value.avsc", '"Address"\n    }\n', f'"Address"\n    }},\n    {field}\n')
    repository.edit("address.schema.json", '"city": {', '"country": {\n      "type": "string"\n    },\n    "city": {')
    repository.look("07-lint", "lint", "schemas")
    repository.look("08-check-compatible", "check", *FOLDER)
    repository.look("09-check-compatible-with-main", "check", *FOLDER, "--against", "git:main")
    repository.look("10-diff", "diff", "git:main:schemas", "schemas")
    repository.change("11-diff-markdown", "diff", "git:main:schemas", "schemas", "--format", "markdown")
    repository.look("12-plan-compatible", "plan", *FOLDER, "--out", "plan.json")
    repository.keep_file("12-plan-compatible", "plan.json")
    repository.git("add", "schemas")
    repository.git("commit", "--quiet", "--message", "discounts")
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "discounts")
    repository.change("13-apply-plan", "apply", "--plan", "plan.json")
    repository.look("14-apply-again", "apply", "--plan", "plan.json")
    (repository.folder / "plan.json").unlink()
    repository.look("15-plan-after-apply", "plan", *FOLDER, "--exit-code")


def promote(repository: SchemaRepository) -> None:
    """Bring all versions from dev to prod."""
    repository.look("16-promote", *PROMOTE, "--exit-code", code=1)
    repository.change("17-promote-apply", *PROMOTE, "--apply")
    repository.look("18-promote-again", *PROMOTE, "--exit-code", formats=())


def break_readers(repository: SchemaRepository) -> None:
    """Change a type and remove a symbol on a branch, which every verb rejects."""
    repository.git("switch", "--quiet", "--create", "breaking")
    repository.edit(
        "orders-value.avsc", '"name": "id",\n      "type": "long"', '"name": "number",\n      "type": "int"'
    )
    repository.edit("com.acme.Currency.avsc", '    "EUR",\n', "")
    repository.look("19-check-breaking", "check", *FOLDER, code=1)
    repository.look("20-check-breaking-with-main", "check", *FOLDER, "--against", "git:main", code=1)
    repository.look("21-check-breaking-with-lock", "check", *FOLDER, "--against", "lock", code=1)
    repository.look("22-diff-breaking", "diff", "git:main:schemas", "schemas", code=1)
    repository.look("23-plan-breaking", "plan", *FOLDER, "--out", "plan.json", code=1)
    repository.look("24-apply-breaking", "apply", *FOLDER, code=1)
    repository.look("25-register-breaking", "register", *FOLDER, code=1)
    repository.git("commit", "--quiet", "--all", "--message", "breaking")


def merge_with_conflict(repository: SchemaRepository) -> None:
    """Leave a merge unfinished."""
    repository.git("switch", "--quiet", "main")
    repository.edit("com.acme.Currency.avsc", '"EUR",\n', '"EUR",\n    "GBP",\n')
    repository.git("commit", "--quiet", "--all", "--message", "pounds")
    repository.git("merge", "breaking", code=1)
    repository.look("26-check-conflict", "check", *FOLDER, code=2)
    repository.look("27-lint-conflict", "lint", "schemas", code=2)
    repository.look("28-plan-conflict", "plan", *FOLDER, code=2)
    repository.git("merge", "--abort")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")


def revert_field(repository: SchemaRepository) -> None:
    """Add an optional field, apply and promote it, and revert the commit."""
    added = '{"name": "note", "type": "string", "default": ""},\n    {"name": "discount"'
    repository.edit("orders-value.avsc", '{"name": "discount"', added)
    repository.git("commit", "--quiet", "--all", "--message", "notes")
    repository.change("29-apply-field", "apply", *FOLDER, "--format", "json")
    repository.change("30-promote-field", *PROMOTE, "--apply", "--format", "json")
    repository.git("revert", "--no-edit", "HEAD")
    repository.look("31-check-revert", "check", *FOLDER)
    repository.look("32-check-revert-with-previous", "check", *FOLDER, "--against", "git:HEAD~1")
    repository.look("33-plan-revert", "plan", *FOLDER, "--exit-code", code=1)
    repository.look("34-apply-revert", "apply", *FOLDER)


def delete_reverted_version(repository: SchemaRepository, urls: dict[str, str]) -> None:
    """Delete the version that nobody uses in both registries, until nothing is left to do."""
    in_prod = {"CONTRACTLOG_REGISTRY_URL": PROD.url(urls["prod"])}
    repository.change("35-delete-in-dev", "delete", "orders-value:3", "--yes")
    repository.look("36-promote-refused", *PROMOTE, code=1)
    repository.change("37-delete-in-prod", "delete", "orders-value:3", "--yes", "--format", "json", **in_prod)
    repository.look("38-plan-at-the-end", "plan", *FOLDER, "--exit-code")
    repository.look("39-promote-at-the-end", *PROMOTE, "--exit-code", formats=())
    repository.change("40-pull-at-the-end", "pull", "--all", "--out", "schemas", "--environment", "dev")
    repository.keep_file("40-pull-at-the-end", "schemas/contractlog.lock")
    repository.look("41-check-with-lock", "check", *FOLDER, "--against", "lock")


def fail_to_connect(repository: SchemaRepository) -> None:
    """Check with a registry that is down, and with a wrong password."""
    repository.look("42-registry-down", "check", "schemas", "--registry", NOWHERE, code=3)
    repository.look("43-plan-registry-down", "plan", "schemas", "--registry", NOWHERE, code=3)
    wrong = {"CONTRACTLOG_REGISTRY_PASSWORD": WRONG.password}
    repository.look("44-wrong-password", "check", *FOLDER, code=4, **wrong)


def trace_verbs(repository: SchemaRepository, urls: dict[str, str]) -> list[str]:
    """Run each verb once more, with a log of its requests, and return the logs."""
    reader = {"CONTRACTLOG_REGISTRY_URL": "", "CONTRACTLOG_REGISTRY_USER": "", "CONTRACTLOG_REGISTRY_PASSWORD": ""}
    chosen = ("schemas", "--registry", DEV.url(urls["dev"]))
    logs = [repository.trace(verb, *chosen, **reader) for verb in ("check", "apply", "register")]
    logs.append(repository.trace("plan", *chosen, "--out", "plan.json", **reader))
    logs.append(repository.trace("pull", "--all", "--out", "pulled"))
    logs.append(repository.trace("diff", "subject:orders-value:1", "subject:orders-value:2"))
    logs.append(repository.trace(*PROMOTE, "--apply"))
    repository.trace("check", "schemas", "--registry", DEV.url(NOWHERE), code=3)
    repository.trace("check", "schemas", "--registry", WRONG.url(urls["dev"]), code=4, **reader)
    return logs


def golden_files(name: str) -> list[Path]:
    return sorted(GOLDEN.glob(f"*/{name}"))


def test_every_output_of_the_life_is_in_the_golden_files(life: Life) -> None:
    require_golden(GOLDEN, life.repository.outputs)


def test_golden_files_are_not_rewritten_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REWRITE, "1")
    monkeypatch.delenv("CI", raising=False)
    require_golden(tmp_path, {"a": "1"})
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="not allowed in CI"):
        require_golden(tmp_path, {"a": "2"})
    monkeypatch.delenv(REWRITE)
    with pytest.raises(AssertionError, match="REWRITE_GOLDEN=1"):
        require_golden(tmp_path, {"a": "2"})
    assert (tmp_path / "a").read_text() == "1"


def test_no_credential_is_printed_or_written(life: Life) -> None:
    traces = {trace for login in (DEV, PROD, WRONG) for trace in login.traces()}
    contents = {str(path): path.read_bytes() for path in life.folder.rglob("*") if path.is_file()}
    contents |= {f"output {number}": output for number, output in enumerate(life.repository.raw)}
    for name in ("plan.json", "contractlog.lock", "contractlog.toml", "pulled/contractlog.toml"):
        assert any(path.endswith(f"/{name}") for path in contents), name
    shown = {name: trace for name, content in contents.items() for trace in traces if trace in content}
    assert shown == {}
    for log in life.logs:
        requests = [line for line in log.splitlines() if line.startswith(("GET http://", "POST http://"))]
        assert requests, log
        assert all("@" not in line for line in requests)


def test_the_traces_of_a_password_are_those_of_a_real_request() -> None:
    """The search would miss a leak if it did not have the form in which clients send credentials."""
    with httpx2.Client(auth=(DEV.user, DEV.password)) as client:
        request = next(client.auth.auth_flow(client.build_request("GET", "http://dev.example.com")))  # type: ignore[union-attr]
    sent = request.headers["Authorization"].encode()
    assert any(trace in sent for trace in DEV.traces())
    assert any(trace in DEV.url("http://dev.example.com").encode() for trace in DEV.traces())


def exit_code(folder: Path) -> int:
    return int((folder / "output.txt").read_text("utf-8").rpartition("exit code ")[2])


@pytest.mark.parametrize("path", golden_files("sarif.json"), ids=lambda path: path.parent.name)
def test_sarif_annotations_and_code_quality_have_the_same_findings(path: Path) -> None:
    """SARIF by the strict model of ``pydantic-sarif``, generated from the official JSON Schema."""
    log = read_sarif(path.read_text("utf-8"))
    issues = read_gitlab((path.parent / "gitlab.json").read_text("utf-8"))
    severities = {"error": "critical", "warning": "minor", "note": "info"}
    assert [(each.check, each.fingerprint, each.severity, each.path, each.line) for each in issues] == [
        (each.rule, each.fingerprint, severities[each.level], each.path, each.line or 1) for each in log.results
    ]
    names = {"error": "error", "warning": "warning", "note": "notice"}
    results = [(names[each.level], each.path, each.line, each.column, each.message) for each in log.results]
    commands = read_workflow_commands((path.parent / "github.txt").read_text("utf-8"))
    assert [(each.name, each.file, each.line, each.column, each.message) for each in commands] == [
        each for number, each in enumerate(results) if sum(other[0] == each[0] for other in results[:number]) < 10
    ]
    assert log.completed == (exit_code(path.parent) < 3)


@pytest.mark.parametrize("path", golden_files("junit.xml"), ids=lambda path: path.parent.name)
def test_junit_has_one_case_for_each_file_and_fails_if_the_verb_does(path: Path) -> None:
    cases = read_junit(path.read_text("utf-8"))
    assert len({case.name for case in cases}) == len(cases) > 0
    failed = any(case.failure is not None or case.error is not None for case in cases)
    only_changes = "--exit-code" in (path.parent / "output.txt").read_text("utf-8").partition("\n")[0]
    assert failed == (exit_code(path.parent) > 0 and not only_changes)
