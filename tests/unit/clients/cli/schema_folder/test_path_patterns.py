"""Patterns of paths: the rules of ``.gitignore``, also for patterns that would take a backtracking matcher for ever."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.clients.cli.schema_folder.path_patterns import PathPattern

NAMES = st.text("ab.", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from(["a", "b", ".", "*", "**", "?", "/"]), min_size=1, max_size=7).map("".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@given(st.lists(st.tuples(PATTERNS, PATHS), min_size=20, max_size=20))
@settings(max_examples=15, deadline=None)
def test_a_file_matches_whenever_git_ignores_it(repository: Path, pairs: list[tuple[str, str]]) -> None:
    for pattern, path in pairs:
        if pattern.strip("/") == "" or "//" in pattern or any("**" in name != "**" for name in pattern.split("/")):
            continue  # git itself is inconsistent about `**` beside other characters
        (repository / ".git" / "info" / "exclude").write_text(f"{pattern}\n")
        command = ["git", "-C", str(repository), "check-ignore", "--no-index", "-q", path]
        ignored = subprocess.run(command, check=False).returncode == 0
        matcher = PathPattern(pattern)
        names = path.split("/")
        folders = ["/".join(names[:number]) + "/" for number in range(1, len(names))]
        assert any(map(matcher.matches, [*folders, path])) == ignored, (pattern, path)


@pytest.mark.parametrize(
    "pattern", ["*a" * 200 + "*x", "**/a*" * 100 + "/x", "a**" * 200 + "x", "/" + "**/" * 200 + "*a*a*a*a*a*x"]
)
def test_a_hostile_pattern_is_matched_at_once(pattern: str) -> None:
    matcher = PathPattern(pattern)
    assert not matcher.matches("/".join(["a" * 200] * 50))
    assert not matcher.matches("a" * 4_000)
