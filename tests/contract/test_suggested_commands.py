"""Commands that messages suggest can be pasted into a shell, whatever names they contain."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import create_engine, text

from contractlog.clients.cli.main import main
from contractlog.clients.lock_file import read_lock_entries
from contractlog.compatibility.errors import ContractlogError, way_out
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.database import open_store, outdated_tables_error
from contractlog.registry.maintenance.id_counter_correction import counter_warnings
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.file_format import FileSource
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents, TransferredSchema, TransferredVersion
from contractlog.registry.transfer.report import TransferReport
from contractlog.spark_validation.report.sentences import consume_command

from support.reports import part, report, violation

HOSTILE: Final = ("--out", "a b'c", "$(id)", "x;y&z", '"', "*", "-h")
SCHEMA: Final = '{"type": "record", "name": "R", "fields": []}'

Message = Callable[[str, Path, pytest.CaptureFixture[str]], str]


def init_folder(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / name).mkdir()
    (folder / name / "orders.avsc").write_text(SCHEMA)
    assert main(["init", "--", name]) == 0
    return capsys.readouterr().err


def read_invalid_lock(name: str, folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    (folder / name).mkdir()
    (folder / name / "contractlog.lock").write_text("{")
    return raised(lambda: read_lock_entries(Path(name)))


def check_folder_as_file(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / name).mkdir()
    assert main(["compat", "orders-value", "--", name]) == 2
    return capsys.readouterr().err


def read_database_as_export(name: str, folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    (folder / name).write_bytes(b"SQLite format 3\x00\xff")
    return raised(lambda: FileSource(name).read_contents(TransferReport()))


def open_outdated_database(name: str, _folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    return str(outdated_tables_error(f"postgresql://me:secret@db/{name}", None, "5"))


def warn_of_counter(name: str, folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    url = f"sqlite:///{folder / 'r.db'}"
    store = open_store(Settings(database_url=url))
    contents = RegistryContents({f".{name}": 2})
    contents.schemas[f".{name}", 1] = TransferredSchema(f".{name}", 1, SchemaType.AVRO, '"int"')
    subject = Subject(f".{name}", "orders")
    contents.versions[subject, 1] = TransferredVersion(subject, 1, 1)
    import_contents(store, contents, TransferReport())
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE contexts SET next_schema_id = 1"))
    engine.dispose()
    (warning,) = counter_warnings(store)
    store.close()
    return warning


def forget_context(name: str, _folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    return way_out(f".{name}")


def show_violation(name: str, _folder: Path, _capsys: pytest.CaptureFixture[str]) -> str:
    return consume_command(report(), part(name), violation("TRUNCATED", 1)) or ""


def raised(call: Callable[[], object]) -> str:
    with pytest.raises(ContractlogError) as caught:
        call()
    return str(caught.value)


def suggested_commands(message: str) -> Iterator[list[str]]:
    """Yield the words of each command in a message."""
    for command in re.findall(r"contractlog [a-z].*?(?=`|; | first$|, with |$)", message, re.MULTILINE):
        yield shlex.split(command)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "message",
    [
        init_folder,
        read_invalid_lock,
        check_folder_as_file,
        read_database_as_export,
        open_outdated_database,
        warn_of_counter,
        forget_context,
        show_violation,
    ],
)
def test_a_suggested_command_has_names_as_single_words_and_not_as_options(
    message: Message, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [words for words in suggested_commands(message(name, tmp_path, capsys)) if len(words) > 2]
    assert commands
    for words in commands:
        named = [number for number, word in enumerate(words) if word.endswith(name)]
        assert named, words
        assert not name.startswith("-") or all(words[n] != name or words[n - 1] == "--" for n in named), words
