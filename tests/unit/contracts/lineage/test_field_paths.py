"""Two paths are of the same value if they are equal, or one contains the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.lineage.field_paths import FieldSet, is_same_value

paths = st.text("ab.[{", max_size=6)


@given(st.lists(paths, max_size=4), paths)
def test_a_set_overlaps_a_path_of_the_same_value_as_one_of_its_own(members: list[str], path: str) -> None:
    assert FieldSet(members).overlaps(path) == any(is_same_value(member, path) for member in members)
