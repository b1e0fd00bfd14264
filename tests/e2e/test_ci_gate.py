"""The gate as CI runs it: real files, a real service, real processes, real exit codes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft

from support.deadlines import WAIT_SECONDS
from support.gate import ID, NOTE, TOTAL, Gate, order, told

pytestmark = pytest.mark.e2e


def test_a_first_version_may_be_registered_and_is_once(gate: Gate, server: Registry) -> None:
    name = gate.put("{}-value.avsc", order())
    assert f"{name}: compatible: `{gate.subject}` has no version yet" in told(gate.run("check", name), 0)
    assert server.subjects(prefix=gate.subject) == []

    assert f"{name}: registered as version 1 of `{gate.subject}`, id " in told(gate.process("register", name), 0)
    assert f"{name}: registered already as version 1 of `{gate.subject}`" in told(gate.process("register", name), 0)
    assert "registered already, as version 1" in told(gate.run("check", name), 0)
    assert server.versions(gate.subject) == [1]


def test_a_compatible_change_passes(gate: Gate, server: Registry) -> None:
    told(gate.run("register", gate.put("{}-value.avsc", order())), 0)
    name = gate.put("{}-value.avsc", order(NOTE))
    assert f"compatible with version 1 of `{gate.subject}` at level BACKWARD" in told(gate.run("check", name), 0)
    told(gate.run("register", name), 0)
    assert server.versions(gate.subject) == [1, 2]


def test_an_incompatible_change_is_refused_with_reason_place_and_mend(gate: Gate, server: Registry) -> None:
    told(gate.run("register", gate.put("{}-value.avsc", order())), 0)
    name = gate.put("{}-value.avsc", order(TOTAL))
    lines = (gate.folder / name).read_text().splitlines()
    for verb in ("check", "register"):
        result = told(gate.run(verb, name), 1)
        assert f"{name}: incompatible with version 1 of `{gate.subject}` at level BACKWARD" in result
        assert "AVRO_FIELD_DEFAULT_MISSING" in result
        assert "/fields/1" in result
        assert "fix: " in result
        place = next(word for word in result.split() if word.startswith(f"{name}:") and word[-1].isdigit())
        line, column = map(int, place.removeprefix(f"{name}:").split(":"))
        assert lines[line - 1][column - 1] == "{"
        assert '"name": "total"' in lines[line]
    assert server.versions(gate.subject) == [1]


def test_json_tells_the_same(gate: Gate) -> None:
    told(gate.run("register", gate.put("{}-value.avsc", order())), 0)
    name = gate.put("{}-value.avsc", order(TOTAL))
    result = json.loads(told(gate.run("check", name, "--format", "json"), 1))
    assert (result["format"], result["compatible"]) == ("contractlog.check/1", False)
    (file,) = result["files"]
    assert set(file) == {
        "file",
        "subject",
        "references",
        "outcome",
        "level",
        "version",
        "schema_id",
        "compared_with",
        "findings",
        "messages",
        "notes",
        "impact",
    }
    assert (file["outcome"], file["level"], file["compared_with"]) == ("incompatible", "BACKWARD", ["version 1"])
    assert file["messages"]
    assert file["notes"] == []
    (finding,) = file["findings"]
    assert (finding["check"], finding["direction"], finding["pointer"].startswith("/fields/1")) == (
        "AVRO_FIELD_DEFAULT_MISSING",
        "BACKWARD",
        True,
    )
    assert all(finding[member] for member in ("line", "column", "detail", "mend", "compared_with"))

    refused = json.loads(told(gate.run("register", name, "--format", "json"), 1))
    assert refused["files"][0]["outcome"] == "refused"
    assert refused["files"][0]["refusal"]["findings"] == file["findings"]


def test_version_folders_are_judged_in_order_before_anything_is_registered(gate: Gate, server: Registry) -> None:
    first = gate.put("1/{}-value.avsc", order())
    second = gate.put("2/{}-value.avsc", order(NOTE))
    third = gate.put("3/{}-value.avsc", order(NOTE, TOTAL))
    result = told(gate.run("check", "."), 1)
    assert f"{first}: compatible" in result
    assert f"{second}: compatible with {first}" in result
    assert f"{third}: incompatible with {second}" in result
    assert server.subjects(prefix=gate.subject) == []

    done = gate.run("register", ".")
    result = told(done, 1)
    assert f"{second}: not registered, because other files cannot be" in result
    assert "1 refused, nothing was registered" in done.stderr
    assert server.subjects(prefix=gate.subject) == []

    done = gate.run("register", ".", "--keep-going")
    told(done, 1)
    assert server.versions(gate.subject) == [1, 2]
    assert "2 files registered, 1 refused" in done.stderr
    (gate.folder / third).write_text(order(NOTE, TOTAL | {"default": 0}))
    told(gate.run("register", "."), 0)
    assert server.versions(gate.subject) == [1, 2, 3]


def test_a_later_version_waits_for_the_refused_one_before_it(gate: Gate, server: Registry) -> None:
    gate.put("1/{}-value.avsc", order())
    gate.put("2/{}-value.avsc", order(TOTAL))
    third = gate.put("3/{}-value.avsc", order(NOTE))
    outcome = told(gate.run("register", ".", "--keep-going"), 1)
    assert f"{third}: not registered as a version of `{gate.subject}`, because it needs the earlier version" in outcome
    assert server.versions(gate.subject) == [1]


def test_two_applies_at_once_end_in_one_state(gate: Gate, server: Registry) -> None:
    money, user = f"Money{gate.topic[5:]}", f"{gate.topic}-user-value"
    gate.put(f"{money}.avsc", json.dumps({"type": "record", "name": money, "fields": [ID]}))
    gate.put(f"{user}.avsc", order({"name": "total", "type": money}))
    for number, fields in enumerate(((), (NOTE,), (NOTE, TOTAL | {"default": 0})), 1):
        gate.put(f"{number}/{{}}-value.avsc", order(*fields))
    gate.put("contractlog.toml", f'[[subjects]]\nname = "{gate.topic}*"\nlevel = "FULL"\n')
    with ThreadPoolExecutor(2) as pool:
        for done in list(pool.map(lambda _: gate.process("apply", "."), range(2))):
            told(done, 0)
    assert [server.versions(subject) for subject in (gate.subject, money, user)] == [[1, 2, 3], [1], [1]]
    assert (server.level(gate.subject), server.level(user)) == (Level.FULL, Level.FULL)
    told(gate.run("plan", ".", "--exit-code"), 0)


def test_versions_are_promoted_to_another_environment(gate: Gate, server: Registry) -> None:
    gate.put("1/{}-value.avsc", order())
    gate.put("2/{}-value.avsc", order(NOTE))
    context = f".{gate.topic}"
    gate.put(
        "contractlog.toml",
        f'[environments.dev]\nregistry = "{gate.url}"\n'
        f'[environments.prod]\nregistry = "{gate.url}"\ncontext = "{context}"\n',
    )
    told(gate.run("apply", "--environment", "dev"), 0)
    assert "would become version 2 in prod" in told(gate.run("promote", "dev", "prod", "--exit-code"), 1)
    told(gate.run("promote", "dev", "prod", "--apply"), 0)
    copies = [server.version(f":{context}:{gate.subject}", number) for number in (1, 2)]
    originals = [server.version(gate.subject, number) for number in (1, 2)]
    assert [(each.schema_id, each.text) for each in copies] == [(each.schema_id, each.text) for each in originals]
    assert told(gate.run("promote", "dev", "prod", "--exit-code"), 0) == ""
    told(gate.run("plan", "--environment", "prod", "--exit-code"), 0)


@pytest.mark.parametrize("level", list(Level))
def test_the_gate_and_the_service_agree_at_every_level(gate: Gate, server: Registry, level: Level) -> None:
    server.set_level(Level.NONE, gate.subject)
    for fields in ((), (NOTE,), (NOTE, TOTAL | {"default": 0})):
        server.register(gate.subject, SchemaDraft(order(*fields)))
    server.set_level(level, gate.subject)
    for fields in ((TOTAL,), (NOTE, TOTAL), (), (TOTAL | {"type": "float", "default": 1},), (ID | {"name": "x"},)):
        name = gate.put("{}-value.avsc", order(*fields))
        done = gate.run("check", name, "--format", "json")
        (file,) = json.loads(done.stdout)["files"]
        if file["outcome"] == "registered":
            continue
        assert file["notes"] == []
        expected = server.check(gate.subject, SchemaDraft(order(*fields))).compatible
        assert (file["outcome"] == "compatible") == expected == (done.returncode == exit_codes.CLEAN)


def test_the_level_of_a_subject_can_be_set_on_the_way(gate: Gate, server: Registry) -> None:
    told(gate.run("register", gate.put("{}-value.avsc", order())), 0)
    name = gate.put("{}-value.avsc", order(TOTAL))
    told(gate.run("register", name, "--dry-run", "--level", "forward"), 0)
    assert (server.level(gate.subject), server.versions(gate.subject)) == (Level.BACKWARD, [1])
    told(gate.run("register", name, "--level", "forward"), 0)
    assert (server.level(gate.subject, inherited=False), server.versions(gate.subject)) == (Level.FORWARD, [1, 2])


def test_a_dry_run_writes_nothing(gate: Gate, server: Registry) -> None:
    name = gate.put("{}-value.avsc", order())
    assert f"{name}: would be a new version" in told(gate.run("register", "--dry-run", name), 0)
    assert server.subjects(prefix=gate.subject) == []
    told(gate.run("register", name), 0)
    told(gate.run("register", "--dry-run", gate.put("{}-value.avsc", order(TOTAL))), 1)


def test_files_may_lean_on_registered_schemas(gate: Gate, server: Registry) -> None:
    address = json.dumps({"type": "record", "name": "Address", "fields": []})
    leaned_on = f"{gate.topic}-address"
    server.register(leaned_on, SchemaDraft(address))
    name = gate.put("{}-value.avsc", order({"name": "to", "type": "Address"}))
    without = gate.run("check", name)
    assert "Address" in without.stderr
    told(without, 2)
    reference = ("--reference", f"Address={leaned_on}:latest")
    told(gate.run("check", name, *reference), 0)
    told(gate.run("register", name, *reference), 0)
    assert server.version(gate.subject, 1).references[0].subject == leaned_on
    assert "registered already" in told(gate.run("check", name, *reference), 0)


def test_a_json_schema_is_registered_and_its_change_is_refused_clearly(gate: Gate) -> None:
    name = gate.put("{}-value.schema.json", json.dumps({"type": "object"}))
    told(gate.run("register", name), 0)
    told(gate.run("check", name), 0)
    gate.put("{}-value.schema.json", json.dumps({"type": "string"}))
    assert "fix: " in told(gate.run("check", name), 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "type": "record",\n}', ":2:19: the text is not JSON: a comma before a closing bracket"),
        ('{\n  "type": "record",\n  "name": "A"\n}', ":1:1: "),
        (
            '{\n  "type": "record", "name": "A",\n  "fields": [\n    {"name": "1x", "type": "int"}\n  ]\n}',
            ":4:",
        ),
        ("", "the file is empty"),
        ("[" * 10_000, "nested"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested"),
    ],
    ids=["syntax", "no fields", "bad name", "empty", "deep lists", "deep objects"],
)
def test_a_file_that_is_no_schema_is_usage_with_its_place(gate: Gate, server: Registry, text: str, said: str) -> None:
    name = gate.put("{}-value.avsc", text)
    good = gate.put("{}-key.avsc", '"string"')
    for verb in ("check", "register"):
        done = gate.run(verb, ".")
        out = told(done, 2)
        assert (good in out) == (verb == "check")  # which judges the rest; `register` takes all or nothing
        assert done.stderr.startswith(f"contractlog: {name}")
        assert said in done.stderr
    assert server.subjects(prefix=good.removesuffix(".avsc")) == []


def test_every_unreadable_file_is_named(gate: Gate) -> None:
    names = [gate.put("{}-value.avsc", "{"), gate.put("{}-key.avsc", "}")]
    done = gate.run("check", ".")
    told(done, 2)
    assert all(f"{name}:" in done.stderr for name in names)


def test_json_tells_what_is_unreadable_and_judges_the_rest(gate: Gate) -> None:
    name, good = gate.put("{}-value.avsc", "{"), gate.put("{}-key.avsc", '"string"')
    answer = json.loads(told(gate.run("check", "--format", "json", ".", "missing"), 2))
    assert [file["file"] for file in answer["files"]] == [good]
    assert sorted(one["file"] for one in answer["unreadable"]) == sorted([name, "missing"])
    assert answer["compatible"] is False


@pytest.mark.parametrize("subject", ["", "a\nb", "__GLOBAL", ":.ctx:"])
def test_a_subject_that_cannot_be_is_refused_by_check_and_register(gate: Gate, subject: str) -> None:
    name = gate.put("{}-value.avsc", order())
    for verb in ("check", "register"):
        done = gate.run(verb, name, "--subject", subject)
        told(done, 2)
        assert "cannot be a subject" in done.stderr


def test_options_may_stand_between_files(gate: Gate) -> None:
    names = [gate.put("{}-value.avsc", order()), gate.put("{}-key.avsc", '"string"')]
    told(gate.run("check", names[0], "--format", "text", names[1]), 0)


def test_a_schema_over_the_limit_of_the_registry_is_usage(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order({"name": "note", "type": "string", "doc": "x" * 5_000_000}))
    done = gate.run("register", name)
    told(done, 2)
    assert name in done.stderr


@pytest.mark.parametrize(
    "arguments", [["check"], ["check", "nothing.avsc"], ["pull", "a"], ["register", "--level", "X", "f"]]
)
def test_wrong_arguments_are_usage(gate: Gate, arguments: list[str]) -> None:
    assert told(gate.run(*arguments), 2) == ""


def test_a_registry_that_is_not_there_is_exit_code_3(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for arguments in (["check", name], ["register", name], ["pull", "--all", "--out", "."]):
        done = gate.run(*arguments, url=url)
        assert told(done, 3) == ""
        assert url in done.stderr
        assert "CONTRACTLOG_REGISTRY_URL" in done.stderr


@contextmanager
def web_server(answer: bytes) -> Iterator[str]:
    """Serve one raw answer to everybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def test_what_is_no_registry_is_exit_code_3_and_its_words_steer_nothing(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order())
    body = b"<html>\x1b[2Jhello"
    head = f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    with web_server(head + body) as url:
        done = gate.run("check", name, url=url)
    told(done, 3)
    assert "hello" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_subject_that_may_not_be_written_is_exit_code_4(gate: Gate, server: Registry) -> None:
    name = gate.put("{}-value.avsc", order())
    server.set_mode(Mode.READONLY, gate.subject)
    for verb in ("check", "register"):
        done = gate.run(verb, name)
        assert f"`{gate.subject}` is in mode READONLY" in told(done, 4)
    assert server.subjects(prefix=gate.subject) == []


