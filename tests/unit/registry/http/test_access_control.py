"""Access control over HTTP, in process: 401, 403, and the caller in the journal."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.compatibility.errors import Denied, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.permissions import Permissions
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.app import create_app
from contractlog.registry.http import authenticator
from contractlog.registry.http.authenticator import Authenticator
from contractlog.registry.http.password_failure_limits import NAME_FAILURES
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

STRING = {"schema": '{"type":"string"}'}
CI, READER = ("ci", "c:i"), ("reader", "ré")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "users.toml"
    path.write_text(
        "\n".join(
            format_entry(name, HashedPassword.of(password, n=2, r=1, p=1), read, write)
            for (name, password), read, write in ((CI, ["*"], ["orders-*"]), (READER, ["*"], []))
        )
    )
    return path


@pytest.fixture
def secured(file: Path) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as client:
        yield client


def told(answer: httpx2.Response) -> tuple[int, int, str]:
    body = answer.json()
    assert list(body) == ["error_code", "message"]
    return answer.status_code, body["error_code"], body["message"]


UNKNOWN = (401, 401, "Unauthorized")


@pytest.mark.parametrize("header", [None, "Basic Og==", "basic og==", "Basic !", "Basic", "Bearer x", "Basic " + "é"])
def test_unauthenticated_callers_are_asked_for_credentials(secured: httpx2.Client, header: str | None) -> None:
    for method, path in (("GET", "/subjects"), ("GET", "/schemas/ids/1"), ("PUT", "/config"), ("GET", "/nothing")):
        headers = [] if header is None else [(b"authorization", header.encode())]
        answer = secured.request(method, path, headers=headers)
        assert told(answer) == UNKNOWN
        assert answer.headers["www-authenticate"] == 'Basic realm="contractlog", charset="UTF-8"'
        assert answer.headers["x-request-id"]


@pytest.mark.parametrize("credentials", [("ci", "wrong"), ("nobody", "c:i"), ("ci", ""), ("", "c:i")])
def test_wrong_credentials_are_refused_however_often(secured: httpx2.Client, credentials: tuple[str, str]) -> None:
    for _ in range(2):
        assert told(secured.get("/subjects", auth=credentials)) == UNKNOWN


@pytest.mark.parametrize("password", ["c:i\0", "c:i\0\0", "\0c:i", "c:i ", "c:i\n", "C:I"])
def test_a_password_with_one_more_byte_is_another(secured: httpx2.Client, password: str) -> None:
    assert secured.get("/subjects", auth=CI).status_code == 200
    assert told(secured.get("/subjects", auth=(CI[0], password))) == UNKNOWN


@pytest.mark.parametrize("header", [b"Basic OG==", b"Basic oG==", b"Basic oh=="])
def test_only_an_empty_name_and_password_count_as_none(file: Path, header: bytes) -> None:
    """In base64 letters of both cases differ: these are other credentials than ``Og==``, and wrong ones."""
    with in_process(Settings(database_url="sqlite://", users_file=str(file), anonymous_reads=True)) as http:
        assert http.get("/subjects", headers=[(b"authorization", b"bAsIc Og==")]).status_code == 200
        assert told(http.get("/subjects", headers=[(b"authorization", header)])) == UNKNOWN


def test_a_user_may_write_subjects_with_a_permitted_prefix(secured: httpx2.Client) -> None:
    assert secured.post("/subjects/orders-value/versions", json=STRING, auth=CI).json()["id"] == 1
    assert told(secured.post("/subjects/users-value/versions", json=STRING, auth=CI)) == (
        *(403, 40301),
        "User is denied operation Write on Subject: users-value",
    )
    assert secured.get("/subjects/orders-value/versions", auth=READER).json() == [1]
    assert told(secured.delete("/subjects/orders-value", auth=READER))[1] == 40301
    assert told(secured.put("/config", json={"compatibility": "NONE"}, auth=CI))[1] == 40301


def test_a_context_in_front_is_part_of_the_subject(secured: httpx2.Client) -> None:
    answer = secured.post("/contexts/.eu/subjects/orders-value/versions", json=STRING, auth=CI)
    assert told(answer)[2] == "User is denied operation Write on Subject: :.eu:orders-value"


def test_callers_are_shown_their_own_permissions(secured: httpx2.Client) -> None:
    for who, subject, write in (
        (CI, "orders-value", True),
        (CI, "users-value", False),
        (CI, ":.eu:orders-value", False),
        (READER, "orders-value", False),
    ):
        shown = secured.get(f"/contractlog/v1/permissions/{subject}", auth=who).json()
        assert shown == {"user": who[0], "subject": subject, "read": True, "write": write}
    assert told(secured.get("/contractlog/v1/permissions/orders-value")) == UNKNOWN


def test_cached_answers_sit_inside(secured: httpx2.Client) -> None:
    secured.post("/subjects/orders-value/versions", json=STRING, auth=CI)
    for _ in range(3):
        assert secured.get("/schemas/ids/1", auth=READER).status_code == 200
        assert told(secured.get("/schemas/ids/1")) == UNKNOWN
        assert told(secured.get("/schemas/ids/1", auth=("ci", "no"))) == UNKNOWN


def test_a_plain_name_leads_nobody_into_a_context_that_they_may_not_read(file: Path) -> None:
    known = {"admin": ["*"], "narrow": ["orders-*"], "wide": [":*:orders-*"]}
    users = [format_entry(name, HashedPassword.of("p", n=2, r=1, p=1), read, []) for name, read in known.items()]
    file.write_text("\n".join(users) + format_entry("ci", HashedPassword.of("p", n=2, r=1, p=1), [], ["*"]))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        http.post("/subjects/:.secret:orders-x/versions", json=STRING, auth=("ci", "p"))
        for _ in range(2):  # what is remembered for one is not for the other
            for name, status in (("admin", 200), ("wide", 200), ("narrow", 404)):
                auth = (name, "p")
                for path in ("versions/latest", "versions/1", "versions/1/schema", "versions/-1"):
                    answer = http.get(f"/subjects/orders-x/{path}", auth=auth)
                    assert (name, path, answer.status_code) == (name, path, status)
                assert http.post("/subjects/orders-x", json=STRING, auth=auth).status_code == status


def test_rejected_callers_are_counted_under_the_requested_route(secured: httpx2.Client) -> None:
    secured.delete("/subjects/secret", auth=READER)
    secured.get("/subjects/secret/versions/1")
    secured.get("/")
    secured.get("/nothing/here")
    text = secured.get("/metrics", auth=READER).text
    for labels in (
        'method="DELETE",route="/subjects/{subject}",status="403"',
        'method="GET",route="/subjects/{subject}/versions/{version}",status="401"',
        'method="GET",route="/",status="401"',
        'method="other",route="other",status="401"',
    ):
        assert f"contractlog_http_requests_total{{{labels}}} 1" in text
    assert "secret" not in text


def test_probes_need_no_name(secured: httpx2.Client) -> None:
    assert secured.get("/healthz/live").status_code == 200
    assert told(secured.get("/")) == UNKNOWN


def test_the_association_lookup_is_open_to_whoever_may_produce(file: Path) -> None:
    file.write_text(format_entry("p", HashedPassword.of("p", n=2, r=1, p=1), [], ["mine-*"]))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        for path in ("/associations/resources/-/theirs?resourceType=topic", "/associations/subjects/theirs-value"):
            assert http.get(path, auth=("p", "p")).json() == []
            assert told(http.get(path)) == UNKNOWN


def test_associations_need_the_right_to_write_the_subjects_they_bind(file: Path) -> None:
    file.write_text(
        format_entry("p", HashedPassword.of("p", n=2, r=1, p=1), [], ["orders-*", ":.lkc-1:orders-*"])
        + format_entry("admin", HashedPassword.of("p", n=2, r=1, p=1), [], ["*"])
    )
    weak = {"resourceName": "users", "resourceNamespace": "lkc-1", "resourceId": "r1"}
    weak["associations"] = [{"subject": "users-x"}]  # type: ignore[assignment]
    owned = {"resourceNamespace": "lkc-1", "resourceId": "r1", "associations": [{"schema": STRING}]}
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        http.post("/subjects/users-x/versions", json=STRING, auth=("admin", "p"))
        assert told(http.post("/associations", json=weak, auth=("p", "p")))[1:] == (
            40301,
            "User is denied operation Write on Subject: users-x",
        )
        assert told(http.post("/associations", json=owned | {"resourceName": "users"}, auth=("p", "p")))[1] == 40301
        assert http.get("/subjects?subjectPrefix=:*:", auth=("admin", "p")).json() == ["users-x"]
        assert http.post("/associations", json=owned | {"resourceName": "orders"}, auth=("p", "p")).status_code == 200
        http.post("/associations", json=weak | {"resourceId": "r2"}, auth=("admin", "p"))
        for hidden in ("r2", "r2?dryRun=true"):
            refused = (404, 40410, "Association for 'r2' not found.")  # as for one that does not exist
            assert told(http.delete(f"/associations/resources/{hidden}", auth=("p", "p"))) == refused
        cascade = "/associations/resources/r1?cascadeLifecycle=true"
        assert http.delete(cascade, auth=("p", "p")).status_code == 204


MINE = [("mine", ["mine-*", ":.lkc-1:*"]), ("admin", ["*"]), ("owner", ["mine-*", "payments-*"])]
PAYMENTS = {"resourceName": "payments", "resourceNamespace": "lkc-1", "resourceId": "r1"}


@pytest.fixture
def shared(file: Path) -> Iterator[httpx2.Client]:
    """A registry with the subjects ``mine-x`` and ``mine-key``, a user who owns them, and one who owns a topic too."""
    users = [format_entry(name, HashedPassword.of("p", n=2, r=1, p=1), [], write) for name, write in MINE]
    file.write_text("\n".join(users))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        for subject in ("mine-x", "mine-key"):
            http.post(f"/subjects/{subject}/versions", json=STRING, auth=("admin", "p"))
        yield http


def bound(http: httpx2.Client) -> list[str]:
    listed = http.get("/associations/resources/-/payments?resourceType=topic", auth=("admin", "p")).json()
    return [f"{one['associationType']}: {one['subject']}" for one in listed]


def binding(kind: str | None, **members: Any) -> dict[str, Any]:
    named = {} if kind is None else {"associationType": kind}
    return PAYMENTS | {"associations": [named | {"subject": "mine-x"} | members]}


@pytest.mark.parametrize(
    ("kind", "needed"), [("value", "payments-value"), ("key", "payments-key"), (None, "payments-value")]
)
@pytest.mark.parametrize("namespace", ["lkc-1", "elsewhere"])
def test_binding_a_subject_to_a_topic_needs_write_on_the_topics_own_subject(
    shared: httpx2.Client, kind: str | None, needed: str, namespace: str
) -> None:
    refused = (403, 40301, f"User is denied operation Write on Subject: {needed}")
    body = binding(kind) | {"resourceNamespace": namespace}
    upserted, mutated = shared.put, shared.post
    for dry_run in ("", "?dryRun=true"):
        assert told(shared.post(f"/associations{dry_run}", json=body, auth=("mine", "p"))) == refused
        assert told(upserted(f"/associations/resources/r1{dry_run}", json=body, auth=("mine", "p"))) == refused
        for operation in ("CREATE", "UPSERT"):
            many = {"requests": [body | {"opType": operation}, body | {"opType": operation}]}
            answer = mutated(f"/associations:batchMutate{dry_run}", json=many, auth=("mine", "p"))
            assert [one["error"]["error_code"] for one in answer.json()["results"]] == [40301, 40301]
    assert bound(shared) == []
    assert shared.post("/associations", json=body, auth=("owner", "p")).status_code == 200
    assert bound(shared) == [f"{kind or 'value'}: mine-x"]


def test_a_schema_of_an_association_is_not_judged_for_who_may_not_bind(shared: httpx2.Client) -> None:
    """The namespace's subject may be written; the topic of that name may not, so nothing is said of the schema."""
    owned = PAYMENTS | {"associations": [{"schema": {"schema": "no schema"}}]}
    assert told(shared.post("/associations", json=owned, auth=("mine", "p")))[1] == 40301
    assert told(shared.post("/associations", json=owned, auth=("admin", "p")))[1] == 42201


