"""The files of ``deploy/`` fit this release: settings exist, and programs start."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import httpx2
import pytest
import yaml

from contractlog.clients.cli.verbs import VERBS
from contractlog.registry.settings import PREFIX, Settings
from contractlog.registry.telemetry.metric_catalogue import CATALOGUE, MetricKind

from support.registry import start_server

ROOT = Path(__file__).parent.parent.parent
ENV_FILE, UNIT, CONTAINER = (
    (ROOT / "deploy" / name).read_text("utf-8") for name in ("contractlog.env", "contractlog.service", "Containerfile")
)
RULE_FILE, DASHBOARD = (
    (ROOT / "deploy" / name).read_text("utf-8") for name in ("prometheus-rules.yaml", "grafana-dashboard.json")
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
def test_every_variable_is_a_valid_setting(name: str) -> None:
    known = {PREFIX + member.name.upper(): member.name for member in fields(Settings)}
    assert len(SET[name]) >= 4
    assert SET[name].keys() <= known.keys()
    read = Settings.from_environment(SET[name])
    for variable, text in SET[name].items():
        assert str(getattr(read, known[variable])) == text


@pytest.mark.parametrize("name", STARTED)
def test_started_programs_serve_with_their_settings(name: str, tmp_path: Path) -> None:
    program, verb, *arguments = STARTED[name]
    assert Path(program).name == "contractlog"
    assert verb == "serve"
    assert verb in VERBS
    process, url = start_server(f"sqlite:///{tmp_path / 'registry.db'}", arguments=arguments, **SET[name])
    try:
        port = url.rpartition(":")[2]
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz/ready", timeout=60).status_code == 200
        checked = health_check(**SET[name] | {PREFIX + "PORT": port})
        assert (checked.returncode, checked.stderr) == (0, "")
    finally:
        process.terminate()
        assert process.stderr is not None
        with process.stderr:
            said = process.stderr.read()
    warnings = said.splitlines()
    assert process.wait(60) == 0
    assert len(warnings) == (2 if SET[name][PREFIX + "HOST"] == "0.0.0.0" else 0), said


def health_check(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run what the container file runs to ask for health."""
    (command,) = re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", CONTAINER, re.MULTILINE)
    program, *arguments = json.loads(command)
    assert program == "python"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return subprocess.run(
        [sys.executable, *arguments], env=clean | environment, check=False, capture_output=True, text=True, timeout=180
    )


def test_the_health_check_fails_where_nobody_answers() -> None:
    checked = health_check(**SET["Containerfile"] | {PREFIX + "PORT": "9"})
    assert checked.returncode == 1
    assert "127.0.0.1:9" in checked.stderr


def test_the_container_exposes_the_port_where_it_listens() -> None:
    assert re.findall(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE) == [SET["Containerfile"][PREFIX + "PORT"]]


def test_the_container_file_warns_of_a_listener_that_is_open_to_all() -> None:
    comments = " ".join(line.removeprefix("# ") for line in CONTAINER.splitlines() if line.startswith("# "))
    assert f"Without {PREFIX}USERS_FILE everyone" in comments
    assert f"without {PREFIX}TLS_CERTIFICATE passwords" in comments


def test_the_base_image_is_an_argument_of_the_build_that_the_documentation_pins() -> None:
    assert re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE) == ["${BASE_IMAGE}", "${BASE_IMAGE}"]
    (default,) = re.findall(r"^ARG BASE_IMAGE=(\S+)$", CONTAINER, re.MULTILINE)
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert f"--build-arg BASE_IMAGE={default}@" in page
    assert "sha256:" not in CONTAINER + page  # a digest that is written here would be old by the time it is read


@pytest.mark.parametrize("name", ["deploy/Containerfile", "Makefile"])
def test_the_build_backend_is_pinned_with_hashes_wherever_something_is_built(name: str) -> None:
    commands = (ROOT / name).read_text("utf-8").replace("\\\n", " ").splitlines()
    builds = [line for line in commands if re.search(r"uv build --|pip install .*-e \.|pip wheel", line)]
    assert builds
    assert all("--build-constraints requirements/build.txt" in line for line in builds)
    assert all("--require-hashes" in line for line in builds if "uv build" in line)
    pins = (ROOT / "requirements" / "build.txt").read_text("utf-8")
    assert re.match(r"setuptools==\S+ \\\n +--hash=sha256:", pins)


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


RULES = [rule for group in yaml.safe_load(RULE_FILE)["groups"] for rule in group["rules"]]
PANELS = json.loads(DASHBOARD)["panels"]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [target["expr"] for panel in PANELS for target in panel["targets"]]
METRICS = {metric.name: metric for metric in CATALOGUE}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_monitoring_uses_metrics_and_labels_that_exist(expression: str) -> None:
    names = re.findall(r"contractlog_\w+", expression)
    assert names
    for name in names:
        metric = METRICS.get(name) or METRICS[name.removesuffix("_bucket")]
        assert (metric.kind is MetricKind.HISTOGRAM) == name.endswith("_bucket")
    for name, selector in re.findall(r"(contractlog_\w+){([^}]*)}", expression):
        assert set(re.findall(r"(\w+)=~?", selector)) <= set(METRICS[name].labels)
    assert expression.count("(") == expression.count(")")


def test_each_alert_says_what_it_means_and_its_text_uses_labels_of_its_metric() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        (name, *_) = re.findall(r"contractlog_\w+", rule["expr"])
        text = " ".join(rule["annotations"][key] for key in ("summary", "description"))
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= set(METRICS[name].labels)
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}


def test_every_metric_of_audits_is_on_the_dashboard_or_in_an_alert() -> None:
    used = " ".join(EXPRESSIONS)
    assert {name for name in METRICS if name.startswith("contractlog_audit_") and name not in used} == set()


def test_panels_of_the_dashboard_have_ids_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    cells = [
        (x, y)
        for panel in PANELS
        for grid in [panel["gridPos"]]
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert all(x < 24 for x, _ in cells)