def test_missing_rights_are_exit_code_4(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order())
    body = b'{"error_code": 403, "message": "Forbidden"}'
    head = f"HTTP/1.1 403 Forbidden\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    with web_server(head + body) as url:
        told(gate.run("check", name, url=url), 4)


def test_output_that_nobody_reads_ends_quietly(gate: Gate) -> None:
    for number in range(1, 30):
        gate.put(
            f"{number}/{{}}-value.avsc", order(*({"name": f"f{n}", "type": "int", "default": 0} for n in range(number)))
        )
    command = shlex.join([sys.executable, "-m", "contractlog.clients.cli.main", "check", "--registry", gate.url, "."])
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        cwd=gate.folder,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode in (exit_codes.CLEAN, 141)


def test_an_interrupt_ends_without_a_traceback(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(WAIT_SECONDS)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        patient = ["--timeout", f"{WAIT_SECONDS:g}"]
        command = [sys.executable, "-m", "contractlog.clients.cli.main", "check", "--registry", url, *patient, name]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=gate.folder) as process:
            connection, _ = silent.accept()
            with connection:
                connection.recv(65536)
                process.send_signal(signal.SIGINT)
                words = process.communicate(timeout=WAIT_SECONDS)[1]
    assert process.returncode == 130
    assert words == "contractlog: interrupted\n"


