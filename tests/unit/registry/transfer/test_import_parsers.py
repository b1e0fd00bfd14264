"""Length limits of imported members."""

from __future__ import annotations

import pytest

from contractlog.registry.transfer.import_parsers import InvalidField, validate_context


def test_a_context_s_name_has_at_most_255_characters() -> None:
    longest = "." + 254 * "a"
    assert validate_context(longest) == longest
    with pytest.raises(InvalidField, match="a name of 256 characters, over the limit of 255"):
        validate_context(f"{longest}a")