def test_an_id_that_is_in_use_does_not_tell_what_else_is_bound(shared: httpx2.Client) -> None:
    shared.post("/subjects/theirs/versions", json=STRING, auth=("admin", "p"))
    assert shared.post("/associations", json=binding("key", subject="theirs"), auth=("admin", "p")).status_code == 200
    for members in ({}, {"subject": "mine-none"}, {"lifecycle": "STRONG", "frozen": True, "subject": None}):
        bodies = [binding(kind, **members) | {"resourceName": "mine"} for kind in ("key", "value")]
        answers = {told(shared.put("/associations/resources/r1", json=body, auth=("mine", "p"))) for body in bodies}
        assert answers == {(422, 42212, answers.copy().pop()[2])}
        assert "id 'r1' belongs to another resource" in answers.pop()[2]
    taken = binding("key") | {"resourceName": "mine"}
    assert told(shared.post("/associations", json=taken, auth=("admin", "p")))[1] == 40903  # who may read the other


def test_changing_or_removing_a_binding_needs_write_on_the_topics_own_subject(shared: httpx2.Client) -> None:
    shared.post("/associations", json=binding("value"), auth=("admin", "p"))
    shared.post("/associations", json=binding("key"), auth=("admin", "p"))
    one = PAYMENTS | {"opType": "DELETE"}
    members = one | {"associations": [{"associationType": "key"}]}
    refused = 40301
    for query in ("", "?associationType=value", "?cascadeLifecycle=true", "?dryRun=true"):
        assert told(shared.delete(f"/associations/resources/r1{query}", auth=("mine", "p")))[1] == refused
    assert told(shared.put("/associations/resources/r1", json=binding("key"), auth=("mine", "p")))[1] == refused
    answer = shared.post("/associations:batchMutate", json={"requests": [one, members]}, auth=("mine", "p"))
    assert [each["error"]["error_code"] for each in answer.json()["results"]] == [refused, refused]
    assert bound(shared) == ["key: mine-x", "value: mine-x"]
    assert shared.delete("/associations/resources/r1?associationType=key", auth=("owner", "p")).status_code == 204
    answer = shared.post("/associations:batchMutate", json={"requests": [one]}, auth=("owner", "p"))
    assert "result" in answer.json()["results"][0]
    assert bound(shared) == []


