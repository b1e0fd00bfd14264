"""``report.html`` is an offline file that begins with the result and escapes everything."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.spark_validation.report.html_page import render

from support.reports import edge, flights, part, report, traced_edge, violation

_MEGABYTE = 1 << 20


class Page(HTMLParser):
    """What a page holds, by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in {"href", "src", "action"} and value:
                self.links.append(value)


def test_the_first_words_are_the_answer() -> None:
    text = render(flights())
    answer = re.search(r'<p class="answer">(.*?)</p>', text, re.DOTALL)
    assert answer is not None
    assert answer[1].startswith("2 of 5 topics conform to their schemas.")
    assert "<code>flights.delayed</code>: 400 of 60,000 (0.667 %) records" in answer[1]
    assert "all with schema id 7" in answer[1]


def test_problems_come_first() -> None:
    text = render(flights())
    order = [
        text.index(f'<h2 id="topic/{name}"') for name in ("flights.delayed", "flights.departed", "empty", "airports")
    ]
    assert order == sorted(order)


def test_every_link_leads_to_a_place_in_the_page_and_none_leads_out() -> None:
    page = Page(render(flights()))
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert page.tags.count("h1") == 1


def test_violations_have_stable_anchors_and_a_command_that_shows_one() -> None:
    text = render(flights())
    assert 'id="topic/flights.departed/TRUNCATED"' in text
    assert 'id="topic/flights.departed/TRUNCATED/0/42"' in text
    assert (
        "contractlog consume flights.departed --partition 0 --offset 42 --limit 1 --bootstrap-servers 127.0.0.1:9092"
        in Page(text).text
    )


def test_the_direction_of_lineage_is_unknown_for_mirrors_and_in_no_report_of_earlier_releases() -> None:
    edges = [edge("a", "b", "f"), edge("a", "c", "f")]
    edges[1]["direction"] = "unknown"
    assert Page(render(report(part("b"), edges=edges))).text.count("direction unknown") == 2
    del edges[1]["direction"]  # type: ignore[misc]
    assert "direction unknown" not in Page(render(report(part("b"), edges=edges))).text


def test_edges_traced_in_headers_are_not_said_to_be_found_in_values() -> None:
    text = Page(render(report(part("b"), edges=[traced_edge("a", "b", "enrich")]))).text
    assert "b was made from a. Edges of whole topics are traced in headers of records" in text
    assert "Inferred from the values" not in text
    assert "Lineage traced in headers" in text
    assert "Field lineage" not in text
    assert "enrich" in text
    text = Page(render(report(part("c"), edges=[traced_edge("a", "b", directed=False)]))).text
    assert "was made from" not in text
    both = Page(render(report(part("b"), edges=[edge("a", "b", "f"), traced_edge("a", "b")]))).text
    assert "Inferred from the values" in both
    assert "traced in headers of records" in both
    assert both.index("Field lineage") < both.index("Lineage traced in headers")


@pytest.mark.parametrize(
    "hostile", ['<script>alert("1")</script>', "\"onload='x'", "</style><img src=x>", "a&b{{ 7 * 7 }}"]
)
def test_names_from_outside_are_text_wherever_they_stand(hostile: str) -> None:
    harmless = Page(render(report(part("t", violations=[violation("TRUNCATED", 5)]), edges=[edge("a", "t", "f")])))
    line = violation("TRUNCATED", 5, path=hostile, field=hostile) | {"detail": hostile}
    page = Page(render(report(part(hostile, violations=[line]), edges=[edge(hostile, "t", hostile)])))  # type: ignore[list-item]
    assert page.tags == harmless.tags


