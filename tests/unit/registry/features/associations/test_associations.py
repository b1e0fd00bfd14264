"""Associations over HTTP: rules, consequences and journal rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from contractlog.compatibility.errors import Unprocessable
from contractlog.compatibility.level import Level
from contractlog.registry.features.associations.service import MAX_BATCH_BYTES, BatchBudget
from contractlog.registry.storage import tables

if TYPE_CHECKING:
    import httpx2

STRING = '{"type":"string"}'
OWNED = ":.lkc-1:orders-value"


def request(*associations: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The body of a request about the topic ``orders``."""
    resource = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "r1", "resourceType": "topic"}
    return resource | {"associations": list(associations)} | members


def owned(**members: Any) -> dict[str, Any]:
    """An association that comes with its schema."""
    return {"associationType": "value", "schema": {"schema": STRING}} | members


def register(http: httpx2.Client, subject: str, text: str = STRING, **members: Any) -> httpx2.Response:
    return http.post(f"/subjects/{subject}/versions", json={"schema": text} | members)


def told(answer: httpx2.Response) -> tuple[int, str]:
    """The code and the message of a refusal."""
    body = answer.json()
    assert answer.status_code == int(str(body["error_code"])[:3])
    return body["error_code"], body["message"]


def invalid(member: str, detail: str) -> tuple[int, str]:
    return 42212, f"The association specified an invalid value for property: '{member}', detail: {detail}"


def journal(http: httpx2.Client) -> list[tuple[str, str]]:
    store = http.app.state.services.store  # type: ignore[attr-defined]
    with store.open_snapshot() as snapshot:
        c = tables.changes.c
        return [tuple(row) for row in snapshot.connection.execute(select(c.action, c.target).order_by(c.sequence))]


def listed(http: httpx2.Client, path: str = "/associations/resources/-/-") -> list[dict[str, Any]]:
    answer = http.get(path)
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.parametrize("path", ["subjects/orders-value", "resources/r9", "resources/-/orders", "resources/lkc-9/-"])
def test_an_unknown_resource_has_no_associations(http: httpx2.Client, path: str) -> None:
    assert listed(http, f"/associations/{path}?resourceType=topic&associationType=value&limit=-1") == []


def test_a_schema_in_an_association_is_registered_and_owned_by_the_topic(http: httpx2.Client) -> None:
    answer = http.post("/associations", json=request(owned()))
    bound = answer.json()
    assert answer.status_code == 200
    assert list(bound) == ["resourceName", "resourceNamespace", "resourceId", "resourceType", "associations"]
    assert list(bound["associations"][0]) == ["subject", "associationType", "lifecycle", "schema"]
    assert bound["associations"][0]["subject"] == OWNED
    assert bound["associations"][0]["lifecycle"] == "STRONG"
    assert bound["associations"][0]["schema"]["id"] == http.get(f"/subjects/{OWNED}/versions/1").json()["id"]
    entity = listed(http)[0]
    assert list(entity) == [
        *("subject", "guid", "resourceName", "resourceNamespace", "resourceId", "resourceType", "associationType"),
        *("lifecycle", "createTs", "updateTs"),
    ]
    assert [action for action, _ in journal(http)] == ["version.registered", "association.created"]
    assert journal(http)[-1] == ("association.created", "lkc-1:orders/value")
    with http.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        c = tables.changes.c
        lines = snapshot.connection.execute(select(c.details).where(c.action == "association.created")).scalars().all()
    bound = {"subject": OWNED, "topic": "orders", "part": "value"}
    told = bound | {"guid": entity["guid"], "resourceId": "r1", "lifecycle": "STRONG"}
    assert [json.loads(line) for line in lines] == [told]


def test_an_identical_creation_succeeds_and_writes_nothing(http: httpx2.Client) -> None:
    http.post("/associations", json=request(owned()))
    before, lines = listed(http), journal(http)
    assert http.post("/associations", json=request(owned())).status_code == 200
    assert (listed(http), journal(http)) == (before, lines)


