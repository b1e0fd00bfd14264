"""Files of quality rules are read strictly; the example of the documentation is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.quality_files import list_patterns, read_quality_file, read_quality_files

PAGE = Path(__file__).parents[4] / "docs" / "quality.md"


def write(folder: Path, text: str, name: str = "orders.quality.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    rules = read_quality_file(write(tmp_path, example))
    assert rules.topic == "orders"
    assert [(rule.metric, rule.field) for rule in rules.rules] == [
        ("rowCount", ""),
        ("conformance", ""),
        ("nullValues", "total"),
        ("minimum", "total"),
        ("maximum", "total"),
        ("maxLength", "customer.email"),
        ("invalidValues", "customer.email"),
        ("nullValues", "customer.email"),
        ("invalidValues", "channel"),
        ("latency", ""),
    ]
    assert rules.rules[0].line == example.split("\n").index("  - name: enough orders") + 1
    assert (rules.rules[0].window, rules.rules[0].owner) == ("hour", "order-team")
    assert list_patterns({"orders": rules}) == {("orders", "customer.email"): ("[^@]+@[^@]+",)}


def test_a_folder_has_a_file_for_each_topic(tmp_path: Path) -> None:
    write(tmp_path, "quality: []", "a.quality.yaml")
    write(tmp_path, "", "b.quality.yaml")
    write(tmp_path, "no rules", "README.md")
    assert sorted(read_quality_files([tmp_path])) == ["a", "b"]
    with pytest.raises(UsageError, match="has rules in another file"):
        read_quality_files([tmp_path, tmp_path / "a.quality.yaml"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1", r"orders\.quality\.yaml:1:6: "),
        ("a: &x 1\nb: *x", r"orders\.quality\.yaml:2:4: aliases are not supported"),
        ("[" * 1_000, "nested deeper than 64"),
        ("a: 1\na: 2", ":2:1: the name `a` occurs twice"),
        ("? [a]\n: 1", "is no text"),
        ("quality: !!python/object/apply:os.system [x]", ":1:10: the tag .* is not supported"),
        ("description: .inf", ":1:14: `.inf` is no text, finite number"),
        ("description: !!binary aGVsbG8=", ":1:14: .* is no text"),
        ("quality:\n  - metric: rowCount\n    mustBe: x", r"orders\.quality\.yaml:3: quality\[0\]\.mustBe"),
        ("properties:\n  - name: f\n    logicalTypeOptions: {pattern: '('}", r":3: the pattern is not valid"),
        ("quality: \x00", "YAML|special characters"),
        (
            f"quality: [{{metric: rowCount, mustBe: {':'.join(['59'] * 200_000)}}}]",
            "a number has at most 400 characters",
        ),
        ('properties: [{name: "f\\ud800", required: true}]', "half of a surrogate pair"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_quality_file(write(tmp_path, text))


def test_a_file_needs_its_name_and_a_bounded_size(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is named TOPIC\.quality\.yaml"):
        read_quality_file(write(tmp_path, "", "rules.yaml"))
    with pytest.raises(UsageError, match="larger than"):
        read_quality_file(write(tmp_path, "#" * 2_000_000))
    with pytest.raises(UsageError, match="cannot be read"):
        read_quality_file(tmp_path / "missing.quality.yaml")