def test_what_to_run_next_leaves_out_the_password(gate: Gate) -> None:
    name = gate.put("{}-value.avsc", order())
    secret = gate.url.replace("http://", "http://me:hidden@")
    done = gate.run("check", "--registry", secret, name, "--normalize", f"--registry={secret}")
    told(done, 0)
    assert f"contractlog register --registry={gate.url} {name} --normalize" in done.stderr
    assert "hidden" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--timeout", "0"],
        ["--timeout", "soon"],
        ["--reference", "a=b"],
        ["--reference", "=b:1"],
        ["--reference", "a=b:x"],
    ],
)
def test_an_argument_that_cannot_be_read_is_usage(gate: Gate, arguments: list[str]) -> None:
    done = gate.run("check", gate.put("{}-value.avsc", order()), *arguments)
    told(done, 2)
    assert arguments[0] in done.stderr


def test_one_file_that_cannot_be_registered_keeps_the_others_back(gate: Gate, server: Registry) -> None:
    other = f"{gate.topic}-key"
    server.register(gate.subject, SchemaDraft(order()))
    gate.put("{}-key.avsc", '"string"')
    gate.put("{}-value.avsc", order(TOTAL))
    told(gate.run("register", "."), 1)
    assert server.subjects(prefix=other) == []
    told(gate.run("register", ".", "--keep-going"), 1)
    assert server.versions(other) == [1]