def test_weakly_associated_subjects_need_a_live_version_and_may_be_shared(http: httpx2.Client) -> None:
    weak = {"associationType": "value", "subject": "common"}
    assert told(http.post("/associations", json=request(weak))) == (
        40907,
        "No active (non-deleted) version exists for subject 'common'",
    )
    register(http, "common")
    assert http.post("/associations", json=request(weak)).json()["associations"] == [
        {"subject": "common", "associationType": "value", "lifecycle": "WEAK"}
    ]
    other = request(weak, resourceName="returns", resourceId="r2")
    assert http.post("/associations", json=other).status_code == 200
    assert [one["resourceName"] for one in listed(http, "/associations/subjects/common")] == ["orders", "returns"]


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (request(owned(), resourceName=""), ("resourceName", "cannot be null or empty")),
        (request(owned(), resourceName="a.b"), ("resourceName", "illegal character '.'")),
        (request(owned(), resourceNamespace="x" * 257), ("resourceNamespace", "exceeds max length of 256")),
        (request(owned(), resourceId=None), ("resourceId", "cannot be null or empty")),
        (request(owned(), resourceId="\0"), ("resourceId", "illegal character '\\x00'")),
        (request(owned(), resourceType="table"), ("resourceType", "must be 'topic'")),
        (request(), ("associations", "cannot be null or empty")),
        (request(owned(associationType="header")), ("associationType", "must be either 'key' or 'value'")),
        (request(owned(), owned()), ("associationType", "each type may occur once in a request")),
        (request(owned(lifecycle="WEAK")), ("lifecycle", "cannot be WEAK when schema is provided for create")),
        (request(owned(frozen=False)), ("frozen", "cannot be false when schema is provided for create")),
        (request(owned(subject="mine")), ("subject", f"frozen associations must use subject '{OWNED}'")),
        (request({}), ("subject", "must be provided for non-frozen associations")),
        (request({"subject": ""}), ("subject", "must not be empty")),
        (
            request({"subject": "x", "frozen": True, "lifecycle": "WEAK"}),
            ("frozen", "association with lifecycle of WEAK cannot be frozen"),
        ),
        (
            request({"subject": "x", "frozen": False, "lifecycle": "STRONG"}),
            ("frozen", "association with lifecycle of STRONG cannot be frozen=false"),
        ),
        (request({"subject": OWNED}), ("subject", f"associations with lifecycle of WEAK cannot use subject '{OWNED}'")),
        (request({"lifecycle": "STRONG"}), ("schema", "must be provided for frozen associations")),
        (
            request(owned(), {"associationType": "key", "subject": "x"}),
            ("frozen", "all associations for a resource must be consistently frozen or non-frozen"),
        ),
    ],
)
def test_invalid_requests_are_rejected_with_the_wrong_member(
    http: httpx2.Client, body: dict[str, Any], refusal: tuple[str, str]
) -> None:
    assert told(http.post("/associations", json=body)) == invalid(*refusal)
    assert (journal(http), listed(http)) == ([], [])


@pytest.mark.parametrize("association", [owned(), {"subject": ":.__GLOBAL:s"}])
def test_the_global_namespace_cannot_be_associated(http: httpx2.Client, association: dict[str, Any]) -> None:
    body = request(association, resourceNamespace="__GLOBAL")
    assert told(http.post("/associations", json=body))[0] == 42208
    assert listed(http) == []


def test_a_topic_has_one_association_of_each_type(http: httpx2.Client) -> None:
    for subject in ("one", "two"):
        register(http, subject)
    http.post("/associations", json=request({"subject": "one"}))
    assert told(http.post("/associations", json=request({"subject": "two"}))) == (
        40903,
        "An association of type 'value' already exists for resource 'orders'",
    )
    for change in (http.post, http.put):
        path = "/associations" if change == http.post else "/associations/resources/r1"
        answer = change(path, json=request({"subject": "two"}, resourceName="returns"))
        assert told(answer) == (40903, "An association of type 'value' already exists for resource 'r1'")