def test_unreadable_subjects_of_a_topics_associations_are_hidden(shared: httpx2.Client) -> None:
    shared.post("/subjects/secret/versions", json=STRING, auth=("admin", "p"))
    shared.post("/associations", json=binding("key"), auth=("admin", "p"))
    shared.post("/associations", json=binding("value", subject="secret"), auth=("admin", "p"))
    for query in ("", "?associationType=key"):
        refused = told(shared.delete(f"/associations/resources/r1{query}", auth=("mine", "p")))
        assert refused[1] == 40301
        assert "payments-" in refused[2]
    answer = shared.delete("/associations/resources/r1?associationType=value", auth=("mine", "p"))
    assert told(answer) == (404, 40410, "Association for 'r1' not found.")
    assert bound(shared) == ["key: mine-x", "value: secret"]


def test_anonymous_reads_are_a_setting(file: Path) -> None:
    with in_process(Settings(database_url="sqlite://", users_file=str(file), anonymous_reads=True)) as http:
        for headers in ({}, {"Authorization": "Basic Og=="}):
            assert http.get("/subjects", headers=headers).json() == []
            assert told(http.post("/subjects/orders-value/versions", json=STRING, headers=headers)) == UNKNOWN
        assert told(http.get("/subjects", auth=("ci", "wrong"))) == UNKNOWN
        assert http.post("/subjects/orders-value/versions", json=STRING, auth=CI).status_code == 200


