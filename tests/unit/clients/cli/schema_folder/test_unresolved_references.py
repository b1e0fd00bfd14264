"""A type or a ``$ref`` that leads to no file: the message is about the file that has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.clients.cli.schema_folder.resolver import parse_draft
from contractlog.compatibility.errors import UsageError

_NAMED = "a-value.schema.json:1:10: "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, name: str, **schema: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(schema))


def parse(*paths: str) -> list[str]:
    """Return the messages about the files."""
    problems = UnreadableFiles()
    for file in order_files(collect_files(paths, unreadable=problems), problems.collect):
        with problems.collect(file.path):
            parse_draft(file, {}, strict=True)
    return [str(error) for _, error in problems.problems]


@pytest.mark.parametrize("written", ["types/adress.schema.json", "types/adress.schema.json#/definitions/x"])
def test_a_path_that_does_not_exist_is_named_with_the_nearest_file(folder: Path, written: str) -> None:
    put(folder, "a-value.schema.json", **{"$ref": written})
    put(folder, "types/address.schema.json")
    [message] = parse(".")
    assert message == (
        f'{_NAMED}"types/adress.schema.json" leads to `types/adress.schema.json`, which does not exist; '
        'did you mean "types/address.schema.json"?'
    )


def test_a_path_with_nothing_near_is_to_be_corrected(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "zzz"})
    assert parse(".") == [f'{_NAMED}"zzz" leads to `zzz`, which does not exist; correct the path']


@pytest.mark.parametrize("identified", [{}, {"$id": "https://x/tree.json"}])
def test_the_name_of_the_file_itself_is_to_be_a_fragment(folder: Path, identified: dict[str, str]) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "a-value.schema.json#/x"}, **identified)
    [message] = parse(".")
    assert '"a-value.schema.json" is this file itself, whose name a registry does not know: write "#" in' in message


def test_the_id_of_the_file_itself_is_a_reference_to_it(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "a-value.schema.json#/$defs/x", "$id": "a-value.schema.json"})
    assert all("is this file itself" not in message for message in parse("."))


def test_an_id_that_no_file_has_is_named_with_the_nearest_id(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "http://x/adress"})
    put(folder, "types/address.schema.json", **{"$id": "http://x/address"})
    [message] = parse(".")
    assert message == (
        f'{_NAMED}"http://x/adress" is the `$id` of no file of this command; did you mean "http://x/address"?'
    )


def test_an_id_with_nothing_near_may_be_in_the_registry(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "http://x/y"})
    [message] = parse(".")
    assert message == (
        f'{_NAMED}"http://x/y" is the `$id` of no file of this command; correct it, or name its subject in '
        "contractlog.toml or with --reference"
    )


def test_a_file_that_exists_and_was_not_named_is_to_be_named(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "types/address.schema.json"})
    put(folder, "types/address.schema.json")
    [message] = parse("a-value.schema.json")
    assert message == (
        f'{_NAMED}the file of "types/address.schema.json", `types/address.schema.json`, is not one of this command: '
        "name it, or a folder above it"
    )


def test_a_file_that_nothing_is_near_to_still_needs_a_subject(folder: Path) -> None:
    put(folder, "a-value.schema.json", **{"$ref": "zzz"})
    put(folder, "types/address.schema.json")
    with pytest.raises(UsageError, match=r"`types/address.schema.json` has no subject"):
        collect_files(["."])


def _fields(**types: object) -> str:
    fields = [{"name": name, "type": used} for name, used in types.items()]
    return json.dumps({"type": "record", "name": "a.R", "fields": fields}, indent=1)


def test_every_type_that_no_file_defines_is_named_once_with_its_line_and_the_ways_out(folder: Path) -> None:
    Path("a-value.avsc").write_text(_fields(x="a.Mony", y=["null", "a.Mony"], z={"type": "array", "items": "b.Zip"}))
    Path("b-value.avsc").write_text(_fields(x="strin"))
    Path("Money.avsc").write_text('{"type": "fixed", "name": "a.Money", "size": 1}')
    assert parse(".") == [
        (
            'a-value.avsc:7:12: the type "a.Mony" is not defined: did you mean "a.Money"? Otherwise pass the file that '
            'defines it, or take it from the registry with "a.Mony" = "SUBJECT:VERSION" in [files.references] of '
            "contractlog.toml, or --reference a.Mony=SUBJECT:VERSION"
        ),
        (
            'a-value.avsc:20:14: the type "b.Zip" is not defined: pass the file that defines it, or take it from the '
            'registry with "b.Zip" = "SUBJECT:VERSION" in [files.references] of contractlog.toml, or '
            "--reference b.Zip=SUBJECT:VERSION"
        ),
        (
            'b-value.avsc:7:12: the type "a.strin" is not defined: did you mean "string"? Otherwise pass the file that '
            'defines it, or take it from the registry with "a.strin" = "SUBJECT:VERSION" in [files.references] of '
            "contractlog.toml, or --reference a.strin=SUBJECT:VERSION"
        ),
    ]


def test_every_ref_of_a_file_that_leads_nowhere_is_named(folder: Path) -> None:
    Path("a-value.schema.json").write_text('{"items": {"$ref": "zzz"},\n "not": {"$ref": "http://x/y"}}')
    assert [message.partition('"')[0] for message in parse(".")] == [
        "a-value.schema.json:1:20: ",
        "a-value.schema.json:2:18: ",
    ]


def test_a_primitive_is_proposed_before_a_type_and_never_the_type_itself(folder: Path) -> None:
    Path("a-value.avsc").write_text(_fields(x="lng").replace("a.R", "a.Zulu"))
    Path("b-value.avsc").write_text(_fields(x="a.Rs"))
    messages = parse(".")
    assert [message.partition("is not defined: ")[2].partition(" ")[0] for message in messages] == ["did", "pass"]
    assert 'did you mean "long"?' in messages[0]


def test_a_name_that_several_files_define_is_one_error(folder: Path) -> None:
    for name in ("a", "b"):
        put(folder, f"{name}-value.schema.json", **{"$id": "http://x/same"})
    for name in ("u", "v"):
        put(folder, f"{name}-value.schema.json", **{"$ref": "http://x/same"})
    [message] = parse(".")
    assert "`http://x/same` is defined in `a-value.schema.json` and `b-value.schema.json`" in message


def test_a_file_with_several_errors_counts_once(folder: Path) -> None:
    Path("a-value.avsc").write_text(_fields(x="b.Zip", y="b.Zap"))
    problems = UnreadableFiles()
    for file in order_files(collect_files(["."], unreadable=problems), problems.collect):
        with problems.collect(file.path):
            parse_draft(file, {}, strict=True)
    with pytest.raises(UsageError, match=r"^1 file cannot be read as a schema:$"):
        problems.raise_errors()
