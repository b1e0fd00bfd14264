"""``contractlog diff``: what it prints of two files, and its exit code."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from io import BytesIO, TextIOWrapper
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft

ID = {"name": "id", "type": "long"}
NOTE = {"name": "note", "type": "string"}
TOTAL = {"name": "total", "type": "double"}


def order(*fields: Any) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields)}, indent=2)


class Files:
    """Runs the verb on texts."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def put(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    def diff(self, *arguments: str) -> tuple[int, str]:
        code = main(["diff", *arguments])
        told = self.capsys.readouterr()
        return code, told.out + told.err


@pytest.fixture
def files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Files:
    return Files(tmp_path, capsys)


def test_a_breaking_change_is_told_with_kind_place_and_mend(files: Files) -> None:
    code, told = files.diff(files.put("a.avsc", order(ID)), later := files.put("b.avsc", order(ID, NOTE)))
    assert code == exit_codes.FINDINGS
    assert f"✗ {later}: forward (" in told
    assert "levels that admit the change: NONE, FORWARD, FORWARD_TRANSITIVE" in told
    assert f"{later}:9:5  at /fields/1  AVRO_FIELD_DEFAULT_MISSING" in told
    assert 'fix: make the field "note" a union with null, with the default null' in told
    assert '+      "type": ["null", "string"],' in told


def test_verdict_and_changes_are_coloured_by_their_risk(files: Files) -> None:
    red, green = "\x1b[31m", "\x1b[32m"
    earlier, later = files.put("a.avsc", order(ID)), files.put("b.avsc", order(ID, NOTE))
    _, told = files.diff(earlier, later, "--color", "always")
    assert f"{red}✗ {later}: forward (" in told
    assert f"{red}      ✗ field `note` added without a default" in told
    assert f"{green}✓ {later}: forward (" in files.diff(earlier, later, "--color", "always", "--level", "forward")[1]
    assert "\x1b" not in files.diff(earlier, later, "--color", "never")[1]


def test_the_level_decides_the_exit_code(files: Files) -> None:
    earlier, later = files.put("a.avsc", order(ID)), files.put("b.avsc", order(ID, NOTE))
    codes = {level: files.diff(earlier, later, "--level", level.lower())[0] for level in Level}
    assert {level for level, code in codes.items() if code == exit_codes.CLEAN} == {
        Level.NONE,
        Level.FORWARD,
        Level.FORWARD_TRANSITIVE,
    }
    assert set(codes.values()) == {exit_codes.CLEAN, exit_codes.FINDINGS}


def test_what_the_level_does_not_ask_for_is_told_after_the_rest(files: Files) -> None:
    earlier, later = files.put("a.avsc", order(ID, NOTE)), files.put("b.avsc", order(ID))
    code, told = files.diff(earlier, later)
    assert code == exit_codes.CLEAN
    assert f"✓ {later}: backward (" in told
    assert told.index("findings that only other levels report") < told.index("AVRO_FIELD_DEFAULT_MISSING")


def test_machines_get_the_mended_texts(files: Files) -> None:
    earlier, later = files.put("a.avsc", order(ID)), files.put("b.avsc", order(ID, NOTE))
    code, told = files.diff(earlier, later, "--format", "json")
    body = json.loads(told)
    assert code == exit_codes.FINDINGS
    assert (body["format"], body["kind"], body["compatible"]) == ("contractlog.diff/1", "forward", False)
    (finding,) = body["findings"]
    assert (finding["line"], finding["column"], finding["pointer"]) == (9, 5, "/fields/1")
    for mend in finding["mends"]:
        code, _ = files.diff(earlier, files.put("mended.avsc", mend["text"]))
        assert code == exit_codes.CLEAN
        assert mend["sentence"]


def hunk_of(told: str) -> str:
    """Return the first hunk of what was told, as somebody would copy it."""
    lines = told.split("\n")
    start = next(number for number, line in enumerate(lines) if line.strip().startswith("@@"))
    own = [line[8:] for line in lines[start:]]
    end = next((number for number, line in enumerate(own) if line[:1] not in ("@", "-", "+", " ", "\\")), len(own))
    return "\n".join(own[: next((n for n in range(1, end) if own[n].startswith(("or: ", "note: "))), end)]) + "\n"


