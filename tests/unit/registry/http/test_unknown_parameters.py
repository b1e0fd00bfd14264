"""Contractlog's own paths reject unknown and repeated parameters, which the reference ignores."""

from __future__ import annotations

import pytest

from contractlog.registry.settings import Settings

from support.registry import in_process


@pytest.mark.parametrize(
    ("path", "parameter", "known"),
    [
        ("changes?sinse=1", "sinse", "since, limit, wait"),
        ("search?field=a&limits=1", "limits", "field, type, tag, property, match, context, after, limit"),
        ("diff?earlier=a:1&latter=a:2", "latter", "earlier, later, level, policy"),
        ("graph/a?dept=1", "dept", "version, direction, depth"),
        ("fetches?subjekt=a", "subjekt", "id, days, limit, subject"),
        ("conformance/a?parts=key", "parts", "part"),
        ("lineage/a?dept=1", "dept", "direction, field, at, evidence, depth"),
        ("lineage?before=1", "before", "at, evidence, topicPrefix, after, limit"),
    ],
)
def test_a_parameter_of_our_own_requests_that_there_is_not_is_refused(path: str, parameter: str, known: str) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        answer = http.get(f"/contractlog/v1/{path}")
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
        said = f"The parameter '{parameter}' is not valid: it is unknown here; known parameters: {known}"
        assert answer.json()["message"] == said
        for query in (f"{parameter}=", *(f"{name}=1" for name in known.split(", "))):
            assert "none of this name" not in http.get(f"/contractlog/v1/{path.partition('?')[0]}?{query}").text


@pytest.mark.parametrize(
    "path",
    [
        "lookup?zork=1",
        "check?zork=1",
        "usage?zork=1",
        "diff?earlier=a:1&zork=1",
        "import?dryrun=true",
        "lineage?zork=1",
    ],
)
def test_posts_of_our_own_refuse_them_too(path: str) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        answer = http.post(f"/contractlog/v1/{path}", json={"schemas": []})
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
        assert path.rpartition("=")[0].rpartition("&")[2].rpartition("?")[2] in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("changes?since=1&since=2", "since"),
        ("changes?since=1&limit=2&since=", "since"),
        ("search?field=a&field=a", "field"),
        ("fetches?id=1&subject=a&%69d=1", "id"),
        ("conformance/a/history?part=key&limit=1&part=value", "part"),
        ("diff?earlier=a:1&later=a:2&later=a:3", "later"),
    ],
)
def test_a_repeated_parameter_of_our_own_requests_is_refused(path: str, parameter: str) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        answer = http.get(f"/contractlog/v1/{path}")
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
        assert answer.json()["message"] == f"The parameter '{parameter}' is not valid: it is repeated"


def test_every_documented_path_of_our_own_refuses_them() -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        paths = http.get("/contractlog/v1/openapi.json").json()["paths"]
        own = [(path, method) for path in paths if path.startswith("/contractlog/v1/") for method in paths[path]]
        assert len(own) > 10
        for path, method in own:
            url = path.replace("{subject}", "s").replace("{topic}", "t")
            answer = http.request(method, f"{url}?zork=1", json={} if method == "post" else None)
            assert (answer.json().get("error_code"), path) == (42281, path)


def test_the_reference_s_paths_ignore_what_they_do_not_know() -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        assert http.get("/subjects?prefx=a").json() == []
        assert http.get("/subjects?deleted=true&deleted=false").json() == []