def test_an_id_belongs_to_one_resource(http: httpx2.Client) -> None:
    register(http, "common")
    assert http.post("/associations", json=request({"subject": "common"})).status_code == 200
    key = {"subject": "common", "associationType": "key"}
    refused = invalid("resourceId", "id 'r1' belongs to another resource")
    for other in ({"resourceName": "returns"}, {"resourceNamespace": "lkc-2"}):
        body = request(key, **other)
        assert told(http.post("/associations", json=body)) == refused
        assert told(http.put("/associations/resources/r1", json=body)) == refused
        (result,) = http.post("/associations:batchMutate", json={"requests": [body | {"opType": "UPSERT"}]}).json()[
            "results"
        ]
        assert (result["error"]["error_code"], result["error"]["message"]) == refused
    assert [each["resourceName"] for each in listed(http, "/associations/resources/r1")] == ["orders"]
    assert http.post("/associations", json=request(key)).status_code == 200


def test_stored_resources_that_share_an_id_are_still_read(http: httpx2.Client) -> None:
    register(http, "common")
    http.post("/associations", json=request({"subject": "common"}))
    http.post("/associations", json=request({"subject": "common"}, resourceName="returns", resourceId="r2"))
    store = http.app.state.services.store  # type: ignore[attr-defined]
    share = update(tables.associations).values(resource_id="r1")
    store.transact(lambda transaction: transaction.connection.execute(share).rowcount).result()
    assert [each["resourceName"] for each in listed(http, "/associations/resources/r1")] == ["orders", "returns"]
    assert http.post("/associations", json=request({"subject": "common"})).status_code == 200


def test_a_topic_has_one_lifecycle(http: httpx2.Client) -> None:
    register(http, "common")
    http.post("/associations", json=request(owned()))
    both = {"associationType": "key", "subject": "common"}
    assert told(http.post("/associations", json=request(both))) == invalid(
        "frozen", "all associations for a resource must be consistently frozen or non-frozen"
    )


def test_a_subject_that_belongs_to_a_topic_serves_no_other(http: httpx2.Client) -> None:
    http.post("/associations", json=request(owned()))
    other = request({"subject": OWNED}, resourceName="returns", resourceId="r2")
    assert told(http.post("/associations", json=other)) == (
        40905,
        f"A strong association already exists for subject '{OWNED}'",
    )


def test_a_subject_that_serves_others_cannot_come_to_belong_to_a_topic(http: httpx2.Client) -> None:
    register(http, OWNED)
    http.post("/associations", json=request({"subject": OWNED}, resourceName="returns", resourceId="r2"))
    assert told(http.post("/associations", json=request(owned()))) == (
        40904,
        f"An association already exists for subject '{OWNED}'",
    )


def test_a_subject_with_other_schemas_cannot_come_to_belong_to_a_topic(http: httpx2.Client) -> None:
    http.put(f"/config/{OWNED}", json={"compatibility": "NONE"})
    register(http, OWNED, '{"type":"long"}')
    code, message = told(http.post("/associations", json=request(owned())))
    assert (code, "has no other schemas" in message) == (42212, True)
    assert http.get(f"/subjects/{OWNED}/versions").json() == [1]


def test_strong_subjects_cannot_be_referenced_nor_referenced_ones_become_strong(http: httpx2.Client) -> None:
    record = '{"type":"record","name":"%s","fields":[%s]}'
    lean = {"references": [{"name": "R", "subject": OWNED, "version": 1}]}
    user = record % ("U", '{"name":"r","type":"R"}')
    http.post("/associations", json=request(owned(schema={"schema": record % ("R", "")})))
    assert told(register(http, "users", user, **lean)) == (
        42205,
        f"Subject '{OWNED}' has a strong association and cannot be referenced",
    )
    http.put("/mode/:.eu:", json={"mode": "IMPORT"})
    assert told(register(http, ":.eu:users", user, id=9, version=1, **lean))[0] == 42205  # in every mode
    http.delete("/associations/resources/r1?cascadeLifecycle=true")
    register(http, OWNED, record % ("R", ""))
    assert register(http, "users", user, **lean).status_code == 200
    code, _ = told(http.post("/associations", json=request(owned(schema={"schema": record % ("R", "")}))))
    assert code == 42206


