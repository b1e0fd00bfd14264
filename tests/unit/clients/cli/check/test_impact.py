"""Impact of new schemas: the clients that fetch earlier versions, and the records that audits counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.check.impact import Consumer, Impact
from contractlog.clients.cli.check.impact_text import describe_impact
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.http.release_profiles import Profile
from contractlog.registry.testing import Registries

from support.audits import create_audit, use
from support.ci_formats import read_workflow_command
from support.limited_servers import imitate_release
from support.operations import Run, order, runner

SUBJECT = "orders-value"
TOTAL = '{"name":"total","type":"double","default":0.0}'
REQUIRED = '{"name":"total","type":"double"}'
NOTE = '{"name":"note","type":["null","string"],"default":null}'
MANIFEST = """
[[waivers]]
subject = "orders-value"
check = "{check}"
{path}
reason = "retention deletes them on Friday"
by = "ana@example.com"
until = {until}
"""


@pytest.fixture
def app(registries: Registries) -> Iterator[ASGIApp]:
    app = registries.make({})
    yield app
    app.state.close()


@pytest.fixture
def registry(app: ASGIApp) -> Registry:
    """Two versions: the field total was added with a default, so version 2 reads the records of version 1."""
    registry = Registry(app=app)
    registry.register(SUBJECT, order())
    registry.register(SUBJECT, order(TOTAL))
    return registry


@pytest.fixture
def answering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[ASGIApp], Run]:
    """Return a function that runs verbs in an empty folder against an app."""
    monkeypatch.chdir(tmp_path)
    return lambda app: runner(app, monkeypatch, capsys)


@pytest.fixture
def run(app: ASGIApp, answering: Callable[[ASGIApp], Run]) -> Run:
    return answering(app)


def write(*fields: str, manifest: str = "") -> None:
    Path("orders-value.avsc").write_text(json.dumps(json.loads(order(*fields).text), indent=1))
    Path("contractlog.toml").write_text(manifest)


def publish(registry: Registry, *uses: dict[str, Any], topic: str = "orders", part: str = "value") -> None:
    registry.publish_conformance(topic, create_audit(topic, *uses, part=part))


def fetch(app: ASGIApp, schema_id: int, *clients: str) -> None:
    for client in clients:
        with Registry(app=app, headers={"X-Contractlog-Client": client}) as consumer:
            consumer.text_of_id(schema_id)


def checked(run: Run, code: int) -> dict[str, Any]:
    ran = run("check", ".", "--format", "json")
    assert ran.code == code
    body: dict[str, Any] = ran.body["files"][0]
    return body


def test_records_that_the_level_does_not_compare_with_are_a_finding(registry: Registry, run: Run) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1), use(2, 1_800, SUBJECT, 2))
    write(REQUIRED)
    ran = run("check", ".")
    assert ran.code == exit_codes.FINDINGS
    assert (
        "compatible with version 2 of `orders-value` at level BACKWARD, but cannot read records that the previous "
        "version can"
    ) in ran.out
    assert "at /fields/1  DATA_UNREADABLE" in ran.out
    assert (
        "the new schema cannot read what version 1 wrote: 1,200 of 3,000 (40 %) records of topic `orders`, as of "
        "the audit of "
    ) in ran.out
    assert 'the reader\'s field "total" has no default' in ran.out
    assert "fix: " in ran.out
    assert "impact: " not in ran.out  # the finding has it all, and nobody is known to fetch
    assert "fix or waive the findings above" in ran.err

    body = checked(run, exit_codes.FINDINGS)
    assert body["outcome"] == "data_unreadable"
    assert [(each["check"], each["compared_with"], each["line"]) for each in body["findings"]] == [
        ("DATA_UNREADABLE", "version 1", 9),
        ("AVRO_DEFAULT_CHANGED", "version 2", 9),
    ]
    (topic,) = body["impact"]["topics"]
    assert [(each["version"], each["records"], each["readable"]) for each in topic["versions"]] == [
        (2, 1_800, True), (1, 1_200, False)]  # fmt: skip
    assert topic["audited_at"].endswith("Z")
    assert (run("check", ".", "--format", "json").body["compatible"]) is True
    assert (run("check", ".", "--format", "json").body["reads_data"]) is False


def test_a_schema_that_reads_all_records_says_so(registry: Registry, run: Run) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1), use(2, 1_800, SUBJECT, 2))
    write(TOTAL, NOTE)
    ran = run("check", ".")
    assert ran.code == exit_codes.CLEAN
    assert "    impact: it can read 3,000 of 3,000 (100 %) records of topic `orders`, as of the audit of " in ran.out
    assert run("check", ".", "--quiet").out == ""


def test_records_that_the_previous_version_cannot_read_either_fail_no_check(registry: Registry, run: Run) -> None:
    registry.set_level(Level.NONE, SUBJECT)
    registry.register(SUBJECT, order(REQUIRED))
    registry.set_level(Level.BACKWARD, SUBJECT)
    publish(registry, use(1, 1_200, SUBJECT, 1), use(2, 1_800, SUBJECT, 2))
    write(REQUIRED, NOTE)
    ran = run("check", ".")
    assert ran.code == exit_codes.CLEAN
    assert "DATA_UNREADABLE" not in ran.out
    assert "impact: it cannot read 1,200 of 3,000 (40 %) records of topic `orders`" in ran.out
    assert ran.out.rstrip().endswith(": 1,200 of version 1")


@pytest.mark.parametrize("level", [Level.FORWARD, Level.NONE])
def test_a_level_that_does_not_promise_it_makes_unreadable_records_a_warning(
    registry: Registry, run: Run, level: Level
) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1))
    registry.set_level(level, SUBJECT)
    write(REQUIRED)
    ran = run("check", ".", "--format", "github")
    assert ran.code == exit_codes.CLEAN
    commands = filter(None, map(read_workflow_command, ran.out.splitlines()))
    (severity,) = [each.name for each in commands if each.properties["title"].startswith("DATA_UNREADABLE: ")]
    assert severity == "warning"
    assert checked(run, exit_codes.CLEAN)["outcome"] == "compatible"


def test_a_version_that_the_level_rejects_already_is_not_reported_twice(registry: Registry, run: Run) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1), use(2, 1_800, SUBJECT, 2))
    write('{"name":"total","type":"string","default":""}')
    body = checked(run, exit_codes.FINDINGS)
    assert body["outcome"] == "incompatible"
    assert [each["check"] for each in body["findings"]] == ["AVRO_TYPE_CHANGED", "AVRO_DEFAULT_CHANGED"]
    assert "it cannot read 1,800 of 3,000 (60 %) records of topic `orders`" in run("check", ".").out


def test_records_of_another_subject_count_unless_the_topic_s_strategy_excludes_them(
    registry: Registry, run: Run
) -> None:
    registry.register("com.acme.Order", order(NOTE))
    stray = registry.register("stray", SchemaDraft('"string"')).schema_id
    publish(
        registry, use(3, 700, "com.acme.Order", 1), use(stray, 5, "stray", 1, expected=False), use(9, 1, None, None)
    )
    write(REQUIRED)
    body = checked(run, exit_codes.FINDINGS)
    assert [each["compared_with"] for each in body["findings"]] == ["version 1 of `com.acme.Order`", "version 2"]
    readable = {each["schema_id"]: each["readable"] for each in body["impact"]["topics"][0]["versions"]}
    assert readable == {3: False, int(stray): False, 9: None}


def test_a_later_audit_changes_the_numbers_and_not_the_identity_of_a_finding(registry: Registry, run: Run) -> None:
    write(REQUIRED)
    reports = []
    for records in (1_200, 7):
        publish(registry, use(1, records, SUBJECT, 1))
        reports.append(run("check", ".", "--format", "gitlab").body[0])
    assert [f"{records:,} of {records:,} (100 %) records" in report["description"] for records, report in
            zip((1_200, 7), reports, strict=True)] == [True, True]  # fmt: skip
    assert len({report["fingerprint"] for report in reports}) == 1


def test_keys_are_named_and_compared_as_keys(registry: Registry, run: Run) -> None:
    registry.register("orders-key", order())
    registry.register("orders-key", order(TOTAL))
    publish(registry, use(1, 10, "orders-key", 1), part="key")
    Path("orders-key.avsc").write_text(order(REQUIRED).text)
    ran = run("check", "orders-key.avsc")
    assert ran.code == exit_codes.FINDINGS
    assert "10 of 10 (100 %) records of topic `orders` (keys), as of" in ran.out


def test_a_first_version_only_warns_of_records_of_others(app: ASGIApp, run: Run) -> None:
    registry = Registry(app=app)
    registry.register("com.acme.Order", order())
    publish(registry, use(1, 10, "com.acme.Order", 1))
    write(REQUIRED)
    body = checked(run, exit_codes.CLEAN)
    assert (body["outcome"], [each["check"] for each in body["findings"]]) == ("compatible", ["DATA_UNREADABLE"])


def test_a_referenced_type_is_compared_too(app: ASGIApp, run: Run) -> None:
    registry = Registry(app=app)
    registry.register("Money", SchemaDraft('{"type":"record","name":"Money","fields":[]}'))
    uses_money = SchemaDraft(
        '{"type":"record","name":"Order","fields":[{"name":"m","type":"Money"}]}',
        references=(Reference("Money", "Money", 1),),
    )
    registry.register(SUBJECT, uses_money)
    registry.set_level(Level.NONE, SUBJECT)
    registry.register(SUBJECT, order())
    publish(registry, use(2, 10, SUBJECT, 1))
    write(NOTE)
    assert checked(run, exit_codes.CLEAN)["impact"]["topics"][0]["versions"][0]["readable"] is False


@pytest.mark.parametrize(
    ("waiver", "outcome"),
    [
        ({"check": "DATA_UNREADABLE"}, "waived"),
        ({"check": "DATA_UNREADABLE", "path": 'path = "/fields/1"'}, "waived"),
        ({"check": "AVRO_FIELD_DEFAULT_MISSING"}, "waived"),
        ({"check": "DATA_UNREADABLE", "path": 'path = "/fields/7"'}, "data_unreadable"),
        ({"check": "DATA_UNREADABLE", "until": "2020-01-01"}, "data_unreadable"),
        ({"check": "AVRO_TYPE_CHANGED"}, "data_unreadable"),
    ],
)
def test_a_waiver_for_the_records_or_for_their_causes_silences_the_finding(
    registry: Registry, run: Run, waiver: dict[str, str], outcome: str
) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1))
    needs_level = waiver["check"] != "DATA_UNREADABLE"
    settings = '[[subjects]]\nname = "orders-value"\nlevel = "BACKWARD"\n' if needs_level else ""
    registry.set_level(Level.BACKWARD, SUBJECT)
    write(REQUIRED, manifest=settings + MANIFEST.format(**{"path": "", "until": "2999-01-01"} | waiver))
    body = checked(run, exit_codes.CLEAN if outcome == "waived" else exit_codes.FINDINGS)
    assert body["outcome"] == outcome
    assert body["findings"][0]["check"] == "DATA_UNREADABLE"
    assert any("2020-01-01" in note for note in body["notes"]) == ("until" in waiver)


def test_a_waived_finding_from_data_needs_no_change_of_the_level(registry: Registry, run: Run) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1))
    manifest = MANIFEST.format(check="DATA_UNREADABLE", path="", until="2999-01-01")
    write(REQUIRED, manifest=manifest)
    ran = run("check", ".")
    assert "but cannot read records, which is waived by the manifest" in ran.out
    assert "--use-waivers" not in ran.err
    ran = run("plan", ".")
    assert "impact: it cannot read 1,200 of 1,200 (100 %) records of topic `orders`" in ran.out
    assert "    DATA_UNREADABLE is waived by ana@example.com" in ran.out
    assert [each["action"] for each in run("plan", ".", "--format", "json").body["steps"]] == ["register"]
    assert run("apply", ".").code == exit_codes.CLEAN
    assert registry.versions(SUBJECT) == [1, 2, 3]
    assert registry.level(SUBJECT) is Level.BACKWARD


def test_plan_and_apply_refuse_unreadable_records_and_show_the_impact_of_others(registry: Registry, run: Run) -> None:
    publish(registry, use(1, 1_200, SUBJECT, 1))
    write(REQUIRED)
    for verb in ("plan", "apply"):
        ran = run(verb, ".")
        assert ran.code == exit_codes.FINDINGS
        assert "DATA_UNREADABLE" in ran.out
    assert registry.versions(SUBJECT) == [1, 2]
    write(TOTAL, NOTE)
    planned, impact = run("plan", ".").out.splitlines()
    assert "would be a new version of `orders-value`" in planned
    assert impact.startswith("    impact: it can read 1,200 of 1,200 (100 %) records of topic `orders`")
    body = run("plan", ".", "--format", "json").body["impact"][0]
    assert (body["subject"], body["topics"][0]["records"]) == (SUBJECT, 1_200)
    assert "impact: it can read `1,200`" in run("plan", ".", "--format", "markdown").out.replace("Note: ", "").replace(
        "1,200 of", "`1,200` of", 1
    )


def test_clients_of_versions_that_the_schema_breaks_are_named(app: ASGIApp, registry: Registry, run: Run) -> None:
    fetch(app, 1, "billing", "fraud")
    fetch(app, 2, "billing")
    write('{"name":"total","type":"string"}')
    ran = run("check", ".")
    assert (
        "impact: 2 of 2 clients that fetched `orders-value` in the last 30 days read versions that it breaks: "
        in ran.out
    )
    assert "`billing` reads versions 1 and 2 (last on 2" in ran.out
    assert "`fraud` reads version 1 (last on 2" in ran.out
    consumers = checked(run, exit_codes.FINDINGS)["impact"]["consumers"]
    assert {(each["client"], each["version"], tuple(each["incompatible"])) for each in consumers} == {
        ("billing", 1, ("BACKWARD",)),
        ("billing", 2, ("BACKWARD", "FORWARD")),
        ("fraud", 1, ("BACKWARD",)),
    }
    for form, words in (("github", "::notice "), ("sarif", '"level": "note"'), ("gitlab", '"severity": "info"'),
                        ("junit", "CONSUMERS_AFFECTED"), ("markdown", "CONSUMERS_AFFECTED")):  # fmt: skip
        out = run("check", ".", "--format", form).out
        assert words in out, form
        assert "billing" in out, form


def test_clients_are_named_for_a_change_that_the_level_allows_and_that_breaks_them(
    app: ASGIApp, registry: Registry, run: Run
) -> None:
    registry.register(SUBJECT, order(TOTAL, REQUIRED.replace("total", "tax").replace("}", ',"default":0.0}')))
    registry.set_level(Level.NONE, SUBJECT)
    registry.register(SUBJECT, order(REQUIRED))  # version 4: total has no default
    registry.set_level(Level.BACKWARD, SUBJECT)
    fetch(app, 4, "billing")
    write(NOTE)
    ran = run("check", ".")
    assert ran.code == exit_codes.CLEAN
    assert (
        "impact: 1 of 1 client that fetched `orders-value` in the last 30 days reads a version that it breaks"
        in ran.out
    )


def test_clients_of_compatible_versions_take_one_line(app: ASGIApp, registry: Registry, run: Run) -> None:
    fetch(app, 1, *(f"client-{number}" for number in range(20)))
    write(TOTAL, NOTE)
    ran = run("check", ".")
    assert "impact: 20 clients fetched `orders-value` in the last 30 days; it is compatible with" in ran.out
    assert "client-1" not in ran.out


def test_many_clients_are_bounded_and_hostile_names_break_no_line() -> None:
    both = (Direction.BACKWARD, Direction.FORWARD)
    hostile = "evil\n::error::owned\x1b[31m\u2028"
    consumers = (Consumer(hostile, 1, "2026-11-21", both),
                 *(Consumer(f"c{number}", 1, "2026-11-20", both) for number in range(16)),
                 Consumer("fine", 2, "2026-11-20", ()))  # fmt: skip
    (sentence,) = describe_impact(Impact(consumers, 18, (), ()), SUBJECT)
    assert sentence.startswith("17 of 18 clients that fetched `orders-value` in the last 30 days read a version that")
    assert sentence.endswith("`c3` reads version 1 (last on 2026-11-20) and 12 more")
    assert sentence.isprintable()
    assert len(sentence.splitlines()) == 1


@pytest.mark.parametrize("profile", [None, Profile.FIVE])
def test_what_a_registry_does_not_tell_is_null_and_explained_only_with_verbose(
    registries: Registries, profile: Profile | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    app = registries.make({"response_profile": Profile.FIVE})
    Registry(app=app).register(SUBJECT, order())
    monkeypatch.chdir(tmp_path)
    write(NOTE)
    run = runner(imitate_release(app, profile) if profile else app, monkeypatch, capsys)
    body = checked(run, exit_codes.CLEAN)
    assert (body["impact"] is None) == (profile is not None)
    ran = run("check", ".")
    assert "impact" not in ran.out + ran.err
    assert ("impact unknown: " in run("check", ".", "--verbose").err) == (profile is not None)
    app.state.close()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error_code": 42281, "message": "no"}, "impact unknown: no"),
        ({"results": [{"topics": [{"topic": "orders"}]}]}, ""),
        ({"results": []}, ""),
        ([], ""),
    ],
)
def test_a_registry_whose_answer_about_usage_cannot_be_used_fails_no_check(
    app: ASGIApp, registry: Registry, answering: Callable[[ASGIApp], Run], body: Any, words: str
) -> None:
    async def proxy(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] != "/contractlog/v1/usage":
            await app(scope, receive, send)
            return
        status = 422 if "error_code" in body else 200
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    write(TOTAL, NOTE)
    run = answering(proxy)
    assert checked(run, exit_codes.CLEAN)["impact"] is None
    assert ("impact unknown" in run("check", ".").err) == bool(words)
    assert words in run("check", ".").err


def test_files_without_changes_and_comparisons_without_a_registry_request_no_usage(
    registry: Registry, run: Run
) -> None:
    write(TOTAL)
    assert "/contractlog/v1/usage" not in run("check", ".", "--verbose").err
    assert checked(run, exit_codes.CLEAN)["impact"] is None
    Path("other").mkdir()
    Path("other/orders-value.avsc").write_text(order().text)
    ran = run("check", "orders-value.avsc", "--against", "other", "--format", "json")
    assert ran.body["files"][0]["impact"] is None


def test_all_changed_subjects_are_requested_at_once(registry: Registry, run: Run) -> None:
    for number in range(4):
        registry.register(f"s{number}-value", order())
        Path(f"s{number}-value.avsc").write_text(order(NOTE).text)
    ran = run("check", ".", "--verbose")
    assert ran.err.count("/contractlog/v1/usage") == 1
