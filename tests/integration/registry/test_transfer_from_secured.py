"""Imports from secured registries and brokers: TLS, passwords, certificates, tokens."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.clients import Registry, Security
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.transfer.database_access import open_for_export, read_database

from local_kafka import Broker
from support.registry import serve_in_thread
from support.tls import Authority

pytestmark = pytest.mark.integration

TEXT = '{"type":"record","name":"Order","fields":[{"name":"total","type":"long"}]}'


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("CONTRACTLOG_SOURCE", "CONTRACTLOG_REGISTRY"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*argv: str) -> tuple[int, str, str]:
        code = main(list(argv))
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text("secret: of\tci\n")
    return path


@pytest.fixture
def secured(
    authority: Authority, password_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A registry with TLS by its own CA, a user with a password, one with a certificate, and one schema."""
    users = tmp_path / "users.toml"
    with password_file.open() as stdin, monkeypatch.context() as patched:
        patched.setattr("sys.stdin", stdin)
        assert main(["users", "add", "ci", "--write", "*", "--file", str(users)]) == 0
    assert main(["users", "add", "mover", "--read", "*", "--no-password", "--file", str(users)]) == 0
    pair = authority.server()
    environment = {
        "CONTRACTLOG_TLS_CERTIFICATE": str(pair.certificate),
        "CONTRACTLOG_TLS_KEY": str(pair.key),
        "CONTRACTLOG_TLS_CLIENT_CA": str(authority.certificate),
        "CONTRACTLOG_TLS_CLIENT_CERTIFICATES": "optional",
        "CONTRACTLOG_USERS_FILE": str(users),
    }
    with serve_in_thread(f"sqlite:///{tmp_path / 'source.db'}", **environment) as url:
        known = Security(user="ci", password=password_file.read_text().strip(), ca=str(authority.certificate))
        with Registry(url, security=known) as registry:
            registry.register("orders-value", SchemaDraft(TEXT))
        yield url


def versions(database: Path) -> dict[str, int]:
    with open_for_export(f"sqlite:///{database}") as snapshot:
        return {f"{s}/{number}": one.schema_id for (s, number), one in read_database(snapshot).versions.items()}