def test_an_associated_subject_keeps_its_last_live_version(http: httpx2.Client) -> None:
    http.post("/associations", json=request(owned()))
    assert told(http.delete(f"/subjects/{OWNED}")) == (
        40904,
        f"An association already exists for subject '{OWNED}'",
    )
    assert told(http.delete(f"/subjects/{OWNED}/versions/1")) == (
        40907,
        f"No active (non-deleted) version exists for subject '{OWNED}'",
    )
    http.put(f"/config/{OWNED}", json={"compatibility": "NONE"})
    register(http, OWNED, '{"type":"long"}')
    assert http.delete(f"/subjects/{OWNED}/versions/1").json() == 1
    assert told(http.delete(f"/subjects/{OWNED}/versions/2"))[0] == 40907


def test_a_frozen_association_is_removed_only_with_its_subject(http: httpx2.Client) -> None:
    http.post("/associations", json=request(owned()))
    assert told(http.delete("/associations/resources/r1")) == (
        40908,
        f"The association of type  'value' is frozen for subject '{OWNED}'",
    )
    answer = http.delete("/associations/resources/r1?resourceType=topic&associationType=value&cascadeLifecycle=True")
    assert (answer.status_code, answer.content) == (204, b"")
    assert http.get("/subjects?deleted=true").json() == []
    assert [action for action, _ in journal(http)[2:]] == [
        "association.deleted",
        "version.soft_deleted",
        "version.hard_deleted",
    ]
    assert told(http.delete("/associations/resources/r1")) == (40410, "Association for 'r1' not found.")


def test_a_weak_association_goes_without_its_subject(http: httpx2.Client) -> None:
    register(http, "common")
    http.post("/associations", json=request({"subject": "common"}))
    assert told(http.delete("/associations/resources/r1?associationType=key"))[0] == 40410
    assert http.delete("/associations/resources/r1?cascadeLifecycle=true").status_code == 204
    assert (listed(http), http.get("/subjects").json()) == ([], ["common"])
    assert http.delete("/subjects/common").json() == [1]


def test_a_rehearsal_says_what_would_be_and_changes_nothing(http: httpx2.Client) -> None:
    rehearsed = http.post("/associations?dryRun=true", json=request(owned(), resourceId=None))
    assert rehearsed.json()["associations"][0]["schema"]["version"] == 1
    assert (http.get("/subjects").json(), listed(http), journal(http)) == ([], [], [])
    http.post("/associations", json=request(owned()))
    assert http.delete("/associations/resources/r1?cascadeLifecycle=true&dryRun=true").status_code == 204
    assert len(listed(http)) == 1
    assert told(http.delete("/associations/resources/r1?dryRun=true"))[0] == 40908


def test_an_upsert_creates_weak_associations_and_keeps_existing_ones(http: httpx2.Client) -> None:
    register(http, "common")
    path = "/associations/resources/r1"
    assert told(http.put(path, json=request(owned()))) == invalid(
        "schema", "cannot be provided for a new association by an upsert"
    )
    assert told(http.put(path, json=request({"lifecycle": "STRONG"}))) == invalid(
        "lifecycle", "an upsert cannot create a STRONG association"
    )
    weak = request({"subject": "common"}, resourceId=None)
    for _ in range(2):
        assert http.put(path, json=weak).json()["associations"][0]["lifecycle"] == "WEAK"
    assert [one["resourceId"] for one in listed(http)] == ["r1"]
    for change, refusal in (
        ({"subject": "else"}, ("subject", "cannot be changed")),
        ({"frozen": True}, ("frozen", "cannot be changed")),
        ({"lifecycle": "STRONG"}, ("frozen", "association with lifecycle of STRONG cannot be frozen=false")),
        ({"schema": {"schema": STRING}}, ("lifecycle", "cannot be WEAK when schema is provided")),
    ):
        assert told(http.put(path, json=request(change))) == invalid(*refusal)


