"""Dependencies between files, and their order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.compatibility.errors import UsageError


def record(name: str, *types: str) -> str:
    fields = [{"name": f"f{number}", "type": type_name} for number, type_name in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def linked() -> list[tuple[str, str, dict[str, str]]]:
    """Return path, subject and dependencies of the files of the working directory, in their order."""
    groups = collect_files(["."])
    return [
        (str(file.path), file.subject, {name: str(target) for name, target in file.dependencies})
        for file in order_files(groups, UnreadableFiles(deferred=False).collect)
    ]


def test_an_avro_type_of_another_file_is_a_dependency_that_goes_first(folder: Path) -> None:
    put(folder, "a-value.avsc", record("a.Order", "Money", "long"))
    put(folder, "z/money.avsc", record("a.Money", "a.Currency"))
    put(folder, "z/Currency.avsc", '{"type": "enum", "name": "a.Currency", "symbols": ["EUR"]}')
    assert linked() == [
        ("z/Currency.avsc", "a.Currency", {}),
        ("z/money.avsc", "a.Money", {"a.Currency": "z/Currency.avsc"}),
        ("a-value.avsc", "a-value", {"a.Money": "z/money.avsc"}),
    ]


def test_a_simple_name_means_a_type_of_the_namespace_around_it_before_one_without_a_namespace(folder: Path) -> None:
    put(folder, "orders-value.avsc", record("a.Order", "Money"))
    put(folder, "Money.avsc", record("Money", "long"))
    assert linked()[-1] == ("orders-value.avsc", "orders-value", {"Money": "Money.avsc"})
    put(folder, "a.Money.avsc", record("a.Money", "long"))
    assert linked()[-1] == ("orders-value.avsc", "orders-value", {"a.Money": "a.Money.avsc"})


def test_a_simple_name_that_the_text_itself_defines_is_no_dependency(folder: Path) -> None:
    inner = {"type": "record", "name": "a.Line", "fields": [{"name": "of", "type": ["null", "Order"]}]}
    order = {"type": "record", "name": "Order", "fields": [{"name": "line", "type": inner}]}
    put(folder, "Order.avsc", json.dumps(order))
    put(folder, "b-value.avsc", record("Order", "long"))
    assert [dependencies for *_, dependencies in linked()] == [{}, {}]


def test_a_type_inside_the_record_of_another_file_is_referenced_by_the_record(folder: Path) -> None:
    inner = json.dumps({"type": "record", "name": "B", "fields": [{"name": "s", "type": json.loads(record("S"))}]})
    put(folder, "a-value.avsc", record("A", "S"))
    put(folder, "b-value.avsc", inner)
    assert linked()[-1] == ("a-value.avsc", "a-value", {"B": "b-value.avsc"})


def test_a_json_reference_is_a_path_or_an_id(folder: Path) -> None:
    put(folder, "a-value.schema.json", '{"items": {"$ref": "types/b.schema.json#/x"}, "not": {"$ref": "http://x/c"}}')
    put(folder, "types/b.schema.json", '{"$ref": "../d.schema.json"}')
    put(folder, "types/c.schema.json", '{"$id": "http://x/c"}')
    put(folder, "d.schema.json", "{}")
    assert linked() == [
        ("d.schema.json", "d", {}),
        ("types/b.schema.json", "b", {"../d.schema.json": "d.schema.json"}),
        ("types/c.schema.json", "c", {}),
        (
            "a-value.schema.json",
            "a-value",
            {"types/b.schema.json": "types/b.schema.json", "http://x/c": "types/c.schema.json"},
        ),
    ]


def test_a_path_out_of_the_given_folders_is_no_dependency(folder: Path) -> None:
    put(folder, "in/a-value.schema.json", '{"$ref": "../out.schema.json"}')
    put(folder, "out.schema.json", "{}")
    (file,) = collect_files(["in"])["a-value"]
    assert file.dependencies == ()


def test_the_last_version_uses_the_last_version_and_earlier_ones_that_of_their_number(folder: Path) -> None:
    for version in ("1", "2", "10"):
        put(folder, f"{version}/m-value.avsc", record("M", *["long"] * int(version)))
    for version in ("1", "3", "4"):
        put(folder, f"{version}/a-value.avsc", record("A", "M", *["long"] * int(version)))
    put(folder, "b-value.avsc", record("B", "M"))
    assert {path: targets["M"] for path, _, targets in linked() if targets} == {
        "1/a-value.avsc": "1/m-value.avsc",
        "3/a-value.avsc": "2/m-value.avsc",
        "4/a-value.avsc": "10/m-value.avsc",
        "b-value.avsc": "10/m-value.avsc",
    }


def test_files_beside_a_file_go_before_those_of_other_folders(folder: Path) -> None:
    for place in ("eu", "us"):
        put(folder, f"{place}/1/{place}-money-value.avsc", record("M", "long"))
        put(folder, f"{place}/2/{place}-orders-value.avsc", record(f"{place}.A", "M"))
    dependencies = {path: targets for path, _, targets in linked() if targets}
    assert dependencies == {
        f"{place}/2/{place}-orders-value.avsc": {"M": f"{place}/1/{place}-money-value.avsc"} for place in ("eu", "us")
    }


def test_a_definition_of_its_own_needs_no_other(folder: Path) -> None:
    put(folder, "a-value.avsc", record("S"))
    put(folder, "b-value.avsc", record("S"))
    assert [targets for *_, targets in linked()] == [{}, {}]


def test_a_name_that_two_subjects_define_is_refused(folder: Path) -> None:
    put(folder, "x/a-value.avsc", record("S"))
    put(folder, "y/b-value.avsc", record("S"))
    put(folder, "c-value.avsc", record("C", "S"))
    with pytest.raises(
        UsageError, match=r"c-value.avsc:1:\d+: `S` is defined in `x/a-value.avsc` and `y/b-value.avsc`"
    ):
        linked()


def test_a_cycle_is_shown_with_its_files_once(folder: Path) -> None:
    put(folder, "a-value.avsc", record("A", "B"))
    put(folder, "b-value.avsc", record("B", "C"))
    put(folder, "c-value.avsc", record("C", "A"))
    put(folder, "d-value.avsc", record("D"))
    unreadable = UnreadableFiles()
    assert [file.subject for file in order_files(collect_files(["."]), unreadable.collect)] == ["d-value"]
    with pytest.raises(UsageError, match=r"a-value.avsc -> b-value.avsc -> c-value.avsc -> a-value.avsc; put"):
        unreadable.raise_errors()


def test_a_cycle_names_the_line_of_each_reference(folder: Path) -> None:
    put(folder, "a.schema.json", '{"items":\n  {"$ref": "types/b.schema.json"}}')
    put(folder, "types/b.schema.json", '{"$id": "http://x/b",\n\n "not": {"$ref": "http://x/c"}}')
    put(folder, "c.schema.json", '{"$id": "http://x/c", "not": {"$ref": "a.schema.json"}}')
    put(folder, "a-value.avsc", record("A", "B"))
    put(folder, "b-value.avsc", record("B", "A"))
    unreadable = UnreadableFiles()
    list(order_files(collect_files(["."], unreadable=unreadable), unreadable.collect))
    details = [str(error).partition("into one file: ")[2] for _, error in unreadable.problems]
    assert sorted(detail for detail in details if detail) == [
        "a-value.avsc:1:67 uses `B`; b-value.avsc:1:67 uses `A`",
        (
            "a.schema.json:2:12 uses `types/b.schema.json`; types/b.schema.json:3:18 uses `http://x/c`; "
            "c.schema.json:1:39 uses `a.schema.json`"
        ),
    ]


def test_all_names_that_two_subjects_define_are_reported(folder: Path) -> None:
    for name in "ST":
        put(folder, f"x/{name}a-value.avsc", record(name))
        put(folder, f"y/{name}b-value.avsc", record(name))
    put(folder, "c-value.avsc", record("C", "S", "T"))
    unreadable = UnreadableFiles()
    collect_files(["."], unreadable=unreadable)
    assert [str(error).split("`")[1] for _, error in unreadable.problems] == ["S", "T"]


def test_a_long_chain_is_ordered(folder: Path) -> None:
    for number in range(1_500):
        put(folder, f"{number:04}-value.avsc", record(f"R{number}", *[f"R{number + 1}"] * (number < 1_499)))
    assert [path for path, *_ in linked()] == [f"{number:04}-value.avsc" for number in reversed(range(1_500))]


def test_the_convention_for_subjects(folder: Path) -> None:
    put(folder, "a.X.avsc", record("a.X"))
    put(folder, "Y.avsc", record("a.Y"))
    assert {subject for _, subject, _ in linked()} == {"a.X", "a.Y"}
    put(folder, "other.avsc", record("a.Z"))
    with pytest.raises(UsageError, match=r"other.avsc` has no subject: rename it"):
        linked()