def test_a_source_with_tls_and_a_password_is_imported_verified_and_exported(
    secured: str, authority: Authority, password_file: Path, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    asked = ("--source-user", "ci", "--source-password-file", str(password_file))
    asked += ("--source-ca", str(authority.certificate))
    target, file = ("--database-url", f"sqlite:///{tmp_path / 'new.db'}"), tmp_path / "registry.ndjson"
    assert said("import", secured, *asked, *target)[0] == 0
    assert versions(tmp_path / "new.db") == {"orders-value/1": 1}
    assert said("verify-import", secured, *asked, *target)[0] == 0
    assert said("export", "--registry", secured, *asked, "--out", str(file))[0] == 0
    assert '"orders-value"' in file.read_text()


def test_a_source_is_read_by_a_certificate_and_by_the_environment(
    secured: str, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = authority.client("mover")
    monkeypatch.setenv("CONTRACTLOG_SOURCE_CA", str(authority.certificate))
    monkeypatch.setenv("CONTRACTLOG_SOURCE_CERTIFICATE", str(pair.certificate))
    monkeypatch.setenv("CONTRACTLOG_SOURCE_KEY", str(pair.key))
    assert main(["import", secured, "--database-url", f"sqlite:///{tmp_path / 'new.db'}"]) == 0
    assert versions(tmp_path / "new.db") == {"orders-value/1": 1}


def test_missing_credentials_or_trust_are_named(
    secured: str, authority: Authority, password_file: Path, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    target = ("--database-url", f"sqlite:///{tmp_path / 'new.db'}")
    code, _, told = said("import", secured, *target)
    assert (code, "--source-ca FILE or CONTRACTLOG_SOURCE_CA" in told) == (3, True)
    trusted = ("--source-ca", str(authority.certificate))
    code, _, told = said("import", secured, *trusted, *target)
    assert (code, "--source-password-file FILE" in told) == (4, True)
    password_file.write_text("wrong\n")
    wrong = ("--source-user", "ci", "--source-password-file", str(password_file))
    code, _, told = said("import", secured, *trusted, *wrong, *target)
    assert (code, "wrong" in told) == (4, False)


@contextmanager
def gateway(url: str, needed: dict[str, str], fails_on: str = "\0") -> Iterator[str]:
    """Pass requests on to a registry, where they carry what is needed; some fail."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if any(self.headers.get(name) != value for name, value in needed.items()):
                return self.answer(401, b'{"error_code":401,"message":"Unauthorized"}')
            if fails_on in self.path:
                return self.answer(418, b'{"error_code":41801,"message":"a teapot"}')
            try:
                answer = client.get(url + self.path)
            except httpx2.RequestError:
                return self.answer(502, b"")
            return self.answer(answer.status_code, answer.content)

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    with httpx2.Client(timeout=60) as client, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_token_and_a_gateways_header_go_with_every_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Callable[..., tuple[int, str, str]]
) -> None:
    needed = {"Authorization": "Bearer t0ken", "target-sr-cluster": "lsrc-1"}
    with serve_in_thread(f"sqlite:///{tmp_path / 'source.db'}") as url, Registry(url) as registry:
        registry.register("orders-value", SchemaDraft(TEXT))
        with gateway(url, needed) as front:
            target = ("--database-url", f"sqlite:///{tmp_path / 'new.db'}")
            assert said("import", front, *target)[0] == 4
            monkeypatch.setenv("CONTRACTLOG_SOURCE_TOKEN", "t0ken")
            assert said("import", front, "--source-header", "target-sr-cluster: lsrc-1", *target)[0] == 0
        monkeypatch.delenv("CONTRACTLOG_SOURCE_TOKEN")
        with gateway(url, {}, fails_on="/config/") as front:
            code, _, told = said("import", front, "--database-url", f"sqlite:///{tmp_path / 'third.db'}")
            assert (code, "cannot be read: it responded with error 41801: a teapot" in told) == (3, True)
    assert versions(tmp_path / "new.db") == {"orders-value/1": 1}


@pytest.fixture(scope="module")
def closed_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Authority]]:
    """A broker that one reaches by TLS of its own CA, with a name and password; and where that is."""
    folder = tmp_path_factory.mktemp("kafka")
    authority = Authority(folder)
    pair = authority.server()
    store = folder / "broker.pem"
    store.write_bytes(pair.key.read_bytes() + pair.certificate.read_bytes())
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for held in (one, two, three):
            held.bind(("127.0.0.1", 0))
        plain, controller, secure = (held.getsockname()[1] for held in (one, two, three))
    (folder / "ports.json").write_text(json.dumps([plain, controller]))
    here = "127.0.0.1"
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    settings = {
        "listeners": f"PLAINTEXT://{here}:{plain},SECURE://{here}:{secure},CONTROLLER://{here}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{here}:{plain},SECURE://{here}:{secure}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secure.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secure.plain.sasl.jaas.config": f'{login} user_mover="moves it";',
        "listener.name.secure.ssl.keystore.type": "PEM",
        "listener.name.secure.ssl.keystore.location": str(store),
    }
    with Broker(folder, settings=settings, print_line=lambda _: None):
        yield f"{here}:{secure}", authority


def test_a_topic_behind_tls_and_a_password_is_written_and_read(
    closed_broker: tuple[str, Authority], tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    servers, authority = closed_broker
    with serve_in_thread(f"sqlite:///{tmp_path / 'first.db'}") as url, Registry(url) as registry:
        registry.register("orders-value", SchemaDraft(TEXT))
    properties = {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "mover",
        "sasl.password": "moves it",
        "ssl.ca.location": str(authority.certificate),
    }
    file = tmp_path / "kafka.properties"

    def asked(other: dict[str, str] | None = None) -> tuple[str, ...]:
        file.write_text("".join(f"{name}={value}\n" for name, value in (properties | (other or {})).items()))
        return "--topic", "_schemas", "--broker-config", str(file)

    nowhere = ("--database-url", f"sqlite:///{tmp_path / 'no.db'}")
    assert said("export", *asked(), "--database-url", f"sqlite:///{tmp_path / 'first.db'}")[0] == 0
    assert said("import", *asked(), "--database-url", f"sqlite:///{tmp_path / 'second.db'}")[0] == 0
    assert versions(tmp_path / "second.db") == {"orders-value/1": 1}
    code, _, told = said("import", *asked({"sasl.password": "no"}), *nowhere)
    assert (
        code,
        "the broker rejected the credentials or the TLS connection: " in told,
        "Authentication failed" in told,
    ) == (2, True, True)
    code, _, told = said("import", *asked({"no.such": "x"}), *nowhere)
    assert (code, 'No such configuration property: "no.such"' in told) == (2, True)
    assert not (tmp_path / "no.db").exists()