def test_an_import_binds_what_belongs_to_a_topic_by_an_upsert(http: httpx2.Client) -> None:
    assert http.put("/mode/:.lkc-1:", json={"mode": "IMPORT"}).status_code == 200
    assert register(http, OWNED, id=7, version=3).json()["id"] == 7
    answer = http.put("/associations/resources/r1", json=request({"lifecycle": "STRONG"}))
    assert answer.json()["associations"] == [{"subject": OWNED, "associationType": "value", "lifecycle": "STRONG"}]


def test_an_upsert_with_a_schema_evolves_what_the_topic_owns(http: httpx2.Client) -> None:
    record = '{"type":"record","name":"R","fields":[%s]}'
    http.post("/associations", json=request(owned(schema={"schema": record % ""})))
    wider = record % '{"name":"a","type":"int","default":0}'
    answer = http.put("/associations/resources/r1", json=request({"schema": {"schema": wider}}))
    assert answer.json()["associations"][0]["schema"]["version"] == 2
    assert journal(http)[-1] == ("association.updated", "lkc-1:orders/value")
    broken = record % '{"name":"b","type":"int"}'
    assert told(http.put("/associations/resources/r1", json=request({"schema": {"schema": broken}})))[0] == 40901


def test_a_subject_without_a_context_is_in_the_one_that_is_named(http: httpx2.Client) -> None:
    register(http, ":.eu:common")
    answer = http.post("/associations?context=:.eu:", json=request({"subject": "common"}))
    assert answer.json()["associations"][0]["subject"] == ":.eu:common"


def test_lists_are_filtered_ordered_and_paged(http: httpx2.Client) -> None:
    register(http, "common")
    for name, kind in (("b", "value"), ("b", "key"), ("a", "value")):
        body = request({"subject": "common", "associationType": kind}, resourceName=name, resourceId=name)
        assert http.post("/associations", json=body).status_code == 200

    def names(query: str) -> list[str]:
        return [one["resourceName"] + one["associationType"] for one in listed(http, query)]

    everything = ["avalue", "bkey", "bvalue"]
    assert names("/associations/resources/-/-") == everything
    assert names("/associations/resources/lkc-1/-?offset=1&limit=1") == everything[1:2]
    assert names("/associations/subjects/common?limit=-1&offset=1&lifecycle=&resourceType=") == everything[1:]
    assert names("/associations/subjects/common?limit=0&offset=1") == everything[1:]
    assert names("/associations/resources/b?associationType=key&associationType=value") == everything[1:]
    assert names("/associations/resources/-/b?associationType=key") == ["bkey"]
    assert names("/associations/resources/lkc-2/b") == []
    assert names("/associations/resources/-/b?resourceType=table") == []
    assert names("/associations/resources/-/-?lifecycle=STRONG") == []
    assert names("/associations/resources/-/-?lifecycle=WEAK") == everything
    assert http.get("/associations/resources/-/-?lifecycle=SOME").status_code == 404


def test_a_batch_answers_each_member_in_order(http: httpx2.Client) -> None:
    register(http, "common")
    operations = [
        request({"opType": "CREATE"} | owned()),
        request({"opType": "CREATE", "subject": "nothing"}, resourceName="returns", resourceId="r2"),
        request({"opType": "UPSERT", "subject": "common"}, resourceName="returns", resourceId="r2"),
        request({"opType": "DELETE", "cascadeLifecycle": True}),
    ]
    answer = http.post("/associations:batchMutate", json={"requests": operations})
    results = answer.json()["results"]
    assert answer.status_code == 207
    assert [list(one) for one in results] == [["result"], ["error"], ["result"], ["result"]]
    assert results[1]["error"]["error_code"] == 40907
    assert [one["resourceName"] for one in listed(http)] == ["returns"]