def test_credentials_mean_nothing_while_nobody_needs_to_be_known(http: httpx2.Client) -> None:
    for header in ("Basic Og==", "Basic !", "Bearer x"):
        answer = http.post("/subjects/s/versions", json=STRING, headers={"Authorization": header})
        assert answer.status_code == 200


def test_the_access_log_names_the_actor_and_no_password(
    secured: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "contractlog.access"):
        secured.get("/subjects", auth=CI)
        secured.put("/config", json={}, auth=READER)
        secured.get("/subjects", auth=("ci", "wrong"))
    lines = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    assert [(line.get("actor"), line.get("error_code")) for line in lines] == [
        ("ci", None),
        ("reader", 40301),
        (None, 401),
    ]
    assert not any(word in str(vars(record)) for record in caplog.records for word in ("c:i", "ré", "wrong"))


def authenticator_of(http: httpx2.Client) -> Authenticator:
    """The authenticator inside an app."""
    access = http.app.middleware_stack  # type: ignore[attr-defined]
    while not hasattr(access, "_authenticator"):
        access = getattr(access, "app", None) or access._app
    found: Authenticator = access._authenticator
    return found


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed."""
    hashed: list[str] = []
    matches = HashedPassword.matches
    monkeypatch.setattr(HashedPassword, "matches", lambda self, text: hashed.append(text) or matches(self, text))
    return hashed


def change(http: httpx2.Client, file: Path, text: str) -> None:
    """Write the users file, and let the server look at it at once."""
    users = authenticator_of(http)._file
    assert users is not None
    file.write_text(text)
    users._checked_at -= 2


def test_each_credential_is_checked_once_until_its_user_changes(
    secured: httpx2.Client, file: Path, checked: list[str]
) -> None:
    for _ in range(5):
        assert secured.get("/subjects", auth=CI).status_code == 200
        assert told(secured.get("/subjects", auth=("ci", "no"))) == UNKNOWN
        assert told(secured.get("/subjects", auth=("nobody", "c:i"))) == UNKNOWN
    assert checked == ["c:i", "no", "c:i"]
    new = format_entry("ci", HashedPassword.of("new", n=2, r=1, p=1), ["*"], [])
    change(secured, file, new)
    assert told(secured.get("/subjects", auth=CI)) == UNKNOWN
    assert secured.get("/subjects", auth=("ci", "new")).status_code == 200
    change(secured, file, new + format_entry("nobody", HashedPassword.of("c:i", n=2, r=1, p=1), ["*"], []))
    assert secured.get("/subjects", auth=("nobody", "c:i")).status_code == 200
    assert checked == ["c:i", "no", "c:i", "c:i", "new", "c:i"]


def test_right_credentials_survive_changes_to_other_users_and_get_the_rights_of_now(
    secured: httpx2.Client, file: Path, checked: list[str]
) -> None:
    ci, reader = file.read_text().split("\n\n")
    assert secured.get("/subjects", auth=CI).status_code == 200
    change(secured, file, f"{ci}\n\n" + reader.replace("reader", "another"))
    assert secured.get("/subjects", auth=CI).status_code == 200
    change(secured, file, ci.replace('write = ["orders-*"]', 'write = ["users-*"]'))
    assert secured.post("/subjects/users-value/versions", json=STRING, auth=CI).status_code == 200
    assert told(secured.post("/subjects/orders-value/versions", json=STRING, auth=CI))[1] == 40301
    assert len(checked) == 1
    change(secured, file, reader)
    assert told(secured.get("/subjects", auth=CI)) == UNKNOWN


def test_right_credentials_that_are_used_outlast_others_and_wrong_ones_push_out_none(
    file: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authenticator, "_MAX_VERIFIED", 2)
    monkeypatch.setattr(authenticator, "_MAX_REJECTED", 2)
    names = ["a", "b", "c"]
    file.write_text("\n".join(format_entry(name, HashedPassword.of("p", n=2, r=1, p=1), ["*"], []) for name in names))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        for name in ("a", "b", "a", "c", "a"):
            assert http.get("/subjects", auth=(name, "p")).status_code == 200
        for number in range(5):
            assert http.get("/subjects", auth=("a", f"wrong-{number}")).status_code == 401
        assert http.get("/subjects", auth=("a", "p")).status_code == 200
        assert [one for one in checked if one == "p"] == ["p"] * 3
        assert len(authenticator_of(http)._rejected) == 2


def test_cached_credentials_do_not_reveal_passwords(secured: httpx2.Client) -> None:
    header = base64.b64encode(b":".join(part.encode() for part in CI))
    secured.get("/subjects", auth=CI)
    kept = list(authenticator_of(secured)._verified)
    assert len(kept) == 1
    assert header not in kept[0]
    assert len(kept[0]) == 32


def test_too_many_wrong_passwords_are_refused_unchecked_by_name_and_address(
    secured: httpx2.Client, checked: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(NAME_FAILURES):
        assert told(secured.get("/subjects", auth=("reader", f"wrong-{number}"))) == UNKNOWN
    refused = secured.get("/subjects", auth=("reader", "another"))
    assert told(refused)[:2] == (429, 42980)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "another" not in checked
    assert secured.get("/subjects", auth=CI).status_code == 200  # of the same address, but by another name
    assert "10 wrong passwords in a minute from" in caplog.text
    assert "reader" not in caplog.text
    assert told(secured.get("/subjects", auth=("reader", "wrong-1"))) == UNKNOWN  # it is known to be wrong


def test_a_file_of_users_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="users file"):
        create_app(Settings(database_url="sqlite://", users_file=str(tmp_path / "none")))


@pytest.mark.parametrize(("alias", "allowed"), [("orders-v2", True), ("users-value", False), (":.eu:orders-v2", False)])
def test_an_alias_may_lead_only_to_what_its_giver_may_write(http: httpx2.Client, alias: str, *, allowed: bool) -> None:
    levels = http.app.state.services.config  # type: ignore[attr-defined]

    async def give() -> None:
        current_permissions.set(Permissions.of([], ["orders-*"]))
        await levels.set_config(Subject.parse("orders-value"), {"alias": alias})

    with nullcontext() if allowed else pytest.raises(Denied):
        asyncio.run(give())
