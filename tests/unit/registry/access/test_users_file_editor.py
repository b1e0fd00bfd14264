"""The verb ``users``: concurrent changes, failing changes, and messages."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import signal
from argparse import ArgumentParser
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access import users_file_editor
from contractlog.registry.access.cli import users
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import add_user, format_entry, read_users, remove_user

CHEAP = HashedPassword.of("secret", n=2, r=1, p=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "users.toml"
    made.write_text("# who may do what\n\n" + format_entry("a", None, ["*"], []))
    return made


def run(*words: str, path: Path) -> int:
    return users(ArgumentParser(), [*words, "--file", str(path)])


def typed(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


@pytest.mark.parametrize("pattern", ["", "orders*value", "**", ":.eu*", ":.eu", ":eu:orders-*", ":*:a*b"])
def test_a_user_that_the_file_could_not_hold_is_refused_and_the_file_stays(path: Path, pattern: str) -> None:
    before = path.read_text()
    for flag in ("--read", "--write"):
        with pytest.raises(UsageError):
            run("add", "x", "--no-password", flag, pattern, path=path)
    assert path.read_text() == before
    run("add", "x", "--no-password", "--read", "orders-*", path=path)
    assert sorted(read_users(path)[1].by_name) == ["a", "x"]


def test_changes_at_the_same_time_all_count(path: Path) -> None:
    """Eight threads change one file through descriptors of their own, as eight commands would."""
    for number in range(8):
        add_user(path, f"old-{number}", format_entry(f"old-{number}", None, ["*"], []), replace=False)

    def change(number: int) -> None:
        remove_user(path, f"old-{number}")
        for one in range(4):
            name = f"new-{number}-{one}"
            add_user(path, name, format_entry(name, None, [], ["w"]), replace=False)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(change, range(8)))
    assert sorted(read_users(path)[1].by_name) == ["a", *sorted(f"new-{n}-{one}" for n in range(8) for one in range(4))]
    assert sorted(one.name for one in path.parent.iterdir()) == ["users.toml", "users.toml-lock"]


@pytest.mark.parametrize(
    "change",
    [lambda p: add_user(p, "b", format_entry("b", None, [], []), replace=False), lambda p: remove_user(p, "a")],
)
def test_a_change_waits_for_the_lock_and_gives_up_in_words(
    path: Path, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users_file_editor, "_LOCK_SECONDS", 0.1)
    before = path.read_text()
    with path.with_name("users.toml-lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match=r"another command has held `.*users\.toml-lock` for 0\.1 seconds"):
            change(path)
        assert path.read_text() == before
        monkeypatch.setattr(users_file_editor, "_LOCK_SECONDS", 60.0)
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(change, path)
            assert path.read_text() == before  # nothing is written without the lock
            fcntl.flock(other, fcntl.LOCK_UN)
            waiting.result(timeout=60)
    assert path.read_text() != before


def test_a_file_reaches_the_disk_before_it_takes_the_old_ones_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_text()

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match="cannot be written: No space left on device"):
            remove_user(path, "a")
    assert path.read_text() == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["users.toml", "users.toml-lock"]
    remove_user(path, "a")


def test_files_of_a_killed_command_are_removed_by_the_next_change(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SIGKILL runs no handler: the new text, with its hashes, stays beside the file."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _handle: os.kill(os.getpid(), signal.SIGKILL))
        for name in ("b", "c"):
            child = os.fork()
            if not child:
                add_user(path, name, format_entry(name, None, ["*"], []), replace=False)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(read_users(path)[1].by_name) == ["a"]
    assert len(list(path.parent.iterdir())) == 3
    remove_user(path, "a")
    assert sorted(one.name for one in path.parent.iterdir()) == ["users.toml", "users.toml-lock"]


def test_only_a_regular_file_is_changed(path: Path) -> None:
    pipe, loop = path.with_name("pipe"), path.with_name("loop.toml")
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    other_kinds = dict.fromkeys((pipe, path.parent, Path("/dev/zero")), "it is not a regular file")
    for other, words in (other_kinds | {loop: "Too many levels of symbolic links"}).items():
        for change in (["add", "x", "--no-password"], ["remove", "x"]):
            with pytest.raises(UsageError, match=words):
                run(*change, path=other)
    assert pipe.is_fifo()


def test_a_link_in_place_of_the_lock_is_not_followed(path: Path) -> None:
    victim = path.with_name("victim")
    path.with_name("users.toml-lock").symlink_to(victim)
    with pytest.raises(UsageError, match="cannot be written"):
        remove_user(path, "a")
    assert not victim.exists()


def test_the_mode_and_the_owner_of_the_file_stay(path: Path) -> None:
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12, 34)
    before = path.stat()
    add_user(path, "b", format_entry("b", None, [], []), replace=False)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    new = path.with_name("new.toml")
    add_user(new, "b", format_entry("b", None, [], []), replace=False)
    assert new.stat().st_mode & 0o777 == 0o600


def test_a_link_goes_on_to_lead_to_the_file(path: Path) -> None:
    link = path.with_name("link.toml")
    link.symlink_to(path)
    add_user(link, "b", format_entry("b", None, [], []), replace=False)
    assert link.is_symlink()
    assert sorted(read_users(path)[1].by_name) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "[users]\nci = { write = ['*'] }\n",
        "[users]\nci.write = ['*']\n",
        "users.ci.write = ['*']\n",
        "[ users . ci ]\nwrite = ['*']\n",
        "[users.x]\nread = ['a']\n[users.'ci']\nwrite = ['*']\n[users.y]\n",
        "[users.x]\nread = ['a']\n[users]\nci.write = ['*']\n",
    ],
)
def test_a_user_in_any_form_of_table_is_replaced_and_removed(path: Path, text: str) -> None:
    path.write_text(text)
    others = {name: user for name, user in read_users(path)[1].by_name.items() if name != "ci"}
    add_user(path, "ci", format_entry("ci", CHEAP, [], []), replace=True)
    users = dict(read_users(path)[1].by_name)
    assert users.pop("ci").password == CHEAP
    assert users == others
    path.write_text(text)
    remove_user(path, "ci")
    assert read_users(path)[1].by_name == others


def test_a_user_that_cannot_be_added_to_a_file_is_not(path: Path) -> None:
    path.write_text("users = { x = {} }\n")  # an inline table, which nothing extends
    with pytest.raises(UsageError, match="stays as it was"):
        add_user(path, "ci", format_entry("ci", CHEAP, [], []), replace=False)
    assert path.read_text() == "users = { x = {} }\n"


def test_the_rest_of_the_file_is_unchanged(path: Path) -> None:
    text = "# one\r\n\r\n[users.\"b\"]  # two\r\nread = ['x']\r\n"
    path.write_bytes(text.encode())
    add_user(path, "c", format_entry("c", None, ["y"], []), replace=False)
    assert path.read_bytes().decode().startswith(text.rstrip())
    remove_user(path, "c")
    assert path.read_bytes().decode().rstrip() == text.rstrip()


def test_a_user_who_is_there_is_replaced_only_when_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = path.read_text()
    with pytest.raises(UsageError, match=r"already has a user `a`\. Pass --replace"):
        run("add", "a", "--write", "x", path=path)  # before anything is read from standard input
    with pytest.raises(UsageError, match="already has a user `a`"):
        add_user(path, "a", format_entry("a", None, [], []), replace=False)
    assert path.read_text() == before
    typed(monkeypatch, b"pw\n")
    assert run("add", "a", "--write", "x", "--replace", path=path) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"replaced user `a` in `{path}`: reads -, writes x\n")
    assert read_users(path)[1].by_name["a"].password.matches("pw")  # type: ignore[union-attr]


def test_each_change_is_reported(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("add", "b", "--no-password", "--read", "x", "--read", "y", path=path)
    run("remove", "b", path=path)
    assert capsys.readouterr() == (
        "",
        f"added user `b` to `{path}`: reads x y, writes -\nremoved user `b` from `{path}`\n",
    )
    for words, action in (
        (("add", "b", "--no-password"), "added"),
        (("add", "b", "--no-password", "--replace"), "replaced"),
        (("remove", "b"), "removed"),
    ):
        run(*words, "--format", "json", path=path)
        told = json.loads(capsys.readouterr().out)
        assert told == {"format": "contractlog.users/1", "file": str(path), "name": "b", "action": action}
    run("add", "b", "--generate", "--write", "x", path=path)
    out, err = capsys.readouterr()
    assert read_users(path)[1].by_name["b"].password.matches(out.removesuffix("\n"))  # type: ignore[union-attr]
    assert err == f"added user `b` to `{path}`: reads -, writes x\n"


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", "\r\nmore"])
@pytest.mark.parametrize("password", ["pw", "pw\r", "p\rw", "pw\0", "pw\u2028", "pw\x85", " pw ", "pw\r\r"])
def test_a_piped_password_is_every_byte_of_its_line(
    path: Path, password: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if end.startswith("\n") and password.endswith("\r"):
        end = "\r" + end  # else the carriage return belongs to the end of the line
    given: list[str] = []
    typed(monkeypatch, (password + end).encode())
    monkeypatch.setattr(HashedPassword, "of", lambda text: given.append(text) or CHEAP)
    run("add", "b", "--write", "x", path=path)
    assert given == [password]


@pytest.mark.parametrize(
    ("given", "why"), [(b"\xff\n", "UTF-8"), (b"x" * 2000, "at most 1024 bytes"), (b"", "empty"), (b"\n", "empty")]
)
def test_invalid_passwords_are_rejected(path: Path, given: bytes, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, given)
    before = path.read_text()
    with pytest.raises(UsageError, match=why):
        run("add", "b", path=path)
    assert path.read_text() == before
