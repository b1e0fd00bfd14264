"""Schemas as code against a real Apicurio Registry, another server of the reference's API.

Each answer that differs from the reference's has a fast test in ``tests/unit/clients/cli/test_apicurio_responses.py``,
against our own service with these answers, which are compared with the real ones here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from contractlog.clients import Registry
from contractlog.clients.asgi_transport import BlockingASGITransport
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode

from support.gate import Gate

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DRAFT = "http://json-schema.org/draft-07/schema#"
ID = {"name": "id", "type": "long"}
NOTE = {"name": "note", "type": "string", "default": ""}


@pytest.fixture
def url(apicurio: str, request: pytest.FixtureRequest) -> str:
    return f"{apicurio}/{getattr(request, 'param', 'v8')}"


in_both_releases = pytest.mark.parametrize("url", ["v7", "v8"], indirect=True)


class PatientGate(Gate):
    """A gate whose commands wait longer: this server may need half a minute for a request on a busy machine."""

    def run(self, *arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
        return super().run(*arguments, "--timeout=180", url=url)


@pytest.fixture
def gate(tmp_path: Path, url: str) -> Gate:
    """A folder with a key, two subjects that share an Avro type, and a JSON schema that refers to another."""
    gate = PatientGate(tmp_path, url)
    gate.put("{}-key.avsc", '"string"')
    write_money(gate)
    write_order(gate)
    refund = {"type": "record", "name": "Refund", "fields": [{"name": "total", "type": money(gate)}]}
    gate.put("{}-refunds-value.avsc", json.dumps(refund))
    gate.put("types/{}-address.schema.json", json.dumps(json_object(street={"type": "string"}), indent=2))
    write_customer(gate)
    gate.put("contractlog.toml", manifest(gate))
    return gate


def manifest(gate: Gate, *settings: str) -> str:
    rule = "\n".join(['level = "BACKWARD"', *settings])
    return f'[[subjects]]\nname = "{gate.topic}-*value"\n{rule}\n'


def money(gate: Gate) -> str:
    return f"com.acme.{gate.topic.replace('-', '_')}.Money"


def write_money(gate: Gate, *fields: dict[str, Any]) -> None:
    amount = {"name": "amount", "type": "long"}
    gate.put(
        f"types/{money(gate)}.avsc", json.dumps({"type": "record", "name": money(gate), "fields": [amount, *fields]})
    )


def write_order(gate: Gate, *fields: dict[str, Any]) -> None:
    total = {"name": "total", "type": money(gate)}
    gate.put("{}-value.avsc", json.dumps({"type": "record", "name": "Order", "fields": [ID, total, *fields]}))


def write_customer(gate: Gate, **properties: Any) -> None:
    home = {"$ref": f"types/{gate.topic}-address.schema.json"}
    gate.put("{}-customers-value.schema.json", json.dumps(json_object(home=home, **properties)))


def json_object(**properties: Any) -> dict[str, Any]:
    return {"$schema": DRAFT, "type": "object", "properties": properties, "additionalProperties": False}


def subjects(registry: Registry, gate: Gate) -> list[str]:
    return [name for name in registry.subjects() if gate.topic in name or name == money(gate)]


@in_both_releases
def test_a_folder_is_planned_applied_and_pulled_into_another_and_then_nothing_is_left_to_do(
    gate: Gate, url: str, tmp_path: Path
) -> None:
    assert gate.run("check", ".").returncode == exit_codes.CLEAN
    assert gate.run("plan", ".", "--exit-code").returncode == exit_codes.FINDINGS
    ran = gate.run("apply", ".")
    assert (ran.returncode, ran.stderr) == (exit_codes.CLEAN, "6 versions registered, 3 levels set\n")
    ran = gate.run("plan", ".", "--exit-code")
    assert (ran.returncode, ran.stdout, ran.stderr) == (exit_codes.CLEAN, "", "nothing to change\n")
    assert gate.run("check", ".").stdout.count("registered already, as version 1") == 6
    assert gate.run("apply", ".").stderr == "nothing to change\n"

    with Registry(url) as registry:
        names = subjects(registry, gate)
    copy = PatientGate(tmp_path / "copy", url)
    copy.folder.mkdir()
    ran = copy.run("pull", *names, "--out", ".")
    assert (ran.returncode, ran.stdout.count(": new, version 1 of")) == (exit_codes.CLEAN, 6)
    assert copy.run("plan", ".", "--exit-code").stderr == "nothing to change\n"
    assert copy.run("check", ".").stdout.count("registered already, as version 1") == 6
    assert copy.run("check", ".", "--against", "lock").returncode == exit_codes.CLEAN
    written = {path.name: path.read_bytes() for path in copy.folder.iterdir()}
    assert copy.run("pull", *names, "--out", ".").returncode == exit_codes.CLEAN
    assert {path.name: path.read_bytes() for path in copy.folder.iterdir()} == written


def test_changes_are_checked_and_applied_also_of_a_shared_type(
    gate: Gate, url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    write_order(gate, NOTE)
    write_customer(gate, age={"type": "integer"})
    ran = gate.run("check", ".")
    assert (ran.returncode, ran.stdout.count("compatible with version 1 of")) == (exit_codes.CLEAN, 2)
    assert "whether you may register here is not known" in ran.stdout
    assert ran.stdout.count("the registry could not check this schema") == 2
    write_money(gate, NOTE)
    assert gate.run("check", ".").returncode == exit_codes.CLEAN
    saved = str(tmp_path_factory.mktemp("plan") / "saved.plan")
    assert gate.run("plan", ".", "--out", saved).returncode == exit_codes.CLEAN
    ran = gate.run("apply", "--plan", saved)
    assert (ran.returncode, ran.stderr) == (exit_codes.CLEAN, "4 versions registered\n")
    assert gate.run("plan", ".", "--exit-code").stderr == "nothing to change\n"
    with Registry(url) as registry:
        assert registry.version(f"{gate.topic}-value", "latest").references[0].version == 2
        assert registry.versions(f"{gate.topic}-refunds-value") == [1, 2]


@in_both_releases
def test_incompatible_changes_are_refused_by_check_and_apply(gate: Gate, url: str) -> None:
    write_customer(gate, age={"type": "integer"})
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    write_order(gate, {"name": "note", "type": "string"})
    write_customer(gate, age={"type": "string"})
    ran = gate.run("check", ".")
    assert (ran.returncode, ran.stdout.count("incompatible with version 1 of")) == (exit_codes.FINDINGS, 2)
    assert "AVRO_FIELD_DEFAULT_MISSING" in ran.stdout
    ran = gate.run("apply", ".")
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (exit_codes.FINDINGS, "nothing was applied")
    with Registry(url) as registry:
        assert registry.versions(f"{gate.topic}-value") == [1]
        assert registry.level(f"{gate.topic}-value") is Level.BACKWARD


def test_a_mode_that_permits_no_versions_is_respected(gate: Gate, url: str) -> None:
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    write_order(gate, NOTE)
    with Registry(url) as registry:
        registry.set_mode(Mode.READONLY, f"{gate.topic}-value")
        ran = gate.run("check", ".")
        assert (ran.returncode, "is in mode READONLY" in ran.stdout) == (exit_codes.REFUSED, True)
        assert gate.run("apply", ".").returncode == exit_codes.REFUSED
        registry.set_mode(Mode.READWRITE, f"{gate.topic}-value")
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN


def test_versions_and_files_are_compared(gate: Gate, url: str) -> None:
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    key = f"{gate.topic}-key"
    assert gate.run("diff", f"subject:{key}:latest", f"file:{key}.avsc").returncode == exit_codes.CLEAN
    gate.put("{}-key.avsc", '"int"')
    ran = gate.run("diff", f"subject:{key}:1", f"file:{key}.avsc")
    assert (ran.returncode, "AVRO_TYPE_CHANGED" in ran.stdout) == (exit_codes.FINDINGS, True)
    subject = f"{gate.topic}-value"
    write_order(gate, NOTE)
    assert gate.run("apply", ".", "--format", "json").returncode == exit_codes.FINDINGS  # the key
    gate.put("{}-key.avsc", '"string"')
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    ran = gate.run("diff", f"{subject}:1", f"{subject}:2")
    assert (ran.returncode, "`note`" in ran.stdout) == (exit_codes.CLEAN, True)


def test_settings_that_it_does_not_have_are_reported(gate: Gate) -> None:
    gate.put("contractlog.toml", manifest(gate, "normalize = true", 'owner = "team"'))
    assert "whether this registry has the settings normalize, override_metadata is not known" in gate.run("plan").stderr
    ran = gate.run("apply")
    assert (ran.returncode, ran.stdout.count("not set, because the registry failed")) == (exit_codes.FINDINGS, 6)
    assert "6 versions registered, 3 levels set" in ran.stderr
    gate.put("contractlog.toml", manifest(gate))
    assert gate.run("plan", "--exit-code").stderr == "nothing to change\n"


def test_what_is_not_known_is_said(gate: Gate, url: str) -> None:
    assert gate.run("apply", ".").returncode == exit_codes.CLEAN
    subject = f"{gate.topic}-value"
    for arguments, said in (
        (["whoami"], "tells neither the user nor the permissions"),
        (["subjects", gate.topic, "--long"], "only the names are known"),
        (["versions", subject], "does not tell when a version was registered"),
        (["delete", f"{gate.topic}-key", "--dry-run"], "whether clients still fetch it is not known"),
    ):
        ran = gate.run(*arguments)
        assert (ran.returncode, said in ran.stderr) == (exit_codes.CLEAN, True), ran
    assert gate.run("contexts").stdout == ".\n"
    assert gate.run("mode", "unset").stderr == "contractlog: this registry cannot unset a mode\n"
    assert gate.run("mode", "get", subject).stdout.splitlines()[1].split() == [
        "READWRITE",
        "subject",
        "or",
        "inherited",
    ]
    assert gate.run("config", "get", subject).stdout.splitlines()[1].split() == ["level", "BACKWARD", "subject"]
    assert gate.run("config", "get", f"{gate.topic}-new").returncode == exit_codes.CLEAN
    assert gate.run("show", f"{subject}:1").returncode == exit_codes.CLEAN
    ran = gate.run("delete", money(gate), "--yes")
    assert (ran.returncode, f"is referenced by version 1 of `{subject}`" in ran.stderr) == (exit_codes.FINDINGS, True)
    assert gate.run("delete", f"{gate.topic}-key", "--yes").returncode == exit_codes.CLEAN
    assert "cannot be restored" in gate.run("undelete", f"{gate.topic}-key").stderr
    assert gate.run("delete", f"{gate.topic}-key", "--permanent", "--yes").returncode == exit_codes.CLEAN
    with Registry(url) as registry:
        assert f"{gate.topic}-key" not in registry.subjects(deleted=True)


def test_versions_are_promoted_from_it_and_to_it(gate: Gate, url: str, registry_url: str) -> None:
    environments = "".join(
        f'[environments.{name}]\nregistry = "{address}"\n' for name, address in (("there", url), ("ours", registry_url))
    )
    gate.put("contractlog.toml", environments)
    assert gate.run("apply", ".", "--environment", "ours").returncode == exit_codes.CLEAN
    ran = gate.run("promote", "ours", "there", "--apply")
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (exit_codes.CLEAN, "6 versions registered in there")
    assert gate.run("promote", "ours", "there", "--exit-code").returncode == exit_codes.CLEAN
    assert gate.run("plan", ".", "--environment", "there", "--exit-code").returncode == exit_codes.CLEAN
    write_order(gate, NOTE)
    write_customer(gate, age={"type": "integer"})
    assert gate.run("apply", ".", "--environment", "there").returncode == exit_codes.CLEAN
    assert gate.run("promote", "there", "ours", "--apply").returncode == exit_codes.CLEAN
    assert gate.run("plan", ".", "--environment", "ours", "--exit-code").returncode == exit_codes.CLEAN


def life(subject: str) -> list[tuple[str, str, Any]]:
    """Return the requests whose answers differ from the reference's, in the order of a life."""
    first = {"schema": json.dumps({"type": "record", "name": subject, "fields": [ID]})}
    second = {"schema": json.dumps({"type": "record", "name": subject, "fields": [ID, NOTE]})}
    user = {
        "schema": json.dumps(["null", subject]),
        "references": [{"name": subject, "subject": subject, "version": 1}],
    }
    page = f"{subject}.json"
    schema = {"schema": json.dumps(json_object()), "schemaType": "JSON"}
    json_user = {"schema": json.dumps(json_object(a={"$ref": page})), "schemaType": "JSON"}
    json_user["references"] = [{"name": page, "subject": page, "version": 1}]  # type: ignore[assignment]
    return [
        ("POST", "/contractlog/v1/lookup", {}),
        ("GET", f"/associations/subjects/{subject}", None),
        ("GET", "/schemas/guids/00000000-0000-0000-0000-000000000000", None),
        ("GET", "/v1/metadata/version", None),
        ("GET", "/contexts", None),
        ("GET", "/schemas?subjectPrefix=%3A%2A%3A&latestOnly=true", None),
        ("DELETE", "/mode", None),
        ("GET", f"/config/{subject}?defaultToGlobal=true", None),
        ("GET", f"/mode/{subject}", None),
        ("POST", f"/compatibility/subjects/{subject}/versions?verbose=true", first),
        ("POST", f"/compatibility/subjects/{subject}/versions/latest?verbose=true", first),
        ("POST", f"/subjects/{subject}/versions", first),
        ("POST", f"/subjects/{subject}", second),
        ("GET", f"/config/{subject}", None),
        ("PUT", f"/config/{subject}", {"normalize": True}),
        ("PUT", f"/config/{subject}", {"compatibility": None}),
        ("PUT", f"/config/{subject}", {"compatibility": "FULL", "normalize": True, "validateFields": True}),
        ("GET", f"/config/{subject}", None),
        ("GET", f"/config/{subject}?defaultToGlobal=true", None),
        ("POST", f"/compatibility/subjects/{subject}/versions?verbose=true", second),
        ("POST", f"/compatibility/subjects/{subject}/versions?verbose=true", {"schema": '"nonsense"'}),
        ("POST", f"/subjects/{subject}-user/versions", user),
        ("POST", f"/compatibility/subjects/{subject}-user/versions?verbose=true", user),
        ("POST", f"/subjects/{page}/versions", schema),
        ("POST", f"/subjects/{page}-user/versions", json_user),
        ("POST", f"/compatibility/subjects/{page}-user/versions?verbose=true", json_user),
        ("PUT", f"/mode/{subject}", {"mode": "IMPORT"}),
        ("POST", f"/subjects/{subject}/versions", {**second, "id": 777, "version": 9}),
        ("GET", f"/subjects/{subject}/versions", None),
        ("DELETE", f"/subjects/{subject}-user", None),
        ("GET", f"/subjects/{subject}-user/versions/1?deleted=true", None),
        ("GET", f"/subjects/{subject}-user/versions?deleted=true", None),
    ]


def answers(client: httpx2.Client, base: str, requests: Sequence[tuple[str, str, Any]]) -> list[tuple[str, int, Any]]:
    """Return the request, status and body of each, without ids, and without the messages of what does not exist."""
    bodies = []
    for method, path, body in requests:
        response = client.request(method, base + path, json=body)
        content = response.json() if response.content else None
        if isinstance(content, dict):
            content = {name: value for name, value in content.items() if name != "id"}
            if response.status_code == 404:
                del content["message"]
        bodies.append((f"{method} {path}", response.status_code, content))
    return bodies


def test_the_fast_tests_have_the_answers_of_the_real_server(apicurio: str, apicurio_responses: ASGIApp) -> None:
    subject = f"life{uuid4().hex[:10]}"
    with Registry(app=apicurio_responses) as registry:
        registry.set_level(Level.NONE)  # as there
    with httpx2.Client() as client:
        theirs = answers(client, f"{apicurio}/v7", life(subject))
    with httpx2.Client(transport=BlockingASGITransport(apicurio_responses), base_url="http://registry") as client:
        ours = answers(client, "", life(subject))
    assert ours == theirs