def test_keep_going_registers_the_subjects_whose_files_are_all_schemas(gate: Gate, server: Registry) -> None:
    other = f"{gate.topic}-key"
    gate.put("{}-key.avsc", '"string"')
    gate.put("1/{}-value.avsc", "{")
    later = gate.put("2/{}-value.avsc", order())
    done = gate.run("register", ".")
    assert done.returncode == exit_codes.USAGE
    assert "nothing was registered" in done.stderr
    assert server.subjects(prefix=gate.topic) == []

    done = gate.run("register", ".", "--keep-going")
    assert done.returncode == exit_codes.USAGE
    assert f"1/{gate.subject}.avsc:1:2: the text is not JSON" in done.stderr
    assert f"{later}: not registered, because another file of `{gate.subject}` cannot be read" in done.stdout
    assert server.subjects(prefix=gate.topic) == [other]


def test_a_read_only_subject_is_a_matter_for_an_operator(gate: Gate, server: Registry) -> None:
    server.set_mode(Mode.READONLY, gate.subject)
    for verb in ("check", "register"):
        done = gate.run(verb, gate.put("{}-value.avsc", order()))
        assert done.returncode == exit_codes.REFUSED
        assert "ask an operator" in done.stderr


def test_an_address_that_is_no_registry_is_named(gate: Gate) -> None:
    done = gate.run("check", gate.put("{}-value.avsc", order()), url=f"{gate.url}/elsewhere")
    assert done.returncode == exit_codes.UNREACHABLE
    assert f"{gate.url}/elsewhere does not respond as a registry does" in done.stderr