@pytest.mark.parametrize(("topics", "every"), [(500, 1), (2000, 7), (40, 1)])
def test_a_report_stays_under_a_megabyte_however_many_topics_there_are(topics: int, every: int) -> None:
    lines = [violation("TRUNCATED", 3), violation("NOT_FRAMED", 3, path="", field="")]
    parts = [part(f"{'topic' * 20}.{index}", violations=lines if index % every == 0 else []) for index in range(topics)]
    text = render(report(*parts))
    assert len(text.encode()) < _MEGABYTE
    assert all(one["topic"] in text for one in parts)


def test_records_that_were_not_held_against_anything_are_accounted_for() -> None:
    without_schema = part("plain", records=5)
    (row,) = without_schema["partitions"]
    for counts in (without_schema, row):
        counts.update(conforming=0, violating=0, tombstones=2, unaudited=3, absent=12)  # type: ignore[call-arg]
    text = render(report({**without_schema, "verdict": "unknown", "conformance": None, "schemas": [], "series": []}))
    sum_ = "17 offsets = 0 conforming + 0 violating + 2 tombstones + 12 absent + 3 not audited."
    assert sum_ in text
    assert "<title>not audited: 3 of 17</title>" in text
    assert "not audited:" not in render(flights())


def test_a_report_of_nothing_says_so() -> None:
    assert "Nothing was audited" in render(report())
    assert "The topic contains no records." in render(report(part("empty", records=0)))


def test_the_page_is_made_from_the_json_alone() -> None:
    assert render(json.loads(json.dumps(flights()))) == render(flights())


def test_the_rule_the_threshold_and_the_exit_codes_share_are_printed() -> None:
    text = render(flights())
    assert "A part is failing when less than 99.9 % of its audited records conform, of all versions" in text
    assert "--fail-under 100 %: missed by 2 parts, so the exit code is 1." in Page(text).text
    met = report(part("a")) | {"thresholds": {"verdict": 0.5, "fail_under": 0.9}}
    text = render(met)  # type: ignore[arg-type]
    assert "less than 50 % of its audited records" in text
    assert "</code> 90 %: met, so the exit code is 0." in text


def test_each_verdict_has_its_reason_beside_it() -> None:
    text = render(flights())
    for why in ("below 99.9 %", "violations, within 99.9 %", "nothing audited", "no violation"):
        assert f'<td class="why">{why}</td>' in text
    newest = part("t", violations=[violation("TRUNCATED", 150)])
    newest.update(verdict="failing", missed=["newest version"])
    newest["schemas"][1].update(records=1_000, conforming=850, violating=150)
    text = render(report(newest))
    assert '<td class="why">newest version below 99.9 %</td>' in text
    assert (
        "Below the threshold of 99.9 %: of version 2 of <code>t-value</code> (id 7), the newest in use, "
        "850 of 1,000 (85 %) records conform; of all versions together 336,626 of 336,776 (99.96 %)."
    ) in text


def test_a_version_that_validators_cannot_use_is_in_use_and_decides_no_verdict() -> None:
    one = part("t", violations=[violation("TRUNCATED", 150)])
    one.update(verdict="failing", missed=["newest version"], unaudited=2)
    old, new = one["schemas"]
    old.update(records=1_000, conforming=850, violating=150)
    new.update(records=2, conforming=0, violating=0)
    text = render(report(one))
    assert (
        "of version 1 of <code>t-value</code> (id 3), the newest that validators can use, 850 of 1,000 (85 %)" in text
    )
    assert "Version 2 (id 7) is the newest of 2 versions in use" in text
    assert " + 2 not audited." in text
    passing = part("t")
    passing.update(unaudited=2)
    assert '<td class="why">no violation; 2 not audited</td>' in render(report(passing))


def test_the_newest_version_is_named_by_its_number_not_by_when_it_was_first_seen() -> None:
    one = part("t")
    old, new = one["schemas"]
    old["first_seen"], new["first_seen"] = "2013-09-01T00:00:00Z", "2013-02-01T00:00:00Z"
    assert "Version 2 (id 7) is the newest of 2 versions in use" in render(report(one))