@pytest.mark.parametrize(
    "bad",
    [
        {"opType": "MERGE"},
        {"associations": [{"lifecycle": "NOPE"}]},
        {"associations": [{"schema": {"schema": 5}}]},
        {"resourceId": 5},
        {"associations": {}},
        5,
        None,
        [],
        "text",
    ],
)
def test_a_member_that_cannot_be_read_fails_alone(http: httpx2.Client, bad: object) -> None:
    member = request(owned()) | bad if isinstance(bad, dict) else bad
    answer = http.post("/associations:batchMutate", json={"requests": [member, request(owned()), member]})
    results = answer.json()["results"]
    assert (answer.status_code, [list(one) for one in results]) == (207, [["error"], ["result"], ["error"]])
    assert {results[at]["error"]["error_code"] for at in (0, 2)} == {400}
    assert [one["resourceName"] for one in listed(http)] == ["orders"]


@pytest.mark.parametrize("bad", [{"resourceId": 5}, {"associationTypes": "key"}, 5, None, []])
def test_a_question_that_cannot_be_read_fails_alone(http: httpx2.Client, bad: object) -> None:
    answer = http.post("/associations:batchGet", json={"requests": [bad, {"resourceId": "r1"}]})
    results = answer.json()["results"]
    assert (answer.status_code, [list(one) for one in results]) == (207, [["error"], ["result"]])
    assert results[0]["error"]["error_code"] == 400


@pytest.mark.parametrize("body", [b"{", b'{"requests":5}', b'{"requests":[{]}', b"[]"])
def test_a_batch_that_is_none_is_refused_as_a_whole(http: httpx2.Client, body: bytes) -> None:
    for action in ("Get", "Mutate"):
        headers = {"content-type": "application/json"}
        answer = http.post(f"/associations:batch{action}", content=body, headers=headers)
        assert told(answer)[0] == 400


def test_a_batch_deletes_by_the_id_alone_as_a_single_request_does(http: httpx2.Client) -> None:
    register(http, "common")
    one = request({"associationType": "key", "subject": "common"}, {"associationType": "value", "subject": "common"})

    def mutate(*requests: dict[str, Any], query: str = "") -> list[Any]:
        body = http.post(f"/associations:batchMutate{query}", json={"requests": list(requests)}).json()
        return [each.get("error", {}).get("error_code") for each in body["results"]]

    assert mutate({"opType": "CREATE"} | one) == [None]
    whole = {"opType": "DELETE", "resourceId": "r1"}
    assert mutate(whole | {"resourceId": "r2"}, {"opType": "DELETE"}, whole | {"resourceId": "r1\0"}) == [
        40410, 42212, 40410]  # fmt: skip
    assert mutate(whole, query="?dryRun=true") == [None]
    assert [each["associationType"] for each in listed(http)] == ["key", "value"]
    assert mutate(whole | {"associations": [{"associationType": "key"}]}) == [None]
    assert [each["associationType"] for each in listed(http)] == ["value"]
    assert mutate(whole, whole) == [None, 40410]
    assert listed(http) == []
    assert mutate({"opType": "CREATE"} | request(owned())) == [None]
    assert mutate(whole) == [40908]
    assert mutate(whole | {"associations": [{"cascadeLifecycle": True}]}) == [None]


def test_the_colon_of_a_batch_may_be_encoded(http: httpx2.Client) -> None:
    for action in ("Get", "Mutate"):
        answers = [http.post(f"/associations{colon}batch{action}", json={"requests": [{}]}) for colon in (":", "%3A")]
        assert [answer.status_code for answer in answers] == [207, 207]
        assert answers[0].json() == answers[1].json()


def test_a_batch_has_at_most_a_thousand_members(http: httpx2.Client) -> None:
    for action in ("Get", "Mutate"):
        answer = http.post(f"/associations:batch{action}", json={"requests": [{}] * 1_001})
        assert told(answer) == (422, "A batch may have at most 1000 requests")


