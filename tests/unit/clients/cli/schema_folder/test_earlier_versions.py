"""Version folders whose shared types change: earlier versions stay the registered versions that they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.registry.testing import Registries

from support.limited_servers import remove_extensions


def record(name: str, *types: str, extra: int = 0) -> dict[str, Any]:
    fields: list[dict[str, Any]] = [{"name": f"f{number}", "type": used} for number, used in enumerate(types)]
    fields += [{"name": f"extra{number}", "type": "long", "default": 0} for number in range(extra)]
    return {"type": "record", "name": name, "fields": fields}


@pytest.fixture(params=["contractlog", "a server without extensions"])
def registry(
    request: pytest.FixtureRequest, registries: Registries, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Registry]:
    app = registries.make({})
    with closing(app.state), Registry(app=app if request.param == "contractlog" else remove_extensions(app)) as client:
        _connect(monkeypatch, client)
        yield client


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _connect(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> None:
    for module in ("check.runner", "plan_and_apply.runner", "pull.runner", "check.against_option"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))


def put(folder: Path, files: Mapping[str, Any]) -> None:
    for name, schema in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(schema))


def plan(capsys: pytest.CaptureFixture[str], folder: str = ".") -> list[str]:
    """Return the files, relative to the folder, that would be new versions."""
    capsys.readouterr()
    assert main(["plan", folder, "--format", "json"]) == exit_codes.CLEAN
    return sorted(str(Path(step["file"]).relative_to(folder)) for step in json.loads(capsys.readouterr().out)["steps"])


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[str, int | None]]:
    """Return the outcome and the version of each file."""
    capsys.readouterr()
    main(["check", *arguments, "--format", "json"])
    files = json.loads(capsys.readouterr().out)["files"]
    return {each["file"]: (each["outcome"], each["version"]) for each in files}


HISTORY = {
    "1/a-value.avsc": record("x.A", "x.Money"),
    "2/a-value.avsc": record("x.A", "x.Money", extra=1),
    "types/Money.avsc": record("x.Money"),
}


def test_only_the_last_version_of_a_user_follows_a_changed_type(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, HISTORY)
    assert main(["apply", "."]) == exit_codes.CLEAN
    put(folder, {"types/Money.avsc": record("x.Money", extra=1)})
    assert check(capsys, ".")["1/a-value.avsc"] == ("registered", 1)
    assert plan(capsys) == ["2/a-value.avsc", "types/Money.avsc"]
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert plan(capsys) == []
    assert check(capsys, ".") == {
        "types/Money.avsc": ("registered", 2),
        "1/a-value.avsc": ("registered", 1),
        "2/a-value.avsc": ("registered", 3),
    }
    # The numbers of folders and of versions differ from now on.
    put(folder, {"3/a-value.avsc": record("x.A", "x.Money", extra=2)})
    assert plan(capsys) == ["3/a-value.avsc"]
    assert main(["apply", "."]) == exit_codes.CLEAN
    put(folder, {"4/a-value.avsc": record("x.A", "x.Money", extra=3), "types/Money.avsc": record("x.Money", extra=2)})
    assert plan(capsys) == ["4/a-value.avsc", "types/Money.avsc"]
    assert check(capsys, ".")["3/a-value.avsc"] == ("registered", 4)


def test_an_earlier_version_needs_no_type_that_the_folder_no_longer_defines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, HISTORY | {"1/a-value.avsc": record("x.A", "x.Money", "x.Old"), "types/Old.avsc": record("x.Old")})
    assert main(["apply", "."]) == exit_codes.CLEAN
    (folder / "types/Old.avsc").unlink()
    assert plan(capsys) == []
    assert check(capsys, ".")["1/a-value.avsc"] == ("registered", 1)


def test_earlier_versions_of_the_same_text_are_registered_one_by_one(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After an interruption, the second file is not taken for the version that the first one is."""
    versions = {f"{number}/a-value.avsc": record("x.A", "x.Money") for number in (1, 2, 3)}
    versions |= {f"{number}/Money.avsc": record("x.Money", extra=number) for number in (1, 2, 3)}
    put(folder, {name: schema for name, schema in versions.items() if name.startswith("1/")})
    assert main(["apply", "."]) == exit_codes.CLEAN
    put(folder, versions)
    new = ["2/Money.avsc", "2/a-value.avsc", "3/Money.avsc", "3/a-value.avsc"]
    assert plan(capsys) == new
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert [registry.version("a-value", number).references[0].version for number in (1, 2, 3)] == [1, 2, 3]
    assert plan(capsys) == []