def test_the_strategy_and_the_real_subject_of_an_id_are_named() -> None:
    one = part("t", violations=[violation("WRONG_SUBJECT", 5, schema_id=9, path="", field="")])
    one["schemas"].append({**one["schemas"][0], "schema_id": 9, "subject": "shop.Payment", "expected": False})
    one["strategy"] = {"name": "RecordNameStrategy", "chosen_by": "evidence", "reason": "found in the records: all"}
    text = render(report(one))
    assert "Subject name strategy: RecordNameStrategy, found in the records: all." in text
    assert "shop.Payment (not allowed)" in text
    assert "<td>Payment v1 (id 9)</td>" in text


def test_only_versions_of_the_topic_s_subjects_have_rows_of_their_own_in_the_timeline() -> None:
    one = part("t")
    assert "other ids" not in render(report(one))
    one["schemas"].append({**one["schemas"][0], "schema_id": 9, "subject": "shop.Payment", "expected": False})
    one["series"].append({"window": "2013-06-01", "schema_id": 9, "records": 5, "violating": 5})
    text = render(report(one))
    assert re.search("<text[^>]*>other ids</text>", text)
    assert not re.search(r"<text[^>]*>[^<]*\(id 9\)</text>", text)


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ({"lineage": True, "samples": True}, "Lineage was inferred from bounded samples"),
        (
            {"lineage": False, "samples": True},
            "Lineage was not inferred: contractlog lineage --state DIR infers it",
        ),
        ({"lineage": False, "samples": False}, "no samples of values were stored (--no-samples)"),
    ],
)
def test_whether_lineage_was_looked_for_is_said(scope: dict[str, bool], sentence: str) -> None:
    assert (
        sentence
        in Page(render(report(part("t")) | {"scope": {"producer_headers": [], "values_shown": False, **scope}})).text
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ({}, "nothing was sampled."),
        (
            {"topics": ["shop-*"], "excluded": ["shop-x"], "partitions": "0,2-4", "since": "2026-11-01T00:00:00Z"},
            "topics shop-*, except shop-x, of partitions 0,2-4, since 1 November 2026 00:00:00 UTC were selected.",
        ),
        ({"until": "2026-11-01T08:30:00Z"}, "Only records before 1 November 2026 08:30:00 UTC were selected."),
        (
            {"topics": [f"t{n}" for n in range(12)]},
            "of topics t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more were selected.",
        ),
        (
            {"new_offsets": 1200, "audited_before": 3_000_000},
            "1,200 offsets were read now; 3,000,000 were audited before, and are included.",
        ),
    ],
)
def test_the_selection_is_stated(scope: dict[str, Any], sentence: str) -> None:
    page = report(part("t"))
    page["scope"].update(scope)  # type: ignore[typeddict-item]
    header = Page(render(page)).text.partition("A part is failing")[0]
    assert f"{sentence}\n" in header


def test_names_between_backticks_stand_in_code_font_and_are_escaped() -> None:
    one = part("t")
    one["notes"] = ["No subject `<b>` has a version.", "an odd ` is `left` alone"]
    text = render(report(one))
    assert "No subject <code>&lt;b&gt;</code> has a version." in text
    assert "an odd ` is `left` alone" in text


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028"])
def test_unprintable_characters_of_names_are_escaped_everywhere(character: str) -> None:
    name = f"a{character}b"
    one = part(name, violations=[violation("TRUNCATED", 3, path=f"/{name}", field=name)])
    one["violations"][0]["detail"] = name
    one["notes"] = [name]
    for use in one["schemas"]:
        use["subject"] = name
    text = render(report(one, edges=[edge(name, "other", name)]))
    assert character not in text
    assert text.count(escape_line(name)) > 5


