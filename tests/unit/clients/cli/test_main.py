"""The frame around all verbs: help, exit codes, what is loaded."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import exit_code_of, main
from contractlog.clients.cli.output import count_noun, print_message
from contractlog.clients.cli.verbs import VERBS, Section
from contractlog.compatibility import errors
from contractlog.compatibility.text.terminal_text import escape_line

HEAVY = {"httpx2", "fastapi", "sqlalchemy", "pyspark", "pyarrow", "numpy", "pandas", "confluent_kafka", "rich"}
HEAVY_FOR_MAIN = HEAVY | {
    "asyncio",
    "orjson",
    "jsonschema_rs",
    "referencing",
    "importlib.metadata",
    "msgspec",
    "logging",
}
CLIENT_VERBS = (
    *("check", "register", "pull", "diff", "subjects", "versions", "show", "compat"),
    *("delete", "undelete", "contexts", "whoami"),
)


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after some code."""
    script = f"{code}\nimport sys\nprint('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_help_loads_nothing_heavy() -> None:
    bare = loaded_by("pass")
    for argument in ("--help", "nonsense"):
        loaded = loaded_by(f"from contractlog.clients.cli.main import main\nmain([{argument!r}])")
        assert "contractlog.clients.cli.main" in loaded
        assert not (loaded - bare) & HEAVY_FOR_MAIN


@pytest.mark.parametrize("verb", [*CLIENT_VERBS, "lint", "impact", "contract", "journal"])
def test_help_of_a_client_verb_loads_nothing_heavy(verb: str) -> None:
    loaded = loaded_by(f"from contractlog.clients.cli.main import main\nmain([{verb!r}, '--help'])")
    assert VERBS[verb].target.partition(":")[0] in loaded
    assert not loaded & (HEAVY | {"jsonschema_rs", "referencing", "asyncio"})


