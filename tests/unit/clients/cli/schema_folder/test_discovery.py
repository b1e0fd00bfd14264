"""Schema files in folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli.schema_folder.discovery import discover_files
from contractlog.compatibility.errors import UsageError

JSON_SCHEMA = '{"$schema": "http://json-schema.org/draft-07/schema#"}'


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def schemas(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in discover_files(folder).schemas]


def test_suffixes_decide_and_for_json_the_meta_schema(tmp_path: Path) -> None:
    put(
        tmp_path,
        **{
            "b.avsc": "",
            "a/c.schema.json": "",
            "yes.json": JSON_SCHEMA,
            "package.json": "{}",
            "settings.json": '{"$schema": "https://json.schemastore.org/package"}',
            "broken.json": "{",
            "x.proto": "",
        },
    )
    assert schemas(tmp_path) == ["b.avsc", "yes.json", "a/c.schema.json"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"$schema": "http://json-schema.org/draft-07/schema#",}'),
        ("a.json", '<<<<<<< HEAD\n{"$schema": "https://json-schema.org/draft/2020-12/schema"}\n'),
        ("a.json", '{"$schema":\n<<<<<<< HEAD\n'),
        ("orders-value.json", '{"type": "object",}'),
        ("orders-key.json", ""),
        ("locked.json", "{"),
        ("locked.json", "{}"),
    ],
)
def test_a_json_schema_that_cannot_be_parsed_is_not_left_out(tmp_path: Path, name: str, text: str) -> None:
    entry = {"file": "in/locked.json", "sha256": "", "subject": "s", "version": 1}
    lock = json.dumps({"format": "contractlog.lock/1", "schemas": [entry]})
    put(tmp_path, **{f"in/{name}": text, "contractlog.lock": lock})
    assert schemas(tmp_path / "in") == [name]


@pytest.mark.parametrize("text", ["{", '{"type": "object",}', '{"$schema": "https://json.schemastore.org/x", // c\n}'])
def test_other_json_files_that_cannot_be_parsed_are_data(tmp_path: Path, text: str) -> None:
    put(tmp_path, **{"data.json": text})
    assert schemas(tmp_path) == []


def test_a_json_file_that_cannot_be_opened_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, **{"a.json": "{}"})

    def refuse(_: Path) -> bytes:  # the tests may run as root, who can open every file
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert schemas(tmp_path) == ["a.json"]


def test_other_files_are_counted_in_one_message(tmp_path: Path) -> None:
    put(tmp_path, **dict.fromkeys(("a.avsc", "1.md", "2.md", "3.md", "4.md", ".hidden", "pulled.json"), ""))
    (warning,) = discover_files(tmp_path).find_warnings()
    assert "1.md" in warning.message
    assert "and 1 more" in warning.message
    assert ".hidden" not in warning.message
    assert (warning.rule, warning.path) == ("FILES_LEFT_OUT", tmp_path)


def test_a_saved_plan_is_no_file_that_is_left_out(tmp_path: Path) -> None:
    plan = json.dumps({"format": "contractlog.plan/1", "steps": []}, indent=2)
    put(tmp_path, **{"a.avsc": "", "plan.json": plan, "other.json": '{"format": "x"}'})
    (warning,) = discover_files(tmp_path).find_warnings()
    assert "other.json" in warning.message
    assert "plan.json" not in warning.message


def test_avro_idl_has_a_message_that_tells_how_to_convert_it(tmp_path: Path) -> None:
    put(tmp_path, **{"a.avdl": "", "b.avsc": ""})
    (warning,) = discover_files(tmp_path).find_warnings()
    assert "a.avdl: Avro IDL is not read: convert it" in warning.message
    assert (warning.rule, warning.path) == ("AVRO_IDL_LEFT_OUT", tmp_path / "a.avdl")


def test_a_link_to_a_file_outside_the_folder_is_refused(tmp_path: Path) -> None:
    put(tmp_path, **{"secret.avsc": '"string"', "in/a.avsc": '"string"'})
    (tmp_path / "in" / "b.avsc").symlink_to("a.avsc")
    assert schemas(tmp_path / "in") == ["a.avsc", "b.avsc"]
    (tmp_path / "in" / "c.avsc").symlink_to(tmp_path / "secret.avsc")
    with pytest.raises(UsageError, match=r"c.avsc` is a .* outside .*: copy the file into the folder, or pass"):
        discover_files(tmp_path / "in")


def test_a_link_to_a_folder_outside_is_not_followed_and_named(tmp_path: Path) -> None:
    for folder in ("in/real", "outside"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a-value.avsc").write_text('"int"')
    (tmp_path / "in" / "inside").symlink_to("real")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "outside")
    discovered = discover_files(tmp_path / "in")
    assert discovered.schemas == (tmp_path / "in" / "real" / "a-value.avsc",)
    [warning] = discovered.find_warnings()
    message = warning.message
    assert f"{tmp_path / 'in' / 'link'} is a symbolic link to a folder outside, and is not followed: name" in message
    assert f"list the link in `{tmp_path / 'in' / '.contractlogignore'}`" in message
    (tmp_path / "in" / ".contractlogignore").write_text("link/\n")
    assert list(discover_files(tmp_path / "in").find_warnings()) == []


def test_a_link_to_nothing_is_named_with_its_target(tmp_path: Path) -> None:
    (tmp_path / "a-value.avsc").symlink_to("none.avsc")
    with pytest.raises(UsageError, match=r"a-value.avsc` is a symbolic link to `none.avsc`, which does not exist"):
        discover_files(tmp_path)
