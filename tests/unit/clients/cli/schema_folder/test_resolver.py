"""Folders of files that depend on each other, against a registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.manifest import MANIFEST
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference
from contractlog.registry.testing import Registries

from support.limited_servers import remove_extensions


def record(name: str, *types: str, **default: Any) -> dict[str, Any]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": f"f{number}", "type": type_name, **default} for number, type_name in enumerate(types)],
    }


@pytest.fixture(params=["contractlog", "a server without extensions"])
def registry(request: pytest.FixtureRequest, registries: Registries) -> Iterator[Registry]:
    app = registries.make({})
    with closing(app.state), Registry(app=app if request.param == "contractlog" else remove_extensions(app)) as client:
        yield client


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _connect(monkeypatch, registry)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _connect(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> None:
    for module in (
        "check.runner",
        "register.runner",
        "plan_and_apply.runner",
        "pull.runner",
        "check.against_option",
    ):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))


def put(folder: Path, **files: Any) -> None:
    for name, schema in files.items():
        (folder / f"{name}.avsc").write_text(json.dumps(schema))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str]]:
    """Run a command; return its exit code, and the outcomes by subject."""
    code = main([*arguments, "--format", "json"])
    return code, {file["subject"]: file["outcome"] for file in json.loads(capsys.readouterr().out)["files"]}


def test_a_new_type_and_its_user_are_checked_before_either_exists(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money", "long")})
    assert run(capsys, "check", ".") == (exit_codes.CLEAN, {"Money": "compatible", "a-value": "compatible"})
    assert registry.subjects() == []
    assert run(capsys, "register", ".") == (exit_codes.CLEAN, {"Money": "registered", "a-value": "registered"})
    [reference] = registry.version("a-value", 1).references
    assert (reference.name, reference.subject, reference.version) == ("Money", "Money", 1)
    for verb, outcome in (("check", "registered"), ("register", "unchanged")):
        assert run(capsys, verb, ".") == (exit_codes.CLEAN, {"Money": outcome, "a-value": outcome})


def test_a_type_without_a_namespace_is_used_inside_a_record_that_has_one(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("com.acme.A", "Money"), "Money": record("Money", "long")})
    assert run(capsys, "register", ".") == (exit_codes.CLEAN, {"Money": "registered", "a-value": "registered"})
    assert [each.name for each in registry.version("a-value", 1).references] == ["Money"]
    assert run(capsys, "check", ".") == (exit_codes.CLEAN, {"Money": "registered", "a-value": "registered"})


def test_a_schema_of_another_context_is_not_that_of_the_default_context(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "contractlog.toml").write_text('[environments.other]\nregistry = "http://one:8081"\ncontext = ".other"\n')
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money", "long")})
    assert run(capsys, "register", ".", "--environment", "other")[0] == exit_codes.CLEAN
    assert run(capsys, "check", ".") == (exit_codes.CLEAN, {"Money": "compatible", "a-value": "compatible"})
    assert run(capsys, "register", ".") == (exit_codes.CLEAN, {"Money": "registered", "a-value": "registered"})
    assert registry.subjects() == [":.other:Money", ":.other:a-value", "Money", "a-value"]


def test_a_changed_type_makes_new_versions_of_all_that_use_it(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("A", "B"), "b-value": record("B", "C"), "C": record("C"), "d-value": record("D")})
    run(capsys, "register", ".")
    put(folder, C=record("C", "long", default=0))
    assert run(capsys, "check", ".")[1] == {
        "C": "compatible",
        "b-value": "compatible",
        "a-value": "compatible",
        "d-value": "registered",
    }
    run(capsys, "register", ".")
    assert [each.version for each in registry.version("a-value", 2).references] == [2]
    assert registry.versions("d-value") == [1]


def test_a_breaking_change_of_a_type_shows_in_its_users(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money", "long")})
    run(capsys, "register", ".")
    put(folder, Money=record("Money", "long", "long"))
    expected = {"Money": "incompatible", "a-value": "incompatible"}
    assert run(capsys, "check", ".") == (exit_codes.FINDINGS, expected)


def test_nothing_is_registered_if_a_user_is_refused(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("A")})
    run(capsys, "register", ".")
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money")})
    assert run(capsys, "register", ".") == (exit_codes.FINDINGS, {"Money": "skipped", "a-value": "refused"})
    assert registry.subjects() == ["a-value"]


def test_users_of_a_refused_type_are_skipped(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money"), "b-value": record("B")})
    run(capsys, "register", "Money.avsc")
    put(folder, Money=record("Money", "long"))
    code, outcomes = run(capsys, "register", ".", "--keep-going")
    assert code == exit_codes.FINDINGS
    assert outcomes == {"Money": "refused", "a-value": "skipped", "b-value": "registered"}
    assert registry.subjects() == ["Money", "b-value"]


def test_an_invalid_type_is_named_by_its_users(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, **{"a-value": record("A", "Money"), "Money": record("Money", "no.Such")})
    assert main(["check", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert 'Money.avsc:1:71: the type "no.Such" is not defined' in error
    assert "a-value.avsc: it depends on `Money.avsc`, which cannot be read as a schema" in error


def test_a_pulled_folder_is_checked_as_it_is_and_follows_edits(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, **{"a-value": record("A", "B"), "b-value": record("B", "C"), "C": record("C")})
    run(capsys, "register", ".")
    assert main(["pull", "--all", "--out", "pulled"]) == exit_codes.CLEAN
    capsys.readouterr()
    assert set(run(capsys, "check", "pulled")[1].values()) == {"registered"}
    put(folder / "pulled", C=record("C", "long", default=0))
    assert set(run(capsys, "register", "pulled")[1].values()) == {"registered"}
    assert set(run(capsys, "check", "pulled")[1].values()) == {"registered"}
    assert {subject: registry.versions(subject) for subject in registry.subjects()} == {
        "C": [1, 2],
        "a-value": [1, 2],
        "b-value": [1, 2],
    }


@pytest.mark.parametrize(("mark", "end"), [("\ufeff", "\n"), ("", "\r\n"), ("\ufeff", "\r\n")])
def test_a_byte_order_mark_and_the_line_ends_are_no_part_of_a_schema(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], mark: str, end: str
) -> None:
    put(folder, **{"a-value": record("A", "long")})
    assert main(["register", "."]) == exit_codes.CLEAN
    text = mark + json.dumps(record("A", "long"), indent=1).replace("\n", end)
    (folder / "a-value.avsc").write_bytes(text.encode())
    capsys.readouterr()
    assert run(capsys, "check", ".") == (exit_codes.CLEAN, {"a-value": "registered"})
    (folder / "a-value.avsc").write_bytes(text.replace("long", "lon").encode())
    assert main(["check", "."]) == exit_codes.USAGE
    assert 'a-value.avsc:7:12: the type "lon" is not defined' in capsys.readouterr().err
    manifest = f'{mark}[[files]]{end}path = "a"{end}subject = "b"{end}'
    (folder / MANIFEST).write_bytes(manifest.encode())
    assert main(["check", "."]) == exit_codes.USAGE
    assert "contractlog.toml:3:1: there is no key `subject` here" in capsys.readouterr().err


CURRENCY = {"type": "enum", "name": "x.Currency", "symbols": ["EUR"], "default": "EUR"}


def with_nested_type(name: str, nested: Any, *types: str) -> dict[str, Any]:
    schema = record(name, *types)
    return {**schema, "fields": [*schema["fields"], {"name": "nested", "type": nested}]}


@pytest.mark.parametrize("pulled", [("--all",), ("--all", "--history")])
def test_a_pulled_folder_follows_the_edit_of_a_type_nested_in_a_referenced_one(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], pulled: tuple[str, ...]
) -> None:
    """Registries write a nested type of a referenced one into the text that uses it."""
    files = {"a-value": record("x.A", "Money", "Currency"), "Money": with_nested_type("x.Money", CURRENCY)}
    put(folder, **files, **{"b-value": record("B", "x.A", "x.Currency")})
    run(capsys, "register", ".")
    assert '"symbols"' in registry.version("a-value", 1).text
    assert main(["pull", *pulled, "--out", "pulled"]) == exit_codes.CLEAN
    capsys.readouterr()
    assert set(run(capsys, "check", "pulled")[1].values()) == {"registered"}
    [money] = (folder / "pulled").rglob("x.Money.avsc")
    money.write_text(json.dumps(with_nested_type("x.Money", {**CURRENCY, "symbols": ["EUR", "USD"]})))
    expected = dict.fromkeys(("a-value", "b-value", "x.Money"), "compatible")
    assert run(capsys, "check", "pulled") == (exit_codes.CLEAN, expected)
    assert main(["check", "pulled", "--against", "lock"]) == exit_codes.CLEAN
    assert main(["register", "pulled"]) == exit_codes.CLEAN
    assert "USD" in registry.version("b-value", 2).text
    capsys.readouterr()
    assert set(run(capsys, "check", "pulled")[1].values()) == {"registered"}


def pull_users_of_money(registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pull two schemas that use `x.Money`, and move to the folder with them."""
    put(folder, Money=with_nested_type("x.Money", CURRENCY))
    put(folder, **{each: record(each[0], "x.Money") for each in ("a-value", "b-value")})
    run(capsys, "register", ".")
    assert main(["pull", "--all", "--out", "pulled"]) == exit_codes.CLEAN
    for name in ("Money", "a-value", "b-value"):
        (folder / f"{name}.avsc").unlink()
    capsys.readouterr()