def test_a_side_of_a_diff_that_is_not_registered_is_named(gate: Gate, server: Registry) -> None:
    server.register(gate.subject, SchemaDraft(order()))
    done = gate.run("diff", f"{gate.subject}:1", f"{gate.subject}:9")
    assert done.returncode == exit_codes.USAGE
    assert f"`{gate.subject}:9` is not registered: Version 9 not found." in done.stderr
    assert "`foo` is not one of STRICT, LENIENT, EXACT" in gate.run("diff", "a", "b", "--policy", "foo").stderr


def test_words_after_two_dashes_are_no_options(gate: Gate, server: Registry) -> None:
    server.register("--out", SchemaDraft('"int"'))
    told(gate.run("pull", "--out", "pulled", "--", "--out"), 0)
    assert [path.name for path in gate.folder.glob("pulled/*.avsc")] == ["--out.avsc"]
    (gate.folder / "--all.avsc").write_text('"int"')
    told(gate.run("check", "--subject=--out", "--", "--all.avsc"), 0)
    told(gate.run("register", "--subject=--out", "--", "--all.avsc"), 0)
    refused = gate.run("lineage", "--state", "nowhere", "--", "--topic")
    assert "the following arguments are required" not in refused.stderr
    assert "unrecognized" not in refused.stderr


