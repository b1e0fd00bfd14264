"""The key of samples is a secret of the environment."""

from __future__ import annotations

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.jobs.sample_key import SAMPLE_KEY_VARIABLE, find_sample_key, read_sample_key

from support.sampled_topics import sample_topics

KEY = "0123456789abcdef"


def sample(key: str) -> AuditState:
    return sample_topics({"orders": [(number, {"a": number}) for number in range(9)]}, secret=key)


def test_a_key_that_is_too_short_to_be_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAMPLE_KEY_VARIABLE, "short")
    with pytest.raises(UsageError, match="needs at least 16"):
        read_sample_key()


def test_lineage_uses_the_key_that_the_samples_were_made_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAMPLE_KEY_VARIABLE, KEY)
    assert find_sample_key(sample(KEY)) == KEY
    assert not find_sample_key(sample(""))


@pytest.mark.parametrize("other", ["", "another key that is long"])
def test_samples_of_another_key_say_what_to_set(monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.setenv(SAMPLE_KEY_VARIABLE, other)
    with pytest.raises(UsageError, match="set the variable as it was set for the audit"):
        find_sample_key(sample(KEY))
