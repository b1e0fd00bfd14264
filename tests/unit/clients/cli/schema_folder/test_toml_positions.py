"""Positions of keys in a manifest."""

from __future__ import annotations

from contractlog.clients.cli.schema_folder.toml_positions import locate_key

TEXT = """[[subjects]]
name = "orders"
  [[subjects.default_rule_set.domainRules]]
  name = "first"

  [[subjects.default_rule_set.domainRules]]
  name = "second"

[[subjects]]
name = "bills"
level = "FULL"
"""


def test_a_list_below_an_entry_is_not_another_entry() -> None:
    assert locate_key(TEXT, ["subjects", 0]) == (1, 1)
    assert locate_key(TEXT, ["subjects", 1]) == (9, 1)
    assert locate_key(TEXT, ["subjects", 1, "level"]) == (11, 1)


def test_a_table_is_located_by_the_first_line_below_it() -> None:
    assert locate_key(TEXT, ["subjects", 0, "default_rule_set"]) == (3, 3)
    assert locate_key(TEXT, ["subjects", 1, "mode"]) == (9, 1)