def test_producers_are_named_beside_what_they_broke() -> None:
    line = violation("TRUNCATED", 168)
    line["producers"] = [{"producer": "boarding-2", "kind": "named", "records": 168}]
    one = part("t", violations=[line])
    one["producers"] = [
        {
            "producer": "boarding-2",
            "kind": "named",
            "records": 200,
            "violating": 168,
            "first_seen": "2013-01-01T00:00:00Z",
            "last_seen": "2013-07-01T00:00:00Z",
        },
        {"producer": None, "kind": "none", "records": 5, "violating": 0, "first_seen": "", "last_seen": ""},
    ]
    text = render(report(one))
    assert "all with schema id 7, all from the producer <code>boarding-2</code>." in text
    assert text.count('<td class="name"><code>boarding-2</code></td>') == 2
    assert '<td class="name">no producer header</td>' in text
    assert "Producers, named by <code>producer</code> or <code>service</code>" in text
    line["producers"].append({"producer": None, "kind": "others", "records": 3})
    text = render(report(one))
    assert "<code>boarding-2</code> (168), other producers (3)" in text
    assert "all from the producer" not in text
    assert "Producers, named by" not in render(flights())


def test_examples_have_their_evidence_and_the_mask_is_explained() -> None:
    text = render(flights())
    assert "<dd><code>{flight: long, legs: [{carrier: ✗</code>, 27 bytes</dd>" in text
    assert "<dd><code>trace: text(16)</code></dd>" in text
    assert "Values are masked by their types and lengths; --show-values shows them." in Page(text).text
    line = violation("TRUNCATED", 5)
    line["examples"][0].update(decoded="{flight: 7, ✗", excerpt="0e [ff]", producer="boarding-2")
    shown = report(part("t", violations=[line]))
    shown["scope"]["values_shown"] = True
    text = render(shown)
    assert "<dt>Bytes</dt><dd><code>0e [ff]</code></dd>" in text
    assert "The values are shown because of --show-values." in Page(text).text
    assert "producer <code>boarding-2</code>" in text


def front(text: str) -> str:
    """Return the part of a page before the table of topics."""
    return text[text.index('<h2 id="todo">') : text.index('<h2 id="topics-heading">')]


def test_a_cause_is_stated_once_with_every_topic_that_it_concerns() -> None:
    unknown = [violation("UNKNOWN_SCHEMA_ID", 3, schema_id=400 + number, path="", field="") for number in range(14)]
    encoder = [violation("TRUNCATED", 5), violation("BAD_ENUM_INDEX", 2, field="origin")]
    parts = [part(f"t{number}", violations=[*unknown, *encoder]) for number in range(7)]
    text = front(render(report(*parts, part("fine"))))
    page = Page(text)
    assert page.text.count("The producer uses another registry, or its subject was deleted.") == 1
    assert page.text.count("Look at a record, find its producer by the time") == 1
    assert page.text.count("the registry does not have the schema id") == 1
    assert "294 records of 7 topics" in page.text
    assert "the bytes end early, perhaps inside a string (TRUNCATED, 35);" in page.text
    assert "schema ids 400, 401, 402 and 11 more" in page.text
    assert page.links[:4] == [f"#topic/t{number}/UNKNOWN_SCHEMA_ID" for number in range(4)]
    assert "3 more places" in page.text
    assert "10 more places" in page.text  # fourteen of truncated bytes and wrong indexes, four of them not folded


def test_causes_of_failing_topics_come_before_those_with_more_records() -> None:
    degraded = part("large", records=10_000_000, violations=[violation("NOT_FRAMED", 5_000, schema_id=None)])
    failing = part("small", records=100, violations=[violation("NOT_JSON", 50)])
    text = front(render(report(degraded, failing)))
    assert text.index("NOT_JSON") < text.index("NOT_FRAMED")
    line = violation("NOT_JSON", 50)
    line["producers"] = [{"producer": "gate", "kind": "named", "records": 50}]
    assert "field <code>legs[].carrier</code>; producer <code>gate</code></li>" in front(
        render(report(part("small", records=100, violations=[line])))
    )