COMPACT = json.dumps(json.loads(order(ID, NOTE)), separators=(",", ":"))
LONG = json.dumps(json.loads(order(*({"name": f"f{n}", "type": "int"} for n in range(60)), NOTE)))
EARLIER = {COMPACT: order(ID), LONG: order(*({"name": f"f{n}", "type": "int"} for n in range(60)))}


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(COMPACT, id="one line without an end"),
        pytest.param(COMPACT + "\n", id="one line"),
        pytest.param(COMPACT + "\r\n", id="one line of Windows"),
        pytest.param(LONG, id="one long line without an end"),
        pytest.param(order(ID, NOTE), id="lines"),
        pytest.param(order(ID, NOTE).replace("\n", "\r\n"), id="lines of Windows"),
        pytest.param(order(ID, NOTE).rstrip("\n"), id="lines, the last without an end"),
        pytest.param(order(ID, NOTE).replace("  ", "\t"), id="tabs"),
    ],
)
def test_the_hunk_of_a_fix_applies_with_patch(files: Files, later: str) -> None:
    earlier = files.put("a.avsc", EARLIER.get(later, order(ID)))
    path = Path(files.put("b.avsc", ""))
    path.write_bytes(later.encode())
    code, told = files.diff(earlier, str(path))
    assert code == exit_codes.FINDINGS
    patched = subprocess.run(
        ["patch", "--batch", "--binary", str(path)], input=hunk_of(told).encode(), capture_output=True, check=False
    )
    assert patched.returncode == 0, patched.stdout
    assert files.diff(earlier, str(path))[0] == exit_codes.CLEAN
    after = path.read_bytes()
    assert after.endswith(b"\n") == later.endswith("\n")
    assert after.count(b"\r\n") == (after.count(b"\n") if "\r" in later else 0)


def test_a_line_that_nobody_reads_is_laid_out(files: Files) -> None:
    many = [{"name": f"f{number}", "type": "int", "doc": "d" * 100} for number in range(99)]
    compact = [json.dumps(json.loads(order(*more)), separators=(",", ":")) for more in (many, [*many, NOTE])]
    _, told = files.diff(files.put("a.avsc", compact[0]), files.put("b.avsc", compact[1]))
    assert '+        "null",' in told
    assert "@@" not in told
    assert max(map(len, told.split("\n"))) < 1_000


def test_nothing_and_words_alone_are_no_change_for_readers(files: Files) -> None:
    text = order(ID)
    earlier = files.put("a.avsc", text)
    assert "none (" in files.diff(earlier, files.put("b.avsc", text.replace("\n", " ")), "--level", "FULL")[1]
    said = order(ID | {"doc": "unique"})
    assert "annotation (" in files.diff(earlier, files.put("b.avsc", said), "--level", "FULL")[1]


def test_what_both_lean_on_comes_from_files(files: Files) -> None:
    leg = files.put("leg.avsc", '{"type":"record","name":"Leg","fields":[]}')
    earlier = files.put("a.avsc", order(ID))
    later = files.put("b.avsc", order(ID, {"name": "legs", "type": {"type": "array", "items": "Leg"}, "default": []}))
    assert parse_schema(SchemaDraft(order(ID)))
    assert files.diff(earlier, later, "--reference", f"leg={leg}")[0] == exit_codes.CLEAN
    assert files.diff(earlier, later)[0] == exit_codes.CLEAN, "the folder has the type"
    Path(leg).rename(leg + ".txt")
    code, told = files.diff(earlier, later)
    assert code == exit_codes.USAGE
    assert "b.avsc:" in told
    assert files.diff(earlier, later, "--reference", "leg")[0] == exit_codes.USAGE


def test_a_policy_is_one_of_three(files: Files) -> None:
    earlier = files.put("a.avsc", order(ID))
    assert files.diff(earlier, earlier, "--policy", "EXACT")[0] == exit_codes.CLEAN
    assert files.diff(earlier, earlier, "--policy", "LOOSE")[0] == exit_codes.USAGE