def test_a_type_whose_file_was_removed_is_a_warning_with_its_users(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pull_users_of_money(registry, folder, capsys)
    Path("pulled/x.Money.avsc").unlink()
    for verb in ("check", "lint"):
        assert main([verb, "pulled"]) == exit_codes.CLEAN
        assert (
            "warning: no file defines `x.Money` any more: `a-value`, `b-value` still refer to version 1 of `x.Money` "
            "in the registry, as `pulled/contractlog.lock` names it; restore `pulled/x.Money.avsc`, or write "
            '"x.Money" = "x.Money:1" in [files.references] of contractlog.toml'
        ) in capsys.readouterr().err
        assert main([verb, "pulled", "--fail-on", "warning"]) == exit_codes.FINDINGS
    for subject in ("a-value", "b-value", "x.Money"):
        registry.delete_subject(subject)
        registry.delete_subject(subject, permanent=True)
    capsys.readouterr()
    assert main(["check", "pulled"]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "`x.Money` is from `pulled/contractlog.lock`, as no file defines it: restore `pulled/x.Money.avsc`" in error
    assert "--reference" not in error


def test_a_file_that_was_moved_takes_the_place_of_the_locked_version(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pull_users_of_money(registry, folder, capsys)
    changed = with_nested_type("x.Money", {**CURRENCY, "symbols": ["EUR", "USD"]})
    Path("pulled/x.Money.avsc").unlink()
    Path("pulled/types").mkdir()
    Path("pulled/types/Money.avsc").write_text(json.dumps(changed))
    assert run(capsys, "check", "pulled")[1] == dict.fromkeys(("a-value", "b-value", "x.Money"), "compatible")
    main(["check", "pulled"])
    assert "no file defines" not in capsys.readouterr().err


def test_a_single_file_uses_the_registered_types_of_the_folder_of_its_manifest(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, Money=with_nested_type("x.Money", CURRENCY), **{"a-value": record("A", "x.Money")})
    Path("contractlog.toml").touch()
    assert main(["check", "a-value.avsc"]) == exit_codes.USAGE
    assert "a-value.avsc: it uses `Money.avsc`, which is not registered as it is" in capsys.readouterr().err
    assert main(["register", "Money.avsc"]) == exit_codes.CLEAN
    capsys.readouterr()
    assert run(capsys, "check", "a-value.avsc") == (exit_codes.CLEAN, {"a-value": "compatible"})
    assert main(["register", "a-value.avsc"]) == exit_codes.CLEAN
    assert registry.version("a-value", 1).references == (Reference("x.Money", "x.Money", 1),)


def test_a_type_that_two_files_define_differently_is_named_with_both(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, Money=with_nested_type("x.Money", CURRENCY))
    put(folder, **{"a-value": with_nested_type("x.A", {**CURRENCY, "symbols": ["EUR", "USD"]}, "Money")})
    assert main(["check", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert 'a-value.avsc:1:106: the type "x.Currency" is defined twice, and differently' in error
    assert "`Money.avsc` defines it, too: write the name in place of the definition here" in error


@st.composite
def _trees(draw: st.DrawFn) -> dict[str, Any]:
    """Return files of types that use earlier ones, by name."""
    count = draw(st.integers(1, 6))
    files: dict[str, Any] = {}
    for number in range(count):
        used = draw(st.lists(st.sampled_from([f"x.R{each}" for each in range(number)]), max_size=3)) if number else []
        name = f"x.R{number}"
        files[draw(st.sampled_from([name, f"R{number}", f"t{number}-value"]))] = record(name, *used)
    return files


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_trees())
def test_register_then_check_and_pull_then_check_show_nothing(
    files: dict[str, Any],
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tmp_path = tmp_path_factory.mktemp("tree")
    app = registries.make({})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        _connect(monkeypatch, registry)
        put(tmp_path, **files)
        code, outcomes = run(capsys, "register", str(tmp_path))
        assert (code, set(outcomes.values())) == (exit_codes.CLEAN, {"registered"})
        assert set(run(capsys, "check", str(tmp_path))[1].values()) == {"registered"}
        assert main(["pull", "--all", "--out", str(tmp_path / "pulled")]) == exit_codes.CLEAN
        capsys.readouterr()
        code, outcomes = run(capsys, "check", str(tmp_path / "pulled"))
        assert (code, set(outcomes.values())) == (exit_codes.CLEAN, {"registered"})
        assert main(["plan", str(tmp_path / "pulled"), "--exit-code"]) == exit_codes.CLEAN


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_trees(), levels=st.lists(st.sampled_from(Level), max_size=6), data=st.data())
def test_a_pull_leaves_nothing_to_plan_and_writes_the_same_again(
    files: dict[str, Any],
    levels: list[Level],
    data: st.DataObject,
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Registries with references, in two contexts, with levels of their own."""
    app = registries.make({})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        _connect(monkeypatch, registry)
        tree = tmp_path_factory.mktemp("tree")
        put(tree, **files)
        (tree / MANIFEST).write_text('[environments.x]\nregistry = "http://x"\ncontext = ".x"\n')
        chosen = ("--environment", "x") if data.draw(st.booleans(), "in a context") else ()
        if not chosen or data.draw(st.booleans(), "in the default context too"):
            assert main(["register", str(tree)]) == exit_codes.CLEAN
        assert main(["register", str(tree), *chosen]) == exit_codes.CLEAN
        for subject, level in zip(registry.subjects(), levels, strict=False):
            registry.set_level(level, subject)
        history = ("--history",) if data.draw(st.booleans(), "history") else ()
        whole, of_context = tmp_path_factory.mktemp("pulled"), tmp_path_factory.mktemp("pulled")
        pulls = [(whole, ())]
        if chosen:
            (of_context / MANIFEST).write_bytes((tree / MANIFEST).read_bytes())
            pulls.append((of_context, chosen))
        for out, environment in pulls:
            assert main(["pull", "--all", "--out", str(out), *environment, *history]) == exit_codes.CLEAN
            assert main(["plan", str(out), "--exit-code", *environment]) == exit_codes.CLEAN
            assert main(["check", str(out), *environment]) == exit_codes.CLEAN
            written = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
            assert main(["pull", "--all", "--out", str(out), *environment, *history]) == exit_codes.CLEAN
            assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == written


@st.composite
def _mixed_trees(draw: st.DrawFn) -> dict[str, Any]:
    """Return the files of a folder by name: Avro records, enums and keys, and JSON Schemas with relative references."""
    files: dict[str, Any] = {f"{name}.avsc": schema for name, schema in draw(_trees()).items()}
    for number in range(draw(st.integers(0, 2))):
        enum = {"type": "enum", "name": f"x.E{number}", "symbols": ["A", "B"], "default": "A"}
        files[f"x.E{number}.avsc"] = enum
        files[f"e{number}-value.avsc"] = record(f"x.UserOfE{number}", f"x.E{number}", "x.R0")
    for number in range(draw(st.integers(0, 2))):
        files[f"t{number}-key.avsc"] = draw(st.sampled_from(["string", "long", record(f"x.Key{number}", "string")]))
    paths: list[str] = []
    for number in range(draw(st.integers(0, 4))):
        used = draw(st.lists(st.sampled_from(paths), max_size=2, unique=True)) if paths else []
        folder = draw(st.sampled_from(["", "types/"]))
        properties = {f"p{position}": {"$ref": f"../{path}" if folder else path} for position, path in enumerate(used)}
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": properties}
        paths.append(f"{folder}j{number}-value.schema.json")
        files[paths[-1]] = schema
    return files


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_mixed_trees(), history=st.booleans(), changed=st.booleans())
def test_a_pull_of_both_formats_leaves_nothing_to_plan(
    files: dict[str, Any],
    *,
    history: bool,
    changed: bool,
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """JSON Schemas that refer to each other, beside Avro types, some with several versions."""
    tree, pulled = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("pulled")
    app = registries.make({"level": Level.NONE})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        _connect(monkeypatch, registry)
        (tree / "types").mkdir()
        for path, schema in files.items():
            (tree / path).write_text(json.dumps(schema))
        assert main(["register", str(tree)]) == exit_codes.CLEAN
        for path, schema in files.items() if changed else ():
            if isinstance(schema, dict) and "properties" in schema:
                (tree / path).write_text(json.dumps(schema | {"title": "changed"}))
        assert main(["register", str(tree)]) == exit_codes.CLEAN
        arguments = ["pull", "--all", "--out", str(pulled), *(["--history"] if history else [])]
        assert main(arguments) == exit_codes.CLEAN
        assert main(["plan", str(pulled), "--exit-code"]) == exit_codes.CLEAN
        assert main(["check", str(pulled)]) == exit_codes.CLEAN
        written = {path: path.read_bytes() for path in pulled.rglob("*") if path.is_file()}
        assert main(arguments) == exit_codes.CLEAN
        assert {path: path.read_bytes() for path in pulled.rglob("*") if path.is_file()} == written


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=_mixed_trees(), owned=st.booleans())
def test_after_apply_there_is_nothing_to_plan(
    files: dict[str, Any],
    owned: bool,  # noqa: FBT001 - drawn
    registries: Registries,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    app = registries.make({})
    with closing(app.state), Registry(app=app) as registry, pytest.MonkeyPatch.context() as monkeypatch:
        _connect(monkeypatch, registry)
        (tree / "types").mkdir()
        for path, schema in files.items():
            (tree / path).write_text(json.dumps(schema))
        (tree / MANIFEST).write_text('[[subjects]]\nname = "*"\nlevel = "FULL"\n' if owned else "")
        assert main(["plan", str(tree), "--exit-code"]) == exit_codes.FINDINGS
        assert main(["apply", str(tree)]) == exit_codes.CLEAN
        assert len(registry.subjects()) == len(files)
        assert main(["plan", str(tree), "--exit-code"]) == exit_codes.CLEAN
