"""``contractlog pull``: registered schemas as files that `check` and `register` read."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.schema import Reference, SchemaDraft

from support.gate import NOTE, TOTAL, Gate, order, told

pytestmark = pytest.mark.e2e


class EndlessChain(BaseHTTPRequestHandler):
    """A registry with one subject, each version of which depends on the next."""

    def do_GET(self) -> None:
        last = unquote(self.path).partition("?")[0].rpartition("/")[2]
        version = 1 if last == "latest" else int(last) if last.isdigit() else 0
        reference = {"name": "next", "subject": "chain", "version": version + 1}
        schema = {"subject": "chain", "version": version, "id": version, "schema": '"int"', "references": [reference]}
        body = json.dumps(schema if version else ["chain"]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def endless_chain() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), EndlessChain) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_what_was_pulled_is_what_was_registered(gate: Gate, server: Registry) -> None:
    first, second = order(), order(NOTE)
    for text in (first, second):
        server.register(gate.subject, SchemaDraft(text))
    done = gate.run("pull", gate.subject, "--out", "out")
    told(done, 0)
    assert "1 file in out: 1 new, 0 changed" in done.stderr
    path = gate.folder / "out" / f"{gate.subject}.avsc"
    assert json.loads(path.read_text()) == json.loads(second)
    assert path.read_text().count("\n") > 5
    assert "unchanged" in told(gate.run("pull", gate.subject, "--out", "out"), 0)
    path.write_text("mine")
    done = gate.run("pull", gate.subject, "--out", "out")
    assert "kept: it was edited since the last pull" in told(done, 1)
    assert "1 edited file kept" in done.stderr
    assert path.read_text() == "mine"
    assert "changed" in told(gate.run("pull", gate.subject, "--out", "out", "--force"), 0)
    server.register(gate.subject, SchemaDraft(order(NOTE, TOTAL | {"default": 0})))
    assert "changed" in told(gate.run("pull", gate.subject, "--out", "out"), 0), "what was pulled may be overwritten"

    told(gate.run("pull", gate.subject, "--history", "--out", "all"), 0)
    assert sorted(p.relative_to(gate.folder).as_posix() for p in (gate.folder / "all").rglob("*.avsc")) == [
        f"all/1/{gate.subject}.avsc",
        f"all/2/{gate.subject}.avsc",
        f"all/3/{gate.subject}.avsc",
    ]
    result = told(gate.run("check", "all"), 0)
    assert result.count("registered already") == 3


def test_a_subject_with_a_hostile_name_is_pulled_into_the_folder_and_nowhere_else(gate: Gate, server: Registry) -> None:
    hostile = [f"../../{gate.topic}/x-value", f":.{gate.topic}:/etc/{gate.topic}-key"]
    for subject in hostile:
        server.register(subject, SchemaDraft('"string"'))
    told(gate.run("pull", *hostile, "--out", "out"), 0)
    assert len(list((gate.folder / "out").iterdir())) == 4  # two schemas, lock and manifest
    assert told(gate.run("check", "out"), 0).count("registered already") == 2


def test_several_files_are_pulled_into_a_folder_alone(gate: Gate) -> None:
    done = gate.run("pull", gate.subject, "--out", "-")
    told(done, 2)
    assert "`-` is not a folder" in done.stderr
    assert not (gate.folder / "-").exists()


def test_an_unknown_subject_cannot_be_pulled(gate: Gate) -> None:
    done = gate.run("pull", gate.subject, "--out", "out")
    told(done, 2)
    assert gate.subject in done.stderr


def test_everything_is_pulled_and_can_be_checked_as_it_is(gate: Gate, server: Registry) -> None:
    leaned_on = f"{gate.topic}-address"
    server.register(leaned_on, SchemaDraft('{"type": "record", "name": "Address", "fields": []}'))
    leaning = order({"name": "to", "type": "Address"})
    server.register(gate.subject, SchemaDraft(leaning, references=(Reference("Address", leaned_on, 1),)))
    done = gate.run("pull", "--all", "--out", "out")
    assert f"refers to version 1 of `{leaned_on}` as `Address`" in told(done, 0)
    assert "check them: contractlog check out" in done.stderr
    told(gate.run("check", "out"), 0)
    assert len(list((gate.folder / "out").iterdir())) == len(server.subjects()) + 2  # and lock and manifest

    pulled = json.loads(told(gate.run("pull", gate.subject, leaned_on, "--out", "out", "--format", "json"), 0))
    assert [(file["subject"], file["version"], file["outcome"]) for file in pulled["files"]] == [
        (gate.subject, 1, "unchanged"),
        (leaned_on, 1, "unchanged"),
    ]
    name = f"out/{leaned_on}.avsc"
    assert "registered already" in told(gate.run("check", name, "--subject", leaned_on), 0)


def test_a_folder_that_cannot_be_written_is_usage(gate: Gate, server: Registry) -> None:
    server.register(gate.subject, SchemaDraft(order()))
    gate.put("out", "a file")
    done = gate.run("pull", gate.subject, "--out", "out")
    told(done, 2)
    assert "cannot be written" in done.stderr


def test_what_was_pulled_is_checked_with_its_references(gate: Gate, server: Registry) -> None:
    key = f"{gate.topic}-key"
    server.register(key, SchemaDraft(order()))
    text = '{"type": "record", "name": "Line", "fields": [{"name": "order", "type": "Order"}]}'
    server.register(gate.subject, SchemaDraft(text, references=(Reference("Order", key, 1),)))
    for history in ((), ("--history",)):
        told(gate.run("pull", gate.subject, "--out", f"pulled{len(history)}", *history), 0)
        for verb in ("check", "register"):
            told(gate.run(verb, f"pulled{len(history)}"), 0)
    (gate.folder / "pulled0" / "contractlog.lock").rename(gate.folder / "pulled0" / "pulled.json")
    (gate.folder / "pulled0" / "pulled.json").write_text('{"of": "another program"}')
    told(gate.run("check", "pulled0", "--reference", f"Order={key}:1"), 0)


def test_references_without_end_end_a_pull(gate: Gate) -> None:
    with endless_chain() as url:
        done = gate.run("pull", "--all", "--out", "out", url=url)
    told(done, 3)
    assert "version 1 of `chain` depends on more than 1,000 other versions" in done.stderr


def test_commands_that_are_suggested_work_for_names_that_look_like_options(gate: Gate, server: Registry) -> None:
    subject = f"--out {gate.topic}'s $HOME"
    server.register(subject, SchemaDraft('"string"'))
    done = gate.run("pull", "--all", "--out=-dash")
    command = next(line for line in done.stderr.splitlines() if "contractlog check" in line)
    again = gate.process(*shlex.split(command[command.index("contractlog") :])[1:])
    assert f"registered already, as version 1 of `{subject}`" in told(again, 0)
