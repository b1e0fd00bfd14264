"""Length limits of imported members."""

from __future__ import annotations

import pytest

from contractlog.registry.transfer.import_parsers import InvalidField, parse_scope, parse_subject, validate_context


def test_a_context_s_name_has_at_most_255_characters() -> None:
    longest = "." + 254 * "a"
    assert validate_context(longest) == longest
    with pytest.raises(InvalidField, match="a name of 256 characters, over the limit of 255"):
        validate_context(f"{longest}a")


def test_a_subject_or_scope_that_no_url_can_name_is_rejected_without_repeating_it() -> None:
    for parse in (parse_subject, parse_scope):
        with pytest.raises(InvalidField, match="takes more than 60,000 bytes in a URL") as caught:
            parse(":.c:" + 200_000 * "s")
        assert len(str(caught.value)) < 200