def test_lines_from_files_and_registries_stay_on_their_line_and_command_no_ci_runner(gate: Gate) -> None:
    line = "x\n::error::a\r\n##[error]b\x9b\u202e\u2028"
    fields = [{"name": line, "type": "long"}]
    name = gate.put("{}-value.avsc", json.dumps({"type": "record", "name": "A", "fields": fields}))
    body = json.dumps({"error_code": 42201, "message": line}).encode()
    head = f"HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    good = gate.put("good/{}-value.avsc", order())
    with web_server(head + body) as url:
        for done in (
            gate.run("check", name),
            gate.run("check", good, url=url),
            gate.run("check", "--level", line, name),
            gate.run("pull", line, "--out", line),
            gate.run(line),
        ):
            assert done.returncode != 0
            for printed in (done.stdout + done.stderr).split("\n"):
                assert not printed.lstrip().startswith("::")
                assert "##[" not in printed
                assert printed.isprintable()


def test_a_folder_with_shared_types_is_checked_and_registered_as_a_whole(gate: Gate, server: Registry) -> None:
    """Types used by others, JSON references by path and id, a union subject, a key: one command each."""
    space = gate.topic.replace("-", "_")
    avro = {
        f"{gate.topic}-value.avsc": {"name": "Order", "fields": [{"name": "total", "type": "Money"}]},
        f"types/{space}.Money.avsc": {"name": "Money", "fields": [{"name": "in", "type": f"{space}.Currency"}]},
        "types/Currency.avsc": {"type": "enum", "name": "Currency", "symbols": ["EUR", "USD"]},
        "events/Placed.avsc": {"name": "Placed", "fields": [{"name": "order", "type": "Order"}]},
    }
    b_id = f"https://{gate.topic}.example/b.json"
    schemas: dict[str, Any] = {
        **{name: {"type": "record", "namespace": space, **schema} for name, schema in avro.items()},
        f"{gate.topic}-events-value.avsc": [f"{space}.Placed", f"{space}.Order"],
        f"{gate.topic}-key.avsc": "string",
        f"{gate.topic}-json-value.schema.json": {"items": {"$ref": f"json/{space}.schema.json#/definitions/a"}},
        f"json/{space}.schema.json": {"definitions": {"a": {"$ref": b_id}}},
        f"json/{space}_b.json": {"$schema": "http://json-schema.org/draft-07/schema#", "$id": b_id},
    }
    for name, schema in schemas.items():
        gate.put(f"all/{name}", json.dumps(schema))
    before = server.subjects()
    told(gate.run("check", "all"), 0)
    assert server.subjects() == before
    told(gate.run("register", "all"), 0)
    assert [each.subject for each in server.version(gate.subject, 1).references] == [f"{space}.Money"]
    assert "nothing to register" in gate.run("check", "all").stderr