def test_an_interrupted_verb_ends_without_collecting_what_it_had_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python collects all objects when it ends, which took half a minute for the versions of a large registry."""

    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("contractlog.clients.cli.main._dispatch", interrupt)
    before = gc.get_freeze_count()
    try:
        assert main(["unused"]) == 130
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
    assert capsys.readouterr().err == "contractlog: interrupted\n"


def test_importing_the_clients_loads_no_client() -> None:
    loaded = loaded_by("import contractlog.clients")
    assert not {name for name in loaded if name.startswith("contractlog.clients.")}
    assert not loaded & HEAVY


@pytest.mark.parametrize("verb", CLIENT_VERBS)
def test_help_of_a_verb_tells_its_arguments_and_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == exit_codes.CLEAN
    told = capsys.readouterr().out
    assert "--registry URL" in told
    assert VERBS[verb].example in told


def test_help_lists_every_verb_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == exit_codes.CLEAN
    told = capsys.readouterr().out
    assert all(f"  {verb} " in told for verb in VERBS)
    assert all(f"{code} " in told for code in range(5))


def test_help_groups_the_verbs_in_sections(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    told = capsys.readouterr().out
    for section in Section:
        listed = told.partition(f"\n{section.value}:\n")[2].partition("\n\n")[0]
        names = [line.split()[0] for line in listed.splitlines()]
        assert names == [name for name, verb in VERBS.items() if verb.section is section]
        assert names
    assert all(len(line) <= 110 for line in told.splitlines())


def test_what_is_no_verb_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chek"]) == exit_codes.USAGE
    assert capsys.readouterr().err == "contractlog: unknown verb `chek`; did you mean `check`?\n"
    assert main(["zzz"]) == exit_codes.USAGE
    assert "`contractlog --help` lists the verbs" in capsys.readouterr().err
    assert main([]) == exit_codes.USAGE
    assert main(["check"]) == exit_codes.USAGE
    assert main(["check", "--nonsense", "x"]) == exit_codes.USAGE


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == exit_codes.CLEAN
    assert capsys.readouterr().out.startswith("contractlog ")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("m"), exit_codes.USAGE),
        (errors.Unreachable("m"), exit_codes.UNREACHABLE),
        (errors.InvalidSchema("m"), exit_codes.USAGE),
        (errors.SubjectNotFound(subject="s"), exit_codes.USAGE),
        (errors.PayloadTooLarge(limit=1), exit_codes.USAGE),
        (errors.IncompatibleSchema("m"), exit_codes.FINDINGS),
        (errors.RegistryError.of(409, "m"), exit_codes.USAGE),
        (errors.SubjectReadOnly(subject="s", context="."), exit_codes.REFUSED),
        (errors.RegistryError.of(42205, "m"), exit_codes.REFUSED),
        (errors.Unauthorized(), exit_codes.REFUSED),
        (errors.Forbidden(), exit_codes.REFUSED),
        (errors.KeyGenerationRefused("m"), exit_codes.REFUSED),
        (errors.ServerError(), exit_codes.UNREACHABLE),
        (errors.Overloaded(), exit_codes.UNREACHABLE),
        (errors.StoreTimeout(), exit_codes.UNREACHABLE),
        (errors.UnreadableResponse("m"), exit_codes.UNREACHABLE),
        (errors.RegistryError.of(429, "m"), exit_codes.UNREACHABLE),
        (errors.RegistryError.of(502, "m"), exit_codes.UNREACHABLE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_failure_has_its_exit_code(error: errors.ContractlogError, code: int) -> None:
    assert exit_code_of(error) == code


def test_output_that_nobody_reads_ends_quietly() -> None:
    command = f"{sys.executable} -m contractlog.clients.cli.main --help | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", f"sleep 0 ; {command}"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (exit_codes.CLEAN, 141)


def test_text_from_outside_cannot_steer_a_terminal() -> None:
    assert escape_line("plain ü ✓ text") == "plain ü ✓ text"
    assert escape_line("\x1b]0;x\x07") == r"\x1b]0;x\x07"
    assert escape_line("a\nb\u202eb") == r"a\nb\u202eb"
    assert escape_line("a\ud800") == r"a\ud800"


def test_numbers_come_with_their_noun() -> None:
    assert [count_noun(number, "file") for number in (0, 1, 2_000)] == ["0 files", "1 file", "2,000 files"]
    assert count_noun(2, "entry", "entries") == "2 entries"


def test_a_mistake_of_ours_is_told_apart_from_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("contractlog.clients.cli.check.command.check", broken)
    assert main(["check", "x"]) == exit_codes.INTERNAL_ERROR
    told = capsys.readouterr().err
    assert "RuntimeError: no such thing" in told
    assert "Traceback" not in told
    monkeypatch.setenv("CONTRACTLOG_TRACEBACK", "1")
    assert main(["check", "x"]) == exit_codes.INTERNAL_ERROR
    assert "Traceback" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_told_in_a_sentence() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "contractlog.clients.cli.main", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == exit_codes.USAGE
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", ["nosuchverb", "check nowhere", "--help >/dev/full"])
def test_a_failure_that_cannot_be_reported_keeps_its_exit_code(arguments: str) -> None:
    command = f"{sys.executable} -m contractlog.clients.cli.main {arguments} 2>/dev/full"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == exit_codes.USAGE


@pytest.mark.parametrize("code", [exit_codes.CLEAN, exit_codes.FINDINGS])
def test_a_message_that_cannot_be_written_is_neither_success_nor_a_finding(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verb(*_: object) -> int:
        print_message("2 files")
        return code

    monkeypatch.setattr("contractlog.clients.cli.check.command.check", verb)
    with open("/dev/full", "w", buffering=1) as full:  # noqa: PTH123 - a device
        monkeypatch.setattr("sys.stderr", full)
        assert main(["check", "x"]) == exit_codes.USAGE
        monkeypatch.undo()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_exit_code(closed: str) -> None:
    for arguments, code in (("--version", exit_codes.CLEAN), ("check nowhere", exit_codes.USAGE)):
        command = f"{sys.executable} -m contractlog.clients.cli.main {arguments} {closed}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        assert done.returncode == code


@pytest.mark.parametrize("arguments", [("check", "a\udcff.avsc"), ("subjects", "--registry", "\udcff"), ("\udcff",)])
def test_an_argument_that_is_not_utf8_is_a_wrong_argument(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == exit_codes.USAGE
    assert "xff" in capsys.readouterr().err.partition(" is not UTF-8: rename the file")[0]


def test_a_variable_that_is_not_utf8_is_a_wrong_argument_and_its_value_stays_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_PASSWORD", "s3cret\udcff")
    assert main(["subjects", "--registry", "http://127.0.0.1:1"]) == exit_codes.USAGE
    assert (
        capsys.readouterr().err
        == "contractlog: the variable CONTRACTLOG_REGISTRY_PASSWORD is not UTF-8: set it again\n"
    )


def test_a_path_that_no_registry_has_is_no_registry() -> None:
    assert exit_code_of(errors.NotFound(url="http://registry/wrong")) == exit_codes.UNREACHABLE
    assert exit_code_of(errors.SubjectNotFound(url="http://registry", subject="s")) == exit_codes.USAGE
