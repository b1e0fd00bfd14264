"""Files to subjects and versions."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Timer

import pytest

from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.file_names import file_name, has_subject_in_name
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import Reference, SchemaType


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "schemas"


def put(folder: Path, *names: str, text: str = '"string"') -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(folder: Path) -> dict[str, list[tuple[str, int | None]]]:
    return {
        subject: [(file.path.relative_to(folder).as_posix(), file.version) for file in files]
        for subject, files in collect_files([str(folder)]).items()
    }


def test_the_name_of_a_file_tells_subject_and_format(folder: Path) -> None:
    put(folder, "a.b-value.avsc", "a.b-key.avsc", "w-value.schema.json", "README.md", "package.json")
    groups = collect_files([str(folder)])
    assert {subject: files[0].draft.type for subject, files in groups.items()} == {
        "a.b-value": SchemaType.AVRO,
        "a.b-key": SchemaType.AVRO,
        "w-value": SchemaType.JSON,
    }


def test_folders_of_numbers_are_versions_in_their_order(folder: Path) -> None:
    put(folder, "1/a-value.avsc", "2/a-value.avsc", "10/a-value.avsc", "2/b-key.avsc", "new/c-key.avsc", "a-value.avsc")
    assert found(folder) == {
        "a-value": [
            ("1/a-value.avsc", 1),
            ("2/a-value.avsc", 2),
            ("10/a-value.avsc", 10),
            ("a-value.avsc", None),
        ],
        "b-key": [("2/b-key.avsc", 2)],
        "c-key": [("new/c-key.avsc", None)],
    }


def test_hidden_folders_are_left_alone(folder: Path) -> None:
    put(folder, ".git/a-value.avsc", "b-value.avsc")
    assert list(found(folder)) == ["b-value"]


def test_a_subject_that_no_file_can_be_named_by_is_encoded(folder: Path) -> None:
    for subject in ("a/b-value", ":.ctx:a-key", "ü %-value", "..-value"):
        put(folder, file_name(subject, SchemaType.AVRO))
    assert set(found(folder)) == {"a/b-value", ":.ctx:a-key", "ü %-value", "..-value"}


def test_the_given_subject_goes_before_the_name_and_keeps_the_order(folder: Path) -> None:
    put(folder, "second.avsc", "first.json", "2/x.avsc", "1/y.avsc")
    names = ["2/x.avsc", "1/y.avsc", "second.avsc", "first.json"]
    groups = collect_files([str(folder / name) for name in names], subject="mine")
    assert [file.path.name for file in groups["mine"]] == ["y.avsc", "x.avsc", "second.avsc", "first.json"]


def test_references_go_to_every_file(folder: Path) -> None:
    put(folder, "a-value.avsc")
    leaned_on = Reference("n", "s", 1)
    (file,) = collect_files([str(folder)], references=[leaned_on])["a-value"]
    assert file.draft.references == (leaned_on,)


def test_a_file_named_twice_is_one_file(folder: Path) -> None:
    put(folder, "a-value.avsc")
    assert len(collect_files([str(folder), str(folder / "a-value.avsc")])["a-value"]) == 1


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Path) -> None:
    folder.mkdir()
    (folder / "a-key.avsc").write_bytes(b'\xef\xbb\xbf"string"')
    assert collect_files([str(folder)])["a-key"][0].draft.text == '"string"'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("orders.avsc", b"{}", "has no subject"),
        ("-value.avsc", b"{}", "has no subject"),
        ("a-value.proto", b"{}", "has no known format"),
        ("a-value.avsc", b'{\n  "a": "\xff"}', "a-value.avsc:2:9: the file is not UTF-8"),
        ("a-value.avsc", b" " * (16 * 1024 * 1024 + 1), "larger than 16 MiB"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_what_to_do(folder: Path, name: str, content: bytes, said: str) -> None:
    folder.mkdir()
    (folder / name).write_bytes(content)
    with pytest.raises(UsageError, match=said):
        collect_files([str(folder / name)])


def test_what_is_not_there_or_empty_is_said(folder: Path) -> None:
    for missing in (folder, folder / "a-value.avsc"):
        with pytest.raises(UsageError, match="does not exist"):
            collect_files([str(missing)])
    folder.mkdir()
    with pytest.raises(UsageError, match="contains no schema files"):
        collect_files([str(folder)])


def test_a_version_that_is_there_twice_is_refused(folder: Path) -> None:
    put(folder, "x/1/a-value.avsc", "y/1/a-value.avsc")
    with pytest.raises(UsageError, match="both version 1 of `a-value`"):
        collect_files([str(folder)])


def test_which_subjects_files_tell_by_their_name() -> None:
    assert has_subject_in_name("a-key")
    assert not has_subject_in_name("com.acme.Order")


def test_a_subject_that_is_too_long_for_a_file_name_is_cut_and_then_tells_no_subject(folder: Path) -> None:
    subjects = [f"{'ü' * 1_000}{number}-value" for number in range(2)]
    names = [file_name(subject, SchemaType.JSON) for subject in subjects]
    assert len(set(names)) == 2
    put(folder, *names)
    assert not any(map(has_subject_in_name, (*subjects, "-value", "-key", "%")))
    with pytest.raises(UsageError, match="has no subject"):
        collect_files([str(folder)])


def test_the_rest_is_read_where_what_is_unreadable_is_kept(folder: Path) -> None:
    put(folder, "a-value.avsc", "nameless.avsc", "x/1/b-value.avsc", "y/1/b-value.avsc")
    unreadable = UnreadableFiles()
    groups = collect_files([str(folder), str(folder / "missing")], unreadable=unreadable)
    assert list(groups) == ["a-value"]
    assert len(unreadable.problems) == 3
    with pytest.raises(UsageError, match=r"^3 files cannot be read as schemas:$") as caught:
        unreadable.raise_errors()
    first, second, third = caught.value.facts["details"]
    assert "does not exist" in first
    assert "has no subject" in second
    assert "are both version 1" in third


@pytest.mark.parametrize("named", ["", "orders-value.avsc"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, named: str) -> None:
    os.mkfifo(tmp_path / "orders-value.avsc")
    writer = os.open(tmp_path / "orders-value.avsc", os.O_RDWR)
    end = Timer(2, os.close, [writer])  # whoever waits for the pipe nevertheless is not left alone
    end.start()
    with pytest.raises(UsageError, match=r"orders-value.avsc` is a pipe, a socket or a device"):
        collect_files([str(tmp_path / named)])
    end.cancel()
    os.close(writer)


def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "orders-value.avsc").symlink_to(os.devnull)
    with pytest.raises(UsageError, match=r"orders-value.avsc` is a pipe, a socket or a device"):
        collect_files([str(tmp_path)])


def test_an_unresolved_merge_conflict_is_located(folder: Path) -> None:
    put(folder, "a-value.avsc", text='[\n<<<<<<< HEAD\n"int"\n=======\n"long"\n>>>>>>> main\n]')
    with pytest.raises(UsageError, match=r"a-value.avsc:2:1: a merge conflict is not resolved"):
        collect_files([str(folder)])


def test_subjects_that_differ_only_in_case_are_mentioned(folder: Path) -> None:
    put(folder, "x/Orders-value.avsc", "y/orders-value.avsc", "z/orders-key.avsc")
    unreadable = UnreadableFiles()
    collect_files([str(folder)], unreadable=unreadable)
    [warning] = unreadable.warnings
    first, second = folder / "x/Orders-value.avsc", folder / "y/orders-value.avsc"
    assert (
        f"differ only in case: `Orders-value` of {first}, `orders-value` of {second}; rename one file"
        in warning.message
    )
    assert (warning.rule, warning.path) == ("SUBJECTS_DIFFER_IN_CASE", second)


def test_subjects_that_differ_only_in_their_unicode_form_are_mentioned(folder: Path) -> None:
    put(folder, "x/caf\u00e9-value.avsc", "y/cafe\u0301-value.avsc")
    unreadable = UnreadableFiles()
    collect_files([str(folder)], unreadable=unreadable)
    [warning] = unreadable.warnings
    assert "differ only in the Unicode form of their letters (NFC, NFD): " in warning.message


def test_a_name_that_cannot_be_a_subject_is_refused(folder: Path) -> None:
    put(folder, "a\nb-value.avsc")
    with pytest.raises(UsageError, match=r"`a\nb-value` cannot be a subject"):
        collect_files([str(folder)])


def test_a_syntax_error_comes_before_a_missing_subject(tmp_path: Path) -> None:
    (tmp_path / "Money.avsc").write_text('{"type": "record", "name": "Money",\n "fields": [],}')
    with pytest.raises(UsageError, match=r"Money.avsc:2:14: the text is not JSON: a comma before a closing bracket"):
        collect_files([str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.avsc", " \n", "a.avsc: the file is empty"),
        (
            "a.schema.json",
            '// why\n{"type": "string"}',
            "a.schema.json:1:1: the text is not JSON: JSON has no comments",
        ),
    ],
)
def test_an_empty_file_and_a_comment_are_named(folder: Path, name: str, text: str, words: str) -> None:
    put(folder, name, text=text)
    with pytest.raises(UsageError, match=words):
        collect_files([str(folder)])