def test_more_can_be_asked_for_than_reading(files: Files) -> None:
    earlier, later = files.put("a.avsc", order(ID | {"doc": "unique"})), files.put("b.avsc", order(ID))
    assert files.diff(earlier, later)[0] == exit_codes.CLEAN
    code, told = files.diff(earlier, later, "--also", "AVRO_DOC_LOST")
    assert code == exit_codes.FINDINGS
    assert 'fix: set "doc" back to "unique"' in told
    assert files.diff(earlier, later, "--also", "AVRO_NONSENSE")[0] == exit_codes.USAGE


def test_what_cannot_be_read_is_usage_with_the_place(files: Files) -> None:
    earlier = files.put("a.avsc", order(ID))
    code, told = files.diff(earlier, files.put("b.avsc", '{\n "type": }'))
    assert code == exit_codes.USAGE
    assert "b.avsc:2:10: the text is not JSON" in told
    assert files.diff(earlier, str(files.folder / "gone.avsc"))[0] == exit_codes.USAGE


def test_another_format_breaks(files: Files) -> None:
    code, told = files.diff(files.put("a.avsc", order(ID)), files.put("b.schema.json", "true"))
    assert code == exit_codes.FINDINGS
    assert "SCHEMA_TYPE_CHANGED" in told


def test_one_side_may_come_through_a_pipe(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    later = files.put("b.avsc", order(ID, NOTE))

    def piped(text: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
        return files.diff(*arguments)

    code, told = piped(order(ID), "-", later)
    assert code == exit_codes.FINDINGS
    assert "the new schema cannot read what - wrote" in told
    assert piped(order(ID, NOTE), later, "-")[0] == exit_codes.CLEAN
    assert piped(order(ID)[:-1], later, "-") == (
        exit_codes.USAGE,
        "contractlog: -:10:1: the text is not JSON: Expecting ',' delimiter\n",
    )
    assert piped("", "-", "-") == (
        exit_codes.USAGE,
        "contractlog: only one of the two can be `-`, standard input\n",
    )


def test_a_file_whose_name_tells_no_format_has_that_of_the_other(files: Files) -> None:
    plain, later = files.put("earlier.txt", order(ID)), files.put("b.avsc", order(ID))
    assert files.diff(plain, later)[0] == exit_codes.CLEAN
    code, told = files.diff(plain, plain)
    assert (code, told) == (
        exit_codes.USAGE,
        f"contractlog: `{plain}` has no known format: schema files end in .avsc or .schema.json\n",
    )


def test_a_folder_is_no_schema(files: Files) -> None:
    assert files.diff(str(files.folder), files.put("a.avsc", order())) == (
        exit_codes.USAGE,
        f"contractlog: `{files.folder}` is a folder: name two folders, or two schemas\n",
    )


def test_the_earlier_schema_may_be_older_than_the_rules_for_new_ones(files: Files) -> None:
    old = files.put("a.avsc", order({"name": "größe", "type": "int", "default": "none"}))
    new = files.put("b.avsc", order())
    assert files.diff(old, new)[0] == exit_codes.CLEAN
    code, told = files.diff(new, old)
    assert code == exit_codes.USAGE
    assert "größe" in told


@pytest.fixture
def repository(files: Files, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with a folder of schemas that differs from its only revision, as the working directory."""
    folder = files.folder / "schemas"
    folder.mkdir()
    money = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
    (folder / "Money.avsc").write_text(json.dumps(money))
    (folder / "orders-value.avsc").write_text(order({"name": "total", "type": "Money"}))
    (folder / "gone-value.avsc").write_text('"int"')
    (folder / "same-value.avsc").write_text('"int"')
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(files.folder), *command], check=True, capture_output=True)
    money["fields"].append({"name": "currency", "type": "string"})  # type: ignore[attr-defined]
    (folder / "Money.avsc").write_text(json.dumps(money))
    (folder / "gone-value.avsc").unlink()
    (folder / "new-value.avsc").write_text('"string"')
    monkeypatch.chdir(files.folder)
    return files.folder


def test_folders_are_compared_by_subject_with_their_shared_types(files: Files, repository: Path) -> None:
    code, told = files.diff("git:HEAD:schemas", "schemas", "--format", "json")
    body = json.loads(told)
    assert code == exit_codes.FINDINGS
    assert body["added"] == [{"subject": "new-value", "file": "schemas/new-value.avsc"}]
    assert body["removed"] == [{"subject": "gone-value", "file": "git:HEAD:schemas/gone-value.avsc"}]
    assert [(each["subject"], each["earlier"], each["compatible"]) for each in body["changed"]] == [
        ("Money", "git:HEAD:schemas/Money.avsc", False),
        ("orders-value", "git:HEAD:schemas/orders-value.avsc", False),
    ]
    _, told = files.diff("git:HEAD:schemas", "schemas")
    assert "· git:HEAD:schemas/gone-value.avsc: `gone-value` was removed" in told
    assert told.endswith("2 subjects changed, 2 incompatible, 1 added, 1 removed\n")
    _, told = files.diff("git:HEAD:schemas", "schemas", "--format", "markdown")
    assert "#### ✓ `schemas/new-value.avsc`\n\n`new-value` was `added`." in told.replace("was added", "was `added`")
    assert files.diff("schemas", "file:schemas")[0] == exit_codes.CLEAN


def test_a_file_has_the_types_of_its_folder_in_its_revision(files: Files, repository: Path) -> None:
    """The file itself is the same; its type is not."""
    path = "schemas/orders-value.avsc"
    code, told = files.diff(f"git:HEAD:{path}", path)
    assert code == exit_codes.FINDINGS
    assert f"✗ {path}: forward (" in told
    assert "level BACKWARD of `orders-value` rejects the change" in told
    assert files.diff(path, path)[0] == exit_codes.CLEAN
    _, told = files.diff(f"git:HEAD:{path}", path, "--format", "markdown")
    assert "level BACKWARD of `orders-value` rejects the change" in told.replace("`BACKWARD`", "BACKWARD")
    _, told = files.diff(f"git:HEAD:{path}", path, "--format", "json")
    assert json.loads(told)["subject"] == "orders-value"


def test_the_folder_of_the_manifest_has_types_in_other_folders_and_the_level(
    files: Files, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository / "schemas"
    (folder / "types").mkdir()
    (folder / "events" / "2").mkdir(parents=True)
    (folder / "Money.avsc").rename(folder / "types/Money.avsc")
    (folder / "events/2/orders.avsc").write_text(order({"name": "total", "type": "Money"}, NOTE))
    manifest = folder / "contractlog.toml"
    manifest.write_text('[[files]]\npath = "events/**"\nsubjects = ["{name}-value"]\n')
    earlier, later = "git:HEAD:schemas/orders-value.avsc", "schemas/events/2/orders.avsc"
    (folder / "orders-value.avsc").unlink()
    assert files.diff(earlier, later)[0] == exit_codes.FINDINGS
    manifest.write_text(manifest.read_text() + '[[subjects]]\nname = "orders-*"\nlevel = "FORWARD"\n')
    code, told = files.diff(earlier, later)
    assert code == exit_codes.CLEAN
    assert "level FORWARD of `orders-value` allows the change" in told
    assert files.diff(earlier, later, "--level", "BACKWARD")[0] == exit_codes.FINDINGS
    assert files.diff("git:HEAD:schemas", "schemas")[0] == exit_codes.FINDINGS, "Money has no level"
    manifest.write_text(manifest.read_text().replace('"orders-*"', '"*"'))
    assert files.diff("git:HEAD:schemas", "schemas")[0] == exit_codes.CLEAN
    monkeypatch.chdir(folder / "events")
    code, told = files.diff("git:HEAD:../orders-value.avsc", "2/orders.avsc")
    assert (code, told.splitlines()[0][:20]) == (exit_codes.CLEAN, "✓ 2/orders.avsc: for")


def test_a_registered_version_gives_the_subject_of_a_file_that_has_none(
    files: Files, repository: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contractlog.clients.cli.diff.side_reader.connect", lambda _: nullcontext(registry))
    registry.register("shop.orders", SchemaDraft(order(ID)))
    later = files.put("candidate.avsc", order(ID, TOTAL))
    _, told = files.diff("subject:shop.orders:1", later)
    assert "level BACKWARD of `shop.orders` rejects the change" in told


def test_an_unreadable_type_of_the_folder_is_named(files: Files, repository: Path) -> None:
    (repository / "schemas/Money.avsc").write_text("{")
    code, told = files.diff("git:HEAD:schemas/orders-value.avsc", "schemas/orders-value.avsc")
    assert code == exit_codes.USAGE
    assert "schemas/Money.avsc:1:2: the text is not JSON" in told


def test_files_without_the_same_subject_are_paired_by_path(files: Files, repository: Path) -> None:
    for folder in ("one", "two"):
        (repository / folder).mkdir()
        for name in ("x", "y", "gone-value" if folder == "one" else "new-value"):
            (repository / folder / f"{name}.avsc").write_text(order(TOTAL if folder == "one" else NOTE))
    manifest = '[[files]]\npath = "x.avsc"\nsubjects = ["orders-value"]\n'
    (repository / "one" / "contractlog.toml").write_text(manifest)
    (repository / "two" / "contractlog.toml").write_text(manifest.replace("orders", "sales"))
    code, told = files.diff("one", "two", "--format", "json")
    body = json.loads(told)
    assert code == exit_codes.FINDINGS
    assert [(each["subject"], each["later"]) for each in body["changed"]] == [
        ("sales-value", "two/x.avsc"),
        (None, "two/y.avsc"),
    ]
    assert body["renamed"] == [{"from": "orders-value", "to": "sales-value", "file": "two/x.avsc"}]
    assert body["added"] == [{"subject": "new-value", "file": "two/new-value.avsc"}]
    (repository / "one" / "contractlog.toml").unlink()
    _, told = files.diff("one", "two")
    assert "· two/x.avsc: has `sales-value`, and had no subject in one" in told


def test_types_that_the_manifest_takes_from_the_registry_are_fetched(
    files: Files, repository: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("diff.side_reader", "check.against_option", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    folder = repository / "one"
    folder.mkdir()
    (folder / "a-value.avsc").write_text(order({"name": "total", "type": "shop.Money"}))
    (folder / "contractlog.toml").write_text('[[files]]\npath = "*"\n[files.references]\n"shop.Money" = "money:1"\n')
    copytree(folder, repository / "two")
    assert files.diff("one", "two")[0] == exit_codes.USAGE
    money = {"type": "record", "name": "shop.Money", "fields": [TOTAL]}
    registry.register("money", SchemaDraft(json.dumps(money)))
    assert files.diff("one", "two") == (exit_codes.CLEAN, "0 subjects changed\n")
    (folder / "a-value.avsc").write_text(order({"name": "total", "type": "shop.Money"}, {**NOTE, "default": ""}))
    assert files.diff("one", "two")[0] == exit_codes.CLEAN
    assert main(["check", "one", "--against", "two"]) == exit_codes.CLEAN


def test_a_path_of_a_revision_begins_at_the_root_or_at_the_working_directory(
    files: Files, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.diff("git:HEAD:schemas/gone-value.avsc", "git:HEAD:schemas/same-value.avsc")[0] == exit_codes.CLEAN
    monkeypatch.chdir(repository / "schemas")
    code, told = files.diff("git:HEAD:schemas/Money.avsc", "Money.avsc")
    assert code == exit_codes.FINDINGS
    assert "what git:HEAD:schemas/Money.avsc wrote" in told
    assert files.diff("git:HEAD:./Money.avsc", "file:Money.avsc")[0] == exit_codes.FINDINGS
    assert files.diff("git:HEAD:", "..")[0] == exit_codes.FINDINGS


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("git:HEAD", "names no file or folder: write git:REVISION:PATH, such as git:main:schemas"),
        ("git:HEAD:none.avsc", "revision `HEAD` has no file or folder of schemas `none.avsc`"),
        ("git:none:schemas", "git has no revision `none`"),
        ("git:HEAD:../schemas", "is not in the git repository"),
        ("subject:orders-value", "has no version: write subject:SUBJECT:VERSION, with a number or `latest`"),
        ("file:none.avsc", "`none.avsc` cannot be read"),
    ],
)
def test_a_prefix_decides_what_a_side_is(files: Files, repository: Path, side: str, message: str) -> None:
    (repository / "subject:orders-value").touch()
    code, told = files.diff(side, "schemas/Money.avsc")
    assert code == exit_codes.USAGE
    assert message in told


def test_errors_name_the_file_of_the_revision(files: Files, repository: Path) -> None:
    (repository / "schemas" / "orders-value.avsc").write_text('{"type": }')
    subprocess.run(["git", "add", "-A"], check=True)
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-qm", "x"]
    subprocess.run(commit, check=True)
    for name in ("git:HEAD:schemas/orders-value.avsc", "git:HEAD:schemas"):
        code, told = files.diff(name, "git:HEAD~:schemas" + ("/orders-value.avsc" if name.endswith("c") else ""))
        assert code == exit_codes.USAGE
        assert "git:HEAD:schemas/orders-value.avsc:1:" in told


@pytest.mark.parametrize("level", ["BACKWARD", "FORWARD"])
def test_markdown_groups_findings_by_what_breaks(files: Files, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    files.put("a.avsc", order(ID, {"name": "lost", "type": "string"}))
    files.put("b.avsc", order(ID, NOTE))
    monkeypatch.chdir(files.folder)
    code, told = files.diff("a.avsc", "b.avsc", "--level", level, "--format", "markdown")
    assert code == exit_codes.FINDINGS
    if level == "BACKWARD":
        assert told == (Path(__file__).parents[1] / "report_formats" / "golden" / "diff.md").read_text("utf-8")
    reads, other = "the new schema cannot read what `a.avsc` wrote", "`a.avsc` cannot read what the new schema writes"
    first, second = (reads, other) if level == "BACKWARD" else (other, reads)
    assert told.index(f"##### Breaking: {first}\n") < told.index(f"##### Only for other levels: {second}\n")


def test_quiet_prints_nothing_about_a_change_that_the_level_allows(files: Files) -> None:
    earlier, later = files.put("a.avsc", order(ID, NOTE)), files.put("b.avsc", order(ID))
    assert files.diff(earlier, later, "--quiet") == (exit_codes.CLEAN, "")
    code, told = files.diff(later, earlier, "--quiet")
    assert code == exit_codes.FINDINGS
    assert "AVRO_FIELD_DEFAULT_MISSING" in told


def test_the_manifest_above_a_folder_gives_subjects_and_levels(
    files: Files, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = '[[files]]\npath = "schemas/events/*"\nsubjects = ["shipping-{name}"]\n'
    rules += '[[subjects]]\nname = "shipping-*"\nlevel = "FULL"\n'
    (repository / "contractlog.toml").write_text(rules)
    (repository / "schemas/events").mkdir(parents=True, exist_ok=True)
    event = repository / "schemas/events/sent.avsc"
    event.write_text(order(ID, TOTAL))
    for command in (["add", "."], ["commit", "--quiet", "--message", "events"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    event.write_text(order(ID))
    code, told = files.diff("git:HEAD:schemas", "schemas")
    assert code == exit_codes.FINDINGS
    assert "level FULL of `shipping-sent` rejects the change" in told


def test_an_environment_gives_the_context_of_registered_versions(
    files: Files, repository: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contractlog.clients.cli.diff.side_reader.connect", lambda _: nullcontext(registry))
    registry.register(":.prod:orders-value", SchemaDraft(order(ID)))
    (repository / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://r"\ncontext = ".prod"\n')
    later = files.put("orders-value.avsc", order(ID, TOTAL))
    code, told = files.diff("--environment", "prod", "subject:orders-value:1", later)
    assert code == exit_codes.FINDINGS
    assert "level BACKWARD of `orders-value` rejects the change" in told