def test_version_folders_of_one_text_refer_each_to_the_type_of_its_number(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = {f"orders/{number}/orders-value.avsc": record("x.O", "x.Line", "x.Money") for number in (1, 2)}
    versions |= {f"orders/{number}/Line.avsc": record("x.Line", "x.Money") for number in (1, 2)}
    put(folder, versions | {f"money/{number}/Money.avsc": record("x.Money", extra=number) for number in (1, 2)})
    assert main(["apply", "."]) == exit_codes.CLEAN
    references = [registry.version("orders-value", number).references for number in (1, 2)]
    assert [{each.name: each.version for each in used} for used in references] == [
        {"x.Line": number, "x.Money": number} for number in (1, 2)
    ]
    assert plan(capsys) == []
    put(folder, {"money/2/Money.avsc": record("x.Money", extra=3)})
    assert plan(capsys) == ["money/2/Money.avsc", "orders/2/Line.avsc", "orders/2/orders-value.avsc"]


def test_equal_files_of_one_version_stay_it_when_a_type_below_changes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They refer to other files each, which are one version, too."""
    files = {f"{number}/Line.avsc": record("x.Line", "x.Money") for number in (1, 2, 3)}
    files |= {f"{number}/Order.avsc": record("x.Order", "x.Line", "x.Money") for number in (1, 2, 3)}
    put(folder, files | {"Money.avsc": record("x.Money")})
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert plan(capsys) == []
    put(folder, {"Money.avsc": record("x.Money", extra=1)})
    assert plan(capsys) == ["3/Line.avsc", "3/Order.avsc", "Money.avsc"]


def test_an_edited_earlier_version_is_new(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, HISTORY)
    assert main(["apply", "."]) == exit_codes.CLEAN
    put(folder, {"1/a-value.avsc": record("x.A", "x.Money", extra=5)})
    assert plan(capsys) == ["1/a-value.avsc"]


def test_earlier_versions_of_json_schemas_stay_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": False}
    used = {"address": {"$ref": "../types/address.schema.json"}}
    files = {
        f"{number}/c-value.schema.json": draft
        | {"properties": used | {f"p{each}": {"type": "string"} for each in range(number)}}
        for number in (1, 2)
    }
    put(folder, files | {"types/address.schema.json": draft})
    assert main(["apply", "."]) == exit_codes.CLEAN
    put(folder, {"types/address.schema.json": draft | {"properties": {"city": {"type": "string"}}}})
    assert plan(capsys) == ["2/c-value.schema.json", "types/address.schema.json"]


def test_the_versions_of_a_git_revision_or_folder_stay_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder / "before", HISTORY)
    put(folder / "after", HISTORY | {"types/Money.avsc": record("x.Money", extra=1)})
    outcomes = check(capsys, "after", "--against", "before")
    assert {name: outcome for name, (outcome, _) in outcomes.items()} == {
        "after/types/Money.avsc": "compatible",
        "after/1/a-value.avsc": "unchanged",
        "after/2/a-value.avsc": "compatible",
    }


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_type_added_to_a_pulled_history_changes_the_last_versions(
    folder: Path, capsys: pytest.CaptureFixture[str], *, has_lock: bool
) -> None:
    put(folder / "written", HISTORY)
    assert main(["apply", "written"]) == exit_codes.CLEAN
    assert main(["pull", "--all", "--history", "--out", "pulled"]) == exit_codes.CLEAN
    if not has_lock:
        (folder / "pulled/contractlog.lock").unlink()
    assert plan(capsys, "pulled") == []
    put(folder / "pulled", {"2/x.Money.avsc": record("x.Money", extra=1)})
    assert plan(capsys, "pulled") == ["2/a-value.avsc", "2/x.Money.avsc"]
    assert main(["apply", "pulled"]) == exit_codes.CLEAN
    assert plan(capsys, "pulled") == []


def test_a_pulled_file_that_referred_to_an_earlier_version_of_a_type_goes_on_doing_so(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder / "written", HISTORY)
    assert main(["apply", "written"]) == exit_codes.CLEAN
    put(folder / "type", {"Money.avsc": record("x.Money", extra=1)})
    assert main(["apply", "type"]) == exit_codes.CLEAN
    assert registry.versions("x.Money") == [1, 2]
    assert main(["pull", "--all", "--history", "--out", "pulled"]) == exit_codes.CLEAN
    assert plan(capsys, "pulled") == []
    put(folder / "pulled", {"3/x.Money.avsc": record("x.Money", extra=2)})
    assert plan(capsys, "pulled") == ["3/x.Money.avsc"]


def test_a_pulled_file_whose_type_cannot_be_read_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder / "written", HISTORY)
    assert main(["apply", "written"]) == exit_codes.CLEAN
    assert main(["pull", "--all", "--out", "pulled"]) == exit_codes.CLEAN
    (folder / "pulled/x.Money.avsc").write_text("<<<<<<< HEAD\n")
    capsys.readouterr()
    assert main(["check", "pulled"]) == exit_codes.USAGE
    assert "it depends on `pulled/x.Money.avsc`, which cannot be read as a schema" in capsys.readouterr().err


@st.composite
def _histories(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Return the files of version folders, by subject and path; types use earlier types, and each version differs."""
    subjects: dict[str, dict[str, Any]] = {}
    for number in range(draw(st.integers(2, 5))):
        name = f"x.T{number}"
        used = draw(st.lists(st.sampled_from([f"x.T{each}" for each in range(number)]), max_size=2)) if number else []
        is_event = number > 0 and draw(st.booleans())
        file, subject = (f"t{number}-value.avsc", f"t{number}-value") if is_event else (f"T{number}.avsc", name)
        extras = sorted(draw(st.lists(st.integers(0, 2), min_size=1, max_size=3)))
        folders = [f"{each}/" for each in range(1, len(extras) + 1)] if len(extras) > 1 else [draw(_FOLDERS)]
        subjects[subject] = {
            f"{place}{file}": record(name, *used, extra=extra) for place, extra in zip(folders, extras, strict=True)
        }
    return subjects


_FOLDERS = st.sampled_from(["", "1/", "types/"])


def _find_users(subjects: Mapping[str, Mapping[str, Any]], type_name: str) -> Iterator[str]:
    """Yield the subjects whose last version uses a type, directly or not."""
    for subject, versions in subjects.items():
        last = list(versions.values())[-1]
        if any(field["type"] == type_name for field in last["fields"]):
            yield subject
            yield from _find_users(subjects, last["name"])


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(subjects=_histories())
def test_a_history_is_registered_once_and_a_changed_type_makes_one_version_of_each_user(
    subjects: dict[str, dict[str, Any]],
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    app = registries.make({})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        _connect(monkeypatch, registry)
        for versions in subjects.values():
            put(tree, versions)
        assert main(["apply", str(tree)]) == exit_codes.CLEAN
        assert main(["pull", "--all", "--history", "--out", str(tree / "../pulled" / tree.name)]) == exit_codes.CLEAN
        pulled = tree / "../pulled" / tree.name
        for folder in (str(tree), str(pulled)):
            assert main(["plan", folder, "--exit-code"]) == exit_codes.CLEAN
            assert {outcome for outcome, _ in check(capsys, folder).values()} == {"registered"}
        changed = record("x.T0", extra=7)
        users = {"x.T0", *_find_users(subjects, "x.T0")}
        latest = len(registry.versions("x.T0"))
        put(pulled, {f"{latest + 1}/x.T0.avsc": changed})
        assert plan(capsys, str(pulled)) == sorted(
            f"{latest + 1}/x.T0.avsc" if user == "x.T0" else f"{len(registry.versions(user))}/{user}.avsc"
            for user in users
        )
        put(tree, {list(subjects["x.T0"])[-1]: changed})
        assert plan(capsys, str(tree)) == sorted(list(subjects[user])[-1] for user in users)
        assert main(["apply", str(tree)]) == exit_codes.CLEAN
        for folder in (str(tree), str(pulled)):
            assert main(["plan", folder, "--exit-code"]) == exit_codes.CLEAN
