"""The files of ``deploy/`` fit this release: their settings are settings, and what they start starts."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import httpx2
import pytest

from contractlog.clients.cli.verbs import VERBS
from contractlog.registry.settings import PREFIX, Settings

from support.registry import start, stop

ROOT = Path(__file__).parent.parent.parent
ENV_FILE, UNIT, CONTAINER = (
    (ROOT / "deploy" / name).read_text("utf-8") for name in ("contractlog.env", "contractlog.service", "Containerfile")
)
SET = {
    "contractlog.env": dict(re.findall(rf"^({PREFIX}\w+)=(.*)$", ENV_FILE, re.MULTILINE)),
    "Containerfile": dict(re.findall(rf"({PREFIX}\w+)=(\S+)", CONTAINER)),
}
STARTED = {
    "contractlog.env": shlex.split(re.findall(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)[0]),
    "Containerfile": [
        word
        for line in ("ENTRYPOINT", "CMD")
        for word in json.loads(re.findall(rf"^{line} (\[.*\])$", CONTAINER, re.MULTILINE)[0])
    ],
}


@pytest.mark.parametrize("name", SET)
def test_what_is_set_is_a_setting_and_can_be_read(name: str) -> None:
    known = {PREFIX + member.name.upper(): member.name for member in fields(Settings)}
    assert len(SET[name]) >= 4
    assert SET[name].keys() <= known.keys()
    read = Settings.from_environment(SET[name])
    for variable, text in SET[name].items():
        assert str(getattr(read, known[variable])) == text


@pytest.mark.parametrize("name", STARTED)
def test_what_is_started_serves_with_what_is_set(name: str, tmp_path: Path) -> None:
    program, verb, *arguments = STARTED[name]
    assert Path(program).name == "contractlog"
    assert verb == "serve"
    assert verb in VERBS
    process, url = start(f"sqlite:///{tmp_path / 'registry.db'}", arguments=arguments, **SET[name])
    try:
        assert httpx2.get(_health_check().replace("http://127.0.0.1:8081", url)).status_code == 200
    finally:
        assert stop(process) == 0


def test_the_container_is_asked_for_its_health_where_it_listens() -> None:
    assert f":{SET['Containerfile'][PREFIX + 'PORT']}/" in _health_check()
    assert re.findall(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE) == [SET["Containerfile"][PREFIX + "PORT"]]


def test_the_unit_reads_the_file_that_says_where_it_lives() -> None:
    stated = re.findall(r"^# (/etc/\S+):", ENV_FILE, re.MULTILINE)
    assert re.findall(r"^EnvironmentFile=-?(\S+)$", UNIT, re.MULTILINE) == stated


def test_the_container_is_built_from_files_that_are_there() -> None:
    locked = re.findall(r"-r (\S+)", CONTAINER)
    assert locked
    assert all((ROOT / name).is_file() for name in locked)


def test_docker_and_podman_leave_the_same_files_out() -> None:
    docker, podman = ((ROOT / name).read_text("utf-8") for name in (".dockerignore", ".containerignore"))
    assert docker == podman
    assert {".git", ".venv"} <= {line.rstrip("/") for line in docker.splitlines()}


def _health_check() -> str:
    (found,) = re.findall(r"urlopen\('(http://[^']+)'", CONTAINER)
    return str(found)
