"""``contractlog serve`` with TLS and users, called by real TLS clients and the command line."""

from __future__ import annotations

import ipaddress
import json
import os
import select
import sqlite3
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.http.password_failure_limits import NAME_FAILURES

from support.command_line import run_verb
from support.deadlines import WAIT_SECONDS, eventually
from support.registry import create_sqlite, run_server, serve_in_thread, start_server
from support.tls import Authority, Pair

pytestmark = pytest.mark.e2e

CLI = [sys.executable, "-m", "contractlog.clients.cli.main"]
RECORD = '{"type":"record","name":"Order","fields":[]}'


def contractlog(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return run_verb(arguments, stdin=stdin, environment=environment)


@pytest.fixture(autouse=True, scope="module")
def no_settings() -> Iterator[None]:
    """Only what a test sets is set."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("CONTRACTLOG_", "SCHEMA_REG"))]:
            patch.delenv(name)
        yield


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return create_users(tmp_path / "users.toml")


def create_users(path: Path) -> Path:
    """Make a users file by the command line."""
    for words, password in (
        (("ci", "--write", "orders-*", "--read", "*"), "secret: of\tci\n"),
        (("svc", "--read", "*", "--no-password"), ""),
    ):
        made = contractlog("users", "add", *words, "--file", str(path), stdin=password)
        assert (made.returncode, made.stdout) == (0, "")
        assert made.stderr.startswith(f"added user `{words[0]}` to `{path}`: reads *, ")
    return path


CI = ("ci", "secret: of\tci")


def settings(pair: Pair, **more: Any) -> dict[str, str]:
    named = {"TLS_CERTIFICATE": pair.certificate, "TLS_KEY": pair.key} | more
    return {f"CONTRACTLOG_{name.upper()}": str(value) for name, value in named.items()}


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    return create_sqlite(tmp_path / "registry.db")


@dataclass(frozen=True)
class Secured:
    """A registry with TLS, users, and certificates of clients where they have one."""

    url: str
    authority: Authority
    users: Path


@pytest.fixture(scope="module")
def secured(no_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """One registry for the tests of callers; `orders-value` has this record if it has a version."""
    folder = tmp_path_factory.mktemp("secured")
    authority, users = Authority(folder), create_users(folder / "users.toml")
    more = {"users_file": users, "tls_client_ca": authority.certificate, "tls_client_certificates": "optional"}
    with run_server(create_sqlite(folder / "registry.db"), **settings(authority.server(), **more)) as url:
        assert url.startswith("https://")
        yield Secured(url, authority, users)


def client(url: str, authority: Authority, pair: Pair | None = None, **more: Any) -> httpx2.Client:
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    if pair is not None:
        trusting.load_cert_chain(pair.certificate, pair.key)
    return httpx2.Client(base_url=url, verify=trusting, timeout=60, **more)


def test_users_come_by_password_or_by_certificate(secured: Secured) -> None:
    authority = secured.authority
    with client(secured.url, authority) as nobody:
        assert nobody.get("/subjects").status_code == 401
        assert nobody.get("/healthz/live").status_code == 200
    with client(secured.url, authority, auth=CI) as ci:
        assert ci.post("/subjects/orders-value/versions", json={"schema": RECORD}).json()["id"] == 1
        assert ci.post("/subjects/users-value/versions", json={"schema": RECORD}).json()["error_code"] == 40301
    with client(secured.url, authority, authority.client("svc")) as svc:
        assert svc.get("/subjects").json() == ["orders-value"]
        assert svc.post("/subjects/orders-value/versions", json={"schema": RECORD}).json()["error_code"] == 40301
    with client(secured.url, authority, authority.client("stranger")) as stranger:
        assert stranger.get("/subjects").json()["error_code"] == 40301


SUBJECT = [(NameOID.ORGANIZATION_NAME, "Acme"), (NameOID.COMMON_NAME, "billing")]
NAMED = '[users."%s"]\nwrite = ["*"]\n'
CERTIFICATES: dict[str, tuple[list[Any], list[Any], int]] = {
    "whole subject": (SUBJECT, [], 200),
    "common name alone": ([(NameOID.COMMON_NAME, "svc")], [], 200),
    "common name that reads like the subject": ([(NameOID.COMMON_NAME, "CN=billing,O=Acme")], [], 403),
    "the subject's parts the other way round": (SUBJECT[::-1], [], 403),
    "subject with one more part": ([(NameOID.COUNTRY_NAME, "CH"), *SUBJECT], [], 403),
    "two common names, the first known": ([(NameOID.COMMON_NAME, "svc"), (NameOID.COMMON_NAME, "x")], [], 401),
    "two common names, the last known": ([(NameOID.COMMON_NAME, "x"), (NameOID.COMMON_NAME, "svc")], [], 401),
    "common name that reads like an alternative name": ([(NameOID.COMMON_NAME, "dns:a.example")], [], 403),
    "dns": ([], [x509.DNSName("A.example")], 200),
    "uri": ([], [x509.UniformResourceIdentifier("spiffe://acme/a")], 200),
    "email": ([], [x509.RFC822Name("ops@Acme.example")], 200),
    "ip": ([], [x509.IPAddress(ipaddress.ip_address("2001:db8::1"))], 200),
    "uri that reads like a dns name": ([], [x509.UniformResourceIdentifier("dns:a.example")], 403),
    "dns names of one user and of nobody": ([], [x509.DNSName("z.example"), x509.DNSName("a.example")], 200),
    "names of two users": ([], [x509.DNSName("a.example"), x509.DNSName("b.example")], 401),
    "nobody's name": ([], [x509.DNSName("z.example")], 403),
}


def test_a_certificate_stands_for_the_user_of_exactly_its_names(
    authority: Authority, database_url: str, tmp_path: Path
) -> None:
    users = tmp_path / "users.toml"
    names = ["CN=billing,O=Acme", "svc", "dns:a.example", "dns:b.example", "uri:spiffe://acme/a", "ip:2001:DB8::1"]
    users.write_text("".join(NAMED % name for name in [*names, "email:ops@acme.example"]))
    more = {"users_file": users, "tls_client_ca": authority.certificate}
    with serve_in_thread(database_url, **settings(authority.server(), **more)) as url:
        found = {}
        for file, (parts, alternative, _) in CERTIFICATES.items():
            with client(url, authority, authority.sign_certificate(file, parts, alternative)) as one:
                found[file] = one.get("/subjects").status_code
    assert found == {file: status for file, (_, _, status) in CERTIFICATES.items()}


def test_a_certificate_without_a_subject_is_a_caller_and_several_common_names_are_none(
    authority: Authority, database_url: str
) -> None:
    """No users file: whoever has a certificate may do everything, under its name."""
    pairs = [
        authority.sign_certificate(file, *CERTIFICATES[file][:2])
        for file in ("dns", "two common names, the first known")
    ]
    with serve_in_thread(database_url, **settings(authority.server(), tls_client_ca=authority.certificate)) as url:
        with client(url, authority, pairs[0]) as one:
            assert one.post("/subjects/a/versions", json={"schema": RECORD}).status_code == 200
        with client(url, authority, pairs[1]) as one:
            answer = one.post("/subjects/b/versions", json={"schema": RECORD})
    assert (answer.status_code, "has 2 common names (CN)" in answer.json()["message"]) == (401, True)
    assert sqlite_rows(database_url, "SELECT actor FROM changes") == [("dns:a.example",)]


def test_a_required_certificate_is_the_name_in_the_journal(authority: Authority, database_url: str) -> None:
    with serve_in_thread(database_url, **settings(authority.server(), tls_client_ca=authority.certificate)) as url:
        with client(url, authority) as nobody, pytest.raises(httpx2.TransportError):
            nobody.get("/healthz/live")
        foreign = Authority(authority.certificate.parent, "other").client("svc")
        with client(url, authority, foreign) as stranger, pytest.raises(httpx2.TransportError):
            stranger.get("/subjects")
        with client(url, authority, authority.client("svc")) as svc:
            assert svc.post("/subjects/anything/versions", json={"schema": RECORD}).status_code == 200
    listed = sqlite_rows(database_url, "SELECT actor FROM changes")
    assert listed == [("CN=svc,O=Acme\\, Inc",)]


def test_a_certificate_with_names_that_cannot_be_decoded_is_one_line_of_the_log(
    authority: Authority, database_url: str
) -> None:
    names = bytes((0x30, 4, 0x82, 2, 0xFF, 0xFE))  # a DNS name that is not UTF-8
    unreadable = x509.UnrecognizedExtension(x509.SubjectAlternativeName.oid, names)
    hostile = authority.sign_extension("hostile", unreadable)
    process, url = start_server(
        database_url, **settings(authority.server(), tls_client_ca=authority.certificate), log_level="warning"
    )
    try:
        with client(url, authority, hostile) as stranger, pytest.raises(httpx2.TransportError):
            stranger.get("/subjects")
        with client(url, authority, authority.client("svc")) as svc:
            assert svc.get("/subjects").status_code == 200
        process.terminate()
        _, log = process.communicate(timeout=WAIT_SECONDS)
    finally:
        process.kill()
    assert "a TLS handshake failed, and its connection was closed: UnicodeDecodeError" in log
    assert "Traceback" not in log


def sqlite_rows(database_url: str, statement: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(database_url.removeprefix("sqlite:///")) as connection:
        return connection.execute(statement).fetchall()


def test_a_certificate_that_is_swapped_is_served_to_new_connections(authority: Authority, database_url: str) -> None:
    def serial() -> int:
        host, port = url.removeprefix("https://").split(":")
        der = ssl.PEM_cert_to_DER_cert(
            ssl.get_server_certificate((host, int(port)), ca_certs=str(authority.certificate))
        )
        return x509.load_der_x509_certificate(der).serial_number

    pair = authority.server()
    process, url = start_server(database_url, **settings(pair))
    try:
        with client(url, authority) as kept:
            assert kept.get("/subjects").status_code == 200
            before = serial()
            right = pair.key.read_bytes()
            pair.key.write_bytes(authority.server("elsewhere").key.read_bytes())  # half of a change: they do not fit
            assert process.stderr is not None
            assert select.select([process.stderr], [], [], WAIT_SECONDS)[0]
            assert "the new certificate cannot be used, so the old one stays: " in process.stderr.readline()
            assert serial() == before
            pair.key.write_bytes(right)
            authority.server()
            eventually(lambda: serial() != before)
            assert kept.get("/subjects").status_code == 200  # the connection from before goes on
        process.terminate()
        process.communicate(timeout=WAIT_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0


def test_users_that_change_are_known_without_a_restart(secured: Secured) -> None:
    file = str(secured.users)
    with client(secured.url, secured.authority, auth=("new", "pw")) as new:
        assert new.get("/subjects").status_code == 401
        assert contractlog("users", "add", "new", "--read", "*", "--file", file, stdin="pw\n").returncode == 0
        eventually(lambda: new.get("/subjects").status_code == 200)
        assert contractlog("users", "remove", "new", "--file", file).returncode == 0
        eventually(lambda: new.get("/subjects").status_code == 401)


@pytest.mark.parametrize("proxies", ["127.0.0.1,10.0.0.0/8", ""])
def test_behind_a_trusted_proxy_the_address_is_what_it_says(database_url: str, tmp_path: Path, proxies: str) -> None:
    path = tmp_path / "users.toml"
    path.write_text(format_entry("ci", HashedPassword.of("right", n=2, r=1, p=1), ["*"], []))
    named = {"USERS_FILE": str(path), "TRUSTED_PROXIES": proxies, "LOG_LEVEL": "error"}
    with serve_in_thread(database_url, **{f"CONTRACTLOG_{name}": value for name, value in named.items()}) as url:

        def ask(password: str, forwarded: str) -> int:
            headers = {"X-Forwarded-For": forwarded}
            return httpx2.get(f"{url}/subjects", auth=("ci", password), headers=headers, timeout=60).status_code

        for number in range(NAME_FAILURES):  # what the client itself puts in front means nothing
            assert ask(f"wrong-{number}", f"198.51.100.{number}, 192.0.2.1, 10.0.0.1") == 401
        assert ask("right", "192.0.2.1") == 429
        assert ask("right", "192.0.2.2") == (200 if proxies else 429)


def test_a_plain_client_is_turned_away_and_others_are_served_meanwhile(secured: Secured) -> None:
    with pytest.raises(httpx2.TransportError):
        httpx2.get(secured.url.replace("https://", "http://"), timeout=60)
    with client(secured.url, secured.authority, auth=CI) as ci:
        assert ci.get("/subjects").status_code == 200


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"CONTRACTLOG_TLS_KEY": "x"}, "TLS needs a certificate"),
        ({"CONTRACTLOG_TLS_CERTIFICATE": "/nowhere.pem"}, "TLS cannot be set up"),
        (
            {"CONTRACTLOG_USERS_FILE": "/nowhere.toml"},
            "the users file `/nowhere.toml` cannot be read: No such file or directory",
        ),
        ({"CONTRACTLOG_TLS_CLIENT_CERTIFICATES": "some"}, "it takes one of optional, required"),
        ({"CONTRACTLOG_ANONYMOUS_READS": "some"}, "it takes true or false"),
        (
            {"CONTRACTLOG_TRUSTED_PROXIES": "10.0.0.1,proxy"},
            "--trusted-proxies cannot contain `proxy`: 'proxy' does not",
        ),
    ],
)
def test_a_start_that_cannot_be_is_explained(database_url: str, environment: dict[str, str], sentence: str) -> None:
    done = contractlog("serve", "--port", "0", "--database-url", database_url, **environment)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_certificate_without_its_key_is_explained(authority: Authority, database_url: str) -> None:
    pair, other = authority.server(), authority.server("other")
    done = contractlog(
        *("serve", "--port", "0", "--database-url", database_url),
        *("--tls-certificate", str(pair.certificate), "--tls-key", str(other.key)),
    )
    assert done.returncode == 2
    assert "the key must belong to the certificate" in done.stderr
    done = contractlog(
        "serve", "--port", "0", "--database-url", database_url, "--tls-certificate", str(pair.certificate)
    )
    assert done.returncode == 2
    assert f"`{pair.certificate}` is a certificate without its key" in done.stderr


def test_the_verb_users_lists_what_the_file_says(users: Path) -> None:
    shown = contractlog("users", "list", "--file", str(users))
    assert shown.stdout.splitlines() == [
        "ci  read: *  write: orders-*  by password",
        "svc  read: *  write: -  by certificate",
    ]
    told = json.loads(contractlog("users", "list", "--format", "json", CONTRACTLOG_USERS_FILE=str(users)).stdout)
    assert told["users"][0] == {"name": "ci", "read": ["*"], "write": ["orders-*"], "password": True}
    assert oct(users.stat().st_mode & 0o777) == "0o600"
    assert "secret" not in users.read_text()


def test_the_verb_users_permits_encryption_keys(users: Path) -> None:
    words = ("users", "add", "keeper", "--no-password", "--read-keys", "pii-*", "--write-keys", "own")
    done = contractlog(*words, "--file", str(users))
    assert done.returncode == 0
    assert "reads -, writes -, reads keys pii-*, writes keys own" in done.stderr
    assert "has no permissions" not in done.stderr
    line = "keeper  read: -  write: -  read_keys: pii-*  write_keys: own  by certificate"
    assert line in contractlog("users", "list", "--file", str(users)).stdout
    assert contractlog("users", "add", "y", "--no-password", "--read-keys", "", "--file", str(users)).returncode == 2


def test_the_verb_users_permits_break_glass(users: Path) -> None:
    words = ("users", "add", "oncall", "--no-password", "--write", "*", "--break-glass", "orders-*")
    done = contractlog(*words, "--file", str(users))
    assert done.returncode == 0
    assert "writes *, changes orders-* without approvals" in done.stderr
    line = "oncall  read: -  write: *  break_glass: orders-*  by certificate"
    assert line in contractlog("users", "list", "--file", str(users)).stdout


def test_the_verb_users_makes_and_replaces_passwords(users: Path) -> None:
    first = contractlog("users", "add", "x", "--generate", "--file", str(users)).stdout.strip()
    generate = ("users", "add", "x", "--generate", "--file", str(users), "--format", "json")
    refused = contractlog(*generate)
    assert (refused.returncode, "already has a user `x`. Pass --replace" in refused.stderr) == (2, True)
    again = contractlog(*generate, "--replace")
    assert len(first) >= 32
    assert json.loads(again.stdout)["password"] != first
    assert users.read_text().count("[users.x]") == 1
    assert "has no permissions yet" in again.stderr
    for words, sentence in (
        (("remove", "y"), "no user `y`"),
        (("add", "a:b", "--generate"), "no colon"),
        (("add", "z"), "cannot be empty"),
    ):
        done = contractlog("users", *words, "--file", str(users))
        assert done.returncode == 2
        assert sentence in done.stderr
    assert contractlog("users", "list").returncode == 2


def test_the_verb_users_at_the_same_time_loses_no_change(users: Path) -> None:
    words = [("add", f"new-{number}", "--no-password", "--write", "x") for number in range(6)]
    processes = [
        subprocess.Popen([*CLI, "users", *one, "--file", str(users)], stderr=subprocess.PIPE, text=True)
        for one in [*words, ("remove", "svc")]
    ]
    said = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 7, said
    listed = contractlog("users", "list", "--file", str(users)).stdout
    assert sorted(line.split()[0] for line in listed.splitlines()) == ["ci", *(f"new-{n}" for n in range(6))]


def ask(secured: Secured, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a verb against a registry whose CA is named."""
    named = {"CONTRACTLOG_REGISTRY_URL": secured.url, "CONTRACTLOG_REGISTRY_CA": str(secured.authority.certificate)}
    return contractlog(*arguments, **named | environment)


AS_CI = {"CONTRACTLOG_REGISTRY_USER": CI[0], "CONTRACTLOG_REGISTRY_PASSWORD": CI[1]}


def test_missing_credentials_and_permissions_are_named(secured: Secured, tmp_path: Path) -> None:
    url = secured.url
    export = tmp_path / "empty.ndjson"
    export.write_text('{"format": "contractlog.export/1"}\n{"kind": "end", "lines": 2}\n')
    asks = f"the registry at {url} needs credentials: set CONTRACTLOG_REGISTRY_USER and CONTRACTLOG_REGISTRY_PASSWORD"
    own = secured.authority.client("svc")
    named = url.replace("https://", "https://me:wrong@")
    pull, at = ("pull", "--all", "--out", str(tmp_path / "out")), f"the registry at {url} rejected "
    for words, environment, code, said in (
        (pull, {}, 4, asks),
        (("import", str(export), "--registry", url), {}, 4, asks),
        (pull, AS_CI | {"CONTRACTLOG_REGISTRY_PASSWORD": "no"}, 4, f"{at}user `ci` and the password; check CONTRACT"),
        (pull, {"CONTRACTLOG_REGISTRY_TOKEN": "no"}, 4, f"{at}the token; check CONTRACTLOG_REGISTRY_TOKEN"),
        ((*pull, "--registry", named), {}, 4, f"{at}user `me` and the password, both taken from the URL"),
        (
            (*pull, "--registry", url.replace("https:", "http:"), "--timeout", "1"),
            {},
            3,
            "without sending a response; if it listens with TLS, its URL begins with https://)",
        ),
        (
            pull,
            {"CONTRACTLOG_REGISTRY_CERTIFICATE": str(own.certificate)},
            2,
            f"`{own.certificate}` is a certificate wi",
        ),
    ):
        done = ask(secured, *words, **environment)
        assert said in done.stderr
        assert done.returncode == code
        assert "wrong" not in done.stderr


def test_the_verbs_work_against_a_registry_with_tls_and_users(secured: Secured, tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    (schemas / "orders-value.avsc").write_text(RECORD)
    assert ask(secured, "register", str(schemas), **AS_CI).returncode == 0
    assert ask(secured, "check", str(schemas), **AS_CI).returncode == 0
    with_name = secured.url.replace("https://", f"https://ci:{quote(CI[1], safe='')}@")
    named = ask(secured, "pull", "orders-value", "--out", str(tmp_path / "out"), "--registry", with_name)
    assert named.returncode == 0
    assert json.loads((tmp_path / "out" / "orders-value.avsc").read_text()) == json.loads(RECORD)
    pair = secured.authority.client("svc")
    certified = {"CONTRACTLOG_REGISTRY_CERTIFICATE": str(pair.certificate), "CONTRACTLOG_REGISTRY_KEY": str(pair.key)}
    assert ask(secured, "check", str(schemas), **certified).returncode == 0


def test_the_verbs_say_what_stands_in_the_way(secured: Secured, tmp_path: Path) -> None:
    (tmp_path / "users-value.avsc").write_text(RECORD)
    file = str(tmp_path / "users-value.avsc")
    for verb in ("check", "register"):
        denied = ask(secured, verb, file, **AS_CI)
        assert (denied.returncode, "user `ci` has no permission to write `users-value`" in denied.stdout) == (4, True)
    denied = ask(secured, "register", file, "--keep-going", **AS_CI)
    assert (denied.returncode, "user `ci` has no permission to write `users-value`" in denied.stderr) == (4, True)
    for more in ({}, AS_CI | {"CONTRACTLOG_REGISTRY_PASSWORD": "wrong"}):
        unknown = ask(secured, "register", file, **more)
        assert (unknown.returncode, "CONTRACTLOG_REGISTRY_PASSWORD" in unknown.stderr) == (4, True)
        assert secured.url in unknown.stderr
    untrusted = contractlog("check", file, CONTRACTLOG_REGISTRY_URL=secured.url, **AS_CI)
    assert (untrusted.returncode, "CONTRACTLOG_REGISTRY_CA" in untrusted.stderr) == (3, True)
    for said in (denied, unknown, untrusted):
        assert CI[1] not in said.stderr + said.stdout


@pytest.mark.parametrize("package", ["confluent_kafka.schema_registry", "contractlog.clients.confluent"])
def test_clients_of_one_shape_come_with_a_password_or_a_certificate(secured: Secured, package: str) -> None:
    module = import_module(package)
    client, schema = module.SchemaRegistryClient, module.Schema(RECORD, "AVRO")
    trusting = {"url": secured.url, "ssl.ca.location": str(secured.authority.certificate)}
    pair = secured.authority.client("svc")
    files = {"ssl.certificate.location": str(pair.certificate), "ssl.key.location": str(pair.key)}
    with (
        client(trusting | {"basic.auth.user.info": ":".join(CI)}) as writer,
        client(trusting | files) as reader,
    ):
        registered = writer.register_schema("orders-value", schema)
        assert reader.get_schema(registered).schema_type == "AVRO"
        assert reader.get_associations_by_resource_name("orders", "-", "topic", ["value"], 0, -1) == []
        with pytest.raises(module.SchemaRegistryError) as refused:
            reader.register_schema("orders-value", schema)
        assert (refused.value.http_status_code, refused.value.error_code) == (403, 40301)
    with client(trusting) as nobody, pytest.raises(module.SchemaRegistryError) as unknown:
        nobody.get_subjects()
    assert unknown.value.http_status_code == 401
