"""The users file: stored passwords, valid contents, and reloading."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.permissions import Permission, explain_pattern_mistake
from contractlog.registry.access.users_file import UsersFile, parse_users
from contractlog.registry.access.users_file_editor import format_entry, read_users, remove_entry

CHEAP = HashedPassword.of("secret", n=2, r=1, p=1)
names = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters=":"), min_size=1, max_size=8)


@given(st.text(st.characters(exclude_categories=("Cs",))), st.text(st.characters(exclude_categories=("Cs",))))
@settings(max_examples=50)
def test_a_password_matches_itself_alone(password: str, other: str) -> None:
    kept = HashedPassword.parse(str(HashedPassword.of(password, n=2, r=1, p=1)))
    assert kept.matches(password)
    assert kept.matches(other) == (password == other)


AWKWARD = [
    "secret\0",
    "secret\0\0",
    "\0secret",
    "sec\0ret",
    "secret ",
    " secret",
    "secret\r",
    "SECRET",
    "s\u00e9cret",
    "se\u0301cret",
]
LONG = "x" * 100


@pytest.mark.parametrize("other", [*AWKWARD, "", LONG, LONG + "x", LONG + "\0", "x" * 64, "x" * 64 + "\0"])
@pytest.mark.parametrize("password", ["secret", LONG, "secret\0", "\0", "x" * 64])
def test_a_password_that_differs_in_one_byte_is_another(password: str, other: str) -> None:
    assert HashedPassword.of(password, n=2, r=1, p=1).matches(other) == (password == other)


def test_the_hash_of_a_long_password_is_not_a_password() -> None:
    """HMAC hashes a long key, so that scrypt alone takes the hash, as bytes, for the password itself."""
    kept = HashedPassword.of(LONG, n=2, r=1, p=1)
    assert kept.hash != hashlib.scrypt(hashlib.sha256(LONG.encode()).digest(), salt=kept.salt, n=2, r=1, p=1, dklen=32)
    assert kept.hash != hashlib.scrypt(LONG.encode(), salt=kept.salt, n=2, r=1, p=1, dklen=32)


def test_a_password_of_the_older_scheme_goes_on_to_work_without_a_nul_behind_it() -> None:
    """Made by an earlier release: `HashedPassword.of("secret", salt=b"salt", n=2, r=1, p=1)`."""
    text = "scrypt$2$1$1$c2FsdA==$Mg+j147YoCdA+qrUwvASXtMPpt7O8kuKFUTqdS+qQGA="
    older = HashedPassword.parse(text)
    assert str(older) == text
    assert older.matches("secret")
    assert not any(map(older.matches, AWKWARD))


def test_two_users_with_one_password_are_kept_apart() -> None:
    assert HashedPassword.of("x", n=2, r=1, p=1).hash != HashedPassword.of("x", n=2, r=1, p=1).hash


def test_new_passwords_cost_an_attacker_sixteen_megabytes_a_try() -> None:
    kept = HashedPassword.of("x")
    assert 128 * kept.n * kept.r >= 16 * 1024 * 1024
    assert kept.p >= 5


@pytest.mark.parametrize(
    "text",
    ["", "secret", "md5$1", "scrypt$2$1$1$AA$AA", "scrypt$x$1$1$AA==$AA==", "scrypt$3$1$1$AA==$" + "A" * 43 + "="],
)
def test_invalid_password_hashes_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"scrypt|cannot be read|out of range"):
        HashedPassword.parse(text)


patterns = names.filter(lambda text: explain_pattern_mistake(text) is None)


@given(st.dictionaries(names, st.lists(patterns, max_size=2), max_size=4), st.data())
def test_users_are_written_read_and_removed_one_by_one(found: dict[str, list[str]], data: st.DataObject) -> None:
    text = "# who may do what\n\n" + "\n".join(format_entry(name, CHEAP, read, ["w"]) for name, read in found.items())
    assert list(parse_users(text).by_name) == list(found)
    for name in found:
        assert parse_users(text).by_name[name].password == CHEAP
    if found:
        gone = data.draw(st.sampled_from(list(found)))
        assert list(parse_users(remove_entry(text, gone)).by_name) == [name for name in found if name != gone]
        assert remove_entry(text, gone).startswith("# who may do what\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("users = 1", "tables"),
        ("[groups.a]", "holds `groups`"),
        ("[users.a]\nwrites = ['x']", "`writes`"),
        ("[users.a]\nread = 'x'", "list"),
        ("[users.a]\nread = ['']", "list"),
        ("[users.a]\npassword = 'plain'", "scrypt"),
        ("[users.'a:b']", "colon"),
        ("[users.a", "table declaration"),
        ("[users.a]\nwrite = ['orders-*', '*-value']", "user `a`: write: `\\*-value` has a star before its end"),
        ("[users.a]\nread = [':.eu']", "names none: one is written `:.eu:\\*`"),
    ],
)
def test_invalid_users_files_are_rejected(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_users(text)


def test_permissions_on_keys_are_patterns_of_kek_names_and_apart_from_subjects() -> None:
    entry = format_entry("ci", CHEAP, ["*"], ["*"], read_keys=["pii-*", "one"], write_keys=["two"])
    keys = parse_users(entry).by_name["ci"].permissions.keys
    readable = [name for name in ("pii-", "pii", "one", "one2", "two", "*") if keys.permits(Permission.READ, name)]
    assert readable == ["pii-", "one", "two"]
    assert [name for name in ("pii-", "one", "two") if keys.permits(Permission.WRITE, name)] == ["two"]
    without = parse_users(format_entry("ci", CHEAP, ["*"], ["*"])).by_name["ci"].permissions.keys
    assert not any(without.permits_any(operation) for operation in Permission)


def test_break_glass_is_a_permission_of_its_own() -> None:
    entry = format_entry("ci", CHEAP, [], ["*"], break_glass=["orders-*"])
    for text, permitted in ((entry, True), (format_entry("ci", CHEAP, ["*"], ["*"]), False)):
        permissions = parse_users(text).by_name["ci"].permissions
        assert permissions.permits_break_glass(Subject.parse("orders-value")) is permitted
        assert not permissions.permits_break_glass(Subject.parse("other"))


@pytest.mark.parametrize("pattern", ["['a*b']", "'pii'", "[1]", "['']"])
def test_invalid_patterns_of_keks_are_rejected(pattern: str) -> None:
    for member in ("read_keys", "write_keys"):
        with pytest.raises(ValueError, match=f"user `ci`: {member}"):
            parse_users(f"[users.ci]\n{member} = {pattern}\n")


def test_a_file_is_read_again_when_it_changes_and_stays_when_it_breaks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, now = tmp_path / "users.toml", [0.0]
    path.write_text(format_entry("a", CHEAP, ["*"], []))
    file = UsersFile(str(path), lambda: now[0])

    def change(text: str) -> list[str]:
        new = tmp_path / "new"
        new.write_text(text)
        new.replace(path)
        assert list(file.users.by_name) == before  # it is looked at once in a second
        now[0] += 1
        return list(file.users.by_name)

    before = ["a"]
    assert change(format_entry("b", CHEAP, [], [])) == ["b"]
    before = ["b"]
    assert change("[users") == ["b"]
    assert "cannot be used" in caplog.text
    assert change("users = " + "[" * 100_000) == ["b"]
    assert "it is nested too deeply" in caplog.text
    path.unlink()
    os.mkfifo(path)  # opening it to read waits for a writer
    now[0] += 1
    assert list(file.users.by_name) == ["b"]
    assert "it is not a regular file" in caplog.text
    assert caplog.records[-1].levelno == logging.ERROR
    path.unlink()
    now[0] += 1
    assert list(file.users.by_name) == ["b"]
    path.write_text(format_entry("c", None, [], []))
    now[0] += 1
    assert list(file.users.by_name) == ["c"]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(UsageError, match="it is larger than 16,777,216 bytes"):
        UsersFile(str(path))


def test_a_file_that_is_not_there_or_broken_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        UsersFile(str(tmp_path / "none"))
    (tmp_path / "broken").write_text("[users")
    with pytest.raises(UsageError, match="cannot be used"):
        UsersFile(str(tmp_path / "broken"))
    for no_file in (tmp_path / "pipe", Path("/dev/zero")):
        if no_file.name == "pipe":
            os.mkfifo(no_file)
        with pytest.raises(UsageError, match="it is not a regular file"):
            UsersFile(str(no_file))
        with pytest.raises(UsageError, match="it is not a regular file"):
            read_users(no_file)
