"""Many subjects are promoted in few requests, with the same outcome as one request for each version."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.promotion import environment_versions
from contractlog.compatibility.level import Level

from support.environments import NOTE, Environments, draft, more
from support.limited_servers import remove_extensions

SUBJECTS = 12


@pytest.fixture(autouse=True)
def many(environments: Environments) -> list[str]:
    """Subjects of which the source has two versions; the target has some of them, and deleted ones."""
    environments.prod.set_level(Level.NONE)
    names = [f"s{number:02}-value" for number in range(SUBJECTS)]
    for number, name in enumerate(names):
        base = {"type": "record", "name": f"R{number}", "fields": []}
        Path(f"{name}.avsc").write_text(draft(base).text)
        for schema in (base, more(base, NOTE)):
            environments.dev.register(name, draft(schema))
            if number % 3 == 0:
                environments.prod.register(name, draft(schema))
        if number % 6 == 0:
            environments.prod.delete_version(name, 2)
    return names


def requests(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.endswith(" ms)")]


def test_the_outcome_is_that_of_single_requests(environments: Environments) -> None:
    code, out, err = environments.promote("--verbose")
    assert code == exit_codes.CLEAN
    own = dict(environments.apps)
    environments.apps.update({name: remove_extensions(app) for name, app in own.items()})
    single_code, single_out, single_err = environments.promote("--verbose")
    assert (single_code, single_out) == (code, out)
    assert not any("/schemas?" in line for line in requests(single_err))
    assert len(requests(single_err)) > 2 * len(requests(err))


def test_all_histories_are_equal_after_promotion(environments: Environments, many: list[str]) -> None:
    code, out, err = environments.promote("--apply")
    assert code == exit_codes.CLEAN, out + err
    for name in many:
        texts = [environments.dev.version(name, number).text for number in environments.dev.versions(name)]
        assert [environments.prod.version(name, number).text for number in environments.prod.versions(name)] == texts
    code, _, err = environments.promote("--exit-code", "--verbose")
    assert code == exit_codes.CLEAN
    modes = [line for line in requests(err) if "/mode/" in line]
    assert len(requests(err)) - len(modes) < SUBJECTS, "versions are not requested one by one"


def test_a_list_of_too_many_versions_is_given_up(environments: Environments, monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = environments.promote()
    monkeypatch.setattr(environment_versions, "_PAGE", 1)
    code, again, err = environments.promote("--verbose")
    assert (code, again) == (exit_codes.CLEAN, out)
    listed = [line for line in requests(err) if "/schemas?" in line]
    assert len(listed) <= 3 * (SUBJECTS + 5)
    assert any("/versions/1" in line for line in requests(err))