def test_a_manifest_names_registry_subjects_and_context(gate: Gate, server: Registry) -> None:
    context = f".{gate.topic}"
    gate.put(
        "contractlog.toml",
        f"""
        [environments.test]
        registry = "{gate.url}"
        context = "{context}"
        [[files]]
        path = "orders.avsc"
        subjects = ["a-value", "b-value"]
        """,
    )
    gate.put("orders.avsc", order())
    told(gate.run("register", "--environment", "test"), 0)
    assert server.subjects(prefix=f":{context}:") == [f":{context}:a-value", f":{context}:b-value"]
    assert "nothing to register" in gate.run("check", "--environment", "test").stderr
    told(gate.run("check", "--environment", "prod"), 2)


def test_without_files_and_manifest_the_command_says_what_it_needs(gate: Gate) -> None:
    done = gate.run("check")
    told(done, 2)
    assert "name files or folders, or write contractlog.toml" in done.stderr


def test_concurrent_applies_end_in_one_state(gate: Gate, server: Registry) -> None:
    gate.put("contractlog.toml", f'[[subjects]]\nname = "{gate.topic}-*"\nlevel = "FULL"\n')
    for number in range(5):
        fields = [{"name": "n", "type": f"x{number}.T"}]
        gate.put(f"{{}}-{number}-value.avsc", json.dumps({"type": "record", "name": "R", "fields": fields}))
        gate.put(f"T{number}/T.avsc", json.dumps({"type": "fixed", "name": f"x{number}.T", "size": number + 1}))
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [threading.Thread(target=lambda: results.append(gate.process("apply", "."))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.returncode for result in results] == [0, 0, 0], results
    assert "nothing to change" in gate.run("plan", ".", "--exit-code").stderr
    assert all(server.versions(f"{gate.topic}-{number}-value") == [1] for number in range(5))


def test_concurrent_applies_of_two_folders_end_with_the_versions_of_both(gate: Gate, server: Registry) -> None:
    """Two repositories have files for the same subjects: each version is registered once, and none is lost."""
    fields = {"one": NOTE, "two": {**NOTE, "name": "remark"}}
    money = '{"type": "fixed", "name": "x.Money", "size": 8}'
    subjects = [f"{gate.topic}-{number}-value" for number in range(4)]
    for folder, field in fields.items():
        gate.put(f"{folder}/{gate.topic}.Money/x.Money.avsc", money)
        gate.put(f"{folder}/{gate.topic}-{folder}-value.avsc", order(field, {"name": "paid", "type": "x.Money"}))
        for subject in subjects:
            gate.put(f"{folder}/{subject}.avsc", order(field))
    results: dict[str, subprocess.CompletedProcess[str]] = {}
    threads = [
        threading.Thread(target=lambda name=folder: results.update({name: gate.process("apply", name)}))
        for folder in fields
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: done.returncode for name, done in results.items()} == dict.fromkeys(fields, 0), results
    assert server.versions("x.Money") == [1]
    for folder in fields:
        assert server.versions(f"{gate.topic}-{folder}-value") == [1]
    for subject in subjects:
        numbers = server.versions(subject)
        names = [json.loads(server.version(subject, number).text)["fields"][1]["name"] for number in numbers]
        assert (numbers, sorted(names)) == ([1, 2], ["note", "remark"])
    for folder in fields:
        again = gate.run("apply", folder)
        assert "nothing to change" in told(again, 0) + again.stderr


def test_a_reader_that_closes_the_pipe_does_not_stop_a_registration(gate: Gate, server: Registry) -> None:
    for number in range(20):
        gate.put(f"{{}}-{number:02}-value.avsc", f'{{"type": "fixed", "name": "{"F" * 1_000}{number}", "size": 1}}')
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "register", "."]
    environment = os.environ | {"CONTRACTLOG_REGISTRY_URL": gate.url, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=gate.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    process.stdout.close()
    process.wait(WAIT_SECONDS)
    assert len(server.subjects(prefix=gate.topic)) == 20