def test_a_context_in_front_is_the_context_of_what_is_bound(http: httpx2.Client) -> None:
    register(http, ":.eu:common")
    answer = http.post("/contexts/.eu/associations", json=request({"subject": "common"}))
    assert answer.json()["associations"][0]["subject"] == ":.eu:common"
    assert [one["resourceName"] for one in listed(http, "/contexts/.eu/associations/subjects/common")] == ["orders"]


def test_a_batch_of_questions_answers_with_schemas_where_asked(http: httpx2.Client) -> None:
    http.post("/associations", json=request(owned()))
    asked = {"requests": [{"resourceId": "r1"}, {}, {"resourceName": "orders", "resourceNamespace": "-"}]}
    answer = http.post("/associations:batchGet", json=asked)
    bare = {"subject": OWNED, "associationType": "value", "lifecycle": "STRONG"}
    assert answer.status_code == 207
    assert [one.get("result", {}).get("associations") for one in answer.json()["results"]] == [[bare], None, [bare]]
    assert answer.json()["results"][1]["error"]["error_code"] == 42212
    full = http.post("/associations:batchGet?includeSchemas=true", json=asked).json()
    assert full["results"][0]["result"]["associations"][0]["schema"]["schema"] == '"string"'


def test_a_small_batch_returns_a_large_schema_a_few_times_only(http: httpx2.Client) -> None:
    """16 MiB in all: a caller could otherwise have a gigabyte built, a thousand times the largest schema."""
    text = json.dumps({"type": "record", "name": "R", "doc": "d" * 900_000, "fields": []})
    whole = request(owned(schema={"schema": text}))
    assert http.post("/associations", json=whole).status_code == 200
    again = request(owned(schema={"schema": ""})) | {"opType": "CREATE"}  # an empty text is that of the latest version
    for path, member in (
        ("/associations:batchGet?includeSchemas=true", {"resourceId": "r1"}),
        ("/associations:batchGet?includeSchemas=true", {"resourceName": "-"}),
        ("/associations:batchMutate", again),
    ):
        response = http.post(path, json={"requests": [member] * 100})
        results = response.json()["results"]
        assert len(response.content) < 18 * 1024 * 1024
        assert [list(result) for result in results] == [["result"]] * 19 + [["error"]] * 81
        assert results[-1]["error"] == {
            "error_code": 422,
            "message": "The response to this batch would exceed 16 MiB: send fewer requests per batch",
        }


def test_a_batch_whose_budget_is_used_up_goes_no_further() -> None:
    budget = BatchBudget()
    budget.spend(MAX_BATCH_BYTES - 1)
    budget.require_remainder()
    budget.spend(1)
    with pytest.raises(Unprocessable, match="send fewer requests per batch"):
        budget.require_remainder()


def test_a_subject_that_is_read_only_keeps_its_associations(http: httpx2.Client) -> None:
    register(http, "common")
    http.post("/associations", json=request({"subject": "common"}))
    http.put("/mode/common", json={"mode": "READONLY"})
    assert told(http.delete("/associations/resources/r1"))[0] == 42205
    body = request({"subject": "common"}, resourceName="returns", resourceId="r2")
    assert told(http.post("/associations", json=body))[0] == 42205


def test_associations_survive_a_lost_race(http: httpx2.Client) -> None:
    """The schema is judged before the lock: what changed meanwhile is judged again, and the answer is of the end."""
    services = http.app.state.services  # type: ignore[attr-defined]
    asked = []
    propose = services.registration.propose

    async def racing(request: Any) -> Any:
        proposal = await propose(request)
        asked.append(proposal)
        if len(asked) == 1:
            await services.config.set_config(request.subject, {"level": Level.NONE})
        return proposal

    services.associations._registration = type("Racing", (), {"propose": staticmethod(racing)})()
    answer = http.post("/associations", json=request(owned()))
    assert (answer.status_code, len(asked)) == (200, 2)
    assert answer.json()["associations"][0]["schema"]["version"] == 1
