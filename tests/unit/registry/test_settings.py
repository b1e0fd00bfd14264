"""Settings come from arguments, then the environment, then the defaults."""

from __future__ import annotations

from dataclasses import fields

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.level import Level
from contractlog.registry.settings import PREFIX, Settings


def test_arguments_go_before_the_environment_and_that_before_the_defaults() -> None:
    environment = {
        "CONTRACTLOG_PORT": "1",
        "CONTRACTLOG_HOST": "h",
        "CONTRACTLOG_LEVEL": "full",
        "CONTRACTLOG_CACHE_BYTES": "",
    }
    found = Settings.from_environment(environment, port=2, host=None)
    assert found == Settings(port=2, host="h", level=Level.FULL)


@pytest.mark.parametrize("member", [one.name for one in fields(Settings) if one.type != "str"])
def test_what_cannot_be_read_is_named(member: str) -> None:
    with pytest.raises(UsageError, match=PREFIX + member.upper()):
        Settings.from_environment({PREFIX + member.upper(): "many"})
